"""What supervisors look for in documents, and what their corrections leave of open questions."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, case, func, or_, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.tables import Correction, CorrectionSubject, File
from docproc.engine.message import utc_now
from docproc.engine.store.tables import Request
from docproc.engine.store.task_tables import BackofficeTask
from docproc.engine.store.tasks import AMENDS, OPEN
from docproc.people.audit import Rate


async def overrides(
    session: AsyncSession, tenant_id: str, since: datetime, subjects: Collection[CorrectionSubject]
) -> list[Rate]:
    """By type of document and field, how often people changed what the machine had said."""
    one = Correction
    what = case((one.subject == CorrectionSubject.FIELD, one.field), else_=one.subject)
    changed = func.sum(case((one.is_changed, 1), else_=0))
    query = (
        select(one.doc_type, what, func.count(), changed)
        .where(one.tenant_id == tenant_id, one.created_at >= since, one.subject.in_(subjects))
        .group_by(one.doc_type, what)
    )
    return [Rate(kind, name, int(n), int(c)) for kind, name, n, c in await session.execute(query)]


# --- requests -------------------------------------------------------------------------------------------


async def find_requests(session: AsyncSession, tenant_id: str, text: str, limit: int) -> list[Request]:
    """By request id, external id or part of a file's name; the latest first. Without a text: the latest."""
    query = select(Request).where(Request.tenant_id == tenant_id)
    if text:
        query = query.where(_matches(text))
    return list(await session.scalars(query.order_by(Request.created_at.desc(), Request.id).limit(limit)))


def _matches(text: str) -> ColumnElement[bool]:
    try:
        return Request.id == UUID(text)
    except ValueError:
        name = File.name.icontains(text, autoescape=True)
        return or_(Request.external_id == text, Request.id.in_(select(File.request_id).where(name)))


# --- open questions -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Corrected:
    """A document after a supervisor's correction of the fields `names`."""

    document_id: UUID
    names: Collection[str]
    fields: Mapping[str, Any]
    extracted_data: Mapping[str, Any]


async def narrow_questions(session: AsyncSession, now_is: Corrected) -> None:
    """What a supervisor has corrected is no question any more, nor must a later answer bring it back.

    Second readers go on seeing what the machine saw.
    """
    one = BackofficeTask
    query = select(one.id, one.input_data, one.second_of).where(
        one.reference_id == now_is.document_id, one.status.in_(OPEN)
    )
    current = {"fields": dict(now_is.fields), "extracted_data": dict(now_is.extracted_data)}
    for row in list(await session.execute(query.with_for_update(key_share=True))):
        seen = dict(row.input_data or {})
        left = [name for name in seen.get("review") or () if name not in now_is.names]
        if not seen.get(AMENDS):
            continue
        if not left:
            done = {"status": "completed", "completed_at": utc_now(), "output_data": {"closed": "corrected"}}
            await _change_task(session, row.id, done)
        else:
            seen |= {"review": left, **(current if row.second_of is None else {})}
            await _change_task(session, row.id, {"input_data": seen})


async def _change_task(session: AsyncSession, task_id: UUID, values: dict[str, Any]) -> None:
    await session.execute(
        update(BackofficeTask)
        .where(BackofficeTask.id == task_id)
        .values(**values)
        .execution_options(synchronize_session=False)
    )
