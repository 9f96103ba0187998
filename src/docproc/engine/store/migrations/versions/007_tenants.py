"""Tenants with their settings and usage, the keys of their programs, and indexes of what one tenant has."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.engine.store import columns

revision = "007"
down_revision = "006"


def upgrade() -> None:
    op.create_table(
        "tenants",
        sa.Column("tenant_id", sa.String(64), primary_key=True),
        sa.Column("display_name", sa.Text()),
        sa.Column("weight", sa.Float(), nullable=False, server_default="1"),
        sa.Column("settings", columns.Json, nullable=False, server_default="{}"),
        sa.Column("is_active", sa.Boolean(), nullable=False, server_default=sa.text("true")),
        sa.Column("created_at", columns.Moment(), nullable=False),
    )
    op.create_table(
        "tenant_usage",
        sa.Column("tenant_id", sa.String(64), primary_key=True),
        sa.Column("kind", sa.String(16), primary_key=True),
        sa.Column("since", columns.Moment(), primary_key=True),
        sa.Column("number", sa.BigInteger(), nullable=False, server_default="0"),
    )
    op.create_table(
        "api_keys",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column("prefix", sa.String(16), nullable=False),
        sa.Column("hash", sa.String(64), nullable=False),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("scopes", columns.Strings, nullable=False),
        sa.Column("operator_id", columns.Id(), sa.ForeignKey("operators.id", ondelete="CASCADE")),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("created_by", sa.String(64)),
        sa.Column("expires_at", columns.Moment()),
        sa.Column("revoked_at", columns.Moment()),
        sa.Column("last_used_at", columns.Moment()),
        sa.Column("replaces", columns.Id()),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
    )
    op.create_index("uq_api_keys_hash", "api_keys", ["hash"], unique=True)
    op.create_index("ix_api_keys_tenant", "api_keys", ["tenant_id", "created_at"])
    op.create_index("ix_requests_tenant", "requests", ["tenant_id", "created_at", "id"])
    is_open = sa.text("completed_at IS NULL")
    op.create_index(
        "ix_requests_open", "requests", ["tenant_id"], postgresql_where=is_open, sqlite_where=is_open
    )


def downgrade() -> None:
    for index in ("ix_requests_open", "ix_requests_tenant"):
        op.drop_index(index, "requests")
    for table in ("api_keys", "tenant_usage", "tenants"):
        op.drop_table(table)
