"""Review: what people hold, pass and read twice; roles and sign-ins."""

from __future__ import annotations

from typing import Any

import sqlalchemy as sa
from alembic import op

from docproc.engine.store import columns

revision = "005"
down_revision = "004"


def upgrade() -> None:
    for name in ("accepted_at", "seen_at", "lost_at"):
        op.add_column("backoffice_tasks", sa.Column(name, columns.Moment()))
    op.add_column("backoffice_tasks", sa.Column("passed_by", columns.Json))
    op.add_column("backoffice_tasks", _role("needs_role"))
    for name in ("second_of", "lost_by"):
        op.add_column("backoffice_tasks", sa.Column(name, columns.Id()))
    order = [sa.text("priority DESC"), "deadline_utc", "created_at"]
    _index("ix_backoffice_tasks_next", order, "status = 'pending'")
    _index("ix_backoffice_tasks_held", ["assigned_to"], "status = 'assigned'")
    _index("ix_backoffice_tasks_done", ["completed_at"], "status = 'completed'")
    _index("ix_backoffice_tasks_lost", ["lost_at"], "lost_at IS NOT NULL")
    _index("ix_events_audit", ["id"], "kind <> 'handled'", table="events")
    op.add_column("operators", _role("role"))
    op.add_column("operators", sa.Column("password_hash", sa.Text()))
    op.add_column("operators", sa.Column("oidc_subject", sa.String(255)))
    op.create_index("uq_operators_oidc_subject", "operators", ["oidc_subject"], unique=True)
    op.add_column("operators", sa.Column("language", sa.String(8)))
    op.create_table(
        "sign_ins",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column(
            "operator_id", columns.Id(), sa.ForeignKey("operators.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("csrf", sa.String(64), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("seen_at", columns.Moment(), nullable=False),
        sa.Column("expires_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
    )
    op.create_index("ix_sign_ins_operator_id", "sign_ins", ["operator_id"])
    op.create_table(
        "sign_in_failures",
        sa.Column("key", sa.String(160), primary_key=True),
        sa.Column("failures", sa.Integer(), nullable=False, server_default="1"),
        sa.Column("last_at", columns.Moment(), nullable=False),
        sa.Column("blocked_until", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
    )


def _role(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(16), nullable=False, server_default="operator")


def _index(name: str, order: list[Any], where: str, table: str = "backoffice_tasks") -> None:
    condition = sa.text(where)
    op.create_index(name, table, order, postgresql_where=condition, sqlite_where=condition)


def downgrade() -> None:
    op.drop_table("sign_in_failures")
    op.drop_table("sign_ins")
    op.drop_index("ix_events_audit", "events")
    op.drop_index("uq_operators_oidc_subject", "operators")
    for name in ("language", "oidc_subject", "password_hash", "role"):
        op.drop_column("operators", name)
    for name in ("lost", "done", "held", "next"):
        op.drop_index(f"ix_backoffice_tasks_{name}", "backoffice_tasks")
    for name in ("lost_by", "lost_at", "second_of", "needs_role", "passed_by", "seen_at", "accepted_at"):
        op.drop_column("backoffice_tasks", name)
