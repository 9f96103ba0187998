"""The first schema: requests, people and their tasks, and the engine's own tables.

The tables of documents once stood here and in 002 and 003; since there are applications, theirs does it
(apps/documents/migrations), and leaves alone what it finds.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.engine.store import columns

revision = "001"
down_revision = None


def upgrade() -> None:
    postgres = op.get_bind().dialect.name == "postgresql"
    # Only PostgreSQL commits out of order, so only there events need to know their transaction.
    transaction_id = sa.text("(pg_current_xact_id()::text::bigint)") if postgres else "0"
    # Operators and tasks point at each other: SQLite takes the forward reference, PostgreSQL an ALTER.
    name, source, target = "fk_operators_current_task", ["current_task_id"], ["backoffice_tasks.id"]
    current_task = [] if postgres else [sa.ForeignKeyConstraint(source, target, name=name)]
    op.create_table(
        "dead_letters",
        sa.Column("id", columns.Id(), nullable=False),
        sa.Column("message_id", columns.Id(), nullable=True),
        sa.Column("request_id", columns.Id(), nullable=True),
        sa.Column("queue", sa.String(length=128), nullable=False),
        sa.Column("stage", sa.String(length=64), nullable=True),
        sa.Column("unit_key", sa.String(length=255), nullable=True),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("history", columns.Json, nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("replayed_as", columns.Id(), nullable=True),
        sa.Column("settled_at", columns.Moment(), nullable=True),
        sa.Column("tenant_id", sa.String(length=64), server_default="default", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(op.f("ix_dead_letters_message_id"), "dead_letters", ["message_id"], unique=False)
    op.create_index(op.f("ix_dead_letters_request_id"), "dead_letters", ["request_id"], unique=False)
    op.create_table(
        "events",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("transaction_id", sa.BigInteger(), server_default=transaction_id, nullable=False),
        sa.Column("request_id", columns.Id(), nullable=True),
        sa.Column("kind", sa.String(length=32), nullable=False),
        sa.Column("stage", sa.String(length=64), nullable=True),
        sa.Column("unit_key", sa.String(length=255), nullable=True),
        sa.Column("message_id", columns.Id(), nullable=True),
        sa.Column("attempt", sa.Integer(), nullable=True),
        sa.Column("outcome", sa.String(length=32), nullable=True),
        sa.Column("worker_id", sa.String(length=96), nullable=True),
        sa.Column("started_at", columns.Moment(), nullable=False),
        sa.Column("finished_at", columns.Moment(), nullable=False),
        sa.Column("data", columns.Json, nullable=True),
        sa.Column("tenant_id", sa.String(length=64), server_default="default", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_events_request", "events", ["request_id", "id"], unique=False)
    op.create_table(
        "fan_in_arrivals",
        sa.Column("request_id", columns.Id(), nullable=False),
        sa.Column("stage", sa.String(length=96), nullable=False),
        sa.Column("group_key", sa.String(length=255), nullable=False),
        sa.Column("generation", sa.Integer(), nullable=False),
        sa.Column("unit_key", sa.String(length=255), nullable=False),
        sa.Column("failure", sa.Text(), nullable=True),
        sa.Column("body", sa.Text(), nullable=True),
        sa.Column("tenant_id", sa.String(length=64), server_default="default", nullable=False),
        sa.PrimaryKeyConstraint("request_id", "stage", "group_key", "generation", "unit_key"),
    )
    op.create_table(
        "inbox",
        sa.Column("message_id", columns.Id(), nullable=False),
        sa.Column("queue", sa.String(length=128), nullable=False),
        sa.Column("received_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(length=64), server_default="default", nullable=False),
        sa.PrimaryKeyConstraint("message_id", "queue"),
    )
    op.create_table(
        "messages",
        sa.Column("id", columns.Id(), nullable=False),
        sa.Column("request_id", columns.Id(), nullable=False),
        sa.Column("queue", sa.String(length=128), nullable=False),
        sa.Column("stage", sa.String(length=64), nullable=False),
        sa.Column("unit_key", sa.String(length=255), nullable=False),
        sa.Column("band", sa.SmallInteger(), nullable=False),
        sa.Column("deadline_utc", columns.Moment(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("available_at", columns.Moment(), nullable=False),
        sa.Column("state", sa.String(length=8), nullable=False),
        sa.Column("worker_id", sa.String(length=96), nullable=True),
        sa.Column("attempt", sa.Integer(), server_default="1", nullable=False),
        sa.Column("cursor", sa.Integer(), server_default="0", nullable=False),
        sa.Column("held_by", sa.String(length=400), nullable=True),
        sa.Column("history", sa.Text(), nullable=True),
        sa.Column("body", sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.String(length=64), server_default="default", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "ix_messages_delayed",
        "messages",
        ["available_at"],
        unique=False,
        postgresql_where=sa.text("state = 'delayed'"),
        sqlite_where=sa.text("state = 'delayed'"),
    )
    op.create_index(
        "ix_messages_ready",
        "messages",
        ["queue", sa.literal_column("band DESC"), "deadline_utc", "created_at"],
        unique=False,
        postgresql_where=sa.text("state = 'ready'"),
        sqlite_where=sa.text("state = 'ready'"),
    )
    op.create_index("ix_messages_request", "messages", ["request_id"], unique=False)
    op.create_table(
        "operators",
        sa.Column("id", columns.Id(), nullable=False),
        sa.Column("username", sa.String(length=64), nullable=False),
        sa.Column("display_name", sa.String(length=255), nullable=True),
        sa.Column("skills", columns.Strings, nullable=False),
        sa.Column("is_active", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.Column("current_task_id", columns.Id(), nullable=True),
        sa.Column("tenant_id", sa.String(length=64), server_default="default", nullable=False),
        *current_task,
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("username"),
    )
    op.create_table(
        "requests",
        sa.Column("id", columns.Id(), nullable=False),
        sa.Column("trace_id", columns.Id(), nullable=True),
        sa.Column("external_id", sa.String(length=255), nullable=True),
        sa.Column("channel", sa.String(length=64), server_default="api", nullable=False),
        sa.Column("workflow_name", sa.String(length=64), nullable=False),
        sa.Column("workflow_version", sa.String(length=64), nullable=True),
        sa.Column("status", sa.String(length=32), nullable=False),
        sa.Column("priority", sa.SmallInteger(), server_default="5", nullable=False),
        sa.Column("deadline_utc", columns.Moment(), nullable=True),
        sa.Column("sla_seconds", sa.Float(), nullable=True),
        sa.Column("page_count", sa.Integer(), nullable=True),
        sa.Column("document_count", sa.Integer(), nullable=True),
        sa.Column("result_payload", columns.Json, nullable=True),
        sa.Column("result_generation", sa.Integer(), server_default="0", nullable=False),
        sa.Column("error", columns.Json, nullable=True),
        sa.Column("metadata", columns.Json, nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("updated_at", columns.Moment(), nullable=False),
        sa.Column("completed_at", columns.Moment(), nullable=True),
        sa.Column("tenant_id", sa.String(length=64), server_default="default", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index("ix_requests_external", "requests", ["tenant_id", "channel", "external_id"], unique=False)
    op.create_index("ix_requests_status", "requests", ["status", "deadline_utc"], unique=False)
    op.create_table(
        "workers",
        sa.Column("id", sa.String(length=96), nullable=False),
        sa.Column("host", sa.String(length=255), nullable=False),
        sa.Column("pid", sa.Integer(), nullable=False),
        sa.Column("components", sa.Text(), nullable=False),
        sa.Column("is_ready", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("started_at", columns.Moment(), nullable=False),
        sa.Column("beat_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(length=64), server_default="default", nullable=False),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_table(
        "workflow_versions",
        sa.Column("name", sa.String(length=64), nullable=False),
        sa.Column("version", sa.String(length=64), nullable=False),
        sa.Column("definition", sa.Text(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(length=64), server_default="default", nullable=False),
        sa.PrimaryKeyConstraint("name", "version"),
    )
    op.create_table(
        "aggregation_state",
        sa.Column("id", columns.Id(), nullable=False),
        sa.Column("request_id", columns.Id(), nullable=False),
        sa.Column("stage", sa.String(length=96), nullable=False),
        sa.Column("group_key", sa.String(length=255), server_default="", nullable=False),
        sa.Column("generation", sa.Integer(), server_default="1", nullable=False),
        sa.Column("announced_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("expected_count", sa.Integer(), nullable=True),
        sa.Column("received_count", sa.Integer(), server_default="0", nullable=False),
        sa.Column("is_complete", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("updated_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(length=64), server_default="default", nullable=False),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint(
            "request_id", "stage", "group_key", "generation", name="uq_aggregation_state_join"
        ),
    )
    op.create_table(
        "backoffice_tasks",
        sa.Column("id", columns.Id(), nullable=False),
        sa.Column("request_id", columns.Id(), nullable=False),
        sa.Column("task_type", sa.String(length=32), nullable=False),
        sa.Column("reference_id", columns.Id(), nullable=True),
        sa.Column("status", sa.String(length=16), server_default="pending", nullable=False),
        sa.Column("priority", sa.SmallInteger(), server_default="5", nullable=False),
        sa.Column("assigned_to", columns.Id(), nullable=True),
        sa.Column("input_data", columns.Json, nullable=True),
        sa.Column("output_data", columns.Json, nullable=True),
        sa.Column("required_skills", columns.Strings, nullable=False),
        sa.Column("source_stage", sa.String(length=64), nullable=True),
        sa.Column("workflow_name", sa.String(length=64), nullable=True),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("assigned_at", columns.Moment(), nullable=True),
        sa.Column("completed_at", columns.Moment(), nullable=True),
        sa.Column("tenant_id", sa.String(length=64), server_default="default", nullable=False),
        sa.ForeignKeyConstraint(
            ["assigned_to"],
            ["operators.id"],
        ),
        sa.ForeignKeyConstraint(["request_id"], ["requests.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("id"),
    )
    op.create_index(
        "ix_backoffice_tasks_open", "backoffice_tasks", ["status", "priority", "created_at"], unique=False
    )
    op.create_index(op.f("ix_backoffice_tasks_request_id"), "backoffice_tasks", ["request_id"], unique=False)
    if postgres:
        op.create_foreign_key(name, "operators", "backoffice_tasks", source, ["id"])


def downgrade() -> None:
    if op.get_bind().dialect.name == "postgresql":
        op.drop_constraint("fk_operators_current_task", "operators", type_="foreignkey")
    for table in (
        "backoffice_tasks",
        "aggregation_state",
        "workflow_versions",
        "workers",
        "requests",
        "operators",
        "messages",
        "inbox",
        "fan_in_arrivals",
        "events",
        "dead_letters",
    ):
        op.drop_table(table)
