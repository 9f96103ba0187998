"""When a request's answer was last changed (`completed_at` is set once), and how large its content is."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.engine.store import columns

revision = "006"
down_revision = "005"


def upgrade() -> None:
    op.add_column("requests", sa.Column("amended_at", columns.Moment()))
    op.add_column("requests", sa.Column("content_bytes", sa.BigInteger()))


def downgrade() -> None:
    for name in ("content_bytes", "amended_at"):
        op.drop_column("requests", name)
