"""A27: tasks come back from people who say nothing, are offered to those who can, and each has one holder."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Coroutine
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from sqlalchemy import func, select

from docproc.app import App
from docproc.console.servers import station as create_app
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import tasks
from docproc.engine.store.tables import Request
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.people.assignment import Assignment
from docproc.people.availability import PRESENT_SECONDS
from docproc.people.store.claims import COOL_DOWN_SECONDS
from docproc.settings import Settings
from tests.components import PATHS
from tests.harness import Harness, filled
from tests.integration.test_amendments import FIRST, REST, TEXTS, _tasks, flow

TIMEOUT = 120.0
ACCEPT = 20.0


class Clock:
    """The assignment's, so that nobody waits for time to pass."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return utc_now() + self.ahead

    def wait(self, seconds: float) -> None:
        self.ahead += timedelta(seconds=seconds)


@pytest.fixture(autouse=True)
def _components(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PATHS, "laid_words", "tests.integration.test_amendments.LaidWords")


@pytest.fixture(params=["sqlite+sql", "postgresql+sql"])
def combination(request: pytest.FixtureRequest) -> str:
    """Both databases; who holds what is no broker's business."""
    return str(request.param)


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return _pushing(settings)


@pytest.fixture
async def station(engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
        yield client


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def assignment(engine: Harness, clock: Clock) -> Assignment:
    return Assignment(engine.app, clock)


async def _ask(engine: Harness, *priorities: int) -> list[UUID]:
    """Questions about a request, one for each priority."""
    request_id = uuid4()
    asked = [
        PipelineMessage(request_id=request_id, priority=priority, current_stage="extract")
        for priority in priorities
    ]
    async with engine.app.store.writing() as session:
        session.add(Request(id=request_id, workflow_name="any"))
        await session.flush()
        return [
            await tasks.create(session, one, task_type="extraction", reference_id=uuid4(), input_data={})
            for one in asked
        ]


async def _come(station: httpx.AsyncClient, *names: str) -> None:
    for name in names:
        assert (await station.post("/heartbeat", data={"operator": name})).status_code == 200


async def _next(station: httpx.AsyncClient, name: str) -> UUID | None:
    answer = await station.post("/next", data={"operator": name})
    return None if answer.status_code == 204 else UUID(answer.json()["task_id"])


async def _claim(station: httpx.AsyncClient, task_id: UUID, name: str) -> None:
    assert (await station.post(f"/tasks/{task_id}/claim", data={"operator": name})).status_code == 200


async def _task(engine: Harness, task_id: UUID) -> BackofficeTask:
    async with engine.app.store.reading() as session:
        return (await session.scalars(select(BackofficeTask).where(BackofficeTask.id == task_id))).one()


async def _holders(engine: Harness) -> dict[UUID, str]:
    """Task to person, as the tasks have it; `operators.current_task_id` must say the same."""
    held = select(BackofficeTask.id, Operator.username).join(
        Operator, Operator.id == BackofficeTask.assigned_to
    )
    async with engine.app.store.reading() as session:
        by_task = {(row[0], row[1]) for row in await session.execute(held.where(_is_held()))}
        current = select(Operator.current_task_id, Operator.username)
        by_person = await session.execute(current.where(Operator.current_task_id.is_not(None)))
        assert by_task == {(row[0], row[1]) for row in by_person}
    return dict(by_task)


def _is_held() -> Any:
    return BackofficeTask.status == "assigned"


async def test_who_gives_no_sign_loses_the_task_to_others(
    engine: Harness, station: httpx.AsyncClient, assignment: Assignment, clock: Clock
) -> None:
    first, second = await _ask(engine, 9, 5)
    assert await _next(station, "ana") == first
    clock.wait(TIMEOUT - 30)
    assert await assignment.take_back() == []
    clock.wait(60)
    (lost,) = await assignment.take_back()
    assert (lost.task_id, lost.operator) == (first, "ana")
    assert await _holders(engine) == {}
    listed = (await station.get("/api/tasks", params={"status": "timeout"})).json()["tasks"]
    assert [task["id"] for task in listed] == [str(first)]
    assert (await _task(engine, first)).status == "timeout"
    assert await assignment.take_back() == []
    assert (await _task(engine, first)).status == "pending", "with the next round it waits for others"
    beat = await station.post(f"/tasks/{first}/heartbeat", data={"operator": "ana"})
    assert beat.json() == {"holds": False}
    (event,) = [
        e
        for e in await engine.events((await _task(engine, first)).request_id, "task")
        if e.outcome == "timeout"
    ]
    assert event.data == {"task_id": str(first), "operator": "ana", "reason": "silent"}
    assert await _next(station, "ana") == second, "not the one just lost, as long as there are others"
    assert await _next(station, "luis") == first


async def test_only_task_is_given_again_to_who_lost_it(
    engine: Harness, station: httpx.AsyncClient, assignment: Assignment, clock: Clock
) -> None:
    (only,) = await _ask(engine, 5)
    await _claim(station, only, "ana")
    clock.wait(TIMEOUT + 1)
    assert len(await assignment.take_back()) == 1
    assert await _next(station, "ana") == only


async def test_a_sign_keeps_the_task(
    engine: Harness, station: httpx.AsyncClient, assignment: Assignment, clock: Clock
) -> None:
    (only,) = await _ask(engine, 5)
    await _claim(station, only, "ana")
    clock.wait(TIMEOUT + 1)
    await engine.query("UPDATE backoffice_tasks SET seen_at = :now", now=clock())
    assert await assignment.take_back() == []
    assert await _holders(engine) == {only: "ana"}


async def test_offer_goes_to_who_is_there_and_is_accepted_by_asking_for_work(
    engine: Harness, station: httpx.AsyncClient, assignment: Assignment, clock: Clock
) -> None:
    urgent, other = await _ask(engine, 9, 5)
    assert await assignment.round() == 0, "nobody is there"
    await _come(station, "ana")
    assert await assignment.round() == 1
    assert await _holders(engine) == {urgent: "ana"}
    assert await assignment.round() == 0, "one task at a time"
    assert (await _task(engine, urgent)).accepted_at is None
    assert await _next(station, "luis") == other, "what is offered is nobody else's"
    assert await _next(station, "ana") == urgent
    assert (await _task(engine, urgent)).accepted_at is not None
    clock.wait(ACCEPT + 1)
    assert await assignment.take_back() == []


async def test_offer_that_nobody_accepts_goes_to_the_next(
    engine: Harness, station: httpx.AsyncClient, assignment: Assignment, clock: Clock
) -> None:
    (only,) = await _ask(engine, 5)
    await _come(station, "ana")
    assert await assignment.round() == 1
    clock.wait(ACCEPT + 1)
    assert await assignment.round() == 0, "ana is not offered anything for a while"
    await _come(station, "luis")
    assert await assignment.round() == 1
    assert await _holders(engine) == {only: "luis"}
    outcomes = [e.outcome for e in await engine.events((await _task(engine, only)).request_id, "task")]
    assert outcomes == ["pending", "offered", "timeout", "offered"]


async def test_who_let_an_offer_go_is_asked_again_later(
    engine: Harness, station: httpx.AsyncClient, assignment: Assignment, clock: Clock
) -> None:
    (only,) = await _ask(engine, 5)
    await _come(station, "ana")
    assert await assignment.round() == 1
    clock.wait(ACCEPT + 1)
    assert await assignment.round() == 0
    clock.wait(COOL_DOWN_SECONDS + 1)
    await engine.query("UPDATE operators SET last_seen_at = :now", now=clock())
    assert await assignment.round() == 1
    assert await _holders(engine) == {only: "ana"}


async def test_who_closed_the_page_is_offered_nothing(
    engine: Harness, station: httpx.AsyncClient, assignment: Assignment, clock: Clock
) -> None:
    await _ask(engine, 5)
    await _come(station, "ana")
    clock.wait(PRESENT_SECONDS + 1)
    assert await assignment.round() == 0


async def test_tasks_are_offered_when_several_people_are_there(sqlite_engine: Harness, clock: Clock) -> None:
    """`auto`, as delivered: one alone takes the next task without being asked."""
    engine = sqlite_engine
    transport = httpx.ASGITransport(create_app(engine.app))
    assignment = Assignment(engine.app, clock)
    assert engine.app.settings.backoffice_push == "auto"
    await _ask(engine, 9, 5)
    async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as station:
        await _come(station, "ana")
        assert await assignment.round() == 0
        await _come(station, "luis")
        assert await assignment.round() == 2
        assert sorted((await _holders(engine)).values()) == ["ana", "luis"]
        # What is offered to somebody is taken like any other.
        offered = {name: task for task, name in (await _holders(engine)).items()}
        assert await _next(station, "ana") == offered["ana"]


async def test_tasks_without_people_for_them_do_not_hide_the_others(
    engine: Harness, station: httpx.AsyncClient, assignment: Assignment
) -> None:
    rare = await _ask(engine, *[9] * 5)
    (plain,) = await _ask(engine, 1)
    for task_id in rare:
        async with engine.app.store.writing() as session:
            found = await session.get(BackofficeTask, task_id)
            assert found is not None
            found.required_skills = ["extraction", "latin"]
    await _come(station, "ana")
    assert await assignment.round() == 1
    assert await _holders(engine) == {plain: "ana"}


async def test_current_task_is_right_whatever_happens(
    engine: Harness, station: httpx.AsyncClient, assignment: Assignment
) -> None:
    first, second, third = await _ask(engine, 9, 5, 1)
    await _claim(station, first, "ana")
    await _claim(station, second, "ana")
    await station.post(f"/tasks/{second}/release", data={"operator": "ana"})
    assert await _holders(engine) == {first: "ana"}, "the other one is still hers"
    await _claim(station, third, "luis")
    await engine.query("UPDATE operators SET is_active = false WHERE username = 'luis'")
    (lost,) = await assignment.take_back()
    assert (lost.operator, lost.reason) == ("luis", "inactive")
    assert await _holders(engine) == {first: "ana"}
    async with engine.app.store.writing() as session:
        await tasks.close_all(session, (await _task(engine, first)).request_id, "cancelled")
    assert await _holders(engine) == {}
    await engine.query("UPDATE operators SET current_task_id = :id", id=first)
    await assignment.take_back()
    assert await _holders(engine) == {}, "also after somebody changed it by hand"


async def test_windows_of_one_person_get_one_task(engine: Harness, station: httpx.AsyncClient) -> None:
    await _ask(engine, *[5] * 10)
    await _come(station, "ana")
    given = await asyncio.gather(*(_next(station, "ana") for _ in range(8)))
    assert len(set(given)) == 1 and given[0] is not None
    assert len(await _holders(engine)) == 1


async def test_offers_and_claims_at_the_same_moment_never_meet(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    asked = await _ask(engine, *[5] * 15)
    names = [f"op{n}" for n in range(12)]
    await _come(station, *names)
    rounds = [Assignment(engine.app).round() for _ in range(4)]
    _, *given = await asyncio.gather(_all(rounds), *(_next(station, name) for name in names))
    # Whoever asked while all the rest was being offered got nothing, and asks again.
    given = [task or await _next(station, name) for task, name in zip(given, names, strict=True)]
    assert await _holders(engine) == dict(zip(given, names, strict=True))
    assert len(set(given)) == len(names) and set(given) < set(asked)


async def _all(rounds: list[Coroutine[Any, Any, int]]) -> None:
    await asyncio.gather(*rounds)


async def test_one_process_assigns_at_a_time_and_leaves_it_to_the_next(engine: Harness) -> None:
    one, other = Assignment(App(engine.settings, "one")), Assignment(App(engine.settings, "other"))
    try:
        assert [await one._is_mine(), await other._is_mine(), await one._is_mine()] == [True, False, True]
        await one.leave()
        assert await other._is_mine()
    finally:
        for each in (one, other):
            await each.store.close()


async def test_station_offers_by_itself(sqlite_engine: Harness) -> None:
    (only,) = await _ask(sqlite_engine, 5)
    app = create_app(App(_pushing(sqlite_engine.settings), "station"))
    client = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://docproc")
    async with app.router.lifespan_context(app), client:
        await _come(client, "ana")

        async def offered() -> bool:
            return await _holders(sqlite_engine) == {only: "ana"}

        await sqlite_engine.until(offered, "the task is offered", 30)
    await app.state.desk.application.close()


async def test_assignment_is_woken_when_a_task_comes_back(sqlite_engine: Harness) -> None:
    (only,) = await _ask(sqlite_engine, 5)
    app = create_app(sqlite_engine.app)
    desk, woken = app.state.desk, []
    assert desk.wake == app.state.assignment.wake
    desk.wake = lambda: woken.append("again")
    ana = await desk.operator("ana", create=True)
    await desk.claim(only, ana)
    assert woken == []
    await desk.release(only, ana)
    assert woken == ["again"]


def _pushing(settings: Settings) -> Settings:
    return settings.model_copy(update={"backoffice_push": True})


async def test_doubtful_page_waits_for_who_is_there_and_else_goes_out_flagged(
    sqlite_engine: Harness,
) -> None:
    """Presence is what the station's heartbeats say."""
    engine = sqlite_engine
    engine.workflow("unsure", flow())
    await engine.start(*FIRST, *REST)
    request = await engine.finished(await engine.submit("unsure", texts=TEXTS[:1]), 60)
    (task,) = await _tasks(engine, request.id)
    assert filled(task.input_data)["amends"] is True, "nobody is there: the answer is out, flagged"

    transport = httpx.ASGITransport(create_app(engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as station:
        await _come(station, "ana")
        request_id = await engine.submit("unsure", texts=TEXTS[1:])

        async def asked() -> bool:
            await _come(station, "ana")
            return bool(await _tasks(engine, request_id))

        await engine.until(asked, "ana is asked", 60)
    (task,) = await _tasks(engine, request_id)
    assert "amends" not in filled(task.input_data)
    assert (await engine.request(request_id)).status not in ("completed", "failed")
    async with engine.app.store.reading() as session:
        documents = await session.scalar(
            select(func.count()).select_from(Request).where(Request.answer_version > 0)
        )
    assert documents == 1, "only the first request is answered"
