"""The tables of materials."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Boolean, Float, ForeignKey, Index, Integer, LargeBinary, String, Text, UniqueConstraint
from sqlalchemy.orm import Mapped, mapped_column

from docproc.engine.message import utc_now
from docproc.engine.store.columns import Id, Json, Moment
from docproc.engine.store.tables import Base, Tenanted


class LinkStatus(StrEnum):
    """Where a material's summary stands; only `completed` means that both documents are there."""

    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


class MaterialSummaryLink(Tenanted, Base):
    """What other systems look at: whether a material is done, and which document holds its summary."""

    __tablename__ = "material_summary_link"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    material_id: Mapped[str] = mapped_column(String(200))
    # None until there is one.
    mongo_document_id: Mapped[str | None] = mapped_column(String(64))
    status: Mapped[str] = mapped_column(String(16), default=LinkStatus.PROCESSING)
    request_id: Mapped[UUID | None] = mapped_column(Id)
    error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)

    __table_args__ = (
        UniqueConstraint("tenant_id", "material_id", name="uq_material_summary_link"),
        Index("ix_material_summary_link_request", "request_id"),
    )


class Assessment(Tenanted, Base):
    """A material's quiz, for systems that list quizzes: one row each, whatever is processed again."""

    __tablename__ = "assessment"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    material_id: Mapped[str] = mapped_column(String(200))
    mongo_document_id: Mapped[str] = mapped_column(String(64))
    title: Mapped[str] = mapped_column(Text)
    total_questions: Mapped[int] = mapped_column(Integer)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)

    __table_args__ = (UniqueConstraint("tenant_id", "material_id", name="uq_assessment_material"),)


class _Document(Tenanted):
    """A document as it is in use; the versions before it are in `material_versions`."""

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    material_id: Mapped[str] = mapped_column(String(200))
    version: Mapped[int] = mapped_column(Integer)
    request_id: Mapped[UUID | None] = mapped_column(Id)
    document: Mapped[Any] = mapped_column(Json)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)


class SummaryRow(_Document, Base):
    """Summaries, where they are not kept in MongoDB."""

    __tablename__ = "material_summary"
    __table_args__ = (
        UniqueConstraint("tenant_id", "material_id", name="uq_material_summary"),
        Index("ix_material_summary_request", "request_id"),
    )


class AssessmentRow(_Document, Base):
    """Quizzes, where they are not kept in MongoDB."""

    __tablename__ = "material_assessment"
    __table_args__ = (
        UniqueConstraint("tenant_id", "material_id", name="uq_material_assessment"),
        Index("ix_material_assessment_request", "request_id"),
    )


class MaterialVersion(Tenanted, Base):
    """Earlier versions of the two documents, as they were replaced: by processing again, or by a person."""

    __tablename__ = "material_versions"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    material_id: Mapped[str] = mapped_column(String(200))
    # "summary" or "assessment"
    kind: Mapped[str] = mapped_column(String(16))
    version: Mapped[int] = mapped_column(Integer)
    document: Mapped[Any] = mapped_column(Json)
    replaced_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)

    __table_args__ = (
        UniqueConstraint("tenant_id", "material_id", "kind", "version", name="uq_material_versions"),
    )


class MaterialAnswer(Tenanted, Base):
    """One question to a model and its answer: kept before anything follows from it, so it is paid for
    once."""

    __tablename__ = "material_answers"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    request_id: Mapped[UUID] = mapped_column(Id, ForeignKey("requests.id", ondelete="CASCADE"))
    step: Mapped[str] = mapped_column(String(64))
    prompt_hash: Mapped[str] = mapped_column(String(64))
    model: Mapped[str] = mapped_column(String(128))
    # None while it is being asked, or where the process died meanwhile.
    answer: Mapped[str | None] = mapped_column(Text)
    is_cut_off: Mapped[bool] = mapped_column(Boolean, default=False)
    # How often it was asked: more than once only where a process died, or the server did not answer.
    asked: Mapped[int] = mapped_column(Integer, default=1)
    prompt_tokens: Mapped[int] = mapped_column(Integer, default=0)
    completion_tokens: Mapped[int] = mapped_column(Integer, default=0)
    cost_usd: Mapped[float] = mapped_column(Float, default=0.0)
    asked_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    answered_at: Mapped[datetime | None] = mapped_column(Moment)

    __table_args__ = (
        UniqueConstraint("request_id", "step", "prompt_hash", name="uq_material_answers_prompt"),
        Index("ix_material_answers_asked_at", "asked_at"),
    )


class MaterialEvent(Tenanted, Base):
    """The log of what became of materials, kept for 90 days."""

    __tablename__ = "material_event"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    material_id: Mapped[str] = mapped_column(String(200))
    request_id: Mapped[UUID | None] = mapped_column(Id)
    event_type: Mapped[str] = mapped_column(String(32))
    duration_ms: Mapped[int | None] = mapped_column(Integer)
    tokens: Mapped[int | None] = mapped_column(Integer)
    estimated_cost_usd: Mapped[float | None] = mapped_column(Float)
    data: Mapped[Any | None] = mapped_column(Json)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)

    __table_args__ = (
        Index("ix_material_event_material", "material_id"),
        Index("ix_material_event_created_at", "created_at"),
    )


class MaterialDelivery(Tenanted, Base):
    """An event of another system as it arrived, for as long as its request lives."""

    __tablename__ = "material_deliveries"

    request_id: Mapped[UUID] = mapped_column(
        Id, ForeignKey("requests.id", ondelete="CASCADE"), primary_key=True
    )
    queue: Mapped[str] = mapped_column(String(255))
    body: Mapped[bytes] = mapped_column(LargeBinary)
    received_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)


class MaterialFailure(Tenanted, Base):
    """A material that failed for good, or an event that nothing can be made of; told once to all
    concerned."""

    __tablename__ = "material_failures"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    # None: the event could not be read.
    request_id: Mapped[UUID | None] = mapped_column(Id, ForeignKey("requests.id", ondelete="CASCADE"))
    material_id: Mapped[str | None] = mapped_column(String(200))
    code: Mapped[str] = mapped_column(String(64))
    reason: Mapped[str] = mapped_column(Text)
    attempts: Mapped[int] = mapped_column(Integer)
    # [{attempt, at, error}], oldest first
    history: Mapped[Any] = mapped_column(Json)
    # What the broker's dead-letter queue gets; None: it did not come by the queue.
    body: Mapped[bytes | None] = mapped_column(LargeBinary)
    failed_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    # When the broker confirmed that it is in the dead-letter queue.
    published_at: Mapped[datetime | None] = mapped_column(Moment)

    __table_args__ = (
        Index("ix_material_failures_request", "request_id"),
        Index("ix_material_failures_published_at", "published_at"),
    )


class MaterialNotice(Tenanted, Base):
    """What a teacher is to be told, until it was told or could not be."""

    __tablename__ = "material_notices"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    request_id: Mapped[UUID] = mapped_column(Id, ForeignKey("requests.id", ondelete="CASCADE"))
    # "webhook" or "mail"
    way: Mapped[str] = mapped_column(String(16))
    address: Mapped[str] = mapped_column(Text)
    content: Mapped[Any] = mapped_column(Json)
    attempts: Mapped[int] = mapped_column(Integer, default=0)
    due_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    sent_at: Mapped[datetime | None] = mapped_column(Moment)
    problem: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)

    __table_args__ = (
        Index("ix_material_notices_request", "request_id"),
        Index("ix_material_notices_due_at", "due_at"),
    )
