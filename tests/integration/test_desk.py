"""A26: claims are exclusive, answers count once and come from the holder, and what follows is exact."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from docproc.console.servers import station as create_app
from docproc.engine.store import answers
from docproc.engine.store.task_tables import BackofficeTask
from tests.components import PATHS
from tests.harness import Harness, filled
from tests.integration.test_amendments import FIRST, REST, TEXTS, _tasks, flow

WAITING = "when_no_time: wait"
TYPES = f"confidence_threshold: 1.0, backoffice_queue: task.classification, {WAITING}"
FIELDS = f"component: extractor, confidence_threshold: 1.0, backoffice_queue: task.extraction, {WAITING}"
SURE = "confidence_threshold: 0.0"


@pytest.fixture(autouse=True)
def _components(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PATHS, "laid_words", "tests.integration.test_amendments.LaidWords")


@pytest.fixture(params=["sqlite+sql", "postgresql+rabbitmq"])
def combination(request: pytest.FixtureRequest) -> str:
    """The two ways to run."""
    return str(request.param)


@pytest.fixture
async def station(engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    """The review station, without a network between."""
    transport = httpx.ASGITransport(create_app(engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
        yield client


async def _asked(engine: Harness, *, types: str = TYPES, fields: str = "component: work") -> UUID:
    """A packet of two pages whose questions wait for people."""
    engine.workflow("default", flow(types, fields))
    await engine.start(*FIRST, *REST, "extractor")
    request_id = await engine.submit("default", texts=TEXTS)

    async def both() -> bool:
        return len(await _tasks(engine, request_id)) == 2

    await engine.until(both, "two questions wait", 60)
    return request_id


async def _post(station: httpx.AsyncClient, task: BackofficeTask, what: str, **form: Any) -> httpx.Response:
    return await station.post(f"/tasks/{task.id}/{what}", data=form)


async def test_notices_name_their_tasks(engine: Harness) -> None:
    request_id = await _asked(engine)
    found = await engine.query("SELECT body FROM messages WHERE queue = 'q.backoffice.classification'")
    told = sorted(json.loads(row.body)["payload"]["task_id"] for row in found)
    assert told == sorted(str(task.id) for task in await _tasks(engine, request_id))


async def test_of_fifty_claims_one_wins(engine: Harness, station: httpx.AsyncClient) -> None:
    task, _ = await _tasks(engine, await _asked(engine))
    claims = await asyncio.gather(*(_post(station, task, "claim", operator=f"op{n}") for n in range(50)))
    codes = sorted(answer.status_code for answer in claims)
    assert codes == [200] + [409] * 49
    (holder,) = await engine.query("SELECT username FROM operators WHERE current_task_id IS NOT NULL")
    (row,) = await engine.query("SELECT assigned_to FROM backoffice_tasks WHERE status = 'assigned'")
    (named,) = await engine.query("SELECT username FROM operators WHERE id = :id", id=row.assigned_to)
    assert holder.username == named.username


async def test_only_the_holder_answers_and_only_once(engine: Harness, station: httpx.AsyncClient) -> None:
    request_id = await _asked(engine)
    task, _ = await _tasks(engine, request_id)
    assert (await _post(station, task, "submit", operator="ana", doc_type="invoice")).status_code == 409
    await _post(station, task, "claim", operator="ana")
    assert (await _post(station, task, "submit", operator="eve", doc_type="invoice")).status_code == 403
    sent = [_post(station, task, "submit", operator="ana", doc_type="invoice") for _ in range(5)]
    assert sorted(answer.status_code for answer in await asyncio.gather(*sent)) == [200] + [409] * 4
    handled = [e for e in await engine.events(request_id, "task") if e.outcome == "completed"]
    assert [e.data["operator"] for e in handled] == ["ana"]


async def test_types_that_cannot_be_are_refused(engine: Harness, station: httpx.AsyncClient) -> None:
    task, _ = await _tasks(engine, await _asked(engine))
    await _post(station, task, "claim", operator="ana")
    for form in ({"doc_type": "spaceship"}, {"doc_type": ""}, {}):
        refused = await _post(station, task, "submit", operator="ana", **form)
        assert refused.status_code == 422 and refused.json()["error"]["details"][0]["where"] == "doc_type"
    assert (await _post(station, task, "submit", operator="ana", doc_type="other")).status_code == 200


IMPOSSIBLE = [
    ("[1]", "extracted_data"),
    ("no json", "extracted_data"),
    ('{"total_amount": "much"}', "total_amount"),
    ('{"total_amount": null}', "total_amount"),
    ('{"invoice_number": 7}', "invoice_number"),
    ('{"colour": "red"}', "colour"),
]


async def test_fields_that_cannot_be_are_refused(engine: Harness, station: httpx.AsyncClient) -> None:
    task, _ = await _tasks(engine, await _asked(engine, types=SURE, fields=FIELDS))
    await _post(station, task, "claim", operator="ana")
    for data, field in IMPOSSIBLE:
        refused = await _post(station, task, "submit", operator="ana", extracted_data=data)
        assert refused.status_code == 422, refused.text
        assert field in [detail["where"] for detail in refused.json()["error"]["details"]]
    (row,) = await engine.query("SELECT status FROM backoffice_tasks WHERE id = :id", id=task.id)
    assert row.status == "assigned"


async def test_packet_pauses_and_two_people_resolve_it(engine: Harness, station: httpx.AsyncClient) -> None:
    """Pages by one, then documents by another; the answer is complete and shows who decided."""
    request_id = await _asked(engine, fields=FIELDS)
    trace = (await engine.request(request_id)).trace_id
    for task in await _tasks(engine, request_id):
        await _post(station, task, "claim", operator="ana")
        assert (await _post(station, task, "submit", operator="ana", doc_type="invoice")).status_code == 200
    (page, *_) = await engine.query("SELECT doc_type, origin, classification_confidence FROM pages")
    assert tuple(page) == ("invoice", "BACKOFFICE", 1.0)

    async def asked_again() -> bool:
        return any(task.task_type == "extraction" for task in await _tasks(engine, request_id))

    await engine.until(asked_again, "fields are asked about", 60)
    while (answer := await station.post("/next", json={"operator": "luis"})).status_code == 200:
        task_id = answer.json()["task_id"]
        said = {"operator": "luis", "extracted_data": {"total_amount": "99,50", "invoice_number": "A-1"}}
        done = await station.post(f"/tasks/{task_id}/submit", json=said)
        assert done.status_code == 200, done.text
    request = await engine.finished(request_id, 60)
    assert (request.status, request.trace_id) == ("completed", trace)
    for document in filled(request.result_payload)["documents"]:
        assert document["extracted_data"]["total_amount"] == 99.5
        assert document["fields"]["total_amount"]["origin"] == "BACKOFFICE"
        assert document["fields"]["total_amount"]["value"] == "99.50"
    async with engine.app.store.reading() as session:
        assert [one.is_partial for one in await answers.of_request(session, request_id)] == [False]
    said_of = await engine.query("SELECT DISTINCT operator, subject FROM corrections ORDER BY subject")
    assert [tuple(row) for row in said_of] == [("luis", "field"), ("ana", "type")]
    (luis,) = await engine.query("SELECT current_task_id, handling FROM operators WHERE username = 'luis'")
    assert luis.current_task_id is None and luis.handling is not None


async def test_skipped_tasks_go_to_others_and_escalated_ones_to_supervisors(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    first, second = await _tasks(engine, await _asked(engine))
    for task, what in ((first, "skip"), (second, "escalate")):
        await _post(station, task, "claim", operator="ana")
        answer = await _post(station, task, what, operator="ana", reason="illegible")
        assert answer.json()["status"] == "pending"
    assert (await station.post("/next", data={"operator": "ana"})).status_code == 204
    taken = await station.post("/next", data={"operator": "luis"})
    assert taken.json()["task_id"] == str(first.id)
    assert (await _post(station, second, "claim", operator="luis")).status_code == 403
    await engine.query("UPDATE operators SET role = 'supervisor' WHERE username = 'ana'")
    assert (await _post(station, second, "claim", operator="ana")).status_code == 200


async def test_what_nobody_can_read_goes_on_as_it_was(engine: Harness, station: httpx.AsyncClient) -> None:
    request_id = await _asked(engine, types=SURE, fields=FIELDS)
    for task in await _tasks(engine, request_id):
        await _post(station, task, "claim", operator="ana")
        assert (await _post(station, task, "cannot-read", operator="ana", reason="torn")).status_code == 200
    request = await engine.finished(request_id, 60)
    assert request.status == "completed"
    assert all(document["needs_review"] for document in filled(request.result_payload)["documents"])


async def test_tasks_are_listed_by_urgency_and_holders_are_told_when_they_lose_one(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    first, second = await _tasks(engine, await _asked(engine))
    await engine.query("UPDATE backoffice_tasks SET priority = 9 WHERE id = :id", id=second.id)
    listed = (await station.get("/api/tasks", params={"status": "pending", "skill": "classification"})).json()
    assert [task["id"] for task in listed["tasks"]] == [str(second.id), str(first.id)]
    await _post(station, second, "claim", operator="ana")
    assert (await _post(station, second, "heartbeat", operator="ana")).json() == {"holds": True}
    await engine.query("UPDATE backoffice_tasks SET status = 'pending', assigned_to = NULL")
    assert (await _post(station, second, "heartbeat", operator="ana")).json() == {"holds": False}
    unknown = await station.post("/tasks/0b8f2a52-6a0c-4f6e-9c57-3d8b1f0b9a11/claim", data={"operator": "a"})
    assert unknown.status_code == 404
