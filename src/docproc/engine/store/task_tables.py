"""The tables of people and of their tasks, which are opaque work to the engine."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import (
    Boolean,
    ForeignKey,
    Index,
    SmallInteger,
    String,
    Text,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from docproc.engine.message import utc_now
from docproc.engine.store.columns import Id, Json, Moment, Strings, index_where
from docproc.engine.store.tables import Base, Tenanted


class Operator(Tenanted, Base):
    """A person of the back office."""

    __tablename__ = "operators"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    username: Mapped[str] = mapped_column(String(64), unique=True)
    display_name: Mapped[str | None] = mapped_column(String(255))
    skills: Mapped[Any] = mapped_column(Strings, default=list)
    is_active: Mapped[bool] = mapped_column(Boolean, default=True, server_default=text("true"))
    current_task_id: Mapped[UUID | None] = mapped_column(
        Id, ForeignKey("backoffice_tasks.id", use_alter=True, name="fk_operators_current_task")
    )
    # Present while this is recent.
    last_seen_at: Mapped[datetime | None] = mapped_column(Moment)
    # When the person works (people.py, `Shift`); empty: always.
    shifts: Mapped[Any | None] = mapped_column(Json)
    # Task type -> {"n", "mean_seconds"}: how long the person's tasks took.
    handling: Mapped[Any | None] = mapped_column(Json)
    role: Mapped[str] = mapped_column(String(16), default="operator", server_default="operator")
    # Empty: cannot sign in with a password.
    password_hash: Mapped[str | None] = mapped_column(Text)
    # Who the identity provider says it is.
    oidc_subject: Mapped[str | None] = mapped_column(String(255))
    language: Mapped[str | None] = mapped_column(String(8))

    __table_args__ = (Index("uq_operators_oidc_subject", "oidc_subject", unique=True),)


class BackofficeTask(Tenanted, Base):
    """Work for a person."""

    __tablename__ = "backoffice_tasks"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    request_id: Mapped[UUID] = mapped_column(Id, ForeignKey("requests.id", ondelete="CASCADE"), index=True)
    task_type: Mapped[str] = mapped_column(String(32))
    reference_id: Mapped[UUID | None] = mapped_column(Id)
    status: Mapped[str] = mapped_column(String(16), default="pending", server_default="pending")
    priority: Mapped[int] = mapped_column(SmallInteger, default=5, server_default="5")
    assigned_to: Mapped[UUID | None] = mapped_column(Id, ForeignKey("operators.id"))
    input_data: Mapped[Any | None] = mapped_column(Json)
    output_data: Mapped[Any | None] = mapped_column(Json)
    required_skills: Mapped[Any] = mapped_column(Strings, default=list)
    source_stage: Mapped[str | None] = mapped_column(String(64))
    workflow_name: Mapped[str | None] = mapped_column(String(64))
    deadline_utc: Mapped[datetime | None] = mapped_column(Moment)
    # The message that goes on when a person has answered: trace, deadline and counts survive the detour.
    message: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    assigned_at: Mapped[datetime | None] = mapped_column(Moment)
    completed_at: Mapped[datetime | None] = mapped_column(Moment)
    # Assigned and not accepted: an offer, which ends by itself.
    accepted_at: Mapped[datetime | None] = mapped_column(Moment)
    # The holder's last sign; too old, and the task is anybody's again.
    seen_at: Mapped[datetime | None] = mapped_column(Moment)
    # Who had it last and let it go by saying nothing: given to others first.
    lost_by: Mapped[UUID | None] = mapped_column(Id)
    lost_at: Mapped[datetime | None] = mapped_column(Moment)
    # Who shall not get it again: they skipped it.
    passed_by: Mapped[Any | None] = mapped_column(Json)
    # The role it takes: `supervisor` where somebody escalated it, or two readers disagree.
    needs_role: Mapped[str] = mapped_column(String(16), default="operator", server_default="operator")
    # The task that this one reads a second time.
    second_of: Mapped[UUID | None] = mapped_column(Id)

    __table_args__ = (
        Index("ix_backoffice_tasks_open", "status", "priority", "created_at"),
        # The order people work in.
        index_where(
            "ix_backoffice_tasks_next",
            text("priority DESC"),
            "deadline_utc",
            "created_at",
            where="status = 'pending'",
        ),
        index_where("ix_backoffice_tasks_held", "assigned_to", where="status = 'assigned'"),
        # Who did how much lately, and who let a task go.
        index_where("ix_backoffice_tasks_done", "completed_at", where="status = 'completed'"),
        index_where("ix_backoffice_tasks_lost", "lost_at", where="lost_at IS NOT NULL"),
    )
