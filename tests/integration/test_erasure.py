"""Erasure: nothing of a request stays but who did what kind of thing, and when; retention does it alone."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import pytest
from sqlalchemy import ARRAY, JSON, Boolean, Column, Float, Integer, LargeBinary, String, Table, select

from docproc.console.servers import gateway
from docproc.engine.message import utc_now
from docproc.engine.store import events, rows, sweep
from docproc.engine.store.columns import Id, Moment
from docproc.engine.store.tables import Base, Event, Request
from docproc.engine.store.task_tables import Operator
from docproc.engine.workflow.definition import Retention
from docproc.errors import UnknownRequestError
from tests.harness import Harness, opened, settings_for
from tests.processes import Processes

MARKER = "12345678Z"
STAGE = "stages: [{name: slow, component: slow}]\n"

Client = httpx.AsyncClient


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest) -> dict[str, str]:
    return {} if request.param == "sqlite" else {"database_url": request.getfixturevalue("postgres_url")}


@pytest.fixture
async def harness(url: dict[str, str], tmp_path: Path) -> AsyncIterator[Harness]:
    async with opened(settings_for(tmp_path, storage_path=tmp_path / "storage", **url)) as found:
        yield found


def client_of(harness: Harness) -> Client:
    return Client(transport=httpx.ASGITransport(gateway(harness.app)), base_url="http://docproc")


def _value(column: Column[Any]) -> Any:
    """Something personal, wherever it fits."""
    kind = column.type
    if isinstance(kind, JSON):
        array = kind._variant_mapping["postgresql"]
        if isinstance(array, ARRAY):
            return [MARKER if isinstance(array.item_type, String) else 0]
        return {"operator": "ana", "changes": [{"what": MARKER, "after": MARKER}], MARKER: MARKER}
    if isinstance(kind, Moment):
        return utc_now()
    if isinstance(kind, Id):
        return uuid4()
    if isinstance(kind, LargeBinary):
        return MARKER.encode()
    if isinstance(kind, Boolean):
        return False
    if isinstance(kind, Integer | Float):
        return 1
    assert isinstance(kind, String), column
    return MARKER if kind.length is None else MARKER[: kind.length]


def tables_of_requests(harness: Harness) -> list[Table]:
    """Every table that speaks of requests, also those that somebody adds later."""
    harness.app.applications.import_tables()
    return [table for table in Base.metadata.sorted_tables if "request_id" in table.c]


async def fill(harness: Harness, request_id: UUID, status: str = "completed") -> UUID:
    """A row in each table, with the marker in every column; returns the id of its document."""
    document, operator = uuid4(), uuid4()
    fixed: dict[str, Any] = {
        "request_id": request_id,
        "document_id": document,
        "assigned_to": operator,
        "tenant_id": "default",
        "material_id": f"{MARKER}-{request_id}",  # one request, one material
    }
    own: dict[str, dict[str, Any]] = {
        "requests": {
            "id": request_id,
            "status": status,
            "workflow_name": "default",
            "idempotency_key": f"{MARKER}-{request_id}",
        },
        "documents": {"id": document},
        **{name: {"id": uuid4().hex} for name in ("material_summary", "material_assessment")},
        "backoffice_tasks": {"status": "assigned", "message": None},
        "messages": {"state": "held"},
        "deliveries": {"state": "pending"},
        "orchestrator_known_answers": {"question": str(request_id)},  # one question, one answer
        # The engine's own words; what applications and people say is in the other columns.
        "events": {
            "id": None,
            "transaction_id": 0,
            "kind": "task",
            "stage": "extract",
            "outcome": "completed",
            "worker_id": "w",
        },
        "dead_letters": {"body": MARKER.encode()},
        "search_entries": {"id": None},
    }
    async with harness.app.store.writing() as session:
        session.add(Operator(id=operator, username=f"ana-{operator}"))
        await session.flush()
        for table in [Base.metadata.tables["requests"], *tables_of_requests(harness)]:
            values = {column.name: _value(column) for column in table.c} | {
                name: value for name, value in fixed.items() if name in table.c
            }
            values |= own.get(table.name, {})
            values = {name: value for name, value in values.items() if value is not None}
            await rows.insert(session, table, [values])
        for name in ("layouts", "layout_keys"):
            table = Base.metadata.tables[name]
            values = {column.name: _value(column) for column in table.c}
            await rows.insert(session, table, [{**values, "document_id": document, "tenant_id": "default"}])
    await harness.app.blobs.put(f"{request_id}/in/0-{MARKER}.pdf", _content())
    await harness.app.blobs.put(f"{request_id}/pages/0-1000.png", _content())
    return document


async def _content() -> AsyncIterator[bytes]:
    yield MARKER.encode()


async def left(harness: Harness, request_id: UUID, document: UUID) -> list[str]:
    """The tables that still know of the request."""
    known = Base.metadata.tables
    ids = {table.name: (table.c.request_id, request_id) for table in tables_of_requests(harness)}
    ids |= {name: (known[name].c.document_id, document) for name in ("layouts", "layout_keys")}
    ids["requests"] = (known["requests"].c.id, request_id)
    async with harness.app.store.reading() as session:
        found = {
            name: (await session.execute(select(column).where(column == wanted))).first()
            for name, (column, wanted) in ids.items()
        }
    return [name for name, row in found.items() if row is not None]


def kept(folder: Path) -> list[str]:
    """The files with the marker in their bytes or their name: database, write-ahead log, blobs."""
    marked = [
        path
        for path in folder.rglob("*")
        if MARKER in path.name or (path.is_file() and MARKER.encode() in path.read_bytes())
    ]
    return sorted(path.name for path in marked)


async def _dump(harness: Harness) -> str:
    """All rows of all tables, as text."""
    async with harness.app.store.reading() as session:
        found = [list(await session.execute(select(table))) for table in Base.metadata.sorted_tables]
    return repr(found)


async def test_nothing_of_an_erased_request_is_found_but_who_and_when(
    harness: Harness, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    erased, other = uuid4(), uuid4()
    document = await fill(harness, erased)
    assert {"pages", "corrections", "layouts", "answers", "dead_letters", "requests"} <= set(
        await left(harness, erased, document)
    )
    assert MARKER in await _dump(harness) and kept(tmp_path)
    async with client_of(harness) as client:
        assert (await client.delete(f"/requests/{erased}")).status_code == 204
        assert (await client.get(f"/requests/{erased}")).status_code == 404
        assert (await client.delete(f"/requests/{erased}")).status_code == 404
        assert (await client.delete(f"/requests/{other}")).status_code == 404
    assert await left(harness, erased, document) == ["events"]
    history = [row for row in await harness.events(erased) if row.kind in ("task", "erased")]
    assert [(row.kind, row.outcome) for row in history] == [("task", "completed"), ("erased", "erased")]
    assert history[0].data == {"operator": "ana"}
    assert history[1].data["by"] == "api"
    assert history[0].started_at and history[0].unit_key is None
    assert MARKER not in await _dump(harness)
    assert kept(tmp_path) == []
    captured = capsys.readouterr()
    assert MARKER not in captured.out + captured.err


async def test_other_requests_keep_everything(harness: Harness) -> None:
    erased, other = uuid4(), uuid4()
    await fill(harness, erased)
    document = await fill(harness, other)
    before = await left(harness, other, document)
    await harness.app.erasure.erase(erased, "cli")
    assert await left(harness, other, document) == before
    assert await harness.app.blobs.exists(f"{other}/in/0-{MARKER}.pdf")
    with pytest.raises(UnknownRequestError):
        await harness.app.erasure.erase(erased, "cli")


async def test_a_running_request_is_cancelled_and_erased(engine: Harness) -> None:
    """On every transport: what a broker still holds, or a worker has in hand, has no effect."""
    engine.workflow("slow", STAGE)
    await engine.start("slow")
    waiting = [await engine.submit("slow", sleep=0.3, nif=MARKER) for _ in range(4)]
    for request_id in waiting:
        await engine.app.erasure.erase(request_id, "api")
    after = await engine.run("slow", sleep=0)  # the worker goes on with others
    assert after.status == "completed"

    async def all_gone() -> bool:
        left = await engine.query("SELECT id FROM messages")
        return not left

    await engine.until(all_gone, "nothing is queued")
    assert {row.id for row in await engine.query("SELECT id FROM requests")} == {
        str(after.id) if engine.app.store.is_sqlite else after.id
    }
    for request_id in waiting:
        assert [row.kind for row in await engine.events(request_id)][-1] == "erased"
    assert MARKER not in await _dump(engine)


async def test_a_person_whose_task_is_erased_has_none(harness: Harness) -> None:
    request_id = uuid4()
    await fill(harness, request_id)
    async with harness.app.store.writing() as session:
        await rows.execute(
            session, "UPDATE operators SET current_task_id = (SELECT id FROM backoffice_tasks)"
        )
    await harness.app.erasure.erase(request_id, "cli")
    assert [row.current_task_id for row in await harness.query("SELECT * FROM operators")] == [None]


async def test_content_goes_when_its_time_is_up_and_the_audit_later(harness: Harness, tmp_path: Path) -> None:
    harness.workflow("brief", STAGE + "retention: {content_days: 30, audit_days: 365}\n")
    harness.workflow("kept", STAGE)
    old, young, unlimited, running = (uuid4() for _ in range(4))
    for request_id in (old, young, unlimited, running):
        await fill(harness, request_id, "processing" if request_id == running else "completed")
    ago = {old: 31, young: 29, unlimited: 3000, running: 3000}
    async with harness.app.store.writing() as session:
        for request_id, days in ago.items():
            request = await session.get_one(Request, request_id)
            request.workflow_name = "kept" if request_id == unlimited else "brief"
            request.completed_at = None if request_id == running else utc_now() - timedelta(days=days)
            request.amended_at = None
    assert await harness.app.erasure.sweep() == 1
    assert {row.id for row in await harness.query("SELECT id FROM requests")} == {
        _as_stored(harness, one) for one in (young, unlimited, running)
    }
    assert not await harness.app.blobs.exists(f"{old}/in/0-{MARKER}.pdf")
    assert await harness.app.blobs.exists(f"{young}/in/0-{MARKER}.pdf")
    (told,) = await harness.events(old, "erased")
    assert told.data["by"] == "retention"
    assert await harness.app.erasure.sweep() == 0
    assert await harness.events(old, "task")  # the audit outlasts the content
    await _make_older(harness, told, days=366)
    assert await harness.app.erasure.sweep() == 0
    assert await harness.events(old) == []
    assert await harness.events(young, "task")


def _as_stored(harness: Harness, request_id: UUID) -> Any:
    return str(request_id) if harness.app.store.is_sqlite else request_id


async def _make_older(harness: Harness, told: Any, *, days: int) -> None:
    until = utc_now() + timedelta(days=365 - days)
    async with harness.app.store.writing() as session:
        event = await session.get_one(Event, told.id)
        event.data = {**told.data, "audit_until": until.isoformat()}


async def test_sweeping_engine_rows_keeps_what_people_did(harness: Harness) -> None:
    request_id = uuid4()
    await fill(harness, request_id)
    async with harness.app.store.writing() as session:
        request = await session.get_one(Request, request_id)
        request.completed_at, request.amended_at = utc_now() - timedelta(days=40), None
        await rows.execute(session, "UPDATE dead_letters SET settled_at = created_at")
        await events.record(session, [events.Event(request_id, "handled"), events.Event(request_id, "view")])
    assert await sweep.sweep(harness.app.store, 30) == 1
    assert {row.kind for row in await harness.events(request_id)} == {"task", "view"}
    assert await sweep.sweep(harness.app.store, 30) == 0


def test_a_retention_that_says_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="content_days: 90"):
        Retention()


def test_the_command_erases(embedded: Processes) -> None:
    embedded.workflow("flow", "stages: [{name: slow, component: slow}]")
    (request_id,) = embedded.submit("flow", nif=MARKER)
    assert embedded.run("request", "erase", str(request_id)).out == f"{request_id}  erased\n"
    assert embedded.count("requests") == 0
    again = embedded.run("request", "erase", str(request_id))
    assert (again.code, "there is no request" in again.error) == (2, True)


async def test_a_file_that_two_requests_brought_goes_with_the_second(
    harness: Harness, tmp_path: Path
) -> None:
    """Stored once, under DOCPROC_STORAGE_PATH; what the first loses, the second still has."""
    content = b"%PDF-1.7 " + MARKER.encode()
    async with client_of(harness) as client:
        sent = [await client.post("/process", files={"file": (name, content)}) for name in ("a.pdf", "b.pdf")]
        first, second = (answer.json()["request_id"] for answer in sent)
        files = [path for path in (tmp_path / "storage").rglob("*") if path.is_file()]
        assert {path.read_bytes() for path in files} == {content}
        assert len({path.stat().st_ino for path in files}) == 1
        assert (await client.delete(f"/requests/{first}")).status_code == 204
        assert not await harness.app.blobs.exists(f"{first}/in/0-a.pdf")
        assert (await harness.app.blobs.fetch(f"{second}/in/0-b.pdf")).read_bytes() == content
        assert (await client.delete(f"/requests/{second}")).status_code == 204
    assert [path for path in (tmp_path / "storage").rglob("*") if path.is_file()] == []
