"""Deadlines: versions of answers, their delivery, the monitor's list, and when people are there."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.engine.store import columns

revision = "004"
down_revision = "003"

_MOMENTS = ("warn_at", "escalate_at", "next_check_at", "warned_at", "escalated_at", "breached_at")


def upgrade() -> None:
    op.add_column("requests", sa.Column("band", sa.SmallInteger(), nullable=False, server_default="5"))
    op.add_column("requests", sa.Column("answer_version", sa.Integer(), nullable=False, server_default="0"))
    op.add_column("requests", sa.Column("callback_url", sa.Text()))
    for name in _MOMENTS:
        op.add_column("requests", sa.Column(name, columns.Moment()))
    _index("ix_requests_next_check", "requests", "next_check_at", "next_check_at IS NOT NULL")
    op.add_column("workers", sa.Column("slots", sa.Integer(), nullable=False, server_default="1"))
    op.add_column("events", sa.Column("busy_seconds", sa.Float()))
    op.drop_index("ix_events_request", "events")
    op.create_index("ix_events_request", "events", ["request_id", "transaction_id", "id"])
    op.add_column("operators", sa.Column("last_seen_at", columns.Moment()))
    op.add_column("operators", sa.Column("shifts", columns.Json))
    op.add_column("operators", sa.Column("handling", columns.Json))
    op.create_table(
        "answers",
        sa.Column(
            "request_id",
            columns.Id(),
            sa.ForeignKey("requests.id", ondelete="CASCADE"),
            primary_key=True,
        ),
        sa.Column("version", sa.Integer(), primary_key=True),
        sa.Column("is_partial", sa.Boolean(), nullable=False),
        sa.Column("reason", sa.String(16), nullable=False),
        sa.Column("payload", columns.Json),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
    )
    op.create_table(
        "deliveries",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column(
            "request_id", columns.Id(), sa.ForeignKey("requests.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("state", sa.String(16), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("next_attempt_at", columns.Moment(), nullable=False),
        sa.Column("claimed_by", sa.String(96)),
        sa.Column("claimed_until", columns.Moment()),
        sa.Column("last_error", sa.Text()),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("settled_at", columns.Moment()),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
        sa.UniqueConstraint("request_id", "version", name="uq_deliveries_version"),
    )
    _index("ix_deliveries_due", "deliveries", "next_attempt_at", "state = 'pending'")
    op.create_table(
        "duties",
        sa.Column("name", sa.String(64), primary_key=True),
        sa.Column("holder", sa.String(96), nullable=False),
        sa.Column("until", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
    )


def _index(name: str, table: str, column: str, where: str) -> None:
    op.create_index(name, table, [column], postgresql_where=sa.text(where), sqlite_where=sa.text(where))


def downgrade() -> None:
    for table in ("duties", "deliveries", "answers"):
        op.drop_table(table)
    for name in ("handling", "shifts", "last_seen_at"):
        op.drop_column("operators", name)
    op.drop_index("ix_events_request", "events")
    op.create_index("ix_events_request", "events", ["request_id", "id"])
    op.drop_column("events", "busy_seconds")
    op.drop_column("workers", "slots")
    op.drop_index("ix_requests_next_check", "requests")
    for name in (*reversed(_MOMENTS), "callback_url", "answer_version", "band"):
        op.drop_column("requests", name)
