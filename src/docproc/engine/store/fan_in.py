"""Joins: units are counted, not messages, and a join fires once per generation. Its other half is fan_out."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4, uuid5

from sqlalchemy import func, select
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import rows
from docproc.engine.store.columns import as_uuid, is_one_of
from docproc.engine.store.tables import AggregationState, FanInArrival

STATE: Any = AggregationState.__table__
ARRIVALS: Any = FanInArrival.__table__

# The unit key of the message that a join gets when it is complete and no message of a unit says so: when
# senders counted the units, or when it turns out complete only at sealing.
SEALED_UNIT = "__sealed__"

# (request_id, stage, group_key): a join over all its generations.
JoinKey = tuple[UUID, str, str]


@dataclass(frozen=True, slots=True)
class Arrival:
    """One unit at one join. `expected` seals the join where its size is known beforehand (branches)."""

    request_id: UUID
    tenant_id: str
    stage: str
    group_key: str
    generation: int
    unit_key: str
    failure: str | None = None
    body: str | None = None
    expected: int | None = None

    @classmethod
    def of(cls, message: PipelineMessage, stage: str, *, body: bool = False) -> Arrival:
        """The message's unit at the join called `stage`; with `body`, the message is kept there, too."""
        return cls(
            message.request_id,
            message.tenant_id,
            stage,
            message.group_key,
            message.generation,
            message.unit_key,
            message.failure.model_dump_json() if message.failure else None,
            message.encode().decode() if body else None,
        )

    @property
    def key(self) -> JoinKey:
        return (self.request_id, self.stage, self.group_key)


@dataclass(frozen=True, slots=True)
class Join:
    """A join that has just fired; `completed_by` is the index of the arrival that completed it."""

    id: UUID
    request_id: UUID
    stage: str
    group_key: str
    generation: int
    expected_count: int
    completed_by: int


async def arrive(session: AsyncSession, arrivals: Sequence[Arrival]) -> list[Join]:
    """Count units at their joins; returns the joins this completes, each exactly once.

    A unit that is already counted in its generation only refreshes what is stored of it. A unit for a join
    that has fired opens the next generation, which fires at once.
    """
    if not arrivals:
        return []
    states = await _lock(session, {a.key: a for a in arrivals}.values())
    placed = [await _place(session, arrival, states) for arrival in arrivals]
    new = await _remember(session, arrivals, placed)
    gained: dict[UUID, int] = defaultdict(int)
    last: dict[UUID, int] = {}
    for index, state in enumerate(placed):
        if index in new:
            gained[state.id] += 1
            last[state.id] = index
    fired = []
    for number in sorted(set(gained.values())):
        ids = sorted((state_id for state_id in gained if gained[state_id] == number), key=str)
        fired += [join_of(row, last[as_uuid(row.id)]) for row in await _count(session, ids, number)]
    # A join's generations fire in their order: the newest result is written last.
    return sorted(fired, key=lambda join: join.generation)


@dataclass(slots=True)
class _State:
    id: UUID
    generation: int
    is_complete: bool
    is_sealed: bool


async def _lock(session: AsyncSession, joins: Iterable[Arrival]) -> dict[JoinKey, dict[int, _State]]:
    """Lock the joins concerned, all in one statement, and read their generations."""
    wanted = sorted(joins, key=lambda a: (str(a.request_id), a.stage, a.group_key))
    query = (
        select(STATE)
        .where(
            STATE.c.request_id.in_({a.request_id for a in wanted}),
            STATE.c.stage.in_({a.stage for a in wanted}),
            STATE.c.group_key.in_({a.group_key for a in wanted}),
        )
        .order_by(STATE.c.id)
        .with_for_update()
    )
    found: dict[JoinKey, dict[int, _State]] = defaultdict(dict)
    for row in await session.execute(query):
        found[row.request_id, row.stage, row.group_key][row.generation] = _state(row)
    for one in wanted:
        state = found[one.key].get(one.generation)
        if state is None or state.is_complete:  # not announced yet, or a late correction
            found[one.key] = await _generations_with(session, one)
    return found


async def _generations_with(session: AsyncSession, arrival: Arrival) -> dict[int, _State]:
    """All generations of a join, the arrival's own made where it is missing."""
    known = await generations(session, arrival.key)
    if arrival.generation not in known:
        await create(session, arrival, arrival.generation, arrival.expected)
        known = await generations(session, arrival.key)
    return known


