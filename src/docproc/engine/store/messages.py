"""The message rows: sending is inserting, handling is removing, everything between is an update."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import Connection, text
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import rows
from docproc.engine.store.columns import NO_DEADLINE, as_uuid
from docproc.engine.store.session import Store
from docproc.engine.store.tables import Message, MessageState

TABLE: Any = Message.__table__


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A message addressed to a queue; `held_by` names the fan-out window it has to wait for."""

    message: PipelineMessage
    queue: str
    held_by: str | None = None
    body: str = ""
    # Not sent at once: other tenants' messages may go first.
    is_kept_back: bool = False
    # The worker that goes on with it at once: nobody else is to find it.
    leased_by: str | None = None

    @classmethod
    def of(
        cls, message: PipelineMessage, queue: str, held_by: str | None = None, *, is_kept_back: bool = False
    ) -> Outgoing:
        return cls(message, queue, held_by, message.model_dump_json(), is_kept_back)


@dataclass(frozen=True, slots=True)
class Pending:
    """What the row knows better than a copy of it."""

    id: UUID
    attempt: int
    cursor: int
    state: str
    band: int


async def send(
    session: AsyncSession,
    outgoing: Sequence[Outgoing],
    *,
    state: MessageState,
    worker_id: str | None,
    on_conflict: Literal["error", "nothing"] = "error",
) -> None:
    """Insert the rows of new messages; they exist when the sender's transaction commits."""
    await rows.insert(session, TABLE, _rows(outgoing, state, worker_id), on_conflict=on_conflict)


async def send_new(
    session: AsyncSession, outgoing: Sequence[Outgoing], *, state: MessageState, worker_id: str | None
) -> set[UUID]:
    """As `send`, for messages that may have been written before; returns those that were not."""
    values = _rows(outgoing, state, worker_id)
    written = await rows.insert(session, TABLE, values, on_conflict="nothing", returning="id")
    return {as_uuid(row.id) for row in written}


def _rows(outgoing: Sequence[Outgoing], state: MessageState, worker_id: str | None) -> list[dict[str, Any]]:
    now = utc_now()
    return [_row(item, now + timedelta(microseconds=n), state, worker_id) for n, item in enumerate(outgoing)]


def _row(item: Outgoing, now: datetime, state: MessageState, worker_id: str | None) -> dict[str, Any]:
    message = item.message
    held = item.held_by is not None
    state, worker_id = (MessageState.READY, None) if item.is_kept_back else (state, worker_id)
    state, worker_id = (MessageState.LEASED, item.leased_by) if item.leased_by else (state, worker_id)
    return {
        "id": message.message_id,
        "tenant_id": message.tenant_id,
        "request_id": message.request_id,
        "queue": item.queue,
        "stage": message.current_stage,
        "unit_key": message.unit_key,
        "band": message.priority,
        "deadline_utc": message.deadline_utc or NO_DEADLINE,
        # Age is the last word of the order; rows of one batch stay in the order they were emitted.
        "created_at": now,
        "available_at": now,
        "state": MessageState.HELD.value if held else state.value,
        "worker_id": None if held else worker_id,
        "attempt": message.attempt,
        "held_by": item.held_by,
        "body": item.body,
        "cursor": 0,
    }


# --- removing: the claim that makes effects happen once ---------------------------------------------


# Run on a handling session's connection before anything else; raises AlreadyHandled.
Claim = Callable[[Connection], None]


class AlreadyHandled(Exception):
    """The row is gone or somebody else's: this delivery is a repetition and has no effects."""


def claim_one(store: Store, message_id: UUID, worker_id: str | None) -> Claim:
    """The first statement of a handling transaction: remove the row (only my lease, when leased)."""
    statement = text(
        "DELETE FROM messages WHERE id = :id AND state <> 'held'"
        + (" AND worker_id = :worker" if worker_id else "")
    )
    values = rows.values_for(store.dialect, {"id": message_id})
    if worker_id:
        values["worker"] = worker_id

    def claim(connection: Connection) -> None:
        if connection.execute(statement, values).rowcount == 0:
            raise AlreadyHandled(message_id)

    return claim


class PartlyHandled(Exception):
    """Some of a group were handled before, by other deliveries; `left` are those to be done."""

    def __init__(self, left: set[UUID]) -> None:
        super().__init__(f"{len(left)} left")
        self.left = left


