"""The tables of the orchestrator: tasks, sessions and calls of services."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy import Boolean, ForeignKey, Index, Integer, SmallInteger, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

import docproc.apps.orchestrator.resilience.tables  # noqa: F401 # so that the metadata is whole
from docproc.engine.message import utc_now
from docproc.engine.store.columns import Id, Json, Moment, index_where
from docproc.engine.store.tables import Base, Tenanted


class Task(Tenanted, Base):
    """What the orchestrator knows of a request beyond the engine: the envelope it came as, and its ids."""

    __tablename__ = "orchestrator_tasks"

    request_id: Mapped[UUID] = mapped_column(
        Id, ForeignKey("requests.id", ondelete="CASCADE"), primary_key=True
    )
    session_id: Mapped[str] = mapped_column(String(128))
    conversation_id: Mapped[UUID | None] = mapped_column(Id)
    correlation_id: Mapped[UUID] = mapped_column(Id)
    domain: Mapped[str] = mapped_column(String(32))
    action: Mapped[str] = mapped_column(String(32))
    # As in the envelope: 0 is the most urgent.
    priority: Mapped[int] = mapped_column(SmallInteger)
    # The envelope as it was accepted: validated, upgraded, enriched. Its identifying fields never change.
    envelope: Mapped[Any] = mapped_column(Json)
    # What each step is sent, where the plan came with the task: {step: payload}.
    inputs: Mapped[Any | None] = mapped_column(Json)
    # How many steps its plan has.
    steps: Mapped[int] = mapped_column(Integer)
    expires_at: Mapped[datetime | None] = mapped_column(Moment)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)

    __table_args__ = (
        Index("ix_orchestrator_tasks_session", "tenant_id", "session_id", "created_at"),
        Index("ix_orchestrator_tasks_correlation", "correlation_id"),
    )


class Session(Tenanted, Base):
    """A client's session: what its tasks share. Redis has a copy of it; this row is the session."""

    __tablename__ = "orchestrator_sessions"

    tenant_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    session_id: Mapped[str] = mapped_column(String(128), primary_key=True)
    context: Mapped[Any] = mapped_column(Json, default=dict)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    # Slides forward with every use.
    expires_at: Mapped[datetime] = mapped_column(Moment)


class TenantSettings(Base):
    """What a tenant set for its tasks (tenants.py)."""

    __tablename__ = "orchestrator_tenants"

    tenant_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    config: Mapped[Any] = mapped_column(Json)
    updated_at: Mapped[datetime] = mapped_column(Moment)


class CallState(StrEnum):
    """Where a call stands."""

    OPEN = "open"  # its envelope is out, under `fencing`
    WAITING = "waiting"  # the service asked for a tool and goes on with its answer
    RETRYING = "retrying"  # failed, and will be tried again
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


class Call(Tenanted, Base):
    """One call of a service. While it is open, this row is the envelope: whatever carries a copy may lose it.

    It ends by one update that asks for its state and fencing number, so an answer counts once, and one to
    an older number not at all. Afterwards it is the step's checkpoint: its result is kept here.
    """

    __tablename__ = "orchestrator_calls"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True)
    request_id: Mapped[UUID] = mapped_column(Id, ForeignKey("requests.id", ondelete="CASCADE"))
    correlation_id: Mapped[UUID] = mapped_column(Id)
    stage: Mapped[str] = mapped_column(String(64))
    # Of a tool that an agent asked for: the agent's call, and the name it gave the question.
    parent_id: Mapped[UUID | None] = mapped_column(Id)
    tool_key: Mapped[str | None] = mapped_column(String(128))
    service: Mapped[str] = mapped_column(String(64))
    queue: Mapped[str] = mapped_column(String(128))
    domain: Mapped[str] = mapped_column(String(32))
    action: Mapped[str] = mapped_column(String(32))
    priority: Mapped[int] = mapped_column(SmallInteger)
    state: Mapped[str] = mapped_column(String(16))
    # Goes up with every envelope that replaces an earlier one: another attempt, or a tool's answer.
    fencing: Mapped[int] = mapped_column(Integer)
    attempt: Mapped[int] = mapped_column(Integer, default=1, server_default="1")
    # Nobody waits for an answer, only for the receipt.
    is_one_way: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    progress: Mapped[int] = mapped_column(SmallInteger, default=0, server_default="0")
    envelope: Mapped[Any] = mapped_column(Json)
    # What the guard must know of the call when it ends (resilience/calls.py).
    ticket: Mapped[Any | None] = mapped_column(Json)
    # The engine's message of the step, from which the flow goes on.
    message: Mapped[str] = mapped_column(Text)
    result: Mapped[Any | None] = mapped_column(Json)
    error: Mapped[Any | None] = mapped_column(Json)
    # An answer that stands in for the service's own: which level, and why.
    degraded: Mapped[Any | None] = mapped_column(Json)
    opened_at: Mapped[datetime] = mapped_column(Moment)
    sent_at: Mapped[datetime | None] = mapped_column(Moment)
    timeout_at: Mapped[datetime] = mapped_column(Moment)
    # Which service process works on it (wire `sql` and services over HTTP), and until when that counts.
    taken_by: Mapped[str | None] = mapped_column(String(96))
    taken_until: Mapped[datetime | None] = mapped_column(Moment)
    ended_at: Mapped[datetime | None] = mapped_column(Moment)

    __table_args__ = (
        Index("ix_orchestrator_calls_request", "request_id"),
        Index("ix_orchestrator_calls_ended", "service", "ended_at"),
        index_where("ix_orchestrator_calls_timeout", "timeout_at", where="state = 'open'"),
        # What services take from, in this order.
        index_where("ix_orchestrator_calls_queue", "queue", "priority", "opened_at", where="state = 'open'"),
    )