def _state(row: Row[Any]) -> _State:
    return _State(row.id, row.generation, row.is_complete, row.expected_count is not None)


async def generations(session: AsyncSession, key: JoinKey) -> dict[int, _State]:
    """Lock a join and read its generations.

    Two statements: one that waited for a lock does not see rows that were inserted while it waited.
    """
    mine = (STATE.c.request_id == key[0], STATE.c.stage == key[1], STATE.c.group_key == key[2])
    # Its first row stands for the join; SQLite ignores the lock, its writer is already alone.
    await session.execute(
        select(STATE.c.id).where(*mine).order_by(STATE.c.generation).limit(1).with_for_update()
    )
    result = await session.execute(select(STATE).where(*mine).order_by(STATE.c.generation))
    return {row.generation: _state(row) for row in result}


async def create(session: AsyncSession, arrival: Arrival, generation: int, expected: int | None) -> None:
    """Another worker may create the same join at the same moment: the unique constraint decides."""
    await rows.insert(
        session,
        STATE,
        [
            {
                "id": uuid4(),
                "tenant_id": arrival.tenant_id,
                "request_id": arrival.request_id,
                "stage": arrival.stage,
                "group_key": arrival.group_key,
                "generation": generation,
                "expected_count": expected,
            }
        ],
        on_conflict="nothing",
    )


async def _place(session: AsyncSession, arrival: Arrival, states: dict[JoinKey, dict[int, _State]]) -> _State:
    """The generation that counts this arrival."""
    known = states[arrival.key]
    state = known.get(arrival.generation)
    if state is not None and state.is_complete and await _still_waits(session, state):
        return state
    if state is None or state.is_complete:
        # A late correction: a generation of its own, complete with this one unit.
        generation = max(known) + 1 if state is not None else arrival.generation
        await create(session, arrival, generation, 1 if state is not None else arrival.expected)
        known.update(await generations(session, arrival.key))
        state = known[generation]
    return state


def completion_id(join_id: UUID) -> UUID:
    """The id of the one message that a join's component gets when its senders have counted all units."""
    return uuid5(join_id, SEALED_UNIT)


async def _still_waits(session: AsyncSession, state: _State) -> bool:
    """Whether nobody has begun to handle a complete join: then a newer state of a unit is still seen by it.

    A row that is locked is being handled. One that is not is kept from it until this transaction is over.
    """
    lock = " FOR UPDATE SKIP LOCKED" if session.get_bind().dialect.name == "postgresql" else ""
    query = f"SELECT id FROM messages WHERE id = :id{lock}"
    return bool(await rows.execute(session, query, id=completion_id(state.id)))


async def _remember(session: AsyncSession, arrivals: Sequence[Arrival], placed: Sequence[_State]) -> set[int]:
    """Store the arrivals; returns the indexes of those that are new to their generation."""
    given: dict[tuple[Any, ...], int] = {}
    for index, (arrival, state) in enumerate(zip(arrivals, placed, strict=True)):
        given.setdefault((*arrival.key, state.generation, arrival.unit_key), index)
    stored = await rows.insert(
        session,
        ARRIVALS,
        [
            {
                "request_id": key[0],
                "stage": key[1],
                "group_key": key[2],
                "generation": key[3],
                "unit_key": key[4],
                "tenant_id": arrivals[index].tenant_id,
                "failure": arrivals[index].failure,
                "body": arrivals[index].body,
            }
            for key, index in given.items()
        ],
        on_conflict="nothing",
        returning="request_id, stage, group_key, generation, unit_key",
    )
    new = {given[(as_uuid(row.request_id), *row[1:])] for row in stored}
    for key, index in given.items():
        if index not in new:
            await _refresh(session, key, arrivals[index])
    return new


async def _refresh(session: AsyncSession, key: tuple[Any, ...], arrival: Arrival) -> None:
    """The unit comes again before the join fired (a replay, a correction): its newer state stands."""
    await rows.execute(
        session,
        "UPDATE fan_in_arrivals SET failure = :failure, body = :body WHERE request_id = :request "
        "AND stage = :stage AND group_key = :group_key AND generation = :generation AND unit_key = :unit",
        request=key[0],
        stage=key[1],
        group_key=key[2],
        generation=key[3],
        unit=key[4],
        failure=arrival.failure,
        body=arrival.body,
    )


