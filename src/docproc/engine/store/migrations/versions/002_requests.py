"""Requests: their uploads, idempotency and links between them; what a task goes on with."""

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
        "backoffice_tasks": [
            sa.Column("deadline_utc", columns.Moment()),
            sa.Column("message", sa.Text()),
        ],
    }


def upgrade() -> None:
    for table, added in _added().items():
        for column in added:
            op.add_column(table, column)
    op.create_index("ix_requests_created", "requests", ["created_at", "id"])
    op.create_index("uq_requests_idempotency", "requests", ["tenant_id", "idempotency_key"], unique=True)


def downgrade() -> None:
    op.drop_index("uq_requests_idempotency", "requests")
    op.drop_index("ix_requests_created", "requests")
    for table, added in _added().items():
        for column in added:
            op.drop_column(table, column.name)
