"""The tables of alerts: what fires and fired, who is told, and the history of metrics."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, Float, ForeignKey, Index, Integer, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from docproc.engine.message import utc_now
from docproc.engine.store.columns import Id, Json, Moment, index_where
from docproc.engine.store.tables import Base, Tenanted


class AlertRow(Tenanted, Base):
    """An alert, from when it fired; the index lets a rule fire once for a series until it is resolved."""

    __tablename__ = "alerts"
    __table_args__ = (
        Index(
            "uq_alerts_open",
            "rule",
            "series",
            unique=True,
            postgresql_where=text("resolved_at IS NULL"),
            sqlite_where=text("resolved_at IS NULL"),
        ),
        Index("ix_alerts_fired", "fired_at"),
    )

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    rule: Mapped[str] = mapped_column(String(64))
    metric: Mapped[str] = mapped_column(String(64))
    series: Mapped[str] = mapped_column(String(512))
    level: Mapped[str] = mapped_column(String(16))
    # When it fired; the latest value is kept beside it.
    value: Mapped[float] = mapped_column(Float)
    latest: Mapped[float] = mapped_column(Float)
    threshold: Mapped[float | None] = mapped_column(Float)
    fired_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    resolved_at: Mapped[datetime | None] = mapped_column(Moment)
    action: Mapped[str] = mapped_column(String(32), default="", server_default="")
    # `due`, `begun`, `ending`, `ended`; empty where there is no action.
    action_state: Mapped[str] = mapped_column(String(16), default="", server_default="")
    # What the action did.
    action_result: Mapped[Any | None] = mapped_column(Json)


class NoticeRow(Tenanted, Base):
    """A notice of an alert, on its way to people."""

    __tablename__ = "alert_notices"
    __table_args__ = (index_where("ix_alert_notices_due", "due_at", where="state = 'waiting'"),)

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    alert_id: Mapped[UUID] = mapped_column(Id, ForeignKey("alerts.id", ondelete="CASCADE"), index=True)
    # `webhook`, `mail` or `sms`.
    channel: Mapped[str] = mapped_column(String(16))
    # `fired` or `resolved`.
    kind: Mapped[str] = mapped_column(String(16))
    level: Mapped[str] = mapped_column(String(16))
    # `waiting`, `sent` or `given_up`.
    state: Mapped[str] = mapped_column(String(16), default="waiting", server_default="waiting")
    attempts: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    # When it may go out: at once, with others a little later, or in the day's summary.
    due_at: Mapped[datetime] = mapped_column(Moment)
    error: Mapped[str | None] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    sent_at: Mapped[datetime | None] = mapped_column(Moment)


class MetricRow(Tenanted, Base):
    """A metric's series in one minute, or one hour: what rules compare with, and pages draw."""

    __tablename__ = "metric_history"
    __table_args__ = (
        Index("ix_metric_history_at", "resolution", "at"),
        # What a page draws: some metrics over some time, whatever their series.
        Index("ix_metric_history_metric", "metric", "resolution", "at"),
    )

    metric: Mapped[str] = mapped_column(String(64), primary_key=True)
    series: Mapped[str] = mapped_column(String(512), primary_key=True)
    # `minute` or `hour`.
    resolution: Mapped[str] = mapped_column(String(8), primary_key=True)
    # Where the minute or hour begins.
    at: Mapped[datetime] = mapped_column(Moment, primary_key=True)
    # How often it was measured, and of how many calls, messages and so on that told.
    samples: Mapped[int] = mapped_column(BigInteger)
    counted: Mapped[int] = mapped_column(BigInteger)
    total: Mapped[float] = mapped_column(Float)
    least: Mapped[float] = mapped_column(Float)
    most: Mapped[float] = mapped_column(Float)
    latest: Mapped[float] = mapped_column(Float)
    latest_at: Mapped[datetime] = mapped_column(Moment)
