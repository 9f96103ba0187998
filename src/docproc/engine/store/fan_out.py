"""The other side of a join: a fan-out announces its units as it sends them, and seals it when it is over."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import utc_now
from docproc.engine.store import fan_in, rows


@dataclass(frozen=True, slots=True)
class FanOut:
    """A join as a fan-out finds it; `complete` when every unit had come by the time it was over."""

    generation: int
    announced_before: int = 0
    received_count: int = 0
    complete: fan_in.Join | None = None


async def announce_units(session: AsyncSession, like: fan_in.Arrival, units: int, *, is_last: bool) -> FanOut:
    """Announce units to the join that will collect them, and seal it when these were the last."""
    if units and await _first_announcement(session, like, units, is_last):
        return FanOut(like.generation)
    generation = await open_generation(session, like)
    known = await announce(session, like, generation, units)
    complete = await seal(session, like, generation) if is_last else None
    return FanOut(generation, known.announced_before, known.received_count, complete)


async def _first_announcement(session: AsyncSession, like: fan_in.Arrival, units: int, is_last: bool) -> bool:
    """The usual case in one statement: nobody knows the join yet."""
    if like.generation != 1:  # an amended fan-out must see the generations there are
        return False
    fresh = {
        "id": uuid4(),
        "tenant_id": like.tenant_id,
        "request_id": like.request_id,
        "stage": like.stage,
        "group_key": like.group_key,
        "generation": like.generation,
        "announced_count": units,
        "expected_count": units if is_last else None,
    }
    return bool(await rows.insert(session, fan_in.STATE, [fresh], on_conflict="nothing", returning="id"))


async def open_generation(session: AsyncSession, like: fan_in.Arrival) -> int:
    """The generation a fan-out counts into: the join's unsealed one, else a new one."""
    known = await fan_in.generations(session, like.key)
    if not known:
        # Perhaps another worker is at it right now: the unique constraint decides, then all look again.
        await fan_in.create(session, like, like.generation, None)
        known = await fan_in.generations(session, like.key)
    latest = known[max(known)]
    if not latest.is_sealed:
        return latest.generation
    generation = max(latest.generation + 1, like.generation)
    await fan_in.create(session, like, generation, None)
    return generation


@dataclass(frozen=True, slots=True)
class Announced:
    """A join after `announce`: what the fan-out may know of it."""

    announced_before: int
    received_count: int


async def announce(session: AsyncSession, like: fan_in.Arrival, generation: int, units: int) -> Announced:
    """So many more units are on their way. Locks the join: arrivals come strictly before or after."""
    (row,) = await rows.execute(
        session,
        "UPDATE aggregation_state SET announced_count = announced_count + :units "
        f"WHERE {_ONE} RETURNING announced_count, received_count",
        units=units,
        **_one(like, generation),
    )
    return Announced(row.announced_count - units, row.received_count)


async def seal(session: AsyncSession, like: fan_in.Arrival, generation: int) -> fan_in.Join | None:
    """The fan-out is over: what was announced is all. Returns the join if every unit has come already."""
    sealed = await rows.execute(
        session,
        f"UPDATE aggregation_state SET expected_count = announced_count, updated_at = :now, "
        f"is_complete = (received_count >= announced_count) "
        f"WHERE {_ONE} AND NOT is_complete RETURNING {fan_in.RETURNED}",
        now=utc_now(),
        **_one(like, generation),
    )
    return fan_in.join_of(sealed[0], 0) if sealed and sealed[0].is_complete else None


_ONE = "request_id = :request AND stage = :stage AND group_key = :group_key AND generation = :generation"


def _one(like: fan_in.Arrival, generation: int) -> dict[str, Any]:
    return {
        "request": like.request_id,
        "stage": like.stage,
        "group_key": like.group_key,
        "generation": generation,
    }
