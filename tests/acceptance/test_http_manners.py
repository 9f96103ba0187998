"""What clients expect of an HTTP API: where to look, waiting in the call, files by address, its documents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest
from jsonschema import Draft202012Validator

from docproc.client import AsyncClient, Refused
from docproc.engine.store import requests
from docproc.http.app import create_app
from docproc.http.callbacks.resolver import Resolver
from docproc.http.downloads import downloads_of
from tests.doors import PDF, RESULT
from tests.harness import Harness, filled, opened, settings_for


@asynccontextmanager
async def api(folder: Path, **values: Any) -> AsyncIterator[tuple[Harness, httpx.AsyncClient]]:
    async with opened(settings_for(folder, **values)) as harness:
        app = create_app(harness.app)
        transport = httpx.ASGITransport(app)
        async with (
            app.router.lifespan_context(app),
            httpx.AsyncClient(transport=transport, base_url="http://docproc") as client,
        ):
            yield harness, client


async def finish(engine: Harness, request_id: UUID) -> None:
    async with engine.app.store.writing() as session:
        await requests.finish(session, request_id, RESULT)


async def test_acceptance_says_where_to_look_and_waiting_brings_the_answer(tmp_path: Path) -> None:
    async with api(tmp_path) as (engine, client):
        sent = await client.post("/process", files=[("file", ("a.pdf", PDF)), ("file", ("b.pdf", PDF))])
        assert sent.headers["location"] == f"/status/{sent.json()['request_id']}"
        assert (await client.get(sent.headers["location"])).json()["status"] == "received"

        async def finish_soon() -> None:
            async def is_there() -> bool:
                return len(await engine.query("SELECT id FROM requests WHERE external_id = 'w'")) == 1

            await engine.until(is_there, "it came in")
            rows = await engine.query("SELECT id FROM requests WHERE external_id = 'w'")
            await finish(engine, UUID(str(rows[0].id)))

        finishing = asyncio.create_task(finish_soon())
        form: Any = {"files": {"file": ("a.pdf", PDF)}, "data": {"external_id": "w"}}
        waited = await client.post("/process?wait=30", **form)
        await finishing
        assert waited.status_code == 200, waited.text
        assert waited.json()["status"] == "completed" and waited.json()["result"] == RESULT
        assert "page_count" in waited.json()  # as GET /status says it
        again = await client.post("/process?wait=30", **form)
        assert again.headers["idempotent-replay"] == "true" and again.json() == waited.json()
        short = await client.post("/process?wait=0.1", files={"file": ("a.pdf", PDF)})
        assert short.json()["status"] == "received" and short.json()["result"] is None


async def test_workflows_are_listed(tmp_path: Path) -> None:
    async with api(tmp_path) as (engine, client):
        engine.workflow(
            "mine", "description: My own\nsla: {deadline_seconds: 7}\nstages: [{name: work, component: work}]"
        )
        found = {one["name"]: one for one in (await client.get("/workflows")).json()["workflows"]}
    assert found["mine"]["sla_seconds"] == 7 and found["mine"]["description"] == "My own"
    assert [stage["component"] for stage in found["mine"]["stages"]] == ["work"]
    assert {"default", "mine"} <= set(found)


async def test_docs_load_nothing_from_elsewhere_and_operations_have_names(tmp_path: Path) -> None:
    async with api(tmp_path) as (_, client):
        page = await client.get("/docs")
        assert page.status_code == 200 and "http" not in page.text.replace("https://", "http")
        for name in ("swagger-ui-bundle.js", "swagger-ui.css", "start.js"):
            assert f'docs/{name}"' in page.text
            assert len((await client.get(f"/docs/{name}")).content) > 50
        assert (await client.get("/docs/redoc.standalone.js")).status_code == 404
        document = (await client.get("/openapi.json")).json()
    operations = [one["operationId"] for path in document["paths"].values() for one in path.values()]
    assert len(operations) == len(set(operations))
    assert {"post_process", "get_status_by_request_id", "get_workflows"} <= set(operations)


async def test_result_has_a_type_that_real_answers_have(tmp_path: Path) -> None:
    async with api(tmp_path) as (_, client):
        document = (await client.get("/openapi.json")).json()
    schemas = document["components"]["schemas"]
    names = json.dumps(schemas["Status"]["properties"]["result"])
    assert "DocumentsAnswer" in names
    answer = {
        "request_id": "x", "workflow": "default", "partial": False, "total_pages": 1, "total_documents": 1,
        "documents": [{
            "document_id": "d", "doc_type": "invoice", "page_indices": [0], "extracted_data": {"total": 12.5},
            "extraction_confidence": 0.9, "status": "completed", "needs_review": [],
            "fields": {"total": {"value": "12.50", "confidence": 0.9, "source": "text", "page": 0,
                                 "box": [0.1, 0.1, 0.2, 0.2]}},
            "doc_type_confidence": 0.9, "boundary_confidence": None,
        }],
        "files": [], "missing": [{"unit": "page:1", "reason": "queued"}],
    }  # fmt: skip
    whole = {"$ref": "#/components/schemas/DocumentsAnswer", "components": document["components"]}
    Draft202012Validator(whole).validate(answer)
    del answer["documents"]
    assert not Draft202012Validator(whole).is_valid(answer)


class Files:
    """A web server of which a test says what it answers."""

    def __init__(self) -> None:
        self.answer = b""
        self.port = 0
        self.asked: list[str] = []

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.asked.append(head)
        writer.write(self.answer)
        await writer.drain()
        writer.close()

    def has(self, content: bytes, *headers: str, status: str = "200 OK", length: int | None = None) -> None:
        said = [
            f"HTTP/1.1 {status}",
            f"Content-Length: {len(content) if length is None else length}",
            *headers,
        ]
        self.answer = "\r\n".join([*said, "Connection: close", "", ""]).encode() + content


@asynccontextmanager
async def web() -> AsyncIterator[Files]:
    files = Files()
    server = await asyncio.start_server(files.serve, "127.0.0.1", 0)
    files.port = server.sockets[0].getsockname()[1]
    try:
        yield files
    finally:
        server.close()
        await server.wait_closed()


async def test_file_is_fetched_from_an_address(tmp_path: Path) -> None:
    async with web() as files, api(tmp_path, download_allow_private=True) as (engine, client):
        files.has(PDF, 'Content-Disposition: attachment; filename="factura.pdf"')
        url = f"http://127.0.0.1:{files.port}/dl?id=1"
        sent = await client.post("/process", json={"url": url, "external_id": "e", "metadata": {"a": 1}})
        assert sent.status_code == 200, sent.text
        request = await engine.request(UUID(sent.json()["request_id"]))
        (upload,) = filled(request.uploads)
        assert (upload["name"], upload["size"], request.external_id) == ("factura.pdf", len(PDF), "e")
        again = await client.post("/process", json={"url": url, "external_id": "e"})
        assert again.headers["idempotent-replay"] == "true"


async def test_half_a_file_and_other_trouble_leave_nothing(tmp_path: Path) -> None:
    async with (
        web() as files,
        api(tmp_path, download_allow_private=True, max_upload_mb=0.01) as (engine, client),
    ):
        url = f"http://127.0.0.1:{files.port}/x.pdf"
        tried: list[tuple[dict[str, Any], str]] = [
            ({"content": PDF, "length": len(PDF) * 2}, "download_failed"),
            ({"content": b"no", "status": "404 Not Found"}, "download_failed"),
            ({"content": b""}, "empty_file"),
            ({"content": b"x" * 20_000}, "too_large"),
        ]
        for said, code in tried:
            files.has(said.pop("content"), **said)
            sent = await client.post("/process", json={"url": url})
            assert sent.json()["error"]["code"] == code, sent.text
        files.has(b"", f"Location: {url}", status="302 Found")
        sent = await client.post("/process", json={"url": url})
        assert "redirects" in sent.json()["error"]["message"]
        assert await engine.query("SELECT id FROM requests") == []
        assert not [path for path in (tmp_path / "storage").rglob("*") if path.is_file()]


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1/x", "http://localhost/x", "http://[::1]/x", "http://169.254.169.254/latest/meta-data",
        "http://2130706433/x", "http://internal.example/x", "http://user:pw@example.com/x",
    ],
)  # fmt: skip
async def test_private_addresses_are_not_fetched_from(tmp_path: Path, url: str) -> None:
    async with api(tmp_path) as (engine, client):
        asked = []

        def look_up(host: str, port: int) -> list[tuple[Any, ...]]:
            asked.append(host)
            return [(2, 1, 6, "", ("10.0.0.7", port))]  # a public name of a private address

        downloads_of(engine.app).resolver = Resolver(allow_private=False, look_up=look_up)
        sent = await client.post("/process", json={"url": url})
        assert (sent.status_code, sent.json()["error"]["code"]) == (422, "download_failed"), sent.text
        assert await engine.query("SELECT id FROM requests") == []


async def test_redirect_to_a_private_address_is_not_followed(tmp_path: Path) -> None:
    async with web() as files, api(tmp_path) as (engine, client):
        files.has(b"", f"Location: http://127.0.0.1:{files.port}/secret", status="302 Found")
        downloads = downloads_of(engine.app)

        class Lenient(Resolver):
            async def addresses(self, host: str, port: int) -> list[str]:
                return ["127.0.0.1"] if host == "public.example" else await super().addresses(host, port)

        downloads.resolver = Lenient(allow_private=False)
        sent = await client.post("/process", json={"url": f"http://public.example:{files.port}/x"})
        assert sent.json()["error"]["code"] == "download_failed" and len(files.asked) == 1


async def test_official_client_submits_waits_and_understands_refusals(tmp_path: Path) -> None:
    async with api(tmp_path) as (engine, http):
        client = AsyncClient(http=http)
        (tmp_path / "a.pdf").write_bytes(PDF)
        sent = await client.submit(tmp_path / "a.pdf", ("b.pdf", PDF), metadata={"customer": "ACME"})
        assert (await client.status(sent["request_id"]))["status"] == "received"
        waiting = asyncio.create_task(client.wait(sent["request_id"], 30))
        await finish(engine, UUID(sent["request_id"]))
        assert (await waiting)["result"] == RESULT
        assert (await client.requests(limit=5))["requests"][0]["file_names"] == ["a.pdf", "b.pdf"]
        assert "default" in [one["name"] for one in await client.workflows()]
        with pytest.raises(Refused) as refused:
            await client.submit(("a.pdf", PDF), workflow="nonsense")
        assert refused.value.code == "unknown_workflow" and "Known workflows" in str(refused.value)
        other = await client.submit(("a.pdf", PDF))
        with pytest.raises(TimeoutError):
            await client.wait(other["request_id"], 0.2)
        await client.cancel(other["request_id"])
        await client.erase(other["request_id"])
        with pytest.raises(Refused) as gone:
            await client.status(other["request_id"])
        assert gone.value.status == 404
