"""Supervisors correct finished requests, organise people and tasks, and see who did what."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest

from docproc.apps.documents.tables import Correction, File
from docproc.console.servers import gateway as create_gateway
from docproc.console.servers import station as create_app
from docproc.engine.message import utc_now
from docproc.engine.store import answers
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.people.desk import Desk
from tests.components import PATHS
from tests.harness import Harness, filled
from tests.integration import test_sign_in as signing
from tests.integration.test_amendments import FIRST, REST, TEXTS, _amended, _handled, _tasks, flow

SURE = "confidence_threshold: 0.0"
EXTRACT = "component: extractor, confidence_threshold: 0.0, options: {language_model: false}"
PAGE = {"accept": "text/html"}


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
    async with httpx.AsyncClient(
        transport=transport, base_url="http://docproc", params={"operator": "sofia"}
    ) as client:
        yield client


async def _finished(engine: Harness, texts: list[str] = TEXTS, *, extract: str = "component: work") -> UUID:
    """A packet that the machine was sure of."""
    engine.workflow("default", flow(SURE, extract))
    await engine.start(*FIRST, *REST, *(["extractor"] if extract == EXTRACT else []))
    request = await engine.finished(await engine.submit("default", texts=texts), 60)
    assert (request.status, request.answer_version) == ("completed", 1), request.error
    return request.id


async def _correct(station: httpx.AsyncClient, request_id: UUID, what: str, **said: Any) -> httpx.Response:
    return await station.post(f"/supervisor/requests/{request_id}/{what}", json=said)


async def _documents(engine: Harness, request_id: UUID) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = filled((await engine.request(request_id)).result_payload)["documents"]
    return found


# --- corrections ----------------------------------------------------------------------------------------


async def test_corrected_field_amends_the_answer_and_is_kept_as_a_label(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _finished(engine, extract=EXTRACT)
    first, second = await _documents(engine, request_id)
    what = f"documents/{second['document_id']}/fields"
    page = (await station.get(f"/supervisor/requests/{request_id}", headers=PAGE)).text
    assert f"/supervisor/requests/{request_id}/documents/{second['document_id']}?" in page
    assert second["fields"]["total_amount"]["value"] in page
    form = {"operator": "sofia", "form": "1", "field.total_amount": "777.25"}
    form["field.invoice_number"] = second["fields"]["invoice_number"]["value"]
    sent = await station.post(f"/supervisor/requests/{request_id}/{what}", data=form, headers=PAGE)
    assert sent.status_code == 303, sent.text

    result = await _amended(engine, request_id, 2)
    assert result["documents"][0] == first
    amended = result["documents"][1]
    assert amended["extracted_data"]["total_amount"] == 777.25
    evidence = amended["fields"]["total_amount"]
    assert (evidence["origin"], evidence["confidence"], evidence["source"]) == ("BACKOFFICE", 1.0, "operator")
    assert await _handled(engine, request_id, "extract") == 2, "nothing is extracted again"
    async with engine.app.store.reading() as session:
        versions = await answers.of_request(session, request_id)
    assert filled(versions[0].payload)["documents"][1] == second, "the first answer stays as it was given"
    said = await engine.query("SELECT field, value_before, value_after, operator FROM corrections")
    before = second["fields"]["total_amount"]["value"]
    labels = [tuple(row) for row in said]
    assert labels == [("total_amount", before, "777.25", "sofia")], "what was not changed is no label"


async def test_corrected_type_redoes_only_its_document(engine: Harness, station: httpx.AsyncClient) -> None:
    request_id = await _finished(engine)
    first, second = await _documents(engine, request_id)
    done = await _correct(station, request_id, "grouping", types={"1": "receipt"})
    assert done.status_code == 200, done.text
    result = await _amended(engine, request_id, 2)
    assert [one["doc_type"] for one in result["documents"]] == ["invoice", "receipt"]
    assert result["documents"][0] == first
    assert result["documents"][1]["document_id"] != second["document_id"]
    assert await _handled(engine, request_id, "extract") == 3
    rows = await engine.query("SELECT subject, value_before, value_after, doc_type FROM corrections")
    assert [tuple(row) for row in rows] == [("type", "invoice", "receipt", "receipt")]
    (page,) = await engine.query("SELECT origin FROM pages WHERE page_index = 1")
    assert page.origin == "BACKOFFICE"


class _OneFile:
    """Pages of one file: documents may go over several."""

    TEXTS = (TEXTS[0], "Hoja 2\nSigue la factura 101", TEXTS[1])


async def test_pages_are_merged_and_split_anew(engine: Harness, station: httpx.AsyncClient) -> None:
    """First two documents become one, then that one becomes two others."""
    request_id = await _finished(engine, [*_OneFile.TEXTS])
    await engine.query("UPDATE pages SET file_index = 0")
    merged = {"1": False, "2": False}
    assert (await _correct(station, request_id, "grouping", begins=merged)).status_code == 200
    result = await _amended(engine, request_id, 2)
    assert [one["page_indices"] for one in result["documents"]] == [[0, 1, 2]]
    form = {"operator": "sofia", "form": "1", "page.0.type": "invoice", "page.2.begins": "on"}
    form["page.2.type"] = "contract"
    sent = await station.post(f"/supervisor/requests/{request_id}/grouping", data=form, headers=PAGE)
    assert sent.status_code == 303, sent.text
    result = await _amended(engine, request_id, 3)
    told = [(one["doc_type"], one["page_indices"]) for one in result["documents"]]
    assert told == [("invoice", [0, 1]), ("contract", [2])]
    splits = await engine.query("SELECT value_after FROM corrections WHERE subject = 'split' ORDER BY id")
    assert sorted(row.value_after for row in splits) == ["false", "false", "true"]


async def test_one_amendment_after_another(engine: Harness, station: httpx.AsyncClient) -> None:
    """Of many at once one is taken; what it started must end before the next."""
    request_id = await _finished(engine)
    await engine.stop(engine._running[0])
    types = ("receipt", "contract", "payslip", "id_card", "other")
    sent = [_correct(station, request_id, "grouping", types={"1": name}) for name in types]
    codes = sorted(answer.status_code for answer in await asyncio.gather(*sent))
    assert codes == [200] + [409] * (len(types) - 1)
    await engine.start(*FIRST, *REST)
    result = await _amended(engine, request_id, 2)
    assert result["documents"][1]["doc_type"] in types
    assert (await _correct(station, request_id, "grouping", types={"1": "invoice"})).status_code == 200
    result = await _amended(engine, request_id, 3)
    assert result["documents"][1]["doc_type"] == "invoice"


async def test_corrections_that_cannot_be_are_refused(sqlite_engine: Harness) -> None:
    async with _client(sqlite_engine) as station:
        await _refused_corrections(sqlite_engine, station)


async def _refused_corrections(engine: Harness, station: httpx.AsyncClient) -> None:
    request_id = await _finished(engine, extract=EXTRACT)
    first, _ = await _documents(engine, request_id)
    what = f"documents/{first['document_id']}/fields"
    unchanged = {"total_amount": first["fields"]["total_amount"]["value"]}
    for said, code in (({"colour": "red"}, 422), ({"total_amount": "much"}, 422), (unchanged, 422)):
        assert (await _correct(station, request_id, what, fields=said)).status_code == code
    for said in (
        {"types": {"1": "spaceship"}},
        {"types": {"9": "invoice"}},
        {"begins": {"1": False}},  # another file begins there
        {"begins": {"1": "yes"}},
        {},
    ):
        assert (await _correct(station, request_id, "grouping", **said)).status_code == 422, said
    assert (await _correct(station, uuid4(), "grouping", types={"0": "other"})).status_code == 404
    assert (await _correct(station, request_id, f"documents/{uuid4()}/fields", fields={})).status_code == 409
    spanish = {"accept": "text/html", "accept-language": "es"}
    address = f"/supervisor/requests/{request_id}/{what}"
    form = {"operator": "sofia", "field.total_amount": "much"}
    told = await station.post(address, data=form, headers=spanish)
    assert told.status_code == 422 and "Tiene que ser un importe" in told.text
    assert (await engine.request(request_id)).answer_version == 1


async def test_corrected_fields_are_no_longer_asked_about(sqlite_engine: Harness) -> None:
    """Neither are they brought back by whoever answers the rest."""
    unsure = "component: extractor, confidence_threshold: 1.0, backoffice_queue: task.extraction"
    sqlite_engine.workflow("default", flow(SURE, unsure))
    await sqlite_engine.start(*FIRST, *REST, "extractor")
    request = await sqlite_engine.finished(await sqlite_engine.submit("default", texts=TEXTS[:1]), 60)
    (task,) = await _tasks(sqlite_engine, request.id)
    assert filled(task.input_data)["review"] == ["invoice_number", "total_amount"]
    what = f"documents/{task.reference_id}/fields"
    async with _client(sqlite_engine) as station:
        done = await _correct(station, request.id, what, fields={"total_amount": "5.00"})
        assert done.status_code == 200, done.text
        await _amended(sqlite_engine, request.id, 2)
        (task,) = await _tasks(sqlite_engine, request.id)
        assert filled(task.input_data)["review"] == ["invoice_number"]
        assert filled(task.input_data)["fields"]["total_amount"]["value"] == "5.00"
        await station.post(f"/tasks/{task.id}/claim", json={"operator": "ana"})
        said = {"operator": "ana", "extracted_data": {"invoice_number": "B-9"}}
        assert (await station.post(f"/tasks/{task.id}/submit", json=said)).status_code == 200
        result = await _amended(sqlite_engine, request.id, 3)
        assert result["documents"][0]["extracted_data"] == {"total_amount": 5.0, "invoice_number": "B-9"}


async def test_unfinished_requests_are_not_corrected(sqlite_engine: Harness) -> None:
    sqlite_engine.workflow("default", flow(SURE, EXTRACT))
    await sqlite_engine.start(*FIRST)
    request_id = await sqlite_engine.submit("default", texts=TEXTS)

    async def classified() -> bool:
        found = await sqlite_engine.query("SELECT 1 FROM pages WHERE status = 'CLASIFICADA'")
        return len(found) == 2

    await sqlite_engine.until(classified, "both pages are classified", 60)
    async with _client(sqlite_engine) as station:
        assert (await _correct(station, request_id, "grouping", types={"1": "other"})).status_code == 409


def _client(engine: Harness) -> httpx.AsyncClient:
    transport = httpx.ASGITransport(create_app(engine.app))
    return httpx.AsyncClient(transport=transport, base_url="http://docproc", params={"operator": "sofia"})


# --- the pages ------------------------------------------------------------------------------------------


async def _asked(engine: Harness) -> UUID:
    """Two questions about pages that wait for people."""
    waits = "confidence_threshold: 1.0, backoffice_queue: task.classification, when_no_time: wait"
    engine.workflow("default", flow(waits))
    await engine.start(*FIRST)
    request_id = await engine.submit("default", texts=TEXTS)

    async def both() -> bool:
        return len(await _tasks(engine, request_id)) == 2

    await engine.until(both, "two questions wait", 60)
    return request_id


async def test_tasks_are_given_taken_back_and_put_first(engine: Harness, station: httpx.AsyncClient) -> None:
    request_id = await _asked(engine)
    first, second = await _tasks(engine, request_id)
    for name in ("ana", "luis"):
        await station.post("/heartbeat", json={"operator": name})
    await station.post(f"/tasks/{first.id}/claim", json={"operator": "ana"})

    async def steer(task: BackofficeTask, what: str, **said: Any) -> int:
        return (await station.post(f"/supervisor/tasks/{task.id}/{what}", json=said)).status_code

    assert await steer(first, "reassign", to="luis") == 200
    assert await steer(first, "reassign", to="luis") == 409, "he has it already"
    assert await steer(second, "reassign", to="luis") == 409, "he has another task in hand"
    assert await steer(second, "reassign", to="nobody") == 403
    held = await engine.query(
        "SELECT o.username FROM backoffice_tasks t JOIN operators o ON o.id = t.assigned_to"
        " WHERE o.current_task_id = t.id"
    )
    assert [row.username for row in held] == ["luis"]
    assert await steer(second, "priority", priority=9) == 200
    assert await steer(second, "priority", priority=10) == 422
    assert (await station.post("/next", json={"operator": "ana"})).json()["task_id"] == str(second.id)
    assert await steer(second, "release") == 200
    assert await steer(second, "release") == 409
    none = "[]" if engine.app.store.is_sqlite else "{}"
    await engine.query(f"UPDATE operators SET skills = '{none}' WHERE username = 'ana'")
    assert await steer(second, "reassign", to="ana") == 403, "she lacks the skill"
    done = [
        (e.outcome, e.data["operator"], e.data["changes"][0])
        for e in await engine.events(request_id, "task")
        if "changes" in e.data
    ]
    assert done == [
        ("reassigned", "sofia", {"what": "holder", "before": "ana", "after": "luis"}),
        ("prioritised", "sofia", {"what": "priority", "before": 5, "after": 9}),
        ("taken_back", "sofia", {"what": "holder", "before": "ana", "after": None}),
    ]


async def test_queue_is_set_against_the_people_present(engine: Harness, station: httpx.AsyncClient) -> None:
    await _asked(engine)
    await Desk(engine.app).operator("sofia", create=True)
    nobody = await station.get("/supervisor", headers=PAGE)
    assert "nobody is there" in nobody.text
    await station.post("/heartbeat", json={"operator": "ana"})
    await engine.query("UPDATE backoffice_tasks SET deadline_utc = NULL")
    page = await station.get("/supervisor", headers={**PAGE, "accept-language": "es"})
    assert page.status_code == 200 and "1 de 2: ana" in page.text
    assert "90 s" in page.text, "two types by one person, 45 seconds each"


async def test_whoever_comes_without_a_name_is_asked_for_it(sqlite_engine: Harness) -> None:
    """The home page's link to supervision cannot say who it is."""
    transport = httpx.ASGITransport(create_app(sqlite_engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://station") as nobody:
        asked = await nobody.get("/supervisor", headers={**PAGE, "accept-language": "es"})
        assert asked.status_code == 200 and "¿Quién es usted?" in asked.text
        assert 'action="/supervisor"' in asked.text, "it goes on to where they wanted"
        assert (await nobody.get("/supervisor", params={"operator": "ana"}, headers=PAGE)).status_code == 200
        assert (await nobody.get("/supervisor")).status_code == 403, "programs are told"


SHIFT = {"shift.0.mon": "on", "shift.0.from": "22:00", "shift.0.to": "06:00", "shift.0.zone": "Europe/Madrid"}


async def test_operators_are_created_changed_and_switched_off(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    form = {"operator": "sofia", "form": "1", "username": "eva", "role": "operator", "is_active": "on"}
    form |= {"skill.extraction": "on", "other_skills": "deeds", **SHIFT}
    made = await station.post("/supervisor/operators", data=form, headers=PAGE)
    assert made.status_code == 303, made.text
    (eva,) = await engine.query("SELECT id FROM operators WHERE username = 'eva'")
    assert (await station.post("/supervisor/operators", data=form)).status_code == 422, "the name is taken"
    page = (await station.get(f"/supervisor/operators/{eva.id}", headers=PAGE)).text
    assert 'value="22:00"' in page and 'value="deeds"' in page
    wrong = {**form, "shift.0.zone": "Mars/Olympus", "shift.1.from": "8", "shift.1.mon": "on"}
    refused = await station.post(f"/supervisor/operators/{eva.id}", data=wrong)
    assert {one["where"] for one in refused.json()["error"]["details"]} == {"shift.0", "shift.1"}

    task, _ = await _tasks(engine, await _asked(engine))
    change = {**form, "skill.classification": "on"}
    assert (await station.post(f"/supervisor/operators/{eva.id}", data=change)).status_code == 200
    await station.post(f"/tasks/{task.id}/claim", json={"operator": "eva"})
    del change["is_active"]
    assert (await station.post(f"/supervisor/operators/{eva.id}", data=change)).status_code == 200
    (row,) = await engine.query("SELECT status FROM backoffice_tasks WHERE id = :id", id=task.id)
    assert row.status == "pending", "what she held is anybody's"
    changed = await station.get("/supervisor/audit", params={"person": "eva"}, headers=PAGE)
    assert "changed an operator: eva" in changed.text and "switched an operator off" in changed.text


async def test_quality_shows_overrides_times_and_agreement(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _bare_request(engine)
    now, ana = utc_now(), uuid4()
    async with engine.app.store.writing() as session:
        session.add(Operator(id=ana, username="ana", skills=["extraction"]))
        await session.flush()
        for number, seconds in enumerate((10, 30)):
            session.add(
                BackofficeTask(
                    id=uuid4(), request_id=request_id, task_type="extraction", status="completed",
                    required_skills=[], assigned_to=ana, completed_at=now,
                    accepted_at=now - timedelta(seconds=seconds),
                    second_of=uuid4() if number else None,
                    output_data={"agreed": ["total_amount"], "disagreed": ["iban"]} if number else {},
                )
            )  # fmt: skip
        for changed in (True, False, False, False):
            session.add(
                Correction(
                    id=uuid4(), request_id=request_id, subject="field", field="iban", doc_type="invoice",
                    is_changed=changed, page_indices=[], file_pages=[],
                )
            )  # fmt: skip
    page = (await station.get("/supervisor/quality", headers=PAGE)).text
    cells = [part.partition("</tr>")[0] for part in page.split("<tr>")]
    assert any("Invoice" in row and "IBAN" in row and ">25.0<" in row for row in cells)
    assert any("ana" in row and ">20 s<" in row and ">30 s<" in row for row in cells)
    assert any(now.strftime("%Y-%m-%d") in row and ">2<" in row for row in cells)
    assert any(">IBAN<" in row and ">100.0<" in row for row in cells)


async def _bare_request(engine: Harness) -> UUID:
    engine.workflow("default", flow(SURE))
    return await engine.submit("default", texts=[])


async def test_requests_are_found_by_id_external_id_and_file_name(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    request_id = await _bare_request(engine)
    await _bare_request(engine)
    await engine.query("UPDATE requests SET external_id = 'ERP-7' WHERE id = :id", id=request_id)
    async with engine.app.store.writing() as session:
        session.add(
            File(
                id=uuid4(), request_id=request_id, file_index=0, name="Factura_100%.pdf",
                media_type="application/pdf", page_count=1, notes=[],
            )
        )  # fmt: skip
    for text, number in ((str(request_id), 1), ("ERP-7", 1), ("factura_100%", 1), ("a%b", 0), ("", 2)):
        page = await station.get("/supervisor/requests", params={"q": text}, headers=PAGE)
        assert page.text.count('href="/supervisor/requests/') == number, text


async def test_audit_tells_who_saw_took_and_changed_what(engine: Harness, station: httpx.AsyncClient) -> None:
    request_id = await _asked(engine)
    task, other = await _tasks(engine, request_id)
    await station.post(f"/tasks/{task.id}/claim", json={"operator": "ana"})
    await station.get(f"/tasks/{task.id}", params={"operator": "ana"}, headers=PAGE)
    await station.post(f"/tasks/{task.id}/submit", json={"operator": "ana", "doc_type": "receipt"})
    await station.post(f"/tasks/{other.id}/claim", json={"operator": "luis"})
    await station.get(f"/supervisor/requests/{request_id}", headers=PAGE)

    async def audit(**asked: Any) -> str:
        return (await station.get("/supervisor/audit", params=asked, headers=PAGE)).text

    ana = await audit(person="ana")
    for deed in ("took a task", "looked at a task", "answered a task"):
        assert deed in ana
    assert "<del>Invoice</del> → <ins>Receipt</ins>" in ana
    assert "luis" not in ana
    assert "looked at a request" in await audit(of=str(request_id))
    assert "took a task" not in await audit(until="2020-01-01")
    assert "took a task" in await audit(since="2020-01-01", of=str(request_id))
    assert (await station.get("/supervisor/audit", params={"of": "x"})).status_code == 422


async def test_audit_goes_page_by_page(sqlite_engine: Harness) -> None:
    async with _client(sqlite_engine) as station:
        for number in range(60):
            form = {"username": f"op{number}", "operator": "sofia"}
            assert (await station.post("/supervisor/operators", data=form)).status_code == 200
        first = (await station.get("/supervisor/audit", headers=PAGE)).text
        assert "op59" in first and ": op9<" not in first
        before = first.partition("before=")[2].partition('"')[0]
        second = (await station.get("/supervisor/audit", params={"before": before}, headers=PAGE)).text
        assert ": op9" in second and "op59" not in second


async def test_clients_do_not_see_what_is_for_the_audit(sqlite_engine: Harness) -> None:
    request_id = await _asked(sqlite_engine)
    task, _ = await _tasks(sqlite_engine, request_id)
    async with _client(sqlite_engine) as station:
        await station.post(f"/tasks/{task.id}/claim", json={"operator": "ana"})
        await station.post(f"/tasks/{task.id}/submit", json={"operator": "ana", "doc_type": "receipt"})
    transport = httpx.ASGITransport(create_gateway(sqlite_engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
        told = (await client.get(f"/requests/{request_id}/events")).json()["events"]
    done = next(event for event in told if event["outcome"] == "completed")
    assert done["data"] == {"task_id": str(task.id)}


# --- who may --------------------------------------------------------------------------------------------


async def test_pages_take_the_role_and_forms_the_sessions_token(sqlite_engine: Harness) -> None:
    app = signing.guarded_app(sqlite_engine)
    await signing.add(sqlite_engine, "ana")
    await signing.add(sqlite_engine, "sofia", role="supervisor")
    async with signing.browser(app, headers=PAGE) as ana, signing.browser(app, headers=PAGE) as sofia:
        await signing.enter(ana)
        await signing.enter(sofia, "sofia")
        assert (await ana.get("/supervisor/audit")).status_code == 403
        assert "/supervisor" not in (await ana.get("/")).text
        page = (await sofia.get("/supervisor/operators/new")).text
        token = page.partition('name="csrf" value="')[2].partition('"')[0]
        form = {"form": "1", "username": "eva", "role": "operator"}
        assert (await sofia.post("/supervisor/operators", data=form)).status_code == 403
        made = await sofia.post("/supervisor/operators", data={**form, "csrf": token})
        assert made.headers["location"] == "/supervisor/operators?done=1"
        above = {**form, "username": "root", "role": "admin", "csrf": token}
        assert (await sofia.post("/supervisor/operators", data=above)).status_code == 403
        (own,) = await sqlite_engine.query("SELECT id FROM operators WHERE username = 'sofia'")
        demoted = await sofia.post(f"/supervisor/operators/{own.id}", data={**form, "csrf": token})
        assert demoted.status_code == 403, "nobody changes their own role"
