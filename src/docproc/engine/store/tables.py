"""The tables of requests, messages, joins, events and answers. Every row carries its tenant."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import (
    BigInteger,
    Boolean,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

from docproc.engine.message import utc_now
from docproc.engine.store.columns import Id, Json, Moment, index_where


class Base(DeclarativeBase):
    pass


class Tenanted:
    tenant_id: Mapped[str] = mapped_column(String(64), default="default", server_default="default")


class RequestStatus(StrEnum):
    """The statuses that every request knows; between `routing` and the end, components add their own."""

    RECEIVED = "received"
    ROUTING = "routing"
    # Being worked on, where no component says it more exactly.
    PROCESSING = "processing"
    # A stage failed for good, and what was done before is being undone (`compensate:`).
    COMPENSATING = "compensating"
    COMPLETED = "completed"
    FAILED = "failed"
    SLA_BREACHED = "sla_breached"


class Request(Tenanted, Base):
    """One row per request received."""

    __tablename__ = "requests"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    trace_id: Mapped[UUID | None] = mapped_column(Id)
    external_id: Mapped[str | None] = mapped_column(String(255))
    channel: Mapped[str] = mapped_column(String(64), default="api", server_default="api")
    workflow_name: Mapped[str] = mapped_column(String(64))
    workflow_version: Mapped[str | None] = mapped_column(String(64))
    status: Mapped[str] = mapped_column(String(32), default=RequestStatus.RECEIVED)
    priority: Mapped[int] = mapped_column(SmallInteger, default=5, server_default="5")
    deadline_utc: Mapped[datetime | None] = mapped_column(Moment)
    sla_seconds: Mapped[float | None] = mapped_column(Float)
    result_payload: Mapped[Any | None] = mapped_column(Json)
    # The generation of units the result was made of: an older one never replaces a newer one.
    result_generation: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    error: Mapped[Any | None] = mapped_column(Json)
    metadata_: Mapped[Any] = mapped_column("metadata", Json, default=dict)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(Moment, default=utc_now, onupdate=utc_now)
    completed_at: Mapped[datetime | None] = mapped_column(Moment)
    # The files as they came: [{"key", "name", "size", "sha256"}].
    uploads: Mapped[Any | None] = mapped_column(Json)
    # How large they are together; a forecast tells from it how many units will come of them.
    content_bytes: Mapped[int | None] = mapped_column(BigInteger)
    # One request per key: a client's repeated submission finds the first one.
    idempotency_key: Mapped[str | None] = mapped_column(String(64))
    content_hash: Mapped[str | None] = mapped_column(String(64))
    # The request this one follows, and how: "reprocess" (same files), "revision" (new content), "shadow".
    linked_to: Mapped[UUID | None] = mapped_column(Id)
    link: Mapped[str | None] = mapped_column(String(16))
    # How urgent its messages are now: its priority, raised by escalation, lowered when out of reach.
    band: Mapped[int] = mapped_column(SmallInteger, default=5, server_default="5")
    # The version of the answer that `result_payload` is; 0 while there is none.
    answer_version: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    callback_url: Mapped[str | None] = mapped_column(Text)
    # The monitor's list: when to warn, when to escalate, and when to look next (empty: nothing left to do).
    warn_at: Mapped[datetime | None] = mapped_column(Moment)
    escalate_at: Mapped[datetime | None] = mapped_column(Moment)
    next_check_at: Mapped[datetime | None] = mapped_column(Moment)
    # What the monitor did.
    warned_at: Mapped[datetime | None] = mapped_column(Moment)
    escalated_at: Mapped[datetime | None] = mapped_column(Moment)
    breached_at: Mapped[datetime | None] = mapped_column(Moment)
    # When its answer was last changed after it was complete.
    amended_at: Mapped[datetime | None] = mapped_column(Moment)
    # The version of the answer that its entry in the inbox tells of; another one is described anew.
    indexed_version: Mapped[int] = mapped_column(Integer, default=-1, server_default="-1")

    __table_args__ = (
        Index("ix_requests_status", "status", "deadline_utc"),
        index_where("ix_requests_next_check", "next_check_at", where="next_check_at IS NOT NULL"),
        Index("ix_requests_external", "tenant_id", "channel", "external_id"),
        Index("ix_requests_created", "created_at", "id"),
        # What a tenant has, newest last, and what of it is not over.
        Index("ix_requests_tenant", "tenant_id", "created_at", "id"),
        index_where("ix_requests_open", "tenant_id", where="completed_at IS NULL"),
        # What of a tenant has one status, newest last.
        Index("ix_requests_inbox", "tenant_id", "status", "created_at", "id"),
        index_where("ix_requests_stale", "created_at", where="indexed_version <> answer_version"),
        Index("uq_requests_idempotency", "tenant_id", "idempotency_key", unique=True),
    )


class Answer(Tenanted, Base):
    """An answer as it was given: a version is stored once. Version 0 is the draft kept from escalation on."""

    __tablename__ = "answers"

    request_id: Mapped[UUID] = mapped_column(
        Id, ForeignKey("requests.id", ondelete="CASCADE"), primary_key=True
    )
    version: Mapped[int] = mapped_column(Integer, primary_key=True)
    is_partial: Mapped[bool] = mapped_column(Boolean)
    # What made it: complete, failed, deadline, early, draft.
    reason: Mapped[str] = mapped_column(String(16))
    payload: Mapped[Any | None] = mapped_column(Json)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)


class DeliveryState(StrEnum):
    """Where the delivery of an answer stands."""

    PENDING = "pending"
    DELIVERED = "delivered"
    GIVEN_UP = "given_up"


class AnswerDelivery(Tenanted, Base):
    """An answer on its way to the client's `callback_url`: one row, one id and one body per version."""

    __tablename__ = "deliveries"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True)
    request_id: Mapped[UUID] = mapped_column(Id, ForeignKey("requests.id", ondelete="CASCADE"))
    version: Mapped[int] = mapped_column(Integer)
    url: Mapped[str] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)
    state: Mapped[str] = mapped_column(String(16), default=DeliveryState.PENDING)
    attempts: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    next_attempt_at: Mapped[datetime] = mapped_column(Moment)
    # Who is sending it now, and until when that counts.
    claimed_by: Mapped[str | None] = mapped_column(String(96))
    claimed_until: Mapped[datetime | None] = mapped_column(Moment)
    last_error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    settled_at: Mapped[datetime | None] = mapped_column(Moment)

    __table_args__ = (
        UniqueConstraint("request_id", "version", name="uq_deliveries_version"),
        index_where("ix_deliveries_due", "next_attempt_at", where="state = 'pending'"),
    )


