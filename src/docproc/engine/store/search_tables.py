"""The tables of the inbox: what is found of each request, and queries that people keep by name."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import BigInteger, ForeignKey, Index, Integer, String, Text
from sqlalchemy.dialects.postgresql import TSVECTOR
from sqlalchemy.orm import Mapped, mapped_column

from docproc.engine.message import utc_now
from docproc.engine.store.columns import Id, Json, Moment, index_where
from docproc.engine.store.tables import Base, Tenanted


class SearchEntry(Tenanted, Base):
    """What the inbox shows and finds of a request, as its application described it.

    `id` grows in the order in which requests were first described, which is the order of their arrival but
    for those of the same moment: lists of found requests are sorted and paged by it. On SQLite an FTS5 table,
    `search_words`, is kept beside this one by triggers.
    """

    __tablename__ = "search_entries"

    id: Mapped[int] = mapped_column(
        BigInteger().with_variant(Integer, "sqlite"), primary_key=True, autoincrement=True
    )
    request_id: Mapped[UUID] = mapped_column(Id, ForeignKey("requests.id", ondelete="CASCADE"), unique=True)
    title: Mapped[str] = mapped_column(Text)
    # The application's own: what its columns of the inbox are made of.
    summary: Mapped[Any] = mapped_column(Json, default=dict)
    # How many things in it somebody should look at.
    attention: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    # Distinct words without order: a vector on PostgreSQL, words between spaces on SQLite.
    words: Mapped[Any] = mapped_column(Text().with_variant(TSVECTOR(), "postgresql"))

    __table_args__ = (
        Index("ix_search_entries_tenant", "tenant_id", "id"),
        index_where("ix_search_entries_attention", "tenant_id", "id", where="attention > 0"),
        Index("ix_search_entries_words", "words", postgresql_using="gin").ddl_if(dialect="postgresql"),
    )


class SavedView(Tenanted, Base):
    """A query of the inbox that somebody kept by a name; `owner` is empty where nobody signs in."""

    __tablename__ = "saved_views"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    owner: Mapped[str] = mapped_column(String(64), default="", server_default="")
    name: Mapped[str] = mapped_column(String(64))
    query: Mapped[str] = mapped_column(Text)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)

    __table_args__ = (Index("uq_saved_views_name", "tenant_id", "owner", "name", unique=True),)
