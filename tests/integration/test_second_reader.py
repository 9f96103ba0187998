"""Some answers are read by a second person, blind; where the two disagree a supervisor decides."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from docproc.console.servers import station as create_app
from docproc.engine.store.task_tables import BackofficeTask
from docproc.errors import WorkflowError
from docproc.people.supervision import second_reader
from docproc.people.supervision.second_reader import is_sampled
from tests.components import PATHS
from tests.harness import Harness, filled
from tests.integration.test_amendments import FIRST, REST, TEXTS, _amended, _tasks, flow

ALL = "second_reader: {share: 1.0}"
ASKED = "confidence_threshold: 1.0, when_no_time: wait"
SURE = "confidence_threshold: 0.0"
FIELDS = f"component: extractor, backoffice_queue: task.extraction, {ASKED}"
TYPES = f"backoffice_queue: task.classification, {ASKED}"
SAID = {"total_amount": "99.50", "invoice_number": "A-1"}


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
    async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
        yield client


async def _asked(engine: Harness, *, types: str = SURE, fields: str = "component: work") -> UUID:
    """A packet of one page with a question that waits."""
    engine.workflow("default", flow(types, fields))
    await engine.start(*FIRST, *REST, "extractor")
    request_id = await engine.submit("default", texts=TEXTS[:1])

    async def asked() -> bool:
        return bool(await _tasks(engine, request_id))

    await engine.until(asked, "a question waits", 60)
    return request_id


async def _answer(station: httpx.AsyncClient, who: str, **said: Any) -> None:
    """The next task of this person, answered."""
    task = await station.post("/next", json={"operator": who})
    assert task.status_code == 200, f"no task for {who}"
    sent = {"operator": who, **said}
    done = await station.post(f"/tasks/{task.json()['task_id']}/submit", json=sent)
    assert done.status_code == 200, done.text


async def _of(engine: Harness, request_id: UUID, first: UUID) -> list[BackofficeTask]:
    """What followed from a task, oldest first."""
    found = [task for task in await _tasks(engine, request_id) if task.second_of == first]
    return sorted(found, key=lambda task: task.created_at)


async def _supervisor(engine: Harness, station: httpx.AsyncClient, name: str) -> None:
    await station.post("/heartbeat", json={"operator": name})
    await engine.query("UPDATE operators SET role = 'supervisor' WHERE username = :name", name=name)


async def test_second_reading_is_blind_and_agreement_changes_nothing(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _asked(engine, fields=f"{FIELDS}, {ALL}")
    (first,) = await _tasks(engine, request_id)
    await _answer(station, "ana", extracted_data=SAID)
    request = await engine.finished(request_id, 60)
    assert request.answer_version == 1, "nothing waits for the second reader"
    (second,) = await _of(engine, request_id, first.id)
    assert filled(second.input_data) == {**filled(first.input_data), "amends": True}, "as the machine saw it"
    assert "A-1" not in str(second.input_data)

    assert (await station.post("/next", json={"operator": "ana"})).status_code == 204
    listed = (await station.get("/api/tasks", params={"status": "completed"})).json()["tasks"]
    assert [task["output_data"] for task in listed] == [None], "nobody reads it there either"
    refused = await station.post(f"/tasks/{second.id}/claim", json={"operator": "ana"})
    assert refused.status_code == 403, "the first reader cannot be the second"
    before = _count("total_amount", "agreed")
    again = {"total_amount": "99.5", "invoice_number": "a-1"}
    await _answer(station, "luis", extracted_data=again)
    (second,) = await _of(engine, request_id, first.id)
    assert filled(second.output_data)["agreed"] == ["invoice_number", "total_amount"]
    assert filled(second.output_data)["disagreed"] == []
    assert _count("total_amount", "agreed") == before + 1
    assert (await engine.request(request_id)).answer_version == 1
    assert len(await _tasks(engine, request_id)) == 2, "a second reading is not read again"


def _count(field: str, outcome: str) -> float:
    return float(second_reader.READINGS.labels(field, outcome)._value.get())


async def test_supervisor_decides_between_two_readers_and_the_answer_is_amended(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _asked(engine, fields=f"{FIELDS}, {ALL}")
    (first,) = await _tasks(engine, request_id)
    await _answer(station, "ana", extracted_data=SAID)
    await engine.finished(request_id, 60)
    await _answer(station, "luis", extracted_data={**SAID, "total_amount": "77.25"})
    _, dispute = await _of(engine, request_id, first.id)
    assert (dispute.needs_role, filled(dispute.input_data)["review"]) == ("supervisor", ["total_amount"])
    said = {one["operator"]: one["said"]["total_amount"] for one in filled(dispute.input_data)["answers"]}
    assert said == {"ana": "99.50", "luis": "77.25"}
    assert (await station.post("/next", json={"operator": "eva"})).status_code == 204

    await _supervisor(engine, station, "sofia")
    await station.post(f"/tasks/{dispute.id}/claim", json={"operator": "sofia"})
    page = await station.get(f"/tasks/{dispute.id}", params={"operator": "sofia"})
    assert "you decide" in page.text and "<td>77.25</td>" in page.text
    await _answer(station, "sofia", extracted_data={"total_amount": "77.25"})
    result = await _amended(engine, request_id, 2)
    data = result["documents"][0]["extracted_data"]
    assert data == {"total_amount": 77.25, "invoice_number": "A-1"}, "what was not disputed stands"
    assert result["documents"][0]["fields"]["total_amount"]["origin"] == "BACKOFFICE"


async def test_supervisor_who_agrees_with_the_first_reader_amends_nothing(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _asked(engine, types=f"{TYPES}, {ALL}")
    (first,) = await _tasks(engine, request_id)
    await _answer(station, "ana", doc_type="invoice")
    await engine.finished(request_id, 60)
    await _answer(station, "luis", doc_type="receipt")
    await _supervisor(engine, station, "sofia")
    await _answer(station, "sofia", doc_type="invoice")
    second, dispute = await _of(engine, request_id, first.id)
    assert filled(second.output_data)["disagreed"] == ["doc_type"]
    assert dispute.status == "completed"
    assert await engine.query("SELECT id FROM messages WHERE queue NOT LIKE 'q.backoffice%'") == []
    assert (await engine.request(request_id)).answer_version == 1


async def test_what_the_second_reader_cannot_read_changes_nothing(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _asked(engine, types=f"{TYPES}, {ALL}")
    await _answer(station, "ana", doc_type="receipt")
    await engine.finished(request_id, 60)
    task = (await station.post("/next", json={"operator": "luis"})).json()["task_id"]
    await station.post(f"/tasks/{task}/cannot-read", json={"operator": "luis", "reason": "torn"})
    assert [tuple(row) for row in await engine.query("SELECT doc_type FROM pages")] == [("receipt",)]
    assert (await engine.request(request_id)).answer_version == 1


async def test_named_fields_are_always_read_twice_and_others_are_not(
    sqlite_engine: Harness,
) -> None:
    named = "second_reader: {fields: [total_amount]}"
    request_id = await _asked(sqlite_engine, fields=f"{FIELDS}, {named}")
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(create_app(sqlite_engine.app)), base_url="http://docproc"
    ) as station:
        await _answer(station, "ana", extracted_data=SAID)
    (second,) = [task for task in await _tasks(sqlite_engine, request_id) if task.second_of]
    assert filled(second.input_data)["review"] == ["total_amount"]


def test_share_of_sampled_tasks_is_as_asked_for_and_always_the_same() -> None:
    ids = [uuid4() for _ in range(20_000)]
    sampled = [one for one in ids if is_sampled(one, 0.05)]
    assert 800 < len(sampled) < 1200
    assert sampled == [one for one in ids if is_sampled(one, 0.05)]
    assert not any(is_sampled(one, 0.0) for one in ids) and all(is_sampled(one, 1.0) for one in ids)


@pytest.mark.parametrize(
    ("stage", "problem"),
    [
        (f"component: extractor, {ALL}", "nobody answers at this stage"),
        (f"{FIELDS}, second_reader: {{share: 0}}", "give `share"),
        (f"{FIELDS}, second_reader: {{share: 2}}", "less than or equal to 1"),
    ],
)
async def test_second_reader_that_makes_no_sense_is_refused(
    sqlite_engine: Harness, stage: str, problem: str
) -> None:
    sqlite_engine.workflow("default", flow(SURE, stage))
    with pytest.raises(WorkflowError, match=problem):
        sqlite_engine.app.loader.load("default")
