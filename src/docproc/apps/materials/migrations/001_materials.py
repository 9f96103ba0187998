"""The tables of materials: documents and their versions, answers of models, the log, deliveries and
failures."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.engine.store import columns

revision = "materials_001"
down_revision = None


def upgrade() -> None:
    _material_summary_link()
    _assessment()
    _material_summary()
    _material_assessment()
    _material_versions()
    _material_answers()
    _material_event()
    _material_deliveries()
    _material_failures()
    _material_notices()


def downgrade() -> None:
    for table in (
        "material_notices",
        "material_failures",
        "material_deliveries",
        "material_event",
        "material_answers",
        "material_versions",
        "material_assessment",
        "material_summary",
        "assessment",
        "material_summary_link",
    ):
        op.drop_table(table)


def _material_summary_link() -> None:
    op.create_table(
        "material_summary_link",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column("material_id", sa.String(200), nullable=False),
        sa.Column("mongo_document_id", sa.String(64)),
        sa.Column("status", sa.String(16), nullable=False),
        sa.Column("request_id", columns.Id()),
        sa.Column("error", sa.Text()),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("updated_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
        sa.UniqueConstraint("tenant_id", "material_id", name="uq_material_summary_link"),
    )
    op.create_index("ix_material_summary_link_request", "material_summary_link", ["request_id"])


def _assessment() -> None:
    op.create_table(
        "assessment",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column("material_id", sa.String(200), nullable=False),
        sa.Column("mongo_document_id", sa.String(64), nullable=False),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("total_questions", sa.Integer(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("updated_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
        sa.UniqueConstraint("tenant_id", "material_id", name="uq_assessment_material"),
    )


def _material_summary() -> None:
    op.create_table(
        "material_summary",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("material_id", sa.String(200), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("request_id", columns.Id()),
        sa.Column("document", columns.Json, nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("updated_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
        sa.UniqueConstraint("tenant_id", "material_id", name="uq_material_summary"),
    )
    op.create_index("ix_material_summary_request", "material_summary", ["request_id"])


def _material_assessment() -> None:
    op.create_table(
        "material_assessment",
        sa.Column("id", sa.String(64), primary_key=True),
        sa.Column("material_id", sa.String(200), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("request_id", columns.Id()),
        sa.Column("document", columns.Json, nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("updated_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
        sa.UniqueConstraint("tenant_id", "material_id", name="uq_material_assessment"),
    )
    op.create_index("ix_material_assessment_request", "material_assessment", ["request_id"])


def _material_versions() -> None:
    op.create_table(
        "material_versions",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column("material_id", sa.String(200), nullable=False),
        sa.Column("kind", sa.String(16), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("document", columns.Json, nullable=False),
        sa.Column("replaced_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
        sa.UniqueConstraint("tenant_id", "material_id", "kind", "version", name="uq_material_versions"),
    )


def _material_answers() -> None:
    op.create_table(
        "material_answers",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column(
            "request_id", columns.Id(), sa.ForeignKey("requests.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("step", sa.String(64), nullable=False),
        sa.Column("prompt_hash", sa.String(64), nullable=False),
        sa.Column("model", sa.String(128), nullable=False),
        sa.Column("answer", sa.Text()),
        sa.Column("is_cut_off", sa.Boolean(), nullable=False),
        sa.Column("asked", sa.Integer(), nullable=False),
        sa.Column("prompt_tokens", sa.Integer(), nullable=False),
        sa.Column("completion_tokens", sa.Integer(), nullable=False),
        sa.Column("cost_usd", sa.Float(), nullable=False),
        sa.Column("asked_at", columns.Moment(), nullable=False),
        sa.Column("answered_at", columns.Moment()),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
        sa.UniqueConstraint("request_id", "step", "prompt_hash", name="uq_material_answers_prompt"),
    )
    op.create_index("ix_material_answers_asked_at", "material_answers", ["asked_at"])


def _material_event() -> None:
    op.create_table(
        "material_event",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column("material_id", sa.String(200), nullable=False),
        sa.Column("request_id", columns.Id()),
        sa.Column("event_type", sa.String(32), nullable=False),
        sa.Column("duration_ms", sa.Integer()),
        sa.Column("tokens", sa.Integer()),
        sa.Column("estimated_cost_usd", sa.Float()),
        sa.Column("data", columns.Json),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
    )
    op.create_index("ix_material_event_created_at", "material_event", ["created_at"])
    op.create_index("ix_material_event_material", "material_event", ["material_id"])


def _material_deliveries() -> None:
    op.create_table(
        "material_deliveries",
        sa.Column(
            "request_id", columns.Id(), sa.ForeignKey("requests.id", ondelete="CASCADE"), primary_key=True
        ),
        sa.Column("queue", sa.String(255), nullable=False),
        sa.Column("body", sa.LargeBinary(), nullable=False),
        sa.Column("received_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
    )


def _material_failures() -> None:
    op.create_table(
        "material_failures",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column("request_id", columns.Id(), sa.ForeignKey("requests.id", ondelete="CASCADE")),
        sa.Column("material_id", sa.String(200)),
        sa.Column("code", sa.String(64), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("history", columns.Json, nullable=False),
        sa.Column("body", sa.LargeBinary()),
        sa.Column("failed_at", columns.Moment(), nullable=False),
        sa.Column("published_at", columns.Moment()),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
    )
    op.create_index("ix_material_failures_published_at", "material_failures", ["published_at"])
    op.create_index("ix_material_failures_request", "material_failures", ["request_id"])


def _material_notices() -> None:
    op.create_table(
        "material_notices",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column(
            "request_id", columns.Id(), sa.ForeignKey("requests.id", ondelete="CASCADE"), nullable=False
        ),
        sa.Column("way", sa.String(16), nullable=False),
        sa.Column("address", sa.Text(), nullable=False),
        sa.Column("content", columns.Json, nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("due_at", columns.Moment(), nullable=False),
        sa.Column("sent_at", columns.Moment()),
        sa.Column("problem", sa.Text()),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
    )
    op.create_index("ix_material_notices_request", "material_notices", ["request_id"])
    op.create_index("ix_material_notices_due_at", "material_notices", ["due_at"])