def claim_many(store: Store, ids: Sequence[UUID], worker_id: str | None) -> Claim:
    """The same for a group: all of its rows are removed, or it is begun anew with those that were left.

    Rows are locked in id order, so two workers with overlapping groups (doubled copies) cannot deadlock.
    """
    chosen = rows.among(store.dialect, "id", ":ids") + " AND state <> 'held'"
    if worker_id:
        chosen += " AND worker_id = :worker"
    elif store.dialect == "postgresql":
        chosen = f"id IN (SELECT id FROM messages WHERE {chosen} ORDER BY id FOR UPDATE)"
    statement = text(f"DELETE FROM messages WHERE {chosen} RETURNING id")
    values = rows.values_for(store.dialect, {"ids": _ids(store.dialect, ids)})
    if worker_id:
        values["worker"] = worker_id

    def claim(connection: Connection) -> None:
        removed = {as_uuid(row.id) for row in connection.execute(statement, values)}
        if len(removed) < len(ids):
            raise PartlyHandled(removed)

    return claim


async def pending(session: AsyncSession, dialect: str, ids: Sequence[UUID]) -> dict[UUID, Pending]:
    """The plain read before heavy work: which of these are still to be handled."""
    found = await rows.execute(
        session,
        f"SELECT id, attempt, cursor, state, band FROM messages WHERE {rows.among(dialect, 'id', ':ids')} "
        "AND state <> 'held'",
        ids=_ids(dialect, ids),
    )
    return {as_uuid(r.id): Pending(as_uuid(r.id), r.attempt, r.cursor, r.state, r.band) for r in found}


# --- leases -----------------------------------------------------------------------------------------

ORDER = "band DESC, deadline_utc, created_at"


async def claim_ready(
    connection: AsyncConnection, dialect: str, queue: str, limit: int, worker_id: str
) -> list[Row[Any]]:
    """Lease the most urgent ready rows of a queue, whoever's they are; others skip what is being leased.

    Only where DOCPROC_FAIR_ORDER is off; see turns.py."""
    leased = await rows.execute(
        connection,
        picked(dialect, f"queue = :queue AND state = 'ready' ORDER BY {ORDER} LIMIT :limit")
        + " UPDATE messages SET state = 'leased', worker_id = :worker WHERE id IN (SELECT id FROM picked) "
        "RETURNING id, body, attempt, cursor, band, deadline_utc, created_at",
        worker=worker_id,
        queue=queue,
        limit=limit,
    )
    return in_order(leased)


def in_order(taken: Sequence[Row[Any]]) -> list[Row[Any]]:
    """RETURNING promises no order."""
    return sorted(taken, key=lambda row: (-row.band, row.deadline_utc, row.created_at))


def picked(dialect: str, which: str) -> str:
    """Rows chosen and locked once; without MATERIALIZED PostgreSQL may run the choice again and lock more."""
    if dialect == "sqlite":
        return f"WITH picked AS (SELECT id FROM messages WHERE {which})"
    return f"WITH picked AS MATERIALIZED (SELECT id FROM messages WHERE {which} FOR UPDATE SKIP LOCKED)"


async def lease_one(
    connection: AsyncConnection, message_id: UUID, worker_id: str, *, anew: bool = True
) -> bool:
    """Take a row for exclusive work on a broker's copy; False when somebody has it. A lease of this worker's
    own that it did not use may be taken `anew`."""
    mine = " OR worker_id = :worker" if anew else ""
    taken = await rows.execute(
        connection,
        "UPDATE messages SET state = 'leased', worker_id = :worker "
        f"WHERE id = :id AND (state <> 'leased'{mine}) RETURNING id",
        worker=worker_id,
        id=message_id,
    )
    return bool(taken)


async def give_back(connection: AsyncConnection, dialect: str, ids: Sequence[UUID], worker_id: str) -> None:
    """Leases of mine that I did not use."""
    await rows.execute(
        connection,
        f"UPDATE messages SET state = 'ready', worker_id = NULL WHERE {rows.among(dialect, 'id', ':ids')} "
        "AND state = 'leased' AND worker_id = :worker",
        ids=_ids(dialect, ids),
        worker=worker_id,
    )


async def release(session: AsyncSession | AsyncConnection, dialect: str, ids: Sequence[UUID]) -> None:
    """Give leased or sent rows back: to be claimed, or published, by anyone."""
    await rows.execute(
        session,
        f"UPDATE messages SET state = 'ready', worker_id = NULL WHERE {rows.among(dialect, 'id', ':ids')} "
        "AND state IN ('leased', 'sent')",
        ids=_ids(dialect, ids),
    )


