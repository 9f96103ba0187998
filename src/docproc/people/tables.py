"""The tables of sign-in: sessions, and attempts that failed."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    ForeignKey,
    Integer,
    String,
)
from sqlalchemy.orm import Mapped, mapped_column

from docproc.engine.message import utc_now
from docproc.engine.store.columns import Id, Moment
from docproc.engine.store.tables import Base, Tenanted


class SignIn(Tenanted, Base):
    """A person's session; the cookie's value is not kept, only what it hashes to."""

    __tablename__ = "sign_ins"

    id: Mapped[str] = mapped_column(String(64), primary_key=True)
    operator_id: Mapped[UUID] = mapped_column(Id, ForeignKey("operators.id", ondelete="CASCADE"), index=True)
    csrf: Mapped[str] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    seen_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    expires_at: Mapped[datetime] = mapped_column(Moment)


class SignInFailure(Tenanted, Base):
    """Attempts to sign in that failed, of a name or from an address (`key`); forgotten after a while."""

    __tablename__ = "sign_in_failures"

    key: Mapped[str] = mapped_column(String(160), primary_key=True)
    failures: Mapped[int] = mapped_column(Integer, default=1, server_default="1")
    last_at: Mapped[datetime] = mapped_column(Moment)
    # No attempt is looked at before this.
    blocked_until: Mapped[datetime] = mapped_column(Moment)