class AggregationState(Tenanted, Base):
    """A join: how many units it expects, how many have come. `expected_count` is empty until sealed."""

    __tablename__ = "aggregation_state"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    request_id: Mapped[UUID] = mapped_column(Id, ForeignKey("requests.id", ondelete="CASCADE"))
    stage: Mapped[str] = mapped_column(String(96))
    group_key: Mapped[str] = mapped_column(String(255), default="", server_default="")
    generation: Mapped[int] = mapped_column(Integer, default=1, server_default="1")
    # How many units the fan-out has sent so far; what `expected_count` becomes when it is over.
    announced_count: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    expected_count: Mapped[int | None] = mapped_column(Integer)
    received_count: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    is_complete: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)

    __table_args__ = (
        UniqueConstraint("request_id", "stage", "group_key", "generation", name="uq_aggregation_state_join"),
    )


class FanInArrival(Tenanted, Base):
    """A unit that reached its join; unique, so that a unit can never be counted twice."""

    __tablename__ = "fan_in_arrivals"

    request_id: Mapped[UUID] = mapped_column(Id, primary_key=True)
    stage: Mapped[str] = mapped_column(String(96), primary_key=True)
    group_key: Mapped[str] = mapped_column(String(255), primary_key=True)
    generation: Mapped[int] = mapped_column(Integer, primary_key=True)
    unit_key: Mapped[str] = mapped_column(String(255), primary_key=True)
    failure: Mapped[str | None] = mapped_column(Text)
    body: Mapped[str | None] = mapped_column(Text)


class MessageState(StrEnum):
    """Where a message row stands."""

    READY = "ready"  # nobody has it: to be claimed (sql) or published (broker)
    LEASED = "leased"  # `worker_id` is working on it
    SENT = "sent"  # `worker_id` vouches that a copy is at the broker
    DELAYED = "delayed"  # not before `available_at`
    HELD = "held"  # waits for room in the fan-out window `held_by`


class Message(Tenanted, Base):
    """Every message that is not yet handled, whatever the transport: the row is the message."""

    __tablename__ = "messages"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True)
    request_id: Mapped[UUID] = mapped_column(Id)
    queue: Mapped[str] = mapped_column(String(128))
    stage: Mapped[str] = mapped_column(String(64))
    unit_key: Mapped[str] = mapped_column(String(255))
    band: Mapped[int] = mapped_column(SmallInteger)
    deadline_utc: Mapped[datetime] = mapped_column(Moment)
    created_at: Mapped[datetime] = mapped_column(Moment)
    available_at: Mapped[datetime] = mapped_column(Moment)
    state: Mapped[str] = mapped_column(String(8))
    worker_id: Mapped[str | None] = mapped_column(String(96))
    attempt: Mapped[int] = mapped_column(Integer, default=1, server_default="1")
    cursor: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    held_by: Mapped[str | None] = mapped_column(String(400))
    history: Mapped[str | None] = mapped_column(Text)
    body: Mapped[str] = mapped_column(Text)

    __table_args__ = (
        # The order of work within a tenant; whose turn it is says fair_order.py. Partial, so that it stays
        # small however many messages are held or leased.
        index_where(
            "ix_messages_turn",
            "queue",
            "tenant_id",
            text("band DESC"),
            "deadline_utc",
            "created_at",
            where="state = 'ready'",
        ),
        index_where("ix_messages_delayed", "available_at", where="state = 'delayed'"),
        Index("ix_messages_request", "request_id"),
    )


