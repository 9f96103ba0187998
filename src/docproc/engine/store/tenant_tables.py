"""The tables of tenants: who they are, what they may take, what they took, and who is held back."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, Boolean, Float, Integer, String, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from docproc.engine.message import utc_now
from docproc.engine.store.columns import Json, Moment
from docproc.engine.store.tables import Base


class Tenant(Base):
    """Somebody whose work is kept apart from everybody else's. `default` needs no row."""

    __tablename__ = "tenants"

    # Its name in addresses, folders and every other table.
    tenant_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    display_name: Mapped[str | None] = mapped_column(Text)
    # Its share of the work where several wait: twice the weight, twice the share.
    weight: Mapped[float] = mapped_column(Float, default=1.0, server_default="1")
    # `TenantSettings` (engine/workflow/tenants.py).
    settings: Mapped[Any] = mapped_column(Json, default=dict, server_default="{}")
    # False: nobody comes in for it; what it has stays.
    is_active: Mapped[bool] = mapped_column(Boolean, default=True, server_default=text("true"))
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)


class TenantUsage(Base):
    """How much of a quota a tenant took in a span of time, where rows of its own do not tell."""

    __tablename__ = "tenant_usage"

    tenant_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    # "requests" (of a minute) or "units" (of a day, of requests that were erased meanwhile).
    kind: Mapped[str] = mapped_column(String(16), primary_key=True)
    since: Mapped[datetime] = mapped_column(Moment, primary_key=True)
    number: Mapped[int] = mapped_column(BigInteger, default=0, server_default="0")


class Throttle(Base):
    """How many requests a minute a tenant may send for now, because the deployment cannot keep up."""

    __tablename__ = "throttles"

    # A tenant, or `*`: whoever has no row of its own.
    tenant_id: Mapped[str] = mapped_column(String(64), primary_key=True)
    # What holds it back, such as an alert's id: it takes its own rows away when it is over.
    cause: Mapped[str] = mapped_column(String(64), primary_key=True)
    requests_per_minute: Mapped[int] = mapped_column(Integer)
    since: Mapped[datetime] = mapped_column(Moment, default=utc_now)
