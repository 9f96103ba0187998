"""What replicas share of the services they call: breakers, statistics, known answers, modes."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.engine.store import columns

revision = "orchestrator_002"
down_revision = "orchestrator_001"

_COUNTS = ("calls", "failures", "client_errors", "internal_errors", "retries", "fallbacks")
_TOOK = tuple(f"took_{number}" for number in range(11))


def _tenant() -> sa.Column[str]:
    return sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default")


def upgrade() -> None:
    op.create_table(
        "orchestrator_breakers",
        sa.Column("service", sa.String(64), primary_key=True),
        sa.Column("endpoint", sa.String(16), primary_key=True),
        sa.Column("level", sa.String(16), nullable=False),
        sa.Column("has_second", sa.Boolean(), nullable=False, server_default=sa.text("false")),
        sa.Column("state", sa.String(16), nullable=False, server_default="closed"),
        sa.Column("outcomes", sa.String(256), nullable=False, server_default=""),
        sa.Column("generation", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("passed", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("opened_at", columns.Moment()),
        sa.Column("probe_at", columns.Moment()),
        sa.Column("reason", sa.Text(), nullable=False, server_default=""),
        sa.Column("updated_at", columns.Moment(), nullable=False),
        _tenant(),
    )
    op.create_table(
        "orchestrator_call_statistics",
        sa.Column("minute", columns.Moment(), primary_key=True),
        sa.Column("service", sa.String(64), primary_key=True),
        sa.Column("endpoint", sa.String(16), primary_key=True),
        sa.Column("type", sa.String(64), primary_key=True),
        sa.Column("tenant_id", sa.String(64), primary_key=True, server_default="default"),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in _COUNTS),
        sa.Column("seconds", sa.Float(), nullable=False),
        sa.Column("longest_seconds", sa.Float(), nullable=False),
        *(sa.Column(name, sa.BigInteger(), nullable=False) for name in _TOOK),
    )
    op.create_table(
        "orchestrator_known_answers",
        sa.Column("tenant_id", sa.String(64), primary_key=True, server_default="default"),
        sa.Column("question", sa.String(64), primary_key=True),
        sa.Column("service", sa.String(64), nullable=False),
        sa.Column(
            "request_id",
            columns.Id(),
            sa.ForeignKey("requests.id", ondelete="CASCADE"),
            nullable=False,
            index=True,
        ),
        sa.Column("answer", columns.Json, nullable=False),
        sa.Column("answered_at", columns.Moment(), nullable=False),
    )
    op.create_index("ix_orchestrator_known_answers_age", "orchestrator_known_answers", ["answered_at"])
    op.create_table(
        "orchestrator_modes",
        sa.Column("name", sa.String(32), primary_key=True),
        sa.Column("value", sa.String(32), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False, server_default=""),
        sa.Column("updated_at", columns.Moment(), nullable=False),
        _tenant(),
    )


def downgrade() -> None:
    for table in (
        "orchestrator_modes",
        "orchestrator_known_answers",
        "orchestrator_call_statistics",
        "orchestrator_breakers",
    ):
        op.drop_table(table)
