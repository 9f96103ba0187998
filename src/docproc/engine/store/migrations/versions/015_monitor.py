"""For the monitor: what workers use of their machines, the open dead letters, metrics over some time."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "015"
down_revision = "014"


def upgrade() -> None:
    op.add_column("workers", sa.Column("cpu_pct", sa.Float()))
    op.add_column("workers", sa.Column("memory_mb", sa.Float()))
    is_open = sa.text("settled_at IS NULL")
    op.create_index(
        "ix_dead_letters_open",
        "dead_letters",
        ["created_at"],
        postgresql_where=is_open,
        sqlite_where=is_open,
    )

    op.create_index("ix_metric_history_metric", "metric_history", ["metric", "resolution", "at"])


def downgrade() -> None:
    op.drop_index("ix_metric_history_metric", "metric_history")
    op.drop_index("ix_dead_letters_open", "dead_letters")
    with op.batch_alter_table("workers") as table:
        table.drop_column("memory_mb")
        table.drop_column("cpu_pct")
