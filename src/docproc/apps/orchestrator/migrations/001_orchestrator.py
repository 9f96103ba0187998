"""The tables of the orchestrator: tasks, sessions and calls of services."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.engine.store.columns import Id, Json, Moment

revision = "orchestrator_001"
down_revision = None


def _tenant(*, primary_key: bool = False) -> sa.Column[str]:
    return sa.Column(
        "tenant_id", sa.String(64), nullable=False, server_default="default", primary_key=primary_key
    )


def _request(*, primary_key: bool = False) -> sa.Column[object]:
    owner = sa.ForeignKey("requests.id", ondelete="CASCADE")
    return sa.Column("request_id", Id(), owner, nullable=False, primary_key=primary_key)


def upgrade() -> None:
    op.create_table(
        "orchestrator_tasks",
        _request(primary_key=True),
        _tenant(),
        sa.Column("session_id", sa.String(128), nullable=False),
        sa.Column("conversation_id", Id()),
        sa.Column("correlation_id", Id(), nullable=False),
        sa.Column("domain", sa.String(32), nullable=False),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("envelope", Json, nullable=False),
        sa.Column("inputs", Json),
        sa.Column("steps", sa.Integer(), nullable=False),
        sa.Column("expires_at", Moment()),
        sa.Column("created_at", Moment(), nullable=False),
    )
    op.create_index(
        "ix_orchestrator_tasks_session", "orchestrator_tasks", ["tenant_id", "session_id", "created_at"]
    )
    op.create_index("ix_orchestrator_tasks_correlation", "orchestrator_tasks", ["correlation_id"])
    op.create_table(
        "orchestrator_sessions",
        _tenant(primary_key=True),
        sa.Column("session_id", sa.String(128), primary_key=True),
        sa.Column("context", Json, nullable=False),
        sa.Column("created_at", Moment(), nullable=False),
        sa.Column("expires_at", Moment(), nullable=False),
    )
    _create_calls()


def _create_calls() -> None:
    op.create_table(
        "orchestrator_calls",
        sa.Column("id", Id(), primary_key=True),
        _request(),
        _tenant(),
        sa.Column("correlation_id", Id(), nullable=False),
        sa.Column("stage", sa.String(64), nullable=False),
        sa.Column("parent_id", Id()),
        sa.Column("tool_key", sa.String(128)),
        sa.Column("service", sa.String(64), nullable=False),
        sa.Column("queue", sa.String(128), nullable=False),
        sa.Column("domain", sa.String(32), nullable=False),
        sa.Column("action", sa.String(32), nullable=False),
        sa.Column("priority", sa.SmallInteger(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("fencing", sa.Integer(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False, server_default="1"),
        sa.Column("is_one_way", sa.Boolean(), nullable=False, server_default=sa.text("false")),
        sa.Column("progress", sa.SmallInteger(), nullable=False, server_default="0"),
        sa.Column("envelope", Json, nullable=False),
        sa.Column("ticket", Json),
        sa.Column("message", sa.Text(), nullable=False),
        sa.Column("result", Json),
        sa.Column("error", Json),
        sa.Column("degraded", Json),
        sa.Column("opened_at", Moment(), nullable=False),
        sa.Column("sent_at", Moment()),
        sa.Column("timeout_at", Moment(), nullable=False),
        sa.Column("taken_by", sa.String(96)),
        sa.Column("taken_until", Moment()),
        sa.Column("ended_at", Moment()),
    )
    op.create_index("ix_orchestrator_calls_request", "orchestrator_calls", ["request_id"])
    op.create_index("ix_orchestrator_calls_ended", "orchestrator_calls", ["service", "ended_at"])
    _create_partial_index("ix_orchestrator_calls_timeout", ["timeout_at"])
    _create_partial_index("ix_orchestrator_calls_queue", ["queue", "priority", "opened_at"])


def _create_partial_index(name: str, columns: list[str]) -> None:
    is_open = sa.text("state = 'open'")
    op.create_index(name, "orchestrator_calls", columns, postgresql_where=is_open, sqlite_where=is_open)


def downgrade() -> None:
    for table in ("orchestrator_calls", "orchestrator_sessions", "orchestrator_tasks"):
        op.drop_table(table)
