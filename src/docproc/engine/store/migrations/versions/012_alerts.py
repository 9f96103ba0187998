"""Alerts with their notices, the history of metrics, and tenants that are held back."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.engine.store import columns

revision = "012"
down_revision = "008"


def _tenant() -> sa.Column[str]:
    return sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default")


def upgrade() -> None:
    op.create_table(
        "alerts",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column("rule", sa.String(64), nullable=False),
        sa.Column("metric", sa.String(64), nullable=False),
        sa.Column("series", sa.String(512), nullable=False),
        sa.Column("level", sa.String(16), nullable=False),
        sa.Column("value", sa.Float(), nullable=False),
        sa.Column("latest", sa.Float(), nullable=False),
        sa.Column("threshold", sa.Float()),
        sa.Column("fired_at", columns.Moment(), nullable=False),
        sa.Column("resolved_at", columns.Moment()),
        sa.Column("action", sa.String(32), nullable=False, server_default=""),
        sa.Column("action_state", sa.String(16), nullable=False, server_default=""),
        sa.Column("action_result", columns.Json),
        _tenant(),
    )
    is_open = sa.text("resolved_at IS NULL")
    op.create_index(
        "uq_alerts_open",
        "alerts",
        ["rule", "series"],
        unique=True,
        postgresql_where=is_open,
        sqlite_where=is_open,
    )
    op.create_index("ix_alerts_fired", "alerts", ["fired_at"])
    _create_notices()
    _create_history()
    op.create_table(
        "throttles",
        sa.Column("tenant_id", sa.String(64), primary_key=True),
        sa.Column("cause", sa.String(64), primary_key=True),
        sa.Column("requests_per_minute", sa.Integer(), nullable=False),
        sa.Column("since", columns.Moment(), nullable=False),
    )


def _create_notices() -> None:
    op.create_table(
        "alert_notices",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column(
            "alert_id",
            columns.Id(),
            sa.ForeignKey("alerts.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("channel", sa.String(16), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("level", sa.String(16), nullable=False),
        sa.Column("state", sa.String(16), nullable=False, server_default="waiting"),
        sa.Column("attempts", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("due_at", columns.Moment(), nullable=False),
        sa.Column("error", sa.Text()),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("sent_at", columns.Moment()),
        _tenant(),
    )
    waits = sa.text("state = 'waiting'")
    op.create_index(
        "ix_alert_notices_due", "alert_notices", ["due_at"], postgresql_where=waits, sqlite_where=waits
    )


def _create_history() -> None:
    op.create_table(
        "metric_history",
        sa.Column("metric", sa.String(64), primary_key=True),
        sa.Column("series", sa.String(512), primary_key=True),
        sa.Column("resolution", sa.String(8), primary_key=True),
        sa.Column("at", columns.Moment(), primary_key=True),
        sa.Column("samples", sa.BigInteger(), nullable=False),
        sa.Column("counted", sa.BigInteger(), nullable=False),
        *(sa.Column(name, sa.Float(), nullable=False) for name in ("total", "least", "most", "latest")),
        sa.Column("latest_at", columns.Moment(), nullable=False),
        _tenant(),
    )
    op.create_index("ix_metric_history_at", "metric_history", ["resolution", "at"])


def downgrade() -> None:
    for table in ("throttles", "metric_history", "alert_notices", "alerts"):
        op.drop_table(table)