RETURNED = "id, request_id, stage, group_key, generation, expected_count, is_complete"


async def _count(session: AsyncSession, state_ids: Sequence[UUID], gained: int) -> list[Row[Any]]:
    """The atomic count of the specification; a join's row comes back once, when it completes."""
    dialect = session.get_bind().dialect.name
    ids = [str(i) for i in state_ids] if dialect == "sqlite" else list(state_ids)
    counted = await rows.execute(
        session,
        f"UPDATE aggregation_state SET received_count = received_count + :gained, updated_at = :now, "
        f"is_complete = (expected_count IS NOT NULL AND received_count + :gained >= expected_count) "
        f"WHERE {rows.among(dialect, 'id', ':ids')} AND NOT is_complete RETURNING {RETURNED}",
        ids=ids,
        gained=gained,
        now=utc_now(),
    )
    return [row for row in counted if row.is_complete]


async def sealed_join(session: AsyncSession, arrival: Arrival, index: int) -> Join | None:
    """The join a nudge speaks of: it became complete when it was sealed."""
    query = select(STATE).where(
        STATE.c.request_id == arrival.request_id,
        STATE.c.stage == arrival.stage,
        STATE.c.group_key == arrival.group_key,
        STATE.c.generation == arrival.generation,
    )
    row = (await session.execute(query)).first()
    return join_of(row, index) if row is not None else None


async def newest_generation(session: AsyncSession, request_id: UUID) -> int:
    """The latest generation of any of a request's joins."""
    newest = await session.scalar(
        select(func.max(STATE.c.generation)).where(STATE.c.request_id == request_id)
    )
    return int(newest or 1)


async def bodies(session: AsyncSession, join: Join) -> dict[str, PipelineMessage]:
    """The newest kept message of every unit of a join, over its generations, without the failed ones."""
    query = (
        select(ARRIVALS.c.unit_key, ARRIVALS.c.body, ARRIVALS.c.failure)
        .where(
            ARRIVALS.c.request_id == join.request_id,
            ARRIVALS.c.stage == join.stage,
            ARRIVALS.c.group_key == join.group_key,
            ARRIVALS.c.generation <= join.generation,
        )
        .order_by(ARRIVALS.c.generation)
    )
    newest = {row.unit_key: row for row in await session.execute(query)}
    return {u: PipelineMessage.parse(r.body) for u, r in newest.items() if r.body and r.failure is None}


async def requests_with_failures(session: AsyncSession, request_ids: Sequence[UUID]) -> set[UUID]:
    """Which of these requests have a unit that failed at some time."""
    mine = is_one_of(session.get_bind().dialect.name, ARRIVALS.c.request_id, request_ids)
    query = select(ARRIVALS.c.request_id).where(mine, ARRIVALS.c.failure.is_not(None)).distinct()
    return set(await session.scalars(query))


async def failures(session: AsyncSession, request_id: UUID) -> list[dict[str, Any]]:
    """The units of a request whose latest arrival is a failure."""
    mine = ARRIVALS.c.request_id == request_id
    # In two steps: joined in one, PostgreSQL compares every arrival with every other.
    failed = await session.scalars(select(ARRIVALS.c.unit_key).where(mine, ARRIVALS.c.failure.is_not(None)))
    units = sorted(set(failed))
    if not units:
        return []
    place = (ARRIVALS.c.stage, ARRIVALS.c.group_key, ARRIVALS.c.unit_key)
    query = select(*place, ARRIVALS.c.failure).where(mine, ARRIVALS.c.unit_key.in_(units))
    found = await session.execute(query.order_by(ARRIVALS.c.generation))
    latest = {(r.stage, r.group_key, r.unit_key): r for r in found}
    return [{"unit": r.unit_key, **json.loads(r.failure)} for r in latest.values() if r.failure is not None]


def join_of(row: Row[Any], completed_by: int) -> Join:
    return Join(
        as_uuid(row.id),
        as_uuid(row.request_id),
        row.stage,
        row.group_key,
        row.generation,
        row.expected_count,
        completed_by,
    )
