"""What a request has no result for yet, unit by unit, and why. Knows units, not what they are."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any
from uuid import UUID

from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import UNIT_SEPARATOR
from docproc.engine.store import fan_in, rows
from docproc.engine.store.columns import moment_of
from docproc.engine.store.tasks import NOTICES

# How many tasks a person must have done for their mean to say something.
ENOUGH_TASKS = 5

# How an answer names the request itself: before it is split, and while it is put together.
WHOLE = "request"


class Why(StrEnum):
    """Why a unit has no result; of several reasons the first one here is told."""

    FAILED = "failed"
    WAITING = "waiting_for_operator"
    RETRYING = "retrying"
    QUEUED = "queued"


_PLACES = {why.value: place for place, why in enumerate(Why)}

# {"unit", "reason"} and, where they are known, "expected_at" (ISO 8601) and "detail".
Entry = dict[str, Any]


async def missing(session: AsyncSession, request_id: UUID, now: datetime) -> list[Entry]:
    """One entry per unit without a result, in natural order; an expectation only where one is known."""
    entries: dict[str, Entry] = {}
    for row in await _under_way(session, request_id):
        _note(entries, _entry(row, now))
    # Read last: a unit that fails between the two looks is told twice and noted once, never forgotten.
    for failed in await fan_in.failures(session, request_id):
        _note(entries, {"unit": failed["unit"], "reason": Why.FAILED.value, "detail": failed["error"]})
    return in_order(entries.values())


def in_order(entries: Iterable[Entry]) -> list[Entry]:
    """As people count: page:2 comes before page:10. Entries of one unit stay in their order."""
    return sorted(entries, key=lambda entry: _natural(entry["unit"]))


def _natural(unit: str) -> list[str | int]:
    # Texts stand at even places and numbers at odd ones, so only like is compared with like.
    return [int(part) if place % 2 else part for place, part in enumerate(re.split(r"(\d+)", unit))]


async def _under_way(session: AsyncSession, request_id: UUID) -> list[Row[Any]]:
    """Messages not yet handled, and questions that people have not answered.

    One statement, hence one moment: a unit that goes from a queue to a person meanwhile is in one of both.
    What is expected is `since` + `seconds`: the end of a delay, or of the time that the person who has the
    task usually takes. A task that only amends what was answered keeps nobody waiting.
    """
    dialect = session.get_bind().dialect.name
    unit, seconds, amends = _SQLITE if dialect == "sqlite" else _POSTGRES
    return await rows.execute(
        session,
        f"""
        SELECT unit_key AS unit, CASE WHEN state = 'delayed' THEN 'retrying' ELSE 'queued' END AS reason,
               CASE WHEN state = 'delayed' THEN available_at END AS since, 0.0 AS seconds
        FROM messages WHERE request_id = :request AND queue NOT LIKE '{NOTICES}'
        UNION ALL
        SELECT coalesce({unit}, ''), 'waiting_for_operator', t.assigned_at, {seconds}
        FROM backoffice_tasks t LEFT JOIN operators o ON o.id = t.assigned_to
        WHERE t.request_id = :request AND t.status IN ('pending', 'assigned', 'timeout') AND NOT {amends}
        """,
        request=request_id,
    )


# Of a task: its unit, how long its operator usually takes, whether it only amends an answer. Read inside the
# database, because the stored message also holds the page's text.
_SQLITE = (
    "json_extract(t.message, '$.unit_key')",
    f"CASE WHEN json_extract(o.handling, '$.\"' || t.task_type || '\".n') >= {ENOUGH_TASKS} "
    "THEN json_extract(o.handling, '$.\"' || t.task_type || '\".mean_seconds') END",
    "coalesce(json_extract(t.input_data, '$.amends') = 1, 0)",
)
_POSTGRES = (
    "CAST(t.message AS json) ->> 'unit_key'",
    f"CASE WHEN CAST(o.handling #>> ARRAY[t.task_type, 'n'] AS int) >= {ENOUGH_TASKS} "
    "THEN CAST(o.handling #>> ARRAY[t.task_type, 'mean_seconds'] AS float8) END",
    "coalesce(t.input_data ->> 'amends' = 'true', false)",
)


def _entry(row: Row[Any], now: datetime) -> Entry:
    entry = {"unit": _unit(row.unit), "reason": row.reason}
    if row.since is not None and row.seconds is not None:
        since = moment_of(row.since) if isinstance(row.since, str) else row.since
        expected = since + timedelta(seconds=float(row.seconds))
        if expected > now:  # what should be over by now is nobody's expectation
            entry["expected_at"] = expected.isoformat()
    return entry


def _unit(key: str) -> str:
    """A nudge to a join stands for the group that is complete."""
    group, _, last = key.rpartition(UNIT_SEPARATOR)
    return (group if last == fan_in.SEALED_UNIT else key) or WHOLE


def _note(entries: dict[str, Entry], entry: Entry) -> None:
    known = entries.get(entry["unit"])
    entries[entry["unit"]] = entry if known is None else _worse(known, entry)


def _worse(one: Entry, other: Entry) -> Entry:
    """The stronger reason; of equal ones (parallel branches) the longer wait, an unknown one before all."""
    if one["reason"] != other["reason"]:
        return min(one, other, key=lambda entry: _PLACES[entry["reason"]])
    return max(one, other, key=lambda entry: str(entry.get("expected_at", "unknown")))
