"""What tenants set for their tasks."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.engine.store.columns import Json, Moment

revision = "orchestrator_003"
down_revision = "orchestrator_002"


def upgrade() -> None:
    op.create_table(
        "orchestrator_tenants",
        sa.Column("tenant_id", sa.String(64), primary_key=True),
        sa.Column("config", Json, nullable=False),
        sa.Column("updated_at", Moment(), nullable=False),
    )


def downgrade() -> None:
    op.drop_table("orchestrator_tenants")
