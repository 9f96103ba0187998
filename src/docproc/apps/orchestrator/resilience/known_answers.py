"""The last good answers of critical services: what is answered while such a service is away.

It is a cache: answers are gathered and written once a second, beside the calls and not in their transactions,
and what a killed process had not written yet is lost. Only so many are written and kept.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

import orjson
from sqlalchemy import Table, delete, select, text
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.orchestrator.resilience.tables import KnownAnswer
from docproc.engine.message import utc_now
from docproc.engine.store import rows
from docproc.engine.store.session import Store

KEPT = timedelta(hours=24)
MOST_KEPT = 10_000
# Larger answers are not kept: this is for a bridge over a gap, not a second store.
LARGEST_BYTES = 64 * 1024
# Of one process, between two times of writing; beyond that the oldest are dropped.
MOST_WAITING = 100

_TABLE: Table = KnownAnswer.__table__  # type: ignore[assignment] # is a Table

# The newer answer replaces the older one. A request that was erased meanwhile leaves nothing behind.
REMEMBER = f"""
INSERT INTO {_TABLE.name} (tenant_id, question, service, request_id, answer, answered_at)
SELECT :tenant_id, :question, :service, r.id, {{answer}}, {{moment}} FROM requests r WHERE r.id = {{request}}
ON CONFLICT (tenant_id, question) DO UPDATE SET
    request_id = excluded.request_id, answer = excluded.answer, answered_at = excluded.answered_at
"""
_SQLITE = REMEMBER.format(answer=":answer", moment=":answered_at", request=":request_id")
_POSTGRESQL = REMEMBER.format(
    answer="CAST(:answer AS jsonb)",
    moment="CAST(:answered_at AS timestamptz)",
    request="CAST(:request_id AS uuid)",
)


@dataclass(frozen=True, slots=True)
class Found:
    answer: Any
    age_seconds: float


@dataclass(frozen=True, slots=True)
class _Waiting:
    service: str
    request_id: UUID
    body: bytes
    answered_at: datetime


def question_of(service: str, message_type: str, payload: Mapping[str, Any]) -> str:
    """The same for the same question, whatever the order of its fields."""
    said = orjson.dumps([service, message_type, payload], option=orjson.OPT_SORT_KEYS, default=str)
    return hashlib.sha256(said).hexdigest()


class KnownAnswers:
    """One per process."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._waiting: OrderedDict[tuple[str, str], _Waiting] = OrderedDict()

    def remember(self, tenant_id: str, question: str, service: str, answer: Any, request_id: UUID) -> None:
        body = orjson.dumps(answer, default=str)
        if len(body) > LARGEST_BYTES:
            return
        key = (tenant_id, question)
        self._waiting.pop(key, None)
        self._waiting[key] = _Waiting(service, request_id, body, utc_now())
        while len(self._waiting) > MOST_WAITING:
            self._waiting.popitem(last=False)

    async def find(self, tenant_id: str, question: str) -> Found | None:
        waiting = self._waiting.get((tenant_id, question))
        if waiting is not None:
            return Found(orjson.loads(waiting.body), _age(waiting.answered_at))
        query = select(KnownAnswer.answer, KnownAnswer.answered_at).where(
            KnownAnswer.tenant_id == tenant_id,
            KnownAnswer.question == question,
            KnownAnswer.answered_at > utc_now() - KEPT,
        )
        async with self.store.reading() as session:
            row = (await session.execute(query)).one_or_none()
        return Found(row[0], _age(row[1])) if row else None

    async def flush(self) -> None:
        if not self._waiting:
            return
        written, self._waiting = self._waiting, OrderedDict()
        dialect = self.store.dialect
        values = [
            {
                "tenant_id": tenant_id,
                "question": question,
                "service": one.service,
                "request_id": one.request_id,
                "answer": one.body.decode(),
                "answered_at": one.answered_at,
            }
            for (tenant_id, question), one in sorted(written.items())  # nobody waits in a circle
        ]
        statement = text(_SQLITE if dialect == "sqlite" else _POSTGRESQL)
        async with self.store.claiming_once() as connection:
            await connection.execute(statement, [rows.values_for(dialect, one) for one in values])


def _age(moment: datetime) -> float:
    return max(0.0, (utc_now() - moment).total_seconds())


async def forget(session: AsyncSession) -> None:
    """What is too old, and the oldest of what is too many."""
    newest = select(KnownAnswer.answered_at).order_by(KnownAnswer.answered_at.desc())
    beyond = await session.scalar(newest.offset(MOST_KEPT).limit(1))
    limits = [utc_now() - KEPT, *([beyond] if beyond else [])]
    await session.execute(
        delete(KnownAnswer)
        .where(KnownAnswer.answered_at <= max(limits))
        .execution_options(synchronize_session=False)
    )
