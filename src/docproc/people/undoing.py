"""Undo: for a while people take back answers they gave, and are asked again with what they said filled in.

What was said stands until it is said anew: nothing that has gone on is called back, and nobody waits a second
time. So taking back delays no answer. If the request has been answered by then, the new answer amends it like
any late one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import ColumnElement, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.engine.store.tasks import AMENDS
from docproc.errors import NotAllowedError, TaskConflictError
from docproc.people.kinds import EARLIER, TaskKind, TaskKinds, asked, message_of
from docproc.people.listing import DONE, files_of
from docproc.people.store import claims

# How long ago an answer may have been given, and how many are offered.
LONGEST = timedelta(hours=1)
MOST = 5


@dataclass(frozen=True, slots=True)
class Given:
    """An answer that can be taken back."""

    id: UUID
    label: str
    about: str
    file: str
    at: datetime


async def recent(
    session: AsyncSession, operator: Operator, kinds: TaskKinds, language: str, now: datetime
) -> list[Given]:
    """The person's last answers, the latest first."""
    query = (
        select(BackofficeTask).where(*_is_mine(operator, now)).order_by(BackofficeTask.completed_at.desc())
    )
    found = list(await session.scalars(query.limit(MOST)))
    may = [
        one for one in found if one.task_type in kinds and await _is_free(session, kinds[one.task_type], one)
    ]
    names = await files_of(session, {one.request_id for one in may})
    return [_given(one, kinds, language, names.get(one.request_id, "")) for one in may]


def _given(task: BackofficeTask, kinds: TaskKinds, language: str, file: str) -> Given:
    listed = kinds.listed(task, language)
    return Given(task.id, listed.label, listed.about, file, task.completed_at or task.created_at)


def _is_mine(operator: Operator, now: datetime) -> Sequence[ColumnElement[bool]]:
    return (
        DONE,
        BackofficeTask.assigned_to == operator.id,
        BackofficeTask.tenant_id == operator.tenant_id,
        BackofficeTask.completed_at > now - LONGEST,
        BackofficeTask.second_of.is_(None),
    )


async def _is_free(session: AsyncSession, kind: TaskKind[Any], task: BackofficeTask) -> bool:
    """Whether nobody reads the answer a second time, and what it is about is still there."""
    output = task.output_data or {}
    if "closed" in output or await _is_read_again(session, task.id):
        return False
    return await kind.may_take_back(session, task)


async def _is_read_again(session: AsyncSession, task_id: UUID) -> bool:
    query = select(BackofficeTask.id).where(BackofficeTask.second_of == task_id).limit(1)
    return await session.scalar(query) is not None


async def take_back(
    session: AsyncSession, kind: TaskKind[Any], task: BackofficeTask, operator: Operator, now: datetime
) -> None:
    """In one transaction: the task is the person's again. Raises TaskConflictError or NotAllowedError."""
    if task.assigned_to != operator.id or task.tenant_id != operator.tenant_id:
        raise NotAllowedError("this answer is somebody else's", remedy="Ask a supervisor to correct it")
    if not await _is_free(session, kind, task) or not await _reopen(session, kind, task, operator, now):
        raise TaskConflictError(
            "this answer cannot be taken back any more", remedy="Ask a supervisor to correct the request"
        )
    await kind.take_back(session, task)
    await claims.claim(session, task.id, operator, now)


async def _reopen(
    session: AsyncSession, kind: TaskKind[Any], task: BackofficeTask, operator: Operator, now: datetime
) -> bool:
    """One UPDATE decides: of two windows one finds the task done."""
    output = {name: value for name, value in (task.output_data or {}).items() if name != "operator"}
    message = message_of(task)
    # Of the same id, what follows from the new answer would be taken for what followed from the first one.
    again = message.model_copy(update={"message_id": uuid5(message.message_id, f"again:{now.isoformat()}")})
    reopened = await session.execute(
        update(BackofficeTask)
        .where(BackofficeTask.id == task.id, *_is_mine(operator, now))
        .values(
            status="assigned",
            completed_at=None,
            output_data=None,
            assigned_at=now,
            accepted_at=now,
            seen_at=now,
            input_data={**kind.asked_again(task), EARLIER: output, AMENDS: True},
            message=again.encode().decode(),
        )
        .returning(BackofficeTask.id)
        .execution_options(synchronize_session=False)
    )
    return reopened.first() is not None


def earlier(task: BackofficeTask) -> dict[str, Any] | None:
    """What the person had said, of a task that was taken back."""
    found: dict[str, Any] | None = asked(task).get(EARLIER)
    return found
