"""The tables of promotion: which version of a workflow each environment runs, and the cases it must pass."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Index, String, Text
from sqlalchemy.orm import Mapped, mapped_column

from docproc.engine.message import utc_now
from docproc.engine.store.columns import Id, Json, Moment
from docproc.engine.store.tables import Base, Tenanted


class Promotion(Tenanted, Base):
    """A version that an environment was given; it runs the newest one of a workflow.

    Rows are only added, so they are the history as well.
    """

    __tablename__ = "promotions"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    environment: Mapped[str] = mapped_column(String(16))
    workflow_name: Mapped[str] = mapped_column(String(64))
    version: Mapped[str] = mapped_column(String(64))
    # What ran before; empty: whatever the file said.
    previous_version: Mapped[str | None] = mapped_column(String(64))
    # "promoted", or "rolled_back" where the version before was put back.
    kind: Mapped[str] = mapped_column(String(16), default="promoted", server_default="promoted")
    # Who did it, and why: the figures of the suite, or the rate that left its interval.
    made_by: Mapped[str] = mapped_column(String(128), default="", server_default="")
    reason: Mapped[Any | None] = mapped_column(Json)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)

    __table_args__ = (Index("ix_promotions_current", "environment", "workflow_name", "created_at"),)


def golden_owner(case_id: UUID) -> str:
    """Whose a case's files are in the blob store. Not an id alone: what is called so and is no request's is
    swept."""
    return f"golden-{case_id}"


class GoldenCase(Tenanted, Base):
    """A request whose answer a person vouched for: every later version of its workflow must give it again.

    It has files of its own and outlives the retention of the request that it was made from. Whoever erases
    that request erases it, too.
    """

    __tablename__ = "golden_cases"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    workflow_name: Mapped[str] = mapped_column(String(64), index=True)
    title: Mapped[str] = mapped_column(Text)
    # The request it was made from.
    request_id: Mapped[UUID | None] = mapped_column(Id)
    # As in `requests`; the keys are those of the case's own copies.
    uploads: Mapped[Any] = mapped_column(Json, default=list)
    metadata_: Mapped[Any] = mapped_column("metadata", Json, default=dict)
    # What of the answer is compared (`Application.golden`).
    expected: Mapped[Any] = mapped_column(Json)
    made_by: Mapped[str] = mapped_column(String(128), default="", server_default="")
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
