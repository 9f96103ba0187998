"""Reviewers change more than plain fields: line items, the type, their own answers, a whole file at once."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID

import httpx
import pytest

from docproc.console.servers import station as create_app
from docproc.engine.message import utc_now
from docproc.engine.store.task_tables import BackofficeTask
from docproc.people.listing import met_deadlines
from tests.components import PATHS
from tests.harness import Harness, filled
from tests.integration.test_amendments import (
    FIRST,
    REST,
    TEXTS,
    UNSURE_FIELDS,
    _amended,
    _handled,
    _tasks,
    flow,
)
from tests.integration.test_desk import FIELDS, SURE, TYPES

LINES = """
          - name: line_items
            type: table
            columns: [{name: description}, {name: quantity, type: decimal}, {name: amount, type: decimal}]
        rules: [sum(line_items.amount) == total_amount]
      receipt:
        fields: [{name: total_amount, type: decimal, required: true}]
"""
FIELDS_IN_ONE_LINE = (
    "fields: [{name: invoice_number, required: true}, {name: total_amount, type: decimal, required: true}]"
)
FIELDS_IN_LINES = """fields:
          - {name: invoice_number, required: true}
          - {name: total_amount, type: decimal, required: true}"""


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


async def _open(engine: Harness, number: int, *, types: str = SURE, fields: str = FIELDS) -> UUID:
    """A packet of two pages, of which `number` questions wait for people."""
    text = flow(types, fields).replace(FIELDS_IN_ONE_LINE, FIELDS_IN_LINES).rstrip() + LINES
    engine.workflow("default", text)
    await engine.start(*FIRST, *REST, "extractor")
    request_id = await engine.submit("default", texts=TEXTS)

    async def there() -> bool:
        return len(await _tasks(engine, request_id)) == number

    await engine.until(there, f"{number} questions wait", 60)
    return request_id


async def _say(
    station: httpx.AsyncClient, task_id: UUID, what: str, operator: str = "ana", **said: Any
) -> httpx.Response:
    return await station.post(f"/tasks/{task_id}/{what}", json={"operator": operator, **said})


async def _answer(station: httpx.AsyncClient, task: BackofficeTask, **said: Any) -> None:
    assert (await _say(station, task.id, "claim")).status_code == 200
    done = await _say(station, task.id, "submit", **said)
    assert done.status_code == 200, done.text


def _values(**more: Any) -> dict[str, Any]:
    return {"extracted_data": {"invoice_number": "A-1", "total_amount": "99.50", **more}}


async def _ordered(engine: Harness, request_id: UUID) -> list[BackofficeTask]:
    """By their pages."""
    found = await _tasks(engine, request_id)
    return sorted(
        found,
        key=lambda task: (
            filled(task.input_data).get("page_indices") or [filled(task.input_data).get("page_index")]
        ),
    )


# --- line items -----------------------------------------------------------------------------------------


async def test_rows_are_checked_cell_by_cell_and_their_sum_is_told(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    first, _ = await _ordered(engine, await _open(engine, 2))
    await _say(station, first.id, "claim")
    rows = [
        {"description": "Papel", "amount": "1.000,50"},
        {"description": "Tóner", "amount": "mucho"},
        {"amount": ""},
    ]
    asked = f"/tasks/{first.id}/check?lang=es"
    found = (await station.post(asked, json={"operator": "ana", "values": {"line_items": rows}})).json()
    assert list(found["problems"]) == ["line_items.1.amount"]
    refused = await _say(station, first.id, "submit", **_values(line_items=rows))
    assert refused.status_code == 422
    assert [one["where"] for one in refused.json()["error"]["details"]] == ["line_items.1.amount"]
    rows[1]["amount"] = "250"
    found = (await station.post(asked, json={"operator": "ana", "values": {"line_items": rows}})).json()
    assert found["problems"] == {}
    assert found["values"]["line_items"] == [
        {"description": "Papel", "quantity": None, "amount": "1000.50"},
        {"description": "Tóner", "quantity": None, "amount": "250"},
    ]
    assert found["sums"]["line_items"] == {"amount": {"text": "1.250,50", "fits": False}}
    said = {"line_items": rows, "total_amount": "1.250,50"}
    found = (await station.post(asked, json={"operator": "ana", "values": said})).json()
    assert found["sums"]["line_items"]["amount"]["fits"] is True and found["hints"] == []


async def test_edited_rows_are_answered_as_numbers_and_keep_their_places(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _open(engine, 2)
    first, second = await _ordered(engine, request_id)
    rows = [
        {"description": "Papel", "quantity": "2", "amount": "50.00"},
        {"description": "Tóner", "amount": 49.5},
    ]
    await _answer(station, first, **_values(line_items=rows))
    await _answer(station, second, **_values(line_items=None))
    request = await engine.finished(request_id, 60)
    document, other = filled(request.result_payload)["documents"]
    assert document["extracted_data"]["line_items"] == [
        {"description": "Papel", "quantity": 2.0, "amount": 50.0},
        {"description": "Tóner", "quantity": None, "amount": 49.5},
    ]
    evidence = document["fields"]["line_items"]
    assert evidence["value"][1] == {"description": "Tóner", "quantity": None, "amount": "49.5"}
    assert evidence["origin"] == "BACKOFFICE" and len(evidence["rows"]) == 2
    assert other["extracted_data"]["line_items"] is None


# --- another type ---------------------------------------------------------------------------------------


async def _asked_anew(engine: Harness, request_id: UUID) -> BackofficeTask:
    """The task about the fields of the right type."""

    async def receipts() -> list[BackofficeTask]:
        tasks = await _tasks(engine, request_id)
        return [one for one in tasks if filled(one.input_data).get("doc_type") == "receipt"]

    await engine.until(receipts, "the fields of the right type are asked for", 60)
    (task,) = await receipts()
    return task


async def test_document_of_the_wrong_type_is_extracted_again_as_another(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _open(engine, 2)
    first, second = await _ordered(engine, request_id)
    assert (await _say(station, first.id, "claim")).status_code == 200
    for wrong in ("nonsense", "invoice"):
        assert (await _say(station, first.id, "submit", doc_type=wrong)).status_code == 422
    assert (await _say(station, first.id, "submit", doc_type="receipt")).status_code == 200
    anew = await _asked_anew(engine, request_id)
    assert [field["name"] for field in filled(anew.input_data)["schema"]] == ["total_amount"]
    await _answer(station, second, **_values())
    await _answer(station, anew, extracted_data={"total_amount": "12.00"})
    request = await engine.finished(request_id, 60)
    assert (request.status, request.answer_version) == ("completed", 1)
    found = [(one["doc_type"], one["page_indices"]) for one in filled(request.result_payload)["documents"]]
    assert found == [("receipt", [0]), ("invoice", [1])]
    labels = await engine.query("SELECT value_before, value_after FROM corrections WHERE subject = 'type'")
    assert [tuple(row) for row in labels] == [("invoice", "receipt")]
    (page,) = await engine.query("SELECT doc_type, origin FROM pages WHERE page_index = 0")
    assert tuple(page) == ("receipt", "BACKOFFICE")


async def test_wrong_type_that_is_told_late_amends_the_answer(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _open(engine, 2, fields=UNSURE_FIELDS)  # nobody is there: it goes out flagged
    await engine.finished(request_id, 60)
    first, _ = await _ordered(engine, request_id)
    await _answer(station, first, doc_type="receipt")
    anew = await _asked_anew(engine, request_id)  # ana is there now: she is asked
    await _answer(station, anew, extracted_data={"total_amount": "12.00"})
    result = await _amended(engine, request_id, 2)
    assert [one["doc_type"] for one in result["documents"]] == ["receipt", "invoice"]
    assert await _handled(engine, request_id, "extract") == 3


# --- taking back ----------------------------------------------------------------------------------------


async def test_answer_is_taken_back_and_given_anew_before_anything_is_delivered(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _open(engine, 2)
    first, second = await _ordered(engine, request_id)
    await _answer(station, first, **_values(invoice_number="WRONG"))
    assert (await _say(station, first.id, "undo", operator="luis")).status_code == 403
    taken = await _say(station, first.id, "undo")
    assert taken.json() == {"task_id": str(first.id), "status": "assigned"}, taken.text
    assert (await _say(station, first.id, "undo")).status_code == 409, "it is open already"
    assert (await engine.query("SELECT count(*) FROM corrections"))[0][0] == 0, "nobody learns from it"
    page = (await station.get(f"/tasks/{first.id}", params={"operator": "ana"})).text
    assert 'data-said="WRONG"' in page
    done = await _say(station, first.id, "submit", **_values(invoice_number="RIGHT"))
    assert done.status_code == 200, done.text
    await _answer(station, second, **_values())
    request = await engine.finished(request_id, 60)
    assert request.answer_version == 1
    assert filled(request.result_payload)["documents"][0]["extracted_data"]["invoice_number"] == "RIGHT"
    deeds = await engine.query(
        "SELECT outcome FROM events WHERE kind = 'task' AND outcome IN ('undone', 'completed')"
    )
    assert [row.outcome for row in deeds].count("undone") == 1
    (ana,) = await engine.query("SELECT current_task_id FROM operators WHERE username = 'ana'")
    assert ana.current_task_id is None


async def test_answer_that_has_gone_out_is_amended(engine: Harness, station: httpx.AsyncClient) -> None:
    request_id = await _open(engine, 2)
    first, second = await _ordered(engine, request_id)
    await _answer(station, first, **_values(invoice_number="WRONG"))
    await _answer(station, second, **_values())
    await engine.finished(request_id, 60)
    assert (await _say(station, first.id, "undo")).status_code == 200
    result = filled((await engine.request(request_id)).result_payload)
    assert result["documents"][0]["extracted_data"]["invoice_number"] == "WRONG", "it stands until then"
    assert (await _say(station, first.id, "submit", **_values(invoice_number="RIGHT"))).status_code == 200
    result = await _amended(engine, request_id, 2)
    assert result["documents"][0]["extracted_data"]["invoice_number"] == "RIGHT"


async def test_type_that_was_answered_wrongly_is_taken_back(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _open(engine, 2, types=TYPES, fields="component: work")
    first, second = await _ordered(engine, request_id)
    await _answer(station, first, doc_type="invoice")
    await _answer(station, second, doc_type="invoice")
    await engine.finished(request_id, 60)
    assert (await _say(station, second.id, "undo")).status_code == 200
    assert (await _say(station, second.id, "submit", doc_type="receipt")).status_code == 200
    result = await _amended(engine, request_id, 2)
    assert [one["doc_type"] for one in result["documents"]] == ["invoice", "receipt"]
    said = await engine.query("SELECT value_after FROM corrections ORDER BY page_index")
    assert [row.value_after for row in said] == ["invoice", "receipt"]


async def test_answers_of_long_ago_are_a_supervisors(sqlite_engine: Harness) -> None:
    request_id = await _open(sqlite_engine, 2)
    first, _ = await _ordered(sqlite_engine, request_id)
    transport = httpx.ASGITransport(create_app(sqlite_engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as station:
        await _answer(station, first, **_values())
        listed = (await station.get("/", params={"operator": "ana"})).text
        assert f'data-undo="{first.id}"' in listed
        async with sqlite_engine.app.store.writing() as session:
            task = await session.get(BackofficeTask, first.id)
            assert task is not None
            task.completed_at = utc_now() - timedelta(minutes=61)
        assert (await _say(station, first.id, "undo")).status_code == 409
        listed = (await station.get("/", params={"operator": "ana"})).text
        assert f'data-undo="{first.id}"' not in listed


# --- deadlines ------------------------------------------------------------------------------------------


async def test_task_of_a_request_that_was_answered_in_time_is_not_late(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _open(engine, 2, fields=UNSURE_FIELDS)
    await engine.finished(request_id, 60)
    ids = [task.id for task in await _tasks(engine, request_id)]
    later = utc_now() + timedelta(days=1)
    async with engine.app.store.reading() as session:
        assert await met_deadlines(session, ids, later) == set(ids)
    page = (await station.get("/", params={"operator": "ana", "lang": "en"})).text
    assert "answered in time" not in page, "its deadline is far away: nobody need be told"
    for name, moment in (("answers", "created_at"), ("backoffice_tasks", "deadline_utc")):
        async with engine.app.store.writing() as session:
            ago = utc_now() - timedelta(hours=2 if name == "answers" else 1)
            table = BackofficeTask.metadata.tables[name]
            await session.execute(table.update().values({moment: ago}))
    page = (await station.get("/", params={"operator": "ana", "lang": "en"})).text
    assert page.count("answered in time") == 2 and 'data-kind="left"' not in page
    async with engine.app.store.writing() as session:
        table = BackofficeTask.metadata.tables["answers"]
        await session.execute(table.update().values(created_at=utc_now()))
    page = (await station.get("/", params={"operator": "ana", "lang": "en"})).text
    assert "answered in time" not in page and page.count('data-kind="left"') == 2


# --- a whole file ---------------------------------------------------------------------------------------


async def test_whole_file_is_settled_on_one_strip(engine: Harness, station: httpx.AsyncClient) -> None:
    request_id = await _open(engine, 2, types=TYPES, fields="component: work")
    listed = (await station.get("/", params={"operator": "ana"})).text
    assert f'data-together="/packets/{request_id}"' in listed
    address = f"/packets/{request_id}"
    assert (await station.get(f"{address}/pages/0.png", params={"operator": "ana"})).status_code == 403
    taken = await station.post(address, json={"operator": "ana"})
    assert taken.json() == {"taken": 2}, taken.text
    assert (await station.post(address, json={"operator": "luis"})).status_code == 409
    page = await station.get(address, params={"operator": "ana"})
    assert page.status_code == 200 and page.text.count('class="leaf ') == 2
    refused = await station.post(
        f"{address}/submit", json={"operator": "ana", "types": {"0": "x", "1": "invoice"}}
    )
    assert refused.status_code == 422
    statuses = await engine.query("SELECT status FROM backoffice_tasks")
    assert {row.status for row in statuses} == {"assigned"}, "nothing was answered by halves"
    said = {"operator": "ana", "types": {"0": "invoice", "1": "receipt"}, "begins": {}}
    done = await station.post(f"{address}/submit", json=said)
    assert done.json() == {"status": "completed", "tasks": 2}, done.text
    request = await engine.finished(request_id, 60)
    assert [one["doc_type"] for one in filled(request.result_payload)["documents"]] == ["invoice", "receipt"]
    assert (await station.get(address, params={"operator": "ana"})).status_code == 303


async def test_supervisor_corrects_a_document_on_the_page_of_its_fields(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _open(engine, 2, fields=UNSURE_FIELDS)
    request = await engine.finished(request_id, 60)
    document = filled(request.result_payload)["documents"][0]
    base = f"/supervisor/requests/{request_id}/documents/{document['document_id']}"
    page = await station.get(base, params={"operator": "sofia"})
    assert page.status_code == 200 and f'data-base="{base}"' in page.text
    assert 'data-action="skip"' not in page.text, "there is no task to hand on"
    rows = [{"description": "Papel", "amount": "7.00"}]
    check = await station.post(f"{base}/check", json={"operator": "sofia", "values": {"line_items": rows}})
    assert check.json()["sums"]["line_items"]["amount"]["text"] == "7.00"
    done = await station.post(f"{base}/submit", json={"operator": "sofia", **_values(line_items=rows)})
    assert done.status_code == 200, done.text
    result = await _amended(engine, request_id, 2)
    data = result["documents"][0]["extracted_data"]
    assert data["line_items"] == [{"description": "Papel", "quantity": None, "amount": 7.0}]
    assert data["invoice_number"] == "A-1"
