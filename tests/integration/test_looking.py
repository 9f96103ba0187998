"""Looking at the review station: who sees what, that it is on record, and that it makes nobody."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from uuid import uuid4

import httpx
import pytest
from sqlalchemy import update

from docproc.console.servers import station as create_app
from docproc.engine.store.task_tables import Operator
from docproc.people import looking
from docproc.people.desk import Desk
from docproc.people.store import accounts
from docproc.people.store.accounts import Account
from tests.components import PATHS
from tests.harness import Harness
from tests.integration.test_desk import _asked
from tests.integration.test_sign_in import HASH, browser, enter, guarded_app


@pytest.fixture(autouse=True)
def _components(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PATHS, "laid_words", "tests.integration.test_amendments.LaidWords")


@pytest.fixture(params=["sqlite+sql", "postgresql+rabbitmq"])
def combination(request: pytest.FixtureRequest) -> str:
    """The two ways to run."""
    return str(request.param)


@pytest.fixture
async def station(engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


async def _views(engine: Harness) -> list[str]:
    found = await engine.query(
        "SELECT data FROM events WHERE kind = 'task' AND outcome = 'viewed' ORDER BY id"
    )
    return [re.search(r'"operator": ?"(\w+)"', str(row.data).replace("'", '"'))[1] for row in found]  # type: ignore[index] # it is there


async def _skilled(engine: Harness, name: str, *skills: str) -> None:
    await Desk(engine.app).operator(name, create=True)
    async with engine.app.store.writing() as session:
        await session.execute(update(Operator).where(Operator.username == name).values(skills=list(skills)))


async def test_list_has_only_what_a_person_may_do_and_looking_is_on_record(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    """8: names and tax numbers of tasks that are not the person's are nobody's business."""
    await _asked(engine)
    await _skilled(engine, "ana", "classification")
    await _skilled(engine, "luis", "extraction")

    async def listed(**query: str) -> list[dict[str, object]]:
        answer = await station.get("/api/tasks", params=query)
        assert answer.status_code == 200, answer.text
        found: list[dict[str, object]] = answer.json()["tasks"]
        return found

    assert len(await listed(operator="ana")) == 2 and await _views(engine) == ["ana", "ana"]
    assert all(task["input_data"] for task in await listed(operator="ana"))
    assert await _views(engine) == ["ana", "ana"], "who asks again at once is noted once"
    assert await listed(operator="luis") == [] and await _views(engine) == ["ana", "ana"]

    nobody = await listed(status="pending")
    assert len(nobody) == 2, "the specified list, with authentication off"
    assert all(task["input_data"] is None and task["output_data"] is None for task in nobody)

    task = str(nobody[0]["id"])
    await station.post(f"/tasks/{task}/claim", json={"operator": "ana"})
    await _skilled(engine, "eva", "classification", "extraction")
    assert [one["id"] for one in await listed(operator="eva", status="assigned")] == [], "it is ana's"
    assert [one["id"] for one in await listed(operator="ana", status="assigned")] == [task]


async def test_signed_in_people_see_their_own_and_supervisors_all(engine: Harness) -> None:
    """8: `operator` in the address means nothing there."""
    await _asked(engine)
    app = guarded_app(engine)
    people = {"luis": ("operator", ["extraction"]), "sofia": ("supervisor", [])}
    async with engine.app.store.writing() as session:
        for name, (role, skills) in people.items():
            assert await accounts.add(session, Account(name, skills, password_hash=HASH, role=role), "test")
    for name, number in (("luis", 0), ("sofia", 2)):
        async with browser(app) as client:
            await enter(client, name)
            found = (await client.get("/api/tasks?operator=ana")).json()["tasks"]
            assert len(found) == number
    assert await _views(engine) == ["sofia", "sofia"]


def test_a_look_is_noted_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    now, task = [1000.0], uuid4()
    monkeypatch.setattr(looking, "monotonic", lambda: now[0])
    looks = looking.Looks()
    assert looks.fresh("ana", [task]) == {task}
    looks.note("ana", [task])
    assert looks.fresh("ana", [task]) == set() and looks.fresh("eva", [task]) == {task}
    now[0] += looking.AGAIN_SECONDS
    assert looks.fresh("ana", [task]) == {task}


async def test_looking_makes_nobody_and_doing_does(engine: Harness, station: httpx.AsyncClient) -> None:
    """9: another site's page can have a browser GET anything, so that GET changes nothing."""
    for path in ("/", "/queue", "/supervisor", "/api/tasks"):
        shown = await station.get(path, params={"operator": "nueva"}, headers={"Accept": "text/html"})
        assert shown.status_code == 200, f"{path}: {shown.text}"
    assert await engine.query("SELECT username FROM operators") == []

    for headers in (
        {"Sec-Fetch-Site": "same-site"},
        {"Sec-Fetch-Site": "cross-site"},
        {"Origin": "http://elsewhere.example"},
        {"Origin": "http://localhost:8000"},
        {"Origin": "null"},
    ):
        refused = await station.post("/heartbeat", data={"operator": "nueva"}, headers=headers)
        assert (refused.status_code, refused.json()["error"]["code"]) == (403, "cross_site"), headers
    assert await engine.query("SELECT username FROM operators") == []

    for headers in ({"Origin": "http://localhost"}, {"Sec-Fetch-Site": "same-origin", "Origin": "null"}, {}):
        done = await station.post("/heartbeat", data={"operator": "nueva"}, headers=headers)
        assert done.status_code == 200
    assert [row.username for row in await engine.query("SELECT username FROM operators")] == ["nueva"]
