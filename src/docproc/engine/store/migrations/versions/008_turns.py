"""The order of work is kept within tenants: whose turn it is, workers decide (engine/fair_order.py)."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

revision = "008"
down_revision = "007"

IS_READY = sa.text("state = 'ready'")
ORDER: list[Any] = [sa.literal_column("band DESC"), "deadline_utc", "created_at"]


def upgrade() -> None:
    # Processes of the release before go on without their index: they sort what is ready.
    op.drop_index("ix_messages_ready", "messages")
    op.create_index(
        "ix_messages_turn",
        "messages",
        ["queue", "tenant_id", *ORDER],
        postgresql_where=IS_READY,
        sqlite_where=IS_READY,
    )


def downgrade() -> None:
    op.drop_index("ix_messages_turn", "messages")
    op.create_index(
        "ix_messages_ready", "messages", ["queue", *ORDER], postgresql_where=IS_READY, sqlite_where=IS_READY
    )
