"""Documents: the files of a request, words and evidence, idempotency and links between requests."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from docproc.engine.store import columns

revision = "002"
down_revision = "001"


def _added() -> dict[str, list[sa.Column[Any]]]:
    return {
        "requests": [
            sa.Column("uploads", columns.Json),
            sa.Column("idempotency_key", sa.String(64)),
            sa.Column("content_hash", sa.String(64)),
            sa.Column("linked_to", columns.Id()),
            sa.Column("link", sa.String(16)),
        ],
        "documents": [
            sa.Column("fields", columns.Json),
            sa.Column("needs_review", columns.Strings),
        ],
        "backoffice_tasks": [
            sa.Column("deadline_utc", columns.Moment()),
            sa.Column("message", sa.Text()),
        ],
        "pages": [
            sa.Column("file_page", sa.Integer(), nullable=False, server_default="0"),
            sa.Column("words", sa.LargeBinary()),
            sa.Column("rotation", sa.SmallInteger(), nullable=False, server_default="0"),
            sa.Column("marks", columns.Json),
            sa.Column("origin", sa.String(16)),
        ],
    }


def upgrade() -> None:
    for table, added in _added().items():
        for column in added:
            op.add_column(table, column)
    op.create_index("ix_requests_created", "requests", ["created_at", "id"])
    op.create_index("uq_requests_idempotency", "requests", ["tenant_id", "idempotency_key"], unique=True)
    op.create_table(
        "files",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column(
            "request_id", columns.Id(), sa.ForeignKey("requests.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("file_index", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("blob_key", sa.String(255)),
        sa.Column("media_type", sa.String(127), nullable=False),
        sa.Column("page_count", sa.Integer(), nullable=False),
        sa.Column("notes", columns.Strings, nullable=False),
        sa.Column("problem", sa.Text()),
        sa.Column("skipped", sa.Boolean(), nullable=False, server_default=sa.text("false")),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
        sa.UniqueConstraint("request_id", "file_index", name="uq_files_place"),
    )


def downgrade() -> None:
    op.drop_table("files")
    op.drop_index("uq_requests_idempotency", "requests")
    op.drop_index("ix_requests_created", "requests")
    for table, added in _added().items():
        for column in added:
            op.drop_column(table, column.name)
