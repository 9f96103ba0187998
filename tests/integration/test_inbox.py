"""The inbox on either database: what is found, in which order, page by page, and by whom."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import pytest
from sqlalchemy import func, select, update

from docproc.apps.documents.tables import Document
from docproc.console import inbox_query
from docproc.console.inbox_query import Asked, State
from docproc.console.servers import gateway
from docproc.engine.store import answers
from docproc.engine.store.answers import Given, Reason
from docproc.engine.store.requests import locked
from docproc.engine.store.search import Wanted
from docproc.engine.store.search_tables import SearchEntry
from docproc.engine.store.tables import Request
from tests import tenancy
from tests.filled import Filled, fill, index
from tests.harness import Harness

pytestmark = pytest.mark.parametrize("combination", ["sqlite+sql", "postgresql+sql"])

INVOICE = {
    "invoice_number": "F-26-00483",
    "vendor_name": "Energía del Duero, S.L.",
    "total_amount": "137.80",
    "currency": "EUR",
}
LIGHT = Filled(
    "luz-octubre.pdf",
    values=INVOICE,
    text="Potencia contratada 4,6 kW",
    minutes_ago=4,
    external_id="2026/118",
)
DOUBTFUL = Filled(
    "ticket.jpg",
    "receipt",
    {"total_amount": "36.22"},
    ("total_amount", "vendor_name"),
    "gasolina",
    minutes_ago=3,
)
LOCKED = {"code": "encrypted", "message": "the PDF is protected with a password"}
FILLED = (
    LIGHT,
    DOUBTFUL,
    Filled("escaneo.tiff", status="processing", minutes_ago=2),
    Filled("contrato.pdf", status="failed", minutes_ago=1, error=LOCKED),
    Filled("ajena.pdf", values=INVOICE, text="Potencia", tenant_id="other"),
)


@pytest.fixture
async def ids(engine: Harness) -> list[UUID]:
    found = await fill(engine.app, *FILLED)
    assert await index(engine.app) == len(FILLED)
    assert await index(engine.app) == 0
    return found


@pytest.fixture
async def client(engine: Harness, ids: list[UUID]) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(gateway(engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as found:
        yield found


async def titles(engine: Harness, **asked: Any) -> list[str]:
    async with engine.app.store.reading() as session:
        found = await inbox_query.find(session, Asked("default", **asked))
    return [row.title for row in found.rows]


# What somebody types, and what is found; the newest first.
TYPED = {
    "": ["contrato.pdf", "escaneo.tiff", "ticket.jpg", "luz-octubre.pdf"],
    "energia duero": ["luz-octubre.pdf"],
    "F2600483": ["luz-octubre.pdf"],
    "137,80": ["luz-octubre.pdf"],
    "2026/118": ["luz-octubre.pdf"],
    "potencia": ["luz-octubre.pdf"],
    "gaso": ["ticket.jpg"],
    "contrato": ["contrato.pdf"],
    "escaneo.tiff": ["escaneo.tiff"],
    "energia gasolina": [],
}


async def test_text_fields_names_and_references_are_found(engine: Harness, ids: list[UUID]) -> None:
    assert {typed: await titles(engine, wanted=Wanted(typed)) for typed in TYPED} == TYPED


async def test_states_and_types_narrow_the_list(engine: Harness, ids: list[UUID]) -> None:
    assert await titles(engine, state=State.DOUBTS) == ["ticket.jpg"]
    assert await titles(engine, state=State.RUNNING) == ["escaneo.tiff"]
    assert await titles(engine, state=State.FAILED) == ["contrato.pdf"]
    assert await titles(engine, state=State.LATE) == []
    assert await titles(engine, wanted=Wanted("", {"type": "invoice"})) == ["luz-octubre.pdf"]
    assert await titles(engine, wanted=Wanted("gasolina", {"type": "invoice"})) == []
    async with engine.app.store.reading() as session:
        request = await session.get(Request, ids[1])
        assert request is not None
        counts = await inbox_query.counts(session, "default", request.created_at)
    # Of the two that are completed one is asked for a look; only the later is of "today".
    assert (counts.today, counts.doubts, counts.running, counts.failed, counts.late) == (3, 1, 1, 1, 0)
    assert counts.straight == 0.0


async def test_pages_of_the_list_have_everything_once(engine: Harness) -> None:
    made = await fill(
        engine.app,
        *(Filled(f"{number}.pdf", text="una página", minutes_ago=60 - number) for number in range(25)),
    )
    await index(engine.app)
    for typed in ("", "pagina"):  # a plain list, and a search: each has cursors of its own
        assert await walked(engine, typed) == made[::-1]


async def walked(engine: Harness, typed: str) -> list[UUID]:
    seen: list[UUID] = []
    cursor = ""
    async with engine.app.store.reading() as session:
        while True:
            page = await inbox_query.find(session, Asked("default", Wanted(typed), cursor=cursor), 7)
            seen += [row.id for row in page.rows]
            cursor = page.next
            if not cursor:
                return seen


async def test_amended_answer_is_found_by_what_it_says_now(engine: Harness, ids: list[UUID]) -> None:
    async with engine.app.store.writing() as session:
        fields = {"vendor_name": {"value": "Aguas de Castilla"}}
        await session.execute(update(Document).where(Document.request_id == ids[0]).values(fields=fields))
        request = await locked(session, ids[0])
        assert request is not None
        await answers.give(session, [Given(request, {"documents": []}, False, Reason.COMPLETE)])
    assert await index(engine.app) == 1
    assert await titles(engine, wanted=Wanted("castilla")) == ["luz-octubre.pdf"]
    assert await titles(engine, wanted=Wanted("duero")) == []


async def test_erased_request_is_found_no_more(engine: Harness, ids: list[UUID]) -> None:
    await engine.app.erasure.erase(ids[0], "test")
    assert await titles(engine, wanted=Wanted("potencia")) == []
    async with engine.app.store.reading() as session:
        count = await session.scalar(select(func.count()).where(SearchEntry.request_id == ids[0]))
    assert count == 0


async def test_page_shows_lines_as_people_write_them(client: httpx.AsyncClient, ids: list[UUID]) -> None:
    shown = (await client.get("/?lang=es")).text
    text = " ".join(re.sub(r"<[^>]+>", " ", shown).replace("\xa0", " ").split())
    for said in (
        "1 factura Energía del Duero, S.L. 137,80 €", "2 dudas", "Protegido con contraseña", "1 página",
        "Completada", "en 22,9 s", "ref. 2026/118", "1 con dudas", "Fallidas 1",
    ):  # fmt: skip
        assert said in text
    assert "ajena" not in shown
    found = (await client.get("/inbox/list?q=duero&lang=es")).text
    assert found.count("<tr data-id") == 1


async def test_view_is_kept_by_name_and_forgotten(client: httpx.AsyncClient) -> None:
    kept = {"name": "Luz", "query": "?q=energia&type=invoice&cursor=9&lang=es"}
    assert (await client.post("/inbox/views", json=kept)).status_code == 204
    assert (await client.post("/inbox/views", json=kept)).status_code == 204  # the same name is the same view
    shown = (await client.get("/")).text
    assert shown.count(">Luz</a>") == 1 and 'href="?q=energia&amp;type=invoice"' in shown
    view_id = re.search(r'data-forget="([^"]+)"', shown)
    assert view_id
    assert (await client.delete(f"/inbox/views/{view_id[1]}")).status_code == 204
    assert ">Luz</a>" not in (await client.get("/")).text


async def test_export_has_what_was_chosen_or_all_that_matches(
    client: httpx.AsyncClient, ids: list[UUID]
) -> None:
    matching = await client.get("/inbox/export?format=csv&q=duero&lang=es")
    assert matching.headers["content-disposition"].endswith('.csv"')
    lines = matching.content.decode("utf-8-sig").splitlines()
    assert len(lines) == 2 and "137,80" in lines[1] and lines[0].startswith("Documento;Fichero")
    chosen = await client.get("/inbox/export", params={"format": "csv", "id": [str(ids[1]), str(ids[4])]})
    assert len(chosen.content.decode("utf-8-sig").splitlines()) == 2  # the other one is somebody else's
    assert (await client.get("/inbox/export?format=doc")).status_code == 422


async def test_page_of_a_request_has_doubts_first_and_every_part(
    client: httpx.AsyncClient, ids: list[UUID]
) -> None:
    shown = (await client.get(f"/inbox/{ids[1]}?lang=es")).text
    fields = re.findall(r'<button type="button" class="field([^"]*)" data-name="(\w+)"', shown)
    assert [name for _, name in fields[:2]] == ["vendor_name", "total_amount"]
    assert all("doubtful" in kind for kind, _ in fields[:2]) and "doubtful" not in fields[2][0]
    assert "No se ha encontrado, y es obligatorio." in shown and "36,22" in shown
    assert "JSON en bruto" in shown and "1 versión de la respuesta" in shown
    assert (await client.get(f"/inbox/{ids[2]}")).status_code == 200  # nothing in it yet
    assert (await client.get(f"/inbox/{ids[4]}")).status_code == 404


async def test_tenants_see_their_own(engine: Harness, ids: list[UUID]) -> None:
    await tenancy.on(engine)
    await tenancy.add_tenant(engine, "other")
    made = await tenancy.make_key(engine, "other")
    transport = httpx.ASGITransport(gateway(engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
        headers = {"Authorization": f"Bearer {made.secret}"}
        shown = (await client.get("/inbox/list?q=potencia", headers=headers)).text
        assert "ajena.pdf" in shown and "luz-octubre" not in shown
        assert (await client.get(f"/inbox/{ids[0]}", headers=headers)).status_code == 404
