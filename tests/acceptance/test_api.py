"""Intake and API, as clients see them (ACCEPTANCE A1, lines 1 to 3)."""

from __future__ import annotations

import asyncio
import io
import json
import re
import sys
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import httpx
import psutil
import pytest
from PIL import Image
from reportlab.pdfgen.canvas import Canvas

from bench.servers import _free_ports
from docproc.app import App
from docproc.apps.documents.store import pages
from docproc.engine.store.session import Store
from docproc.engine.store.tables import Request
from docproc.errors import ConfigurationError, DatabaseDownError
from docproc.http.reception import reception_of
from docproc.http.server import serve
from tests.acceptance.conftest import client_of
from tests.harness import Harness, opened, settings_for

PDF = b"%PDF-1.4\n1 0 obj <<>> endobj\ntrailer <<>>\n%%EOF\n"
STATUS_FIELDS = [
    "request_id", "status", "workflow_name", "created_at", "deadline_utc", "completed_at", "page_count",
    "document_count", "result", "error", "answer_version", "breached_at", "amended_at",
]  # fmt: skip
Client = httpx.AsyncClient
Parts = list[tuple[str, Any]]


async def send(client: Client, content: bytes = PDF, name: str = "a.pdf", **data: str) -> httpx.Response:
    return await client.post("/process", files={"file": (name, content)}, data=data)


def problem(answer: httpx.Response, status: int, code: str) -> dict[str, Any]:
    """Every error has one shape."""
    assert answer.status_code == status, answer.text
    body = answer.json()
    assert list(body) == ["error"]
    assert {"code", "message", "remedy"} <= set(body["error"])
    assert body["error"]["code"] == code
    error: dict[str, Any] = body["error"]
    return error


def stored(harness: Harness) -> list[Path]:
    """All files in the storage, unfinished ones included."""
    root = harness.app.settings.effective_storage_path
    return [path for path in root.rglob("*") if path.is_file()]


@pytest.fixture(autouse=True)
def _storage_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPROC_STORAGE_PATH", str(tmp_path / "storage"))


async def nothing_came_of_it(harness: Harness) -> None:
    for table in ("requests", "messages", "events"):
        assert await harness.query(f"SELECT 1 FROM {table}") == []
    assert stored(harness) == []


# --- line 1: POST /process ------------------------------------------------------------------------------


async def test_upload_becomes_a_file_a_row_and_a_message(engine: Harness, client: Client) -> None:
    answer = await send(client)
    assert answer.status_code == 200
    assert list(answer.json())[:2] == ["request_id", "status"] and answer.json()["status"] == "received"
    request_id = UUID(answer.json()["request_id"])

    request = await engine.request(request_id)
    assert (request.status, request.workflow_name, request.channel) == ("received", "default", "api")
    assert (request.external_id, request.metadata_) == (None, {})

    (path,) = stored(engine)
    assert path.read_bytes() == PDF
    assert path.is_relative_to(engine.app.settings.effective_storage_path / str(request_id))

    (row,) = await engine.query("SELECT queue, body FROM messages")
    message = json.loads(row.body)
    assert row.queue == "q.workflow_router"
    assert message["request_id"] == str(request_id)
    assert message["payload"]["workflow_named"] is False
    assert message["payload"]["files"][0]["name"] == "a.pdf"


async def test_fields_are_kept(engine: Harness, client: Client) -> None:
    data: dict[str, Any] = {
        "metadata": '{"cliente": "Ñandú", "n": 12345678901234567890}',
        "channel": "sftp",
        "external_id": "E-1",
    }
    request_id = (await send(client, workflow="invoices", **data)).json()["request_id"]
    request = await engine.request(UUID(request_id))
    assert (request.channel, request.external_id, request.workflow_name) == ("sftp", "E-1", "invoices")
    assert request.metadata_ == {"cliente": "Ñandú", "n": 12345678901234567890}
    (row,) = await engine.query("SELECT body FROM messages")
    assert json.loads(row.body)["payload"]["workflow_named"] is True


