"""The tables behind resilience: what all replicas share."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import BigInteger, Boolean, Float, ForeignKey, Index, Integer, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from docproc.engine.store.columns import Id, Json, Moment
from docproc.engine.store.tables import Base, Tenanted


class BreakerRow(Tenanted, Base):
    """The circuit breaker of one endpoint of a service."""

    __tablename__ = "orchestrator_breakers"

    service: Mapped[str] = mapped_column(String(64), primary_key=True)
    # `primary` or `secondary`.
    endpoint: Mapped[str] = mapped_column(String(16), primary_key=True)
    level: Mapped[str] = mapped_column(String(16))
    # Whether the service has an endpoint that calls go to while this one's breaker is open.
    has_second: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))
    state: Mapped[str] = mapped_column(String(16), default="closed", server_default="closed")
    outcomes: Mapped[str] = mapped_column(String(256), default="", server_default="")
    generation: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    passed: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    opened_at: Mapped[datetime | None] = mapped_column(Moment)
    probe_at: Mapped[datetime | None] = mapped_column(Moment)
    reason: Mapped[str] = mapped_column(Text, default="", server_default="")
    updated_at: Mapped[datetime] = mapped_column(Moment)


class CallStatistics(Tenanted, Base):
    """The calls of one minute, added up: how many, how they ended, how long they took."""

    __tablename__ = "orchestrator_call_statistics"

    minute: Mapped[datetime] = mapped_column(Moment, primary_key=True)
    service: Mapped[str] = mapped_column(String(64), primary_key=True)
    endpoint: Mapped[str] = mapped_column(String(16), primary_key=True)
    # Of the message, such as `agent.execute`.
    type: Mapped[str] = mapped_column(String(64), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    calls: Mapped[int] = mapped_column(BigInteger, default=0)
    # Failures that the service has to answer for; those of whoever asked; and our own.
    failures: Mapped[int] = mapped_column(BigInteger, default=0)
    client_errors: Mapped[int] = mapped_column(BigInteger, default=0)
    internal_errors: Mapped[int] = mapped_column(BigInteger, default=0)
    retries: Mapped[int] = mapped_column(BigInteger, default=0)
    # Calls that were not made and answered by a fallback.
    fallbacks: Mapped[int] = mapped_column(BigInteger, default=0)
    seconds: Mapped[float] = mapped_column(Float, default=0.0)
    longest_seconds: Mapped[float] = mapped_column(Float, default=0.0)
    # How many took at most so long: the bounds are `statistics.BOUNDS`, the last has none.
    took_0: Mapped[int] = mapped_column(BigInteger, default=0)
    took_1: Mapped[int] = mapped_column(BigInteger, default=0)
    took_2: Mapped[int] = mapped_column(BigInteger, default=0)
    took_3: Mapped[int] = mapped_column(BigInteger, default=0)
    took_4: Mapped[int] = mapped_column(BigInteger, default=0)
    took_5: Mapped[int] = mapped_column(BigInteger, default=0)
    took_6: Mapped[int] = mapped_column(BigInteger, default=0)
    took_7: Mapped[int] = mapped_column(BigInteger, default=0)
    took_8: Mapped[int] = mapped_column(BigInteger, default=0)
    took_9: Mapped[int] = mapped_column(BigInteger, default=0)
    took_10: Mapped[int] = mapped_column(BigInteger, default=0)


class KnownAnswer(Tenanted, Base):
    """The last good answer of a critical service to one question of one tenant."""

    __tablename__ = "orchestrator_known_answers"
    __table_args__ = (Index("ix_orchestrator_known_answers_age", "answered_at"),)

    tenant_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    # SHA-256 of service, type and payload.
    question: Mapped[str] = mapped_column(String(64), primary_key=True)
    service: Mapped[str] = mapped_column(String(64))
    # Whose answer it was: it goes when that request is erased.
    request_id: Mapped[UUID] = mapped_column(Id, ForeignKey("requests.id", ondelete="CASCADE"), index=True)
    answer: Mapped[Any] = mapped_column(Json)
    answered_at: Mapped[datetime] = mapped_column(Moment)


class Mode(Tenanted, Base):
    """What somebody set by hand for all replicas: the degradation level."""

    __tablename__ = "orchestrator_modes"

    name: Mapped[str] = mapped_column(String(32), primary_key=True)
    value: Mapped[str] = mapped_column(String(32))
    reason: Mapped[str] = mapped_column(Text, default="", server_default="")
    updated_at: Mapped[datetime] = mapped_column(Moment)