async def release_queue(connection: AsyncConnection, store: Store, queue: str, age_seconds: float) -> int:
    """A broker had lost a queue, and with it every copy that is older: publish the rows again. Returns how
    many."""
    released = await rows.execute(
        connection,
        "UPDATE messages SET state = 'ready', worker_id = NULL WHERE queue = :queue AND state = 'sent' "
        f"AND available_at < {store.clock_plus(':age')} RETURNING id",
        queue=queue,
        age=-age_seconds,
    )
    return len(released)


async def release_mine(connection: AsyncConnection, store: Store, worker_id: str, age_seconds: float) -> int:
    """What this worker vouches for since so many seconds, perhaps without knowing it. Returns how many."""
    released = await rows.execute(
        connection,
        "UPDATE messages SET state = 'ready', worker_id = NULL WHERE worker_id = :worker AND state = 'sent' "
        f"AND available_at > {store.clock_plus(':age')} RETURNING id",
        worker=worker_id,
        age=-age_seconds,
    )
    return len(released)


# --- delays -----------------------------------------------------------------------------------------


async def delay(
    session: AsyncSession,
    store: Store,
    message_id: UUID,
    *,
    seconds: float,
    attempt: int,
    error: dict[str, Any],
    worker_id: str | None,
) -> bool:
    """Put a message off: nobody waits for it, the row does. False when it is no longer there."""
    mine = " AND worker_id = :worker" if worker_id else ""
    if store.is_sqlite:
        history = "json_insert(coalesce(history, '[]'), '$[#]', json(:error))"
    else:
        history = "(coalesce(history, '[]')::jsonb || CAST(:error AS jsonb))::text"
    changed = await rows.execute(
        session,
        f"UPDATE messages SET state = 'delayed', worker_id = NULL, attempt = :attempt, "
        f"available_at = {store.clock_plus(':seconds')}, history = {history} "
        f"WHERE id = :id{mine} RETURNING id",
        id=message_id,
        seconds=float(seconds),
        attempt=attempt,
        error=json.dumps(error),
        **({"worker": worker_id} if worker_id else {}),
    )
    return bool(changed)


async def promote_due(connection: AsyncConnection, store: Store) -> list[str]:
    """Delays that are over become ready; returns the queues concerned."""
    promoted = await rows.execute(
        connection,
        f"UPDATE messages SET state = 'ready' WHERE state = 'delayed' AND available_at <= {store.clock} "
        "RETURNING queue",
    )
    return [row.queue for row in promoted]


async def seconds_to_next_due(connection: AsyncConnection, store: Store) -> float | None:
    """How long until the next delay is over; None when nothing is delayed."""
    if store.is_sqlite:
        elapsed = f"(julianday(min(available_at)) - julianday({store.clock})) * 86400.0"
    else:
        elapsed = "extract(epoch FROM min(available_at) - clock_timestamp())::float8"
    found = await rows.execute(
        connection, f"SELECT {elapsed} AS seconds FROM messages WHERE state = 'delayed'"
    )
    return None if found[0].seconds is None else float(found[0].seconds)


# --- windows ----------------------------------------------------------------------------------------


async def release_held(
    session: AsyncSession,
    dialect: str,
    request_id: UUID,
    held_by: str,
    count: int,
    *,
    state: MessageState,
    worker_id: str | None,
) -> list[Row[Any]]:
    """Room in a fan-out window: let the next `count` held messages go."""
    which = "request_id = :request AND state = 'held' AND held_by = :held_by ORDER BY created_at LIMIT :count"
    return await rows.execute(
        session,
        picked(dialect, which) + " UPDATE messages SET state = :state, worker_id = :worker, held_by = NULL "
        "WHERE id IN (SELECT id FROM picked) RETURNING id, queue, band, body",
        request=request_id,
        held_by=held_by,
        count=count,
        state=state.value,
        worker=worker_id,
    )


# --- the relay's view -------------------------------------------------------------------------------


async def take_unsent(connection: AsyncConnection, limit: int, worker_id: str) -> list[Row[Any]]:
    """Rows no broker has a copy of: this worker will publish them and vouches for it."""
    return await rows.execute(
        connection,
        picked("postgresql", f"state = 'ready' ORDER BY {ORDER} LIMIT :limit")
        + " UPDATE messages SET state = 'sent', worker_id = :worker, available_at = clock_timestamp() "
        "WHERE id IN (SELECT id FROM picked) RETURNING id, queue, band, body",
        worker=worker_id,
        limit=limit,
    )