async def test_repeated_files_are_one_request(engine: Harness, client: Client) -> None:
    answer = await client.post(
        "/process",
        files=[("file", ("a.pdf", b"one")), ("file", ("b.pdf", b"two")), ("file", ("a.pdf", b"three"))],
    )
    detail = (await client.get(f"/requests/{answer.json()['request_id']}")).json()
    assert [(file["name"], file["size"]) for file in detail["files"]] == [
        ("a.pdf", 3),
        ("b.pdf", 3),
        ("a.pdf", 5),
    ]
    assert sorted(path.read_bytes() for path in stored(engine)) == [b"one", b"three", b"two"]


async def test_fields_may_come_after_the_file(engine: Harness, client: Client) -> None:
    parts: Parts = [("file", ("a.pdf", PDF)), ("channel", (None, "late")), ("metadata", (None, '{"a": 1}'))]
    request_id = (await client.post("/process", files=parts)).json()["request_id"]
    request = await engine.request(UUID(request_id))
    assert (request.channel, request.metadata_) == ("late", {"a": 1})


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "1a metadata is not JSON": ({"metadata": "{nope"}, 400, "invalid_metadata"),
    "1a metadata is not an object": ({"metadata": "[1]"}, 400, "invalid_metadata"),
    "metadata with NUL": ({"metadata": '{"a": "\\u0000"}'}, 422, "invalid_metadata"),
    "1c unknown workflow": ({"workflow": "nosuch"}, 404, "unknown_workflow"),
    "1e workflow outside": ({"workflow": "../../x"}, 404, "unknown_workflow"),
    "1e absolute workflow": ({"workflow": "/etc/passwd"}, 404, "unknown_workflow"),
    "channel too long": ({"channel": "x" * 65}, 422, "invalid_field"),
    "external_id too long": ({"external_id": "x" * 256}, 422, "invalid_field"),
    "workflow too long": ({"workflow": "x" * 65}, 422, "invalid_field"),
    "NUL in a field": ({"external_id": "a\0b"}, 422, "invalid_field"),
    "field too large": ({"channel": "x" * 5000}, 413, "field_too_large"),
    "field twice": ({"channel": ["a", "b"]}, 422, "invalid_field"),
}


@pytest.mark.parametrize("case", REFUSED)
@pytest.mark.parametrize("file_first", [True, False])
async def test_what_cannot_be_used_is_refused_without_a_trace(
    sqlite_engine: Harness, sqlite_client: Client, case: str, file_first: bool
) -> None:
    data, status, code = REFUSED[case]
    fields: Parts = [
        (name, (None, value))
        for name, values in data.items()
        for value in (values if isinstance(values, list) else [values])
    ]
    file: Parts = [("file", ("a.pdf", PDF))]
    answer = await sqlite_client.post("/process", files=file + fields if file_first else fields + file)
    problem(answer, status, code)
    await nothing_came_of_it(sqlite_engine)


async def test_unknown_workflow_leaves_no_trace_anywhere(engine: Harness, client: Client) -> None:
    error = problem(await send(client, workflow="nosuch"), 404, "unknown_workflow")
    assert "default" in error["remedy"] and "/" not in error["remedy"]
    await nothing_came_of_it(engine)


async def test_missing_file_is_422(sqlite_engine: Harness, sqlite_client: Client) -> None:
    for content in (
        {"data": {"channel": "api"}},
        {"files": {"channel": (None, "api")}},
        {"files": {"file": (None, "text, not a file")}},
        {"files": {"file": ("", b"")}},
        {},
    ):
        problem(await sqlite_client.post("/process", **content), 422, "missing_file")
    await nothing_came_of_it(sqlite_engine)


async def test_body_that_is_no_form_is_refused(sqlite_engine: Harness, sqlite_client: Client) -> None:
    text: Any = {"content": b"x", "headers": {"Content-Type": "text/plain"}}
    problem(await sqlite_client.post("/process", **text), 415, "unsupported_type")
    problem(await sqlite_client.post("/process", json={"file": "x"}), 422, "invalid_field")
    form = {"Content-Type": "multipart/form-data; boundary=XX"}
    start = b'--XX\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nhalf'
    for body in (b"", b"rubbish", start):
        answer = await sqlite_client.post("/process", content=body, headers=form)
        problem(answer, 400, "malformed_form")
    no_boundary = {"Content-Type": "multipart/form-data"}
    problem(await sqlite_client.post("/process", content=start, headers=no_boundary), 400, "malformed_form")
    await nothing_came_of_it(sqlite_engine)


