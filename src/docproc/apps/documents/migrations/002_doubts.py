"""Doubts: how sure a document's type and boundaries are, and which of them nobody has answered.

Nullable: processes of the version before go on writing documents without them.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.engine.store import columns

revision = "documents_002"
down_revision = "documents_001"


def upgrade() -> None:
    for name in ("doc_type_confidence", "boundary_confidence"):
        op.add_column("documents", sa.Column(name, sa.Float()))
    op.add_column("documents", sa.Column("doubts", columns.Strings))


def downgrade() -> None:
    for name in ("doubts", "boundary_confidence", "doc_type_confidence"):
        op.drop_column("documents", name)
