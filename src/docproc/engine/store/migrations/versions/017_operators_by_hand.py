"""Operators may be added by hand (specification §14.3): `INSERT INTO operators (username) VALUES ('ana')`.

Before: new programs and old ones give both columns themselves.

SQLite cannot change a column's default without copying the table, and nobody administers an embedded file by
hand: there `docproc operator add` is the way."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "017"
down_revision = "015"

DEFAULTS = {"id": "gen_random_uuid()", "skills": "'{}'"}


def upgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for column, default in DEFAULTS.items():
            op.alter_column("operators", column, server_default=sa.text(default))


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        for column in DEFAULTS:
            op.alter_column("operators", column, server_default=None)