NAMES = [
    "../../x",
    "/etc/x",
    "x" * 300,
    "..",
    ".",
    "a/../../b",
    "C:\\x\\..\\y.pdf",
    "ñandú €.pdf",
    "-rf",
    "a\x01b",
]


@pytest.mark.parametrize("name", NAMES)
async def test_file_stays_in_its_folder_whatever_its_name(
    sqlite_engine: Harness, sqlite_client: Client, name: str
) -> None:
    """1d."""
    request_id = (await send(sqlite_client, name=name)).json()["request_id"]
    (path,) = stored(sqlite_engine)
    assert path.parent == sqlite_engine.app.settings.effective_storage_path / request_id / "in"
    everything = {p for p in sqlite_engine.settings.home.rglob("*") if p.is_file() and p.read_bytes() == PDF}
    assert everything == {path}


async def test_file_without_a_name_is_taken(sqlite_engine: Harness, sqlite_client: Client) -> None:
    body = b'--XX\r\nContent-Disposition: form-data; name="file"; filename=""\r\n\r\nhello\r\n--XX--\r\n'
    headers = {"Content-Type": "multipart/form-data; boundary=XX"}
    answer = await sqlite_client.post("/process", content=body, headers=headers)
    assert answer.status_code == 200
    assert [path.read_bytes() for path in stored(sqlite_engine)] == [b"hello"]


async def test_empty_file_is_refused(sqlite_engine: Harness, sqlite_client: Client) -> None:
    """1f; among others, too."""
    problem(await send(sqlite_client, b""), 400, "empty_file")
    files = [("file", ("a.pdf", PDF)), ("file", ("b.pdf", b""))]
    problem(await sqlite_client.post("/process", files=files), 400, "empty_file")
    await nothing_came_of_it(sqlite_engine)


async def test_oversize_upload_is_refused(tmp_path: Path) -> None:
    """1f; declared, undeclared, and of several files together."""
    async with opened(settings_for(tmp_path, max_upload_mb=1)) as harness, client_of(harness) as client:
        problem(await send(client, b"x" * (1024 * 1024 + 1)), 413, "too_large")
        problem(await send(client, b"x" * (8 * 1024 * 1024)), 413, "too_large")
        half = b"x" * 600_000
        files = [("file", ("a", half)), ("file", ("b", half))]
        problem(await client.post("/process", files=files), 413, "too_large")
        await nothing_came_of_it(harness)
        assert (await send(client, b"x" * (1024 * 1024))).status_code == 200


async def test_broken_workflow_file_is_named(sqlite_engine: Harness, sqlite_client: Client) -> None:
    sqlite_engine.workflow("broken", "stages: [{name: x, component: nosuch}]")
    error = problem(await send(sqlite_client, workflow="broken"), 503, "workflow_unusable")
    assert error["message"].startswith("broken.yaml:") and "nosuch" in error["message"]
    await nothing_came_of_it(sqlite_engine)


async def test_foreign_web_page_cannot_send(sqlite_engine: Harness, sqlite_client: Client) -> None:
    headers = {"Sec-Fetch-Site": "cross-site"}
    answer = await sqlite_client.post("/process", files={"file": ("a", PDF)}, headers=headers)
    problem(answer, 403, "cross_site")
    await nothing_came_of_it(sqlite_engine)


# --- 1i: idempotency ------------------------------------------------------------------------------------


async def test_same_reference_and_content_is_the_same_request(engine: Harness, client: Client) -> None:
    first = await send(client, external_id="E-1")
    again = await send(client, name="renamed.pdf", external_id="E-1")
    assert again.json() == first.json()
    assert "idempotent-replay" not in first.headers and again.headers["idempotent-replay"] == "true"
    assert len(stored(engine)) == 1 and len(await engine.query("SELECT 1 FROM messages")) == 1

    elsewhere = await send(client, external_id="E-1", channel="mail")
    revision = await send(client, b"new content", external_id="E-1")
    assert len({answer.json()["request_id"] for answer in (first, elsewhere, revision)}) == 3
    detail = (await client.get(f"/requests/{revision.json()['request_id']}")).json()
    assert (detail["linked_to"], detail["link"]) == (first.json()["request_id"], "revision")


