"""The table of API keys."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import ForeignKey, Index, String
from sqlalchemy.orm import Mapped, mapped_column

from docproc.engine.message import utc_now
from docproc.engine.store.columns import Id, Moment, Strings
from docproc.engine.store.tables import Base, Tenanted


class ApiKey(Tenanted, Base):
    """A key of a tenant's program; the key itself is not kept, only what it hashes to."""

    __tablename__ = "api_keys"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    # Its beginning, by which people know it: `dp_1a2b3c4d`.
    prefix: Mapped[str] = mapped_column(String(16))
    hash: Mapped[str] = mapped_column(String(64))
    name: Mapped[str] = mapped_column(String(64))
    scopes: Mapped[Any] = mapped_column(Strings, default=list)
    # As whom it answers tasks, if it may.
    operator_id: Mapped[UUID | None] = mapped_column(Id, ForeignKey("operators.id", ondelete="CASCADE"))
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    created_by: Mapped[str | None] = mapped_column(String(64))
    # Empty: until somebody revokes it.
    expires_at: Mapped[datetime | None] = mapped_column(Moment)
    revoked_at: Mapped[datetime | None] = mapped_column(Moment)
    # A minute more or less: a write for every call would be many.
    last_used_at: Mapped[datetime | None] = mapped_column(Moment)
    # The key in whose place it came.
    replaces: Mapped[UUID | None] = mapped_column(Id)

    __table_args__ = (
        Index("uq_api_keys_hash", "hash", unique=True),
        Index("ix_api_keys_tenant", "tenant_id", "created_at"),
    )
