"""Deliveries: answers on their way to a client's `callback_url`, one row per version."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from docproc.engine.message import utc_now
from docproc.engine.store import events, rows
from docproc.engine.store.columns import as_uuid, moment_of
from docproc.engine.store.session import Store
from docproc.engine.store.tables import AnswerDelivery, DeliveryState, Request

TABLE: Any = AnswerDelivery.__table__


def delivery_id(request_id: UUID, version: int) -> UUID:
    """The same version has the same id, however often it is sent."""
    return uuid5(request_id, f"answer:{version}")


async def queue(session: AsyncSession, answered: Sequence[tuple[Request, bool]]) -> None:
    """Have the current answers of these requests delivered, where somebody asked for it."""
    now = utc_now()
    await rows.insert(
        session,
        TABLE,
        [
            {
                "id": delivery_id(request.id, request.answer_version),
                "tenant_id": request.tenant_id,
                "request_id": request.id,
                "version": request.answer_version,
                "url": request.callback_url,
                "body": _body(request, is_partial),
                "state": DeliveryState.PENDING.value,
                "next_attempt_at": now,
            }
            for request, is_partial in answered
            if request.callback_url
        ],
    )


def _body(request: Request, is_partial: bool) -> str:
    """Written once: every attempt sends these very bytes."""
    said = {
        "type": "answer",
        "delivery_id": delivery_id(request.id, request.answer_version),
        "request_id": request.id,
        "external_id": request.external_id,
        "answer_version": request.answer_version,
        "partial": is_partial,
        "status": str(request.status),
        "workflow_name": request.workflow_name,
        "created_at": _written(request.created_at),
        "deadline_utc": _written(request.deadline_utc),
        "completed_at": _written(request.completed_at),
        "breached_at": _written(request.breached_at),
        "amended_at": _written(request.amended_at),
        "result": request.result_payload,
        "error": request.error,
    }
    return json.dumps(said, default=str, ensure_ascii=False)


def _written(moment: datetime | None) -> str | None:
    """As the API writes it."""
    return moment.isoformat().replace("+00:00", "Z") if moment else None


@dataclass(frozen=True, slots=True)
class Due:
    """A version that is to be sent now, by whoever claimed it."""

    id: UUID
    request_id: UUID
    tenant_id: str
    version: int
    url: str
    body: str
    # How often it was tried before.
    attempts: int
    created_at: datetime


@dataclass(frozen=True, slots=True)
class Attempt:
    """What came of sending a version; `delay_seconds` counts when it stays pending."""

    due: Due
    state: DeliveryState
    delay_seconds: float
    error: str | None
    event: events.Event


def _is_due(store: Store) -> str:
    """SQL for "may be claimed": its time has come, nobody is at it, and every earlier version is settled."""
    return f"""
        d.state = 'pending' AND d.next_attempt_at <= {store.clock}
        AND (d.claimed_until IS NULL OR d.claimed_until < {store.clock})
        AND NOT EXISTS (
            SELECT 1 FROM deliveries e
            WHERE e.request_id = d.request_id AND e.version < d.version AND e.state = 'pending'
        )
    """


async def waiting(
    session: AsyncSession,
    store: Store,
    limit: int,
    but_not: Sequence[str] = (),
    only: Sequence[str] = (),
) -> list[tuple[UUID, str]]:
    """Ids and addresses of versions that may be sent now, longest due first, without some receivers'.

    `only` names how addresses begin that the sender at hand can reach; empty: all of them.
    """
    values: dict[str, Any] = {}
    others = ""
    if only:
        ours = [f"substr(d.url, 1, :length_{number}) = :start_{number}" for number in range(len(only))]
        others = f" AND ({' OR '.join(ours)})"
        for number, start in enumerate(only):
            values |= {f"start_{number}": start, f"length_{number}": len(start)}
    for number, origin in enumerate(but_not):
        values |= {f"origin_{number}": origin, f"size_{number}": len(origin)}
        others += (
            f" AND NOT (substr(d.url, 1, :size_{number}) = :origin_{number}"
            f" AND substr(d.url, :size_{number} + 1, 1) IN ('', '/', '?', '#'))"
        )
    found = await rows.execute(
        session,
        f"SELECT d.id, d.url FROM deliveries d WHERE {_is_due(store)}{others} "
        "ORDER BY d.next_attempt_at, d.id LIMIT :limit",
        limit=limit,
        **values,
    )
    return [(as_uuid(row.id), row.url) for row in found]


async def claim(
    connection: AsyncConnection, store: Store, ids: Sequence[UUID], sender: str, seconds: float
) -> list[Due]:
    """Those of the versions that this sender alone may send for so long; a row that others hold is left."""
    unlocked = "" if store.is_sqlite else "FOR UPDATE SKIP LOCKED"
    claimed = await rows.execute(
        connection,
        f"""
        UPDATE deliveries SET claimed_by = :sender, claimed_until = {store.clock_plus(":seconds")}
        WHERE id IN (
            SELECT d.id FROM deliveries d
            WHERE {rows.among(store.dialect, "d.id", ":ids")} AND {_is_due(store)} {unlocked}
        )
        RETURNING id, request_id, tenant_id, version, url, body, attempts, created_at
        """,
        sender=sender,
        seconds=seconds,
        ids=list(ids),
    )
    return [_due(row) for row in claimed]


def _due(row: Row[Any]) -> Due:
    created = row.created_at
    return Due(
        as_uuid(row.id),
        as_uuid(row.request_id),
        row.tenant_id,
        row.version,
        row.url,
        row.body,
        row.attempts,
        created if isinstance(created, datetime) else moment_of(created),
    )


async def record(session: AsyncSession, store: Store, attempt: Attempt, sender: str) -> bool:
    """What came of an attempt, with its event. False, and nothing written, when the claim was lost."""
    is_settled = attempt.state is not DeliveryState.PENDING
    changed = await rows.execute(
        session,
        f"""
        UPDATE deliveries
        SET state = :state, attempts = attempts + 1, last_error = :error, claimed_by = NULL,
            claimed_until = NULL, next_attempt_at = {store.clock_plus(":delay")},
            settled_at = {store.clock if is_settled else "NULL"}
        WHERE id = :id AND claimed_by = :sender AND state = 'pending' RETURNING id
        """,
        state=attempt.state.value,
        error=attempt.error,
        delay=attempt.delay_seconds,
        id=attempt.due.id,
        sender=sender,
    )
    if changed:
        await events.record(session, [attempt.event])
    return bool(changed)


async def release(connection: AsyncConnection, sender: str) -> None:
    """A sender ends: what it could not finish is anybody's at once."""
    await rows.execute(
        connection,
        "UPDATE deliveries SET claimed_by = NULL, claimed_until = NULL "
        "WHERE state = 'pending' AND claimed_by = :sender",
        sender=sender,
    )
