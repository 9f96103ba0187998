"""Which version of a workflow each environment runs, and the cases that a new one must pass."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.engine.store import columns

revision = "018"
down_revision = "017"


def _tenant() -> sa.Column[str]:
    return sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default")


def upgrade() -> None:
    op.create_table(
        "promotions",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column("environment", sa.String(16), nullable=False),
        sa.Column("workflow_name", sa.String(64), nullable=False),
        sa.Column("version", sa.String(64), nullable=False),
        sa.Column("previous_version", sa.String(64)),
        sa.Column("kind", sa.String(16), nullable=False, server_default="promoted"),
        sa.Column("made_by", sa.String(128), nullable=False, server_default=""),
        sa.Column("reason", columns.Json),
        sa.Column("created_at", columns.Moment(), nullable=False),
        _tenant(),
    )
    op.create_index("ix_promotions_current", "promotions", ["environment", "workflow_name", "created_at"])
    op.create_table(
        "golden_cases",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column("workflow_name", sa.String(64), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("request_id", columns.Id()),
        sa.Column("uploads", columns.Json, nullable=False),
        sa.Column("metadata", columns.Json, nullable=False),
        sa.Column("expected", columns.Json, nullable=False),
        sa.Column("made_by", sa.String(128), nullable=False, server_default=""),
        sa.Column("created_at", columns.Moment(), nullable=False),
        _tenant(),
    )
    op.create_index("ix_golden_cases_workflow_name", "golden_cases", ["workflow_name"])


def downgrade() -> None:
    op.drop_table("golden_cases")
    op.drop_table("promotions")