class Worker(Tenanted, Base):
    """A process that may hold leases; a beat older than four seconds means it is dead."""

    __tablename__ = "workers"

    id: Mapped[str] = mapped_column(String(96), primary_key=True)
    host: Mapped[str] = mapped_column(String(255))
    pid: Mapped[int] = mapped_column(Integer)
    components: Mapped[str] = mapped_column(Text)
    is_ready: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    # How many heavy messages it works on at once.
    slots: Mapped[int] = mapped_column(Integer, default=1, server_default="1")
    started_at: Mapped[datetime] = mapped_column(Moment)
    beat_at: Mapped[datetime] = mapped_column(Moment)
    # What the process and its children use: 100 is one core, and resident memory.
    cpu_pct: Mapped[float | None] = mapped_column(Float)
    memory_mb: Mapped[float | None] = mapped_column(Float)


class Duty(Tenanted, Base):
    """Something one process at a time does for all; whoever holds it renews it before `until`."""

    __tablename__ = "duties"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    holder: Mapped[str] = mapped_column(String(96))
    until: Mapped[datetime] = mapped_column(Moment)


class Event(Tenanted, Base):
    """Append-only history: one row per handled message and per change of status, answer, task, delivery."""

    __tablename__ = "events"

    id: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    )
    # PostgreSQL: rows commit out of id order; readers that resume order by this below the snapshot's xmin.
    transaction_id: Mapped[int] = mapped_column(BigInteger, server_default="0")
    request_id: Mapped[UUID | None] = mapped_column(Id)
    kind: Mapped[str] = mapped_column(String(32))
    stage: Mapped[str | None] = mapped_column(String(64))
    unit_key: Mapped[str | None] = mapped_column(String(255))
    message_id: Mapped[UUID | None] = mapped_column(Id)
    attempt: Mapped[int | None] = mapped_column(Integer)
    outcome: Mapped[str | None] = mapped_column(String(32))
    worker_id: Mapped[str | None] = mapped_column(String(96))
    started_at: Mapped[datetime] = mapped_column(Moment)
    finished_at: Mapped[datetime] = mapped_column(Moment)
    # Of a handled message, its share of the time: what was handled together is not counted again and again.
    busy_seconds: Mapped[float | None] = mapped_column(Float)
    data: Mapped[Any | None] = mapped_column(Json)

    __table_args__ = (
        # The order in which readers resume.
        Index("ix_events_request", "request_id", "transaction_id", "id"),
        # What people did; most rows are handled messages, which it leaves out.
        index_where("ix_events_audit", "id", where="kind <> 'handled'"),
    )


class DeadLetter(Tenanted, Base):
    """A message that exhausted its retries or could not be read, with everything needed to replay it."""

    __tablename__ = "dead_letters"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    message_id: Mapped[UUID | None] = mapped_column(Id, index=True)
    request_id: Mapped[UUID | None] = mapped_column(Id, index=True)
    queue: Mapped[str] = mapped_column(String(128))
    stage: Mapped[str | None] = mapped_column(String(64))
    unit_key: Mapped[str | None] = mapped_column(String(255))
    reason: Mapped[str] = mapped_column(Text)
    attempts: Mapped[int] = mapped_column(Integer)
    history: Mapped[Any] = mapped_column(Json, default=list)
    body: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    replayed_as: Mapped[UUID | None] = mapped_column(Id)
    settled_at: Mapped[datetime | None] = mapped_column(Moment)

    __table_args__ = (index_where("ix_dead_letters_open", "created_at", where="settled_at IS NULL"),)


class Inbox(Tenanted, Base):
    """Ids of other systems' messages that were taken in."""

    __tablename__ = "inbox"

    message_id: Mapped[UUID] = mapped_column(Id, primary_key=True)
    queue: Mapped[str] = mapped_column(String(128), primary_key=True)
    received_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)


class WorkflowVersion(Tenanted, Base):
    """The content of a workflow as some request started with it."""

    __tablename__ = "workflow_versions"

    name: Mapped[str] = mapped_column(String(64), primary_key=True)
    version: Mapped[str] = mapped_column(String(64), primary_key=True)
    definition: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
