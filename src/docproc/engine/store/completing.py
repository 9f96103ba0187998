"""Completing requests: the plain end of a flow, which most have, in a few statements for all of a group."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import utc_now
from docproc.engine.store import answers, events, fan_in
from docproc.engine.store.columns import as_uuid
from docproc.engine.store.tables import RequestStatus

TERMINAL = (RequestStatus.COMPLETED, RequestStatus.FAILED, RequestStatus.SLA_BREACHED)


@dataclass(frozen=True, slots=True)
class Ending:
    """A flow that has come to its end, with what it found."""

    request_id: UUID
    result: Any = None
    generation: int = 1


_LOCK = """
SELECT id, status, result_generation, completed_at, next_check_at, deadline_utc, callback_url
FROM requests WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE
"""

_COMPLETE = """
UPDATE requests AS r
SET status = 'completed', error = NULL, next_check_at = NULL, completed_at = $4, updated_at = $4,
    result_generation = v.generation, result_payload = coalesce(v.result::jsonb, r.result_payload),
    answer_version = r.answer_version + 1
FROM unnest($1::uuid[], $2::integer[], $3::text[]) AS v(id, generation, result)
WHERE r.id = v.id
RETURNING r.id, r.tenant_id, r.answer_version
"""


async def complete_all(session: AsyncSession, endings: Sequence[Ending]) -> set[UUID]:
    """End requests that are `completed` by this and nothing else: in time, every unit with a result, nobody
    to be sent the answer. Returns them; the others are left as they are, but locked. On PostgreSQL; elsewhere
    nothing."""
    connection = await session.connection()
    if connection.dialect.name != "postgresql":
        return set()
    if session.new or session.dirty or session.deleted:
        await session.flush()  # what is pending for these rows comes first
    ids = [ending.request_id for ending in endings]
    locked = {as_uuid(row.id): row for row in await connection.exec_driver_sql(_LOCK, (ids,))}
    failed = await fan_in.requests_with_failures(session, ids)
    often = Counter(ids)
    plain = [
        one
        for one in endings
        if one.request_id in locked
        and one.request_id not in failed
        and often[one.request_id] == 1
        and _is_plain(locked[one.request_id], one)
    ]
    if not plain:
        return set()
    results = [None if one.result is None else json.dumps(one.result, default=str) for one in plain]
    values = ([one.request_id for one in plain], [one.generation for one in plain], results, utc_now())
    rows = {as_uuid(row.id): row for row in await connection.exec_driver_sql(_COMPLETE, values)}
    status = RequestStatus.COMPLETED
    done = [(one, rows[one.request_id]) for one in plain]
    await events.record(
        session, [events.Event(row.id, "status", tenant_id=row.tenant_id, outcome=status) for _, row in done]
    )
    await answers.keep(
        session,
        [
            answers.Version(
                one.request_id, row.tenant_id, row.answer_version, status, one.result, _is_partial(one.result)
            )
            for one, row in done
        ],
    )
    return set(rows)


def _is_plain(row: Row[Any], ending: Ending) -> bool:
    is_open = row.status not in TERMINAL and row.completed_at is None
    is_late = row.next_check_at is not None and row.deadline_utc is not None and row.deadline_utc <= utc_now()
    return is_open and not is_late and row.callback_url is None and ending.generation >= row.result_generation


def _is_partial(result: Any) -> bool:
    return isinstance(result, dict) and bool(result.get("partial"))
