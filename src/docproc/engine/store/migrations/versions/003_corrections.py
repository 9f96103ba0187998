"""Corrections: what people said of fields, types and splits, and the layouts they said it of."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.engine.store import columns

revision = "003"
down_revision = "002"


def upgrade() -> None:
    op.create_table(
        "corrections",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column("request_id", columns.Id(), nullable=False),
        sa.Column("document_id", columns.Id()),
        sa.Column("subject", sa.String(16), nullable=False),
        sa.Column("field", sa.String(128), nullable=False, server_default=""),
        sa.Column("doc_type", sa.String(64), nullable=False),
        sa.Column("value_before", sa.Text()),
        sa.Column("value_after", sa.Text()),
        sa.Column("confidence_before", sa.Float()),
        sa.Column("source_before", sa.String(16)),
        sa.Column("is_changed", sa.Boolean(), nullable=False),
        sa.Column("page_index", sa.Integer()),
        sa.Column("box", columns.Json),
        sa.Column("operator", sa.String(64)),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("blob_key", sa.String(255)),
        sa.Column("file_name", sa.Text()),
        sa.Column("page_indices", columns.Integers, nullable=False),
        sa.Column("file_pages", columns.Integers, nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
    )
    op.create_index("ix_corrections_document", "corrections", ["document_id"])
    op.create_index("ix_corrections_created", "corrections", ["tenant_id", "created_at"])
    op.create_table(
        "layouts",
        sa.Column("document_id", columns.Id(), primary_key=True),
        sa.Column("doc_type", sa.String(64), nullable=False),
        sa.Column("example", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
    )
    op.create_index("ix_layouts_tenant", "layouts", ["tenant_id"])
    op.create_table(
        "layout_keys",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("tenant_id", sa.String(64), primary_key=True, server_default="default"),
        sa.Column("doc_type", sa.String(64), primary_key=True),
        sa.Column("document_id", columns.Id(), primary_key=True),
        sa.Column("created_at", columns.Moment(), nullable=False),
    )
    op.create_index("ix_layout_keys_document", "layout_keys", ["document_id"])


def downgrade() -> None:
    op.drop_table("layout_keys")
    op.drop_table("layouts")
    op.drop_table("corrections")