async def test_repeated_key_finds_the_first_request(engine: Harness, client: Client) -> None:
    async def keyed(content: bytes, key: str) -> httpx.Response:
        headers = {"Idempotency-Key": key}
        return await client.post("/process", files={"file": ("a", content)}, headers=headers)

    first = (await keyed(PDF, "k-1")).json()
    await client.post(f"/requests/{first['request_id']}/cancel")
    again = await keyed(PDF, "k-1")
    assert again.json().items() >= {"request_id": first["request_id"], "status": "failed"}.items()
    assert again.headers["idempotent-replay"] == "true"
    problem(await keyed(b"another content", "k-1"), 409, "reused_key")
    problem(await keyed(PDF, "k" * 256), 422, "invalid")
    assert len(stored(engine)) == 1


async def test_same_submission_many_times_is_one_request(engine: Harness, client: Client) -> None:
    answers = await asyncio.gather(*(send(client, external_id="E-2") for _ in range(8)))
    assert {answer.status_code for answer in answers} == {200}
    assert len({answer.json()["request_id"] for answer in answers}) == 1
    assert len(await engine.query("SELECT 1 FROM requests")) == 1 and len(stored(engine)) == 1


# --- line 2: GET /status --------------------------------------------------------------------------------


async def test_status_has_the_ten_specified_fields_and_three_more(engine: Harness, client: Client) -> None:
    request_id = (await send(client)).json()["request_id"]
    body = (await client.get(f"/status/{request_id}")).json()
    assert list(body) == STATUS_FIELDS
    assert (body["request_id"], body["status"], body["workflow_name"]) == (request_id, "received", "default")
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", body["created_at"])
    assert body["deadline_utc"].endswith("Z")
    assert [body[name] for name in STATUS_FIELDS[5:]] == [None] * 5 + [0, None, None]


async def test_unknown_request_is_404_and_malformed_id_422(sqlite_client: Client) -> None:
    unknown = uuid4()
    for path in ("/status/{}", "/requests/{}", "/requests/{}/events", "/requests/{}/result"):
        problem(await sqlite_client.get(path.format(unknown)), 404, "unknown_request")
        error = problem(await sqlite_client.get(path.format("nonsense")), 422, "invalid")
        assert error["details"][0]["where"] == "request_id"
    for path in ("/requests/{}/cancel", "/requests/{}/reprocess"):
        problem(await sqlite_client.post(path.format(unknown)), 404, "unknown_request")
    problem(await sqlite_client.get(f"/requests/{unknown}/pages/0.png"), 404, "unknown_request")


# --- line 3: health -------------------------------------------------------------------------------------


async def test_health_and_readiness(client: Client) -> None:
    answer = await client.get("/health")
    assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
    answer = await client.get("/ready")
    assert (answer.status_code, answer.json()) == (200, {"status": "ready"})


