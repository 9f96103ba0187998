"""Who is there and what is asked of them, on both databases."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select

from docproc.components.asking import Ask, Question, decide
from docproc.message import PipelineMessage, utc_now
from docproc.people import Handling
from docproc.store import operators, tasks
from docproc.store.session import Store
from docproc.store.tables import BackofficeTask, Event, Operator, Request
from docproc.store.tasks import Urgency
from docproc.workflow.definition import Stage

NOW = utc_now()
SHIFT = {"days": ["mon"], "from": "08:00", "to": "15:00", "zone": "Europe/Madrid"}


def later(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


async def add(store: Store, name: str = "ana", **more: Any) -> UUID:
    values = {"skills": ["classification", "extraction"], "last_seen_at": NOW, **more}
    person = Operator(id=uuid4(), username=name, **values)
    async with store.writing() as session:
        session.add(person)
    return person.id


def message(request_id: UUID, *, priority: int = 5, seconds: float = 100) -> PipelineMessage:
    return PipelineMessage(
        request_id=request_id, priority=priority, deadline_utc=later(seconds), current_stage="extract"
    )


async def ask(store: Store, *asked: PipelineMessage, amends: bool = False) -> list[UUID]:
    async with store.writing() as session:
        for request_id in {one.request_id for one in asked}:
            if await session.get(Request, request_id) is None:
                session.add(Request(id=request_id, workflow_name="any"))
        await session.flush()
        return [
            await tasks.create(
                session, one, task_type="extraction", reference_id=uuid4(), input_data={}, amends=amends
            )
            for one in asked
        ]


async def read(store: Store, task_id: UUID) -> BackofficeTask:
    async with store.reading() as session:
        return (await session.scalars(select(BackofficeTask).where(BackofficeTask.id == task_id))).one()


# --- operators ------------------------------------------------------------------------------------------


async def test_operators_are_read_by_tenant_with_shifts_and_experience(store: Store) -> None:
    await add(store, shifts=[SHIFT], handling={"extraction": {"n": 7, "mean_seconds": 12.5}})
    await add(store, "gone", is_active=False)
    await add(store, "other", tenant_id="acme", skills=["extraction"], last_seen_at=None)
    async with store.reading() as session:
        found = await operators.active(session, {"default", "acme", "nobody"})
    (ana,), (other,) = found["default"], found["acme"]
    assert found["nobody"] == []
    assert ana.is_present(NOW) and ana.skills == {"classification", "extraction"}
    assert [shift.zone.key for shift in ana.shifts] == ["Europe/Madrid"]
    assert ana.handling == {"extraction": Handling(7, 12.5)}
    assert not other.is_present(NOW) and other.skills == {"extraction"} and other.shifts == ()


async def test_operator_whose_shifts_cannot_be_read_counts_as_away(store: Store) -> None:
    await add(store, shifts=[{**SHIFT, "zone": "Europe/Nowhere"}])
    async with store.reading() as session:
        (ana,) = (await operators.active(session, {"default"}))["default"]
    assert not ana.is_present(NOW)


async def test_sign_of_life_makes_present_and_an_older_one_changes_nothing(store: Store) -> None:
    await add(store, last_seen_at=None)
    for moment in (later(10), later(5)):
        async with store.writing() as session:
            assert await operators.seen(session, "ana", moment)
    async with store.writing() as session:
        assert not await operators.seen(session, "nobody", NOW)
        assert await session.scalar(select(Operator.last_seen_at)) == later(10)


async def test_handling_times_are_a_mean_that_follows_changes(store: Store) -> None:
    ana = await add(store)
    async with store.writing() as session:
        for seconds in (10, 20, 60):
            await operators.record_handling(session, ana, "extraction", seconds)
        await operators.record_handling(session, ana, "classification", 5)
    async with store.writing() as session:
        known = await session.scalar(select(Operator.handling))
        assert known == {
            "extraction": {"n": 3, "mean_seconds": 30},
            "classification": {"n": 1, "mean_seconds": 5},
        }
        for _ in range(3 * operators.REMEMBERED_TASKS):
            await operators.record_handling(session, ana, "extraction", 100)
    async with store.reading() as session:
        changed = (await session.scalar(select(Operator.handling)))["extraction"]
    assert changed["n"] == operators.REMEMBERED_TASKS
    assert changed["mean_seconds"] == pytest.approx(100, abs=5)


# --- tasks ----------------------------------------------------------------------------------------------


async def test_tasks_ahead_are_the_open_ones_that_are_as_urgent_or_more(store: Store) -> None:
    one, other = uuid4(), uuid4()
    await ask(store, message(one), message(one, priority=9, seconds=900), message(one, seconds=900))
    await ask(store, message(other), message(other))
    async with store.writing() as session:
        await tasks.close_all(session, other, "cancelled")
        urgencies = [
            Urgency(5, later(100)), Urgency(5, later(99)), Urgency(5, later(1000)),
            Urgency(9, later(1)), Urgency(2, later(1)),
        ]  # fmt: skip
        found = await tasks.open_ahead(session, "extraction", urgencies)
        elsewhere = await tasks.open_ahead(session, "classification", urgencies)
    assert [found["default", urgency] for urgency in urgencies] == [2, 1, 3, 0, 3]
    assert not any(elsewhere.values())


async def test_escalation_raises_the_open_tasks_that_are_below(store: Store) -> None:
    one, other = uuid4(), uuid4()
    low, high = await ask(store, message(one, priority=4), message(one, priority=9))
    (foreign,) = await ask(store, message(other, priority=4))
    async with store.writing() as session:
        assert await tasks.escalate(session, [one], 8) == 1
        assert await tasks.escalate(session, [one], 8) == 0
        assert await tasks.escalate(session, [], 8) == 0
        await tasks.close_all(session, one, "cancelled")
        assert await tasks.escalate(session, [one], 9) == 0
    assert [(await read(store, task)).priority for task in (low, high, foreign)] == [8, 9, 4]


async def test_task_that_amends_says_so_and_has_a_message_of_its_own(store: Store) -> None:
    asked = message(uuid4())
    (task_id,) = await ask(store, asked, amends=True)
    task = await read(store, task_id)
    waiting = PipelineMessage.parse(str(task.message))
    assert task.input_data == {"amends": True}
    assert waiting.message_id != asked.message_id
    assert waiting.model_copy(update={"message_id": asked.message_id}) == asked
    async with store.reading() as session:
        assert (await session.scalar(select(Event.data)))["amends"] is True


async def test_only_questions_that_nothing_waits_for_are_withdrawn(store: Store) -> None:
    one = uuid4()
    (amending,) = await ask(store, message(one), amends=True)
    (waited_for,) = await ask(store, message(one))
    references = [(await read(store, task)).reference_id for task in (amending, waited_for)]
    async with store.writing() as session:
        await tasks.withdraw_amendments(session, [r for r in references if r], "regrouped")
    assert (await read(store, amending)).output_data == {"closed": "regrouped"}
    assert [(await read(store, task)).status for task in (amending, waited_for)] == ["completed", "pending"]


# --- asking ---------------------------------------------------------------------------------------------

FLAGS = Stage(name="extract", component="extractor", backoffice_queue="task.extraction")
WAITS = Stage.model_validate({**FLAGS.model_dump(), "when_no_time": "wait"})


async def decisions(store: Store, *questions: Question | None) -> list[Ask]:
    async with store.reading() as session:
        return await decide(session, "extraction", questions, NOW)


async def test_without_anybody_present_the_stage_decides(store: Store) -> None:
    one = message(uuid4())
    asks = await decisions(store, Question(one, FLAGS), None, Question(one, WAITS))
    assert asks == [Ask.AFTER, Ask.NOBODY, Ask.BEFORE]


async def test_questions_of_one_batch_wait_for_each_other_the_urgent_first(store: Store) -> None:
    await add(store)  # takes 90 seconds for each
    late, soon = message(uuid4(), seconds=180), message(uuid4(), seconds=100)
    asks = await decisions(store, *(Question(one, FLAGS) for one in (late, late, soon)))
    assert asks == [Ask.BEFORE, Ask.AFTER, Ask.BEFORE]


async def test_open_tasks_of_others_count_and_those_of_another_tenant_do_not(store: Store) -> None:
    await add(store)
    asked = message(uuid4())
    await ask(store, asked.model_copy(update={"tenant_id": "acme"}))
    assert await decisions(store, Question(asked, FLAGS)) == [Ask.BEFORE]
    await ask(store, message(uuid4()))
    assert await decisions(store, Question(asked, FLAGS)) == [Ask.AFTER]
    urgent = asked.model_copy(update={"priority": 9})
    assert await decisions(store, Question(urgent, FLAGS)) == [Ask.BEFORE]
