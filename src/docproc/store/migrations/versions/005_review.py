"""Review: what people hold, pass and read twice; roles and sign-ins."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.store import columns

revision = "005"
down_revision = "004"


def upgrade() -> None:
    for name in ("accepted_at", "seen_at"):
        op.add_column("backoffice_tasks", sa.Column(name, columns.Moment()))
    op.add_column("backoffice_tasks", sa.Column("passed_by", columns.Json))
    op.add_column("backoffice_tasks", _role("needs_role"))
    op.add_column("backoffice_tasks", sa.Column("second_of", columns.Id()))
    order = [sa.text("priority DESC"), "deadline_utc", "created_at"]
    _index("ix_backoffice_tasks_next", order, "status = 'pending'")
    _index("ix_backoffice_tasks_held", ["assigned_to"], "status = 'assigned'")
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


def _role(name: str) -> sa.Column[str]:
    return sa.Column(name, sa.String(16), nullable=False, server_default="operator")


def _index(name: str, order: list[object], where: str) -> None:
    op.create_index(
        name, "backoffice_tasks", order, postgresql_where=sa.text(where), sqlite_where=sa.text(where)  # type: ignore[arg-type] # names and expressions
    )


def downgrade() -> None:
    op.drop_table("sign_ins")
    op.drop_index("uq_operators_oidc_subject", "operators")
    for name in ("language", "oidc_subject", "password_hash", "role"):
        op.drop_column("operators", name)
    for name in ("ix_backoffice_tasks_held", "ix_backoffice_tasks_next"):
        op.drop_index(name, "backoffice_tasks")
    for name in ("second_of", "needs_role", "passed_by", "seen_at", "accepted_at"):
        op.drop_column("backoffice_tasks", name)
