"""The operator's pages over HTTP: what each shows, to whom, and what is said of what is typed."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import pytest

from docproc.console.servers import station as create_app
from docproc.engine.store.task_tables import BackofficeTask
from tests.components import PATHS
from tests.harness import Harness, filled
from tests.integration.test_amendments import FIRST, REST, TEXTS, _tasks, flow
from tests.integration.test_desk import FIELDS, SURE, TYPES

RULE = "\n        rules: [total_amount < 100000]"


@pytest.fixture(autouse=True)
def _components(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PATHS, "laid_words", "tests.integration.test_amendments.LaidWords")


@pytest.fixture
def combination() -> str:
    """Pages are the same on every database; the SQL of lists runs on PostgreSQL in one test below."""
    return "sqlite+sql"


@pytest.fixture
async def station(engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
        yield client


async def _asked(
    engine: Harness, types: str = TYPES, fields: str = "component: work"
) -> list[BackofficeTask]:
    """A packet of two pages whose questions wait for people."""
    engine.workflow("default", flow(types, fields).rstrip() + RULE + "\n")
    await engine.start(*FIRST, *REST, "extractor")
    request_id = await engine.submit("default", texts=TEXTS)

    async def both() -> bool:
        return len(await _tasks(engine, request_id)) == 2

    await engine.until(both, "two questions wait", 60)
    return await _tasks(engine, request_id)


async def _claim(station: httpx.AsyncClient, task: BackofficeTask, operator: str = "ana") -> None:
    answer = await station.post(f"/tasks/{task.id}/claim", json={"operator": operator})
    assert answer.status_code == 200, answer.text


async def _page(station: httpx.AsyncClient, path: str, operator: str = "ana", **more: str) -> httpx.Response:
    return await station.get(path, params={"operator": operator, **more})


async def _check(
    station: httpx.AsyncClient, task_id: UUID, lang: str = "en", **values: Any
) -> dict[str, Any]:
    said = {"operator": "ana", "values": values}
    answer = await station.post(f"/tasks/{task_id}/check?lang={lang}", json=said)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


@pytest.mark.parametrize("combination", ["sqlite+sql", "postgresql+sql"])
async def test_list_counts_what_is_there_and_leaves_out_what_others_hold(
    engine: Harness, station: httpx.AsyncClient
) -> None:
    first, second = await _asked(engine)
    shown = await _page(station, "/", lang="en")
    assert shown.text.count("data-task=") == 2 and 'data-pending="2"' in shown.text
    assert "Invoice" in shown.text and "page 2" in shown.text
    await _claim(station, first, "luis")
    assert str(first.id) not in (await _page(station, "/queue")).text
    his = (await _page(station, "/queue", "luis", lang="es")).text
    assert his.index(str(first.id)) < his.index(str(second.id)) and "Seguir" in his
    await station.post(f"/tasks/{first.id}/submit", json={"operator": "luis", "doc_type": "other"})
    after = (await _page(station, "/queue", "luis", lang="en")).text
    assert "<dt>Done by you today</dt><dd>1</dd>" in after and "<dt>In your hands</dt><dd>0</dd>" in after


async def test_urgent_is_what_is_due_within_minutes(engine: Harness, station: httpx.AsyncClient) -> None:
    first, _ = await _asked(engine)
    assert '"counter urgent"' in (await _page(station, "/queue")).text
    soon = "strftime('%Y-%m-%d %H:%M:%f000', 'now', '+5 minutes')"
    await engine.query(f"UPDATE backoffice_tasks SET deadline_utc = {soon} WHERE id = :id", id=str(first.id))
    assert '"counter urgent some"' in (await _page(station, "/queue")).text


async def test_unchanged_list_is_not_sent_again(engine: Harness, station: httpx.AsyncClient) -> None:
    first, _ = await _asked(engine)
    shown = await _page(station, "/queue")
    headers = {"If-None-Match": shown.headers["etag"]}
    again = await station.get("/queue", params={"operator": "ana"}, headers=headers)
    assert (again.status_code, again.content) == (304, b"")
    await _claim(station, first, "luis")
    changed = await station.get("/queue", params={"operator": "ana"}, headers=headers)
    assert changed.status_code == 200 and changed.headers["etag"] != shown.headers["etag"]


async def test_looking_takes_nothing_and_is_on_record(engine: Harness, station: httpx.AsyncClient) -> None:
    task, _ = await _asked(engine)
    free = await _page(station, f"/tasks/{task.id}", lang="en")
    assert free.status_code == 200 and "Nobody has this task" in free.text
    (row,) = await engine.query("SELECT status FROM backoffice_tasks WHERE id = :id", id=str(task.id))
    assert row.status == "pending"
    await _claim(station, task)
    shown = await _page(station, f"/tasks/{task.id}", lang="es")
    assert "¿Qué es esta página?" in shown.text and "Factura" in shown.text
    noted = [event for event in await engine.events(task.request_id, "task") if event.outcome == "viewed"]
    assert [event.data["operator"] for event in noted] == ["ana"]


async def test_pages_of_a_task_are_for_its_holder_only(engine: Harness, station: httpx.AsyncClient) -> None:
    task, _ = await _asked(engine)
    index = filled(task.input_data)["page_index"]
    words = f"/tasks/{task.id}/pages/{index}/words"
    assert (await _page(station, words)).status_code == 403
    await _claim(station, task)
    found = (await _page(station, words)).json()["words"]
    assert "FACTURA" in [word["text"] for word in found] and len(found[0]["box"]) == 4
    for path in (words, f"/tasks/{task.id}/pages/{index}.png"):
        assert (await _page(station, path, "eve")).status_code == 403
    assert (await _page(station, f"/tasks/{task.id}/pages/9/words")).status_code == 403
    gone = await _page(station, f"/tasks/{task.id}", "eve", lang="en")
    assert "Somebody else has it." in gone.text and "FACTURA" not in gone.text


async def test_task_that_is_done_or_unknown_leads_on(engine: Harness, station: httpx.AsyncClient) -> None:
    task, _ = await _asked(engine)
    await _claim(station, task)
    await station.post(f"/tasks/{task.id}/submit", json={"operator": "ana", "doc_type": "other"})
    done = await _page(station, f"/tasks/{task.id}", lang="en")
    assert "It is answered already." in done.text and 'id="next"' in done.text
    unknown = await _page(station, "/tasks/0b8f2a52-6a0c-4f6e-9c57-3d8b1f0b9a11")
    assert unknown.status_code == 404 and 'id="next"' in unknown.text


AMOUNTS = [
    ("es", "1.250,5", "1250.50"), ("es", "1.250", "1250"), ("es", "99,50 €", "99.50"), ("es", "12.5", "12.5"),
    ("en", "1,250.5", "1250.50"), ("en", "1,250", "1250"), ("en", "99.50", "99.50"), ("en", "99,5", "99.50"),
]  # fmt: skip


async def test_what_is_typed_is_understood_and_told(engine: Harness, station: httpx.AsyncClient) -> None:
    task, _ = await _asked(engine, SURE, FIELDS)
    await _claim(station, task)
    for lang, written, read in AMOUNTS:
        found = await _check(station, task.id, lang, total_amount=written)
        assert found["values"]["total_amount"] == read, (lang, written)
    wrong = await _check(station, task.id, "es", total_amount="mucho", invoice_number=" ")
    assert wrong["problems"] == {
        "total_amount": "Escriba un importe, como 1.250,00.",
        "invoice_number": "Es obligatorio. Si no se puede leer, dígalo con la x.",
    }
    odd = await _check(station, task.id, "es", total_amount="120000")
    assert odd["problems"] == {} and odd["hints"] == ["Esto no cuadra: Importe total < 100000"]
    assert (await _check(station, task.id))["hints"] == []
    (row,) = await engine.query("SELECT status FROM backoffice_tasks WHERE id = :id", id=str(task.id))
    assert row.status == "assigned"


async def test_what_documents_say_is_never_markup(engine: Harness, station: httpx.AsyncClient) -> None:
    task, _ = await _asked(engine)
    evil = "<script>alert(1)</script>"
    await engine.query("UPDATE pages SET ocr_text = :evil", evil=evil)
    await _claim(station, task)
    shown = (await _page(station, f"/tasks/{task.id}")).text
    assert evil not in shown and "&lt;script&gt;" in shown


async def test_nobody_named_is_asked_for_a_name(station: httpx.AsyncClient) -> None:
    asked = await station.get("/", headers={"Accept-Language": "es"})
    assert asked.status_code == 200 and "¿Quién es usted?" in asked.text
    assert (await station.get("/queue")).status_code == 403