async def take_overdue(
    connection: AsyncConnection, ttl_seconds: float, limit: int, worker_id: str
) -> list[Row[Any]]:
    """Rows whose copy is older than a copy can get: expired or lost, so it is published again."""
    old = "state = 'sent' AND available_at < clock_timestamp() - make_interval(secs => :ttl) LIMIT :limit"
    return await rows.execute(
        connection,
        picked("postgresql", old)
        + " UPDATE messages SET worker_id = :worker, available_at = clock_timestamp() "
        "WHERE id IN (SELECT id FROM picked) RETURNING id, queue, band, body",
        worker=worker_id,
        ttl=ttl_seconds,
        limit=limit,
    )


async def remove(connection: AsyncConnection, dialect: str, ids: Sequence[UUID]) -> None:
    """These need not be handled any more."""
    if ids:
        chosen = rows.among(dialect, "id", ":ids")
        await rows.execute(connection, f"DELETE FROM messages WHERE {chosen}", ids=_ids(dialect, ids))


async def remove_notices(
    connection: AsyncConnection, store: Store, queues: Sequence[str], ttl_seconds: float
) -> int:
    """Notices that nobody took in time: the tasks they told of stand in the database, so they may go."""
    if not queues:
        return 0
    old = f"available_at < {store.clock_plus(':age')}"
    mine = rows.among(store.dialect, "queue", ":queues")
    removed = await rows.execute(
        connection,
        f"DELETE FROM messages WHERE {mine} AND state IN ('ready', 'sent') AND {old} RETURNING id",
        queues=list(queues),
        age=-ttl_seconds,
    )
    return len(removed)


async def take_returned(
    connection: AsyncConnection,
    published: Mapping[UUID, datetime | None],
    younger_than: float,
    worker_id: str,
) -> list[Row[Any]]:
    """Rows whose copy came back expired, unless they were published again since that copy was (`published`:
    its time in whole seconds, which is why the row may seem to be a second younger than its copy)."""
    return await rows.execute(
        connection,
        """
        UPDATE messages SET worker_id = :worker, available_at = clock_timestamp()
        FROM unnest(CAST(:ids AS uuid[]), CAST(:times AS timestamptz[])) AS copy (copied_id, published_at)
        WHERE id = copy.copied_id AND state = 'sent'
          AND (available_at < clock_timestamp() - make_interval(secs => :age)
               OR available_at <= copy.published_at + interval '1 second')
        RETURNING id, queue, band, body
        """,
        worker=worker_id,
        ids=list(published),
        times=list(published.values()),
        age=younger_than,
    )


async def reband(
    connection: AsyncConnection, dialect: str, request_ids: Sequence[UUID], band: int, *, higher: bool
) -> list[Row[Any]]:
    """Make the messages of requests more, or less, urgent; returns those a broker has older copies of.

    Rows that a worker is removing are skipped: waiting for them could deadlock, and they are gone anyway.
    """
    which = f"{rows.among(dialect, 'request_id', ':ids')} AND band {'<' if higher else '>'} :band"
    changed = await rows.execute(
        connection,
        picked(dialect, which) + " UPDATE messages SET band = :band WHERE id IN (SELECT id FROM picked) "
        "RETURNING id, queue, band, body, state",
        ids=_ids(dialect, request_ids),
        band=band,
    )
    return [row for row in changed if row.state == MessageState.SENT.value]


# What holds the messages of a request that failed as a whole: a replay lets them go on.
REQUEST_FAILED = "request failed"


async def suspend_request(session: AsyncSession, request_id: UUID) -> None:
    """The request failed: what is queued for it waits for a replay, and work in progress has no effect."""
    await rows.execute(
        session,
        "UPDATE messages SET state = 'held', held_by = :why, worker_id = NULL "
        "WHERE request_id = :request AND state <> 'held'",
        request=request_id,
        why=REQUEST_FAILED,
    )


async def drop_request(session: AsyncSession, request_id: UUID) -> None:
    """Remove everything queued for a request, also what workers send while we wait for them."""
    while True:
        dropped = await rows.execute(
            session, "DELETE FROM messages WHERE request_id = :request RETURNING id", request=request_id
        )
        if not dropped:
            return


async def resume_request(session: AsyncSession, request_id: UUID) -> None:
    await rows.execute(
        session,
        "UPDATE messages SET state = 'ready', held_by = NULL WHERE request_id = :request AND held_by = :why",
        request=request_id,
        why=REQUEST_FAILED,
    )


def _ids(dialect: str, ids: Iterable[UUID]) -> list[Any]:
    return [str(i) for i in ids] if dialect == "sqlite" else list(ids)
