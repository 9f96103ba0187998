"""Identity: what tells a document from all others of its type, to find the same one in an earlier request.

Nullable: processes of the version before go on writing documents without it.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "documents_003"
down_revision = "documents_002"


def upgrade() -> None:
    op.add_column("documents", sa.Column("identity", sa.String(32)))
    op.create_index("ix_documents_identity", "documents", ["identity", "tenant_id"])


def downgrade() -> None:
    op.drop_index("ix_documents_identity", table_name="documents")
    op.drop_column("documents", "identity")
