"""What a request lacks, unit by unit: each reason, which of several counts, and when it is expected."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import event

from docproc.engine.message import Failure, PipelineMessage, utc_now
from docproc.engine.store import fan_in, messages, missing, rows, tasks
from docproc.engine.store.fan_in import SEALED_UNIT, Arrival
from docproc.engine.store.messages import Outgoing
from docproc.engine.store.session import Store
from docproc.engine.store.tables import MessageState, Request
from docproc.engine.store.task_tables import Operator

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)


@pytest.fixture
async def request_id(store: Store) -> UUID:
    made = uuid4()
    async with store.writing() as session:
        session.add(Request(id=made, workflow_name="any"))
    return made


def message(request_id: UUID, unit: str) -> PipelineMessage:
    return PipelineMessage(request_id=request_id, current_stage="read", unit_key=unit)


async def queue(store: Store, request_id: UUID, *units: str, queue: str = "q.read") -> list[PipelineMessage]:
    made = [message(request_id, unit) for unit in units]
    async with store.writing() as session:
        outgoing = [Outgoing.of(one, queue) for one in made]
        await messages.send(session, outgoing, state=MessageState.READY, worker_id=None)
    return made


async def delay(store: Store, request_id: UUID, unit: str, until: datetime) -> None:
    (made,) = await queue(store, request_id, unit)
    async with store.writing() as session:
        await rows.execute(
            session,
            "UPDATE messages SET state = 'delayed', available_at = :until WHERE id = :id",
            id=made.message_id,
            until=until,
        )


async def ask(store: Store, request_id: UUID, unit: str, **more: Any) -> UUID:
    async with store.writing() as session:
        return await tasks.create(
            session,
            message(request_id, unit),
            task_type="extraction",
            reference_id=uuid4(),
            input_data={"fields": {}},
            **more,
        )


async def assign(store: Store, task_id: UUID, at: datetime, handling: Any) -> None:
    operator = Operator(id=uuid4(), username=f"o-{uuid4()}", handling=handling)
    async with store.writing() as session:
        session.add(operator)
        await session.flush()
        await rows.execute(
            session,
            "UPDATE backoffice_tasks SET status = 'assigned', assigned_at = :at, assigned_to = :to "
            "WHERE id = :id",
            id=task_id,
            at=at,
            to=operator.id,
        )


async def arrive(store: Store, request_id: UUID, unit: str, error: str | None, generation: int = 1) -> None:
    failure = Failure(stage="read", component="ocr", error=error, message_id=uuid4()) if error else None
    told = failure.model_dump_json() if failure else None
    async with store.writing() as session:
        await fan_in.arrive(session, [Arrival(request_id, "default", "all", "", generation, unit, told)])


async def look(store: Store, request_id: UUID) -> list[dict[str, Any]]:
    async with store.reading() as session:
        return await missing.missing(session, request_id, NOW)


async def test_request_that_is_not_split_is_missing_as_a_whole(store: Store, request_id: UUID) -> None:
    await queue(store, request_id, "")
    await queue(store, uuid4(), "page:7")  # somebody else's
    assert await look(store, request_id) == [{"unit": "request", "reason": "queued"}]


async def test_each_reason_is_told_in_natural_order(store: Store, request_id: UUID) -> None:
    later = NOW + timedelta(minutes=5)
    await queue(store, request_id, "page:10", "page:2")
    await delay(store, request_id, "page:3", later)
    await ask(store, request_id, "document:4-6")
    await arrive(store, request_id, "page:1", "cannot be read")
    await arrive(store, request_id, "page:0", None)
    assert await look(store, request_id) == [
        {"unit": "document:4-6", "reason": "waiting_for_operator"},
        {"unit": "page:1", "reason": "failed", "detail": "cannot be read"},
        {"unit": "page:2", "reason": "queued"},
        {"unit": "page:3", "reason": "retrying", "expected_at": later.isoformat()},
        {"unit": "page:10", "reason": "queued"},
    ]


async def test_of_several_reasons_the_strongest_is_told_once(store: Store, request_id: UUID) -> None:
    for unit in ("a", "b", "c"):
        await queue(store, request_id, unit, unit)  # two branches
        await delay(store, request_id, unit, NOW + timedelta(seconds=9))
    for unit in ("a", "b"):
        await ask(store, request_id, unit)
    await arrive(store, request_id, "a", "broken")
    told = await look(store, request_id)
    assert [(entry["unit"], entry["reason"]) for entry in told] == [
        ("a", "failed"),
        ("b", "waiting_for_operator"),
        ("c", "retrying"),
    ]


async def test_of_two_delays_the_longer_one_counts(store: Store, request_id: UUID) -> None:
    for seconds in (30, 90, 60):
        await delay(store, request_id, "item:1", NOW + timedelta(seconds=seconds))
    (entry,) = await look(store, request_id)
    assert entry["expected_at"] == (NOW + timedelta(seconds=90)).isoformat()


async def test_what_should_be_over_by_now_is_no_expectation(store: Store, request_id: UUID) -> None:
    await delay(store, request_id, "item:1", NOW - timedelta(seconds=1))
    assert await look(store, request_id) == [{"unit": "item:1", "reason": "retrying"}]


async def test_person_who_has_the_task_is_expected_to_take_the_usual_time(
    store: Store, request_id: UUID
) -> None:
    handling: list[tuple[Any, datetime | None]] = [
        ({"extraction": {"n": 5, "mean_seconds": 45.0}}, NOW + timedelta(seconds=15)),
        ({"extraction": {"n": 4, "mean_seconds": 45.0}}, None),  # too few to say
        ({"extraction": {"n": 9, "mean_seconds": 20.0}}, None),  # should be done by now
        ({"classification": {"n": 9, "mean_seconds": 45.0}}, None),
        (None, None),
    ]
    for place, (known, _) in enumerate(handling):
        task_id = await ask(store, request_id, f"page:{place}")
        await assign(store, task_id, NOW - timedelta(seconds=30), known)
    told = await look(store, request_id)
    assert {entry["reason"] for entry in told} == {"waiting_for_operator"}
    assert [entry.get("expected_at") for entry in told] == [
        expected and expected.isoformat() for _, expected in handling
    ]


async def test_nobody_waits_for_an_amendment_a_notice_or_an_answered_question(
    store: Store, request_id: UUID
) -> None:
    await ask(store, request_id, "page:1", amends=True)
    await queue(store, request_id, "page:2", queue="q.backoffice.extraction")
    await ask(store, request_id, "page:3")
    async with store.writing() as session:
        await rows.execute(
            session,
            "UPDATE backoffice_tasks SET status = 'completed', completed_at = :now WHERE id IN "
            "(SELECT id FROM backoffice_tasks WHERE message LIKE '%page:3%')",
            now=utc_now(),
        )
    assert await look(store, request_id) == []


async def test_nudge_to_a_join_stands_for_its_group(store: Store, request_id: UUID) -> None:
    await queue(store, request_id, SEALED_UNIT, f"page:3/{SEALED_UNIT}")
    assert [entry["unit"] for entry in await look(store, request_id)] == ["page:3", "request"]


async def test_unit_that_came_right_after_all_is_not_missing(store: Store, request_id: UUID) -> None:
    await arrive(store, request_id, "page:1", "cannot be read")
    await arrive(store, request_id, "page:1", None, generation=2)
    assert await look(store, request_id) == []


async def test_thousand_units_take_no_more_statements_than_one(store: Store, request_id: UUID) -> None:
    await queue(store, request_id, *[f"page:{n}" for n in reversed(range(1000))])
    statements: list[str] = []
    async with store.reading() as session:
        connection = (await session.connection()).sync_connection
        event.listen(connection, "before_cursor_execute", lambda *given: statements.append(given[2]))
        told = await missing.missing(session, request_id, NOW)
    assert [entry["unit"] for entry in told] == [f"page:{n}" for n in range(1000)]
    assert len(statements) <= 2