async def test_database_down_is_503_and_health_stays(
    sqlite_client: Client, sqlite_engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    def down(_store: Store) -> Any:
        raise DatabaseDownError("PostgreSQL takes no connections: secret details")

    monkeypatch.setattr(Store, "reading", down)
    monkeypatch.setattr(Store, "writing", down)
    for answer in (
        await sqlite_client.get(f"/status/{uuid4()}"),
        await sqlite_client.get("/requests"),
        await send(sqlite_client),
        await sqlite_client.get("/ready"),
    ):
        problem(answer, 503, "unavailable")
        assert answer.headers["retry-after"] == "5" and "secret" not in answer.text
    assert (await sqlite_client.get("/health")).json() == {"status": "ok"}
    monkeypatch.undo()
    assert stored(sqlite_engine) == []


async def test_unexpected_error_tells_nothing(
    sqlite_client: Client, sqlite_engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def broken(_request_id: UUID) -> None:
        raise RuntimeError("secret details")

    monkeypatch.setattr(reception_of(sqlite_engine.app), "find", broken)
    sent = await sqlite_client.post("/process", files={"file": ("a.pdf", b"%PDF-1.4")})
    answer = await sqlite_client.get(f"/status/{sent.json()['request_id']}")
    problem(answer, 500, "internal")
    assert "secret" not in answer.text


# --- list, detail, events, cancel, reprocess ------------------------------------------------------------


async def test_list_goes_page_by_page_newest_first(engine: Harness, client: Client) -> None:
    ids = [(await send(client, str(n).encode())).json()["request_id"] for n in range(5)]
    seen: list[str] = []
    cursor: str | None = None
    for size in (2, 2, 1):
        params: dict[str, Any] = {"limit": 2, **({"cursor": cursor} if cursor else {})}
        body = (await client.get("/requests", params=params)).json()
        assert len(body["requests"]) == size
        seen += [one["request_id"] for one in body["requests"]]
        cursor = body["next"]
    assert cursor is None
    assert seen == ids[::-1]


async def test_list_is_filtered(client: Client) -> None:
    first = (await send(client, b"1", external_id="A", workflow="invoices")).json()["request_id"]
    second = (await send(client, b"2", external_id="B", channel="mail")).json()["request_id"]
    await client.post(f"/requests/{second}/cancel")
    created = (await client.get(f"/status/{second}")).json()["created_at"]
    for query, found in (
        ({"external_id": "A"}, [first]),
        ({"channel": "mail"}, [second]),
        ({"workflow": "invoices"}, [first]),
        ({"status": "failed"}, [second]),
        ({"status": "received"}, [first]),
        ({"since": created}, [second]),
        ({"since": "2199-01-01T00:00:00Z"}, []),
        ({"channel": "nosuch"}, []),
    ):
        body = (await client.get("/requests", params=query)).json()
        assert [one["request_id"] for one in body["requests"]] == found, query
    for bad in ({"status": "x"}, {"limit": "0"}, {"cursor": "x"}, {"since": "x"}, {"channel": "\0"}):
        problem(await client.get("/requests", params=bad), 422, "invalid")


async def test_detail_says_everything(client: Client) -> None:
    answer = await send(client, metadata='{"a": 1}', channel="mail", external_id="E")
    body = (await client.get(f"/requests/{answer.json()['request_id']}")).json()
    assert list(body)[:13] == STATUS_FIELDS
    assert (body["channel"], body["external_id"], body["priority"], body["metadata"]) == (
        "mail",
        "E",
        5,
        {"a": 1},
    )
    assert (body["linked_to"], body["link"], body["open_tasks"]) == (None, None, 0)
    assert body["files"][0]["name"] == "a.pdf" and body["files"][0]["page_count"] is None
    assert body["progress"]["pages_read"] == 0 and body["progress"]["stages"] == []


async def test_events_are_read_on_from_where_one_stopped(engine: Harness, client: Client) -> None:
    request_id = (await send(client)).json()["request_id"]

    async def read(after: str = "0.0") -> Any:
        return (await client.get(f"/requests/{request_id}/events", params={"after": after})).json()

    await engine.until(lambda: _not_empty(read), "the first event")
    first = await read()
    assert [(event["kind"], event["outcome"]) for event in first["events"]] == [("status", "received")]
    assert (await read(first["next"])) == {"events": [], "next": first["next"]}
    await client.post(f"/requests/{request_id}/cancel")
    await engine.until(lambda: _not_empty(lambda: read(first["next"])), "the second event")
    assert [event["outcome"] for event in (await read(first["next"]))["events"]] == ["failed"]


async def _not_empty(read: Any) -> bool:
    # Events of running transactions of other databases may hold PostgreSQL's horizon for a moment.
    return bool((await read())["events"])


async def test_cancelled_request_is_over(engine: Harness, client: Client) -> None:
    request_id = (await send(client)).json()["request_id"]
    answer = await client.post(f"/requests/{request_id}/cancel")
    assert (answer.status_code, answer.json()) == (200, {"request_id": request_id, "status": "failed"})
    body = (await client.get(f"/status/{request_id}")).json()
    assert body["error"]["code"] == "cancelled" and body["completed_at"]
    assert await engine.query("SELECT 1 FROM messages") == []
    problem(await client.post(f"/requests/{request_id}/cancel"), 409, "conflict")


async def test_reprocessed_request_is_a_new_one(engine: Harness, client: Client) -> None:
    first = (await send(client, external_id="E")).json()["request_id"]
    answer = await client.post(f"/requests/{first}/reprocess")
    body = answer.json()
    assert (body["status"], body["linked_to"]) == ("received", first) and body["request_id"] != first
    other = await client.post(f"/requests/{first}/reprocess", json={"workflow": "invoices"})
    detail = (await client.get(f"/requests/{other.json()['request_id']}")).json()
    assert (detail["workflow_name"], detail["linked_to"], detail["link"]) == ("invoices", first, "reprocess")
    assert [path.read_bytes() for path in stored(engine)] == [PDF] * 3

    problem(
        await client.post(f"/requests/{first}/reprocess", json={"workflow": "x"}), 404, "unknown_workflow"
    )
    problem(await client.post(f"/requests/{first}/reprocess", json={"nosuch": 1}), 422, "invalid")
    await engine.app.blobs.delete(first)
    problem(await client.post(f"/requests/{first}/reprocess"), 409, "conflict")
    assert len(stored(engine)) == 2


# --- result ---------------------------------------------------------------------------------------------


async def test_result_in_three_formats(engine: Harness, client: Client) -> None:
    request_id = (await send(client)).json()["request_id"]
    problem(await client.get(f"/requests/{request_id}/result"), 409, "no_result")
    found = {"value": "F-1", "confidence": 0.9, "source": "text", "page": 0, "box": None}
    result = {
        "documents": [{"doc_type": "invoice", "page_indices": [0], "fields": {"invoice_number": found}}]
    }
    async with engine.app.store.writing() as session:
        request = await session.get(Request, UUID(request_id))
        assert request is not None
        request.result_payload = result

    answers = {
        kind: await client.get(f"/requests/{request_id}/result", params={"format": kind})
        for kind in ("json", "csv", "xlsx")
    }
    assert answers["json"].json() == result
    # One row a document, as a spreadsheet reads it; one row a field, as programs do.
    assert answers["csv"].text.splitlines()[1].split(",")[5] == "F-1"
    fields = await client.get(f"/requests/{request_id}/result?format=csv&table=fields")
    assert fields.text.splitlines()[1] == "0,invoice,0,invoice_number,F-1,0.9,text,0,,,"
    assert answers["xlsx"].content.startswith(b"PK")
    for kind, answer in answers.items():
        assert answer.headers["content-disposition"] == f'attachment; filename="docproc-{request_id}.{kind}"'
    problem(await client.get(f"/requests/{request_id}/result", params={"format": "pdf"}), 422, "invalid")


# --- pages ----------------------------------------------------------------------------------------------


def drawn(pages: int) -> bytes:
    buffer = io.BytesIO()
    paper = Canvas(buffer, pagesize=(300, 400))
    for number in range(pages):
        paper.drawString(50, 300, f"page {number}")
        paper.showPage()
    paper.save()
    return buffer.getvalue()


async def split(harness: Harness, request_id: UUID, rotation: int = 0) -> None:
    """What the splitter and the reader leave behind."""
    (upload,) = (await harness.request(request_id)).uploads or []
    common = {"tenant_id": "default", "request_id": request_id, "file_index": 0}
    file = {"id": uuid4(), "name": "a.pdf", "media_type": "application/pdf", "page_count": 2, "notes": []}
    read = {"rotation": rotation, "status": "PENDIENTE_CLASIFICACION"}
    rows = [
        {**common, **read, "id": pages.page_id(request_id, n), "page_index": n, "file_page": n}
        for n in range(2)
    ]
    async with harness.app.store.writing() as session:
        await pages.insert_files(session, [{**common, **file, "blob_key": upload["key"]}])
        await pages.insert(session, rows)


async def test_page_is_drawn_once_and_kept(engine: Harness, client: Client) -> None:
    request_id = UUID((await send(client, drawn(2))).json()["request_id"])
    await split(engine, request_id)
    path = f"/requests/{request_id}/pages/1.png"
    answer = await client.get(path, params={"width": 150})
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/png")
    assert Image.open(io.BytesIO(answer.content)).size == (150, 200)
    assert await engine.app.blobs.exists(f"{request_id}/pages/1-150.png")

    again = await client.get(path, params={"width": 150}, headers={"If-None-Match": answer.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    problem(await client.get(f"/requests/{request_id}/pages/2.png"), 404, "unknown_page")
    for width in ("0", "100000", "x"):
        problem(await client.get(path, params={"width": width}), 422, "invalid")


async def test_few_widths_are_kept_whatever_is_asked_for(
    sqlite_engine: Harness, sqlite_client: Client
) -> None:
    request_id = UUID((await send(sqlite_client, drawn(2))).json()["request_id"])
    await split(sqlite_engine, request_id)
    path = f"/requests/{request_id}/pages/0.png"
    kept = sqlite_engine.settings.effective_storage_path / str(request_id) / "pages"
    for width in (16, 100, 149, 150, 151, 180, 199, 200):
        answer = await sqlite_client.get(path, params={"width": width})
        assert Image.open(io.BytesIO(answer.content)).width == (150 if width <= 150 else 200)
    assert {one.name for one in kept.iterdir()} == {"0-150.png", "0-200.png"}


async def test_killed_drawing_child_is_replaced(sqlite_engine: Harness, sqlite_client: Client) -> None:
    request_id = UUID((await send(sqlite_client, drawn(2))).json()["request_id"])
    await split(sqlite_engine, request_id)
    before = set(psutil.Process().children())
    for width in (150, 200, 400):
        answer = await sqlite_client.get(f"/requests/{request_id}/pages/0.png", params={"width": width})
        assert answer.status_code == 200
        for child in set(psutil.Process().children()) - before:
            if "spawn_main" in " ".join(child.cmdline()):
                child.kill()


async def test_page_that_lies_on_its_side_stands_upright(
    sqlite_engine: Harness, sqlite_client: Client
) -> None:
    request_id = UUID((await send(sqlite_client, drawn(2))).json()["request_id"])
    await split(sqlite_engine, request_id, rotation=90)
    answer = await sqlite_client.get(f"/requests/{request_id}/pages/0.png", params={"width": 400})
    assert Image.open(io.BytesIO(answer.content)).size == (400, 300)


async def test_page_that_cannot_be_drawn_is_an_error(sqlite_engine: Harness, sqlite_client: Client) -> None:
    request_id = UUID((await send(sqlite_client)).json()["request_id"])
    await split(sqlite_engine, request_id)
    problem(await sqlite_client.get(f"/requests/{request_id}/pages/0.png"), 422, "unreadable")
    await sqlite_engine.app.blobs.delete(str(request_id))
    problem(await sqlite_client.get(f"/requests/{request_id}/pages/0.png"), 404, "file_gone")


# --- every answer ---------------------------------------------------------------------------------------


async def test_every_answer_is_guarded(sqlite_client: Client) -> None:
    for path in (
        "/",
        "/health",
        "/nosuch",
        "/static/documents/intake.js",
        "/static/../app.py",
        "/static/",
        "/status/x",
    ):
        headers = (await sqlite_client.get(path)).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert "'unsafe-inline'" not in headers["content-security-policy"]
        assert "default-src 'none'" in headers["content-security-policy"]
    for path in ("/static/", "/static", "/static/../app.py", "/static/%2e%2e/app.py"):
        assert (await sqlite_client.get(path)).status_code == 404
    problem(await sqlite_client.get("/nosuch"), 404, "not_found")
    problem(await sqlite_client.delete("/health"), 405, "method_not_allowed")


# --- a real server --------------------------------------------------------------------------------------


async def test_upload_is_streamed_and_a_broken_one_leaves_nothing(tmp_path: Path) -> None:
    """1g: the bytes are in the storage while more are on their way; a client that goes leaves no files."""
    async with opened(settings_for(tmp_path)) as harness, running(harness) as (host, port):
        _, writer = await asyncio.open_connection(host, port)
        head = b'--XX\r\nContent-Disposition: form-data; name="file"; filename="big.bin"\r\n\r\n'
        writer.write(
            b"POST /process HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n"
            b"Content-Type: multipart/form-data; boundary=XX\r\n\r\n" + _chunk(head)
        )
        for _ in range(32):
            writer.write(_chunk(b"x" * 256 * 1024))
            await writer.drain()
        await harness.until(
            lambda: sum(p.stat().st_size for p in stored(harness)) >= 4_000_000, "it is on disk"
        )
        writer.close()
        await harness.until(lambda: not stored(harness), "its files are gone")
        await nothing_came_of_it(harness)


def _chunk(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


async def test_refused_upload_still_reads_its_answer(tmp_path: Path) -> None:
    """Over the network a client sends everything before it listens."""
    async with opened(settings_for(tmp_path)) as harness, running(harness) as (host, port):
        client = Client(base_url=f"http://{host}:{port}", trust_env=False)
        parts: Parts = [("workflow", (None, "nosuch")), ("file", ("big.bin", b"x" * 20_000_000))]
        problem(await client.post("/process", files=parts), 404, "unknown_workflow")
        await nothing_came_of_it(harness)
        assert (await send(client)).status_code == 200
        await client.aclose()


async def test_port_that_is_taken_is_named(tmp_path: Path) -> None:
    async with opened(settings_for(tmp_path)) as harness, running(harness) as (host, port):
        with pytest.raises(ConfigurationError, match="DOCPROC_API_PORT"):
            await serve(harness.app, asyncio.Event(), host=host, port=port)


class running:  # noqa: N801 # reads as a word
    """A server on a free port."""

    def __init__(self, harness: Harness) -> None:
        self.harness = harness
        self.stopping = asyncio.Event()

    async def __aenter__(self) -> tuple[str, int]:
        host, port = "127.0.0.1", _free_ports(1)[0]
        self.application = App(self.harness.settings)
        self.task = asyncio.create_task(serve(self.application, self.stopping, host=host, port=port))

        async def answers() -> bool:
            try:
                async with httpx.AsyncClient(trust_env=False) as client:
                    return (await client.get(f"http://{host}:{port}/health")).status_code == 200
            except httpx.TransportError:
                assert not self.task.done(), self.task.exception()
                return False

        await self.harness.until(answers, "the server answers")
        return host, port

    async def __aexit__(self, *_: object) -> None:
        self.stopping.set()
        await self.task
        await self.application.close()


# A gateway that dies between the commit and the publication, as a power cut would have it.
DYING_GATEWAY = """
import asyncio, os, sys
from docproc.app import App
from docproc.http.server import serve
from docproc.settings import Settings

async def main():
    application = App(Settings.load())
    async def die(copies):
        if copies:
            os._exit(9)
    application.relay.publish = die
    await serve(application, asyncio.Event(), host="127.0.0.1", port=int(sys.argv[1]))

asyncio.run(main())
"""


async def test_request_of_a_gateway_that_dies_before_publishing_runs(engine: Harness, tmp_path: Path) -> None:
    """1h."""
    port = _free_ports(1)[0]
    settings = engine.settings
    environment = {
        "DOCPROC_HOME": str(settings.home),
        "DOCPROC_WORKFLOWS_DIR": str(settings.workflows_dir),
        "DOCPROC_STORAGE_PATH": str(tmp_path / "storage"),
        "DOCPROC_COMPONENTS": ",".join(f"{name}={path}" for name, path in settings.components.items()),
        "DOCPROC_DATABASE_URL": settings.database_url or "",
        "DOCPROC_RABBITMQ_URL": settings.rabbitmq_url or "",
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", DYING_GATEWAY, str(port), env=environment, stderr=asyncio.subprocess.DEVNULL
    )
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:

        async def lives() -> bool:
            try:
                return (await client.get("/ready")).status_code == 200
            except httpx.TransportError:
                return False

        await engine.until(lives, "the gateway answers", 40)
        with pytest.raises(httpx.TransportError):
            await send(client)
    assert await process.wait() == 9
    (row,) = await engine.query("SELECT id FROM requests")
    await engine.start("workflow_router")

    async def routed() -> bool:
        return (await engine.request(UUID(str(row.id)))).status == "routing"

    await engine.until(routed, "another process routes it")
