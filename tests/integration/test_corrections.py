"""Corrections on both databases, and what they are for: the next document of a layout is read right."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
import yaml
from reportlab.pdfgen import canvas
from sqlalchemy import select
from typer.testing import CliRunner, Result

from docproc.apps.documents.components.recollection import Recollection, Seeking, keys_of
from docproc.apps.documents.quality import labels as labelled
from docproc.apps.documents.store import corrections, documents, pages
from docproc.apps.documents.store.corrections import Memory, Review, Said, Subject, Wanted
from docproc.apps.documents.tables import CorrectionSubject, Layout, LayoutKey
from docproc.apps.documents.understanding import memory
from docproc.cli.main import app
from docproc.engine.message import utc_now
from docproc.engine.store import events
from docproc.engine.store.session import Store
from docproc.engine.store.tables import Request, WorkflowVersion
from docproc.errors import UsageError
from docproc.reading import page as page_text
from tests import schema
from tests.integration.test_cli_documents import as_delivered
from tests.pages import page_of
from tests.processes import Processes
from tests.unit.engine.workflow.flows import MODEL


def review(document_id: UUID, *keys: str, tenant: str = "default", **more: Any) -> Review:
    of = Subject(tenant, uuid4(), document_id, (3, 4), (0, 1), "r/uploads/0/a.pdf", "a.pdf")
    said = [
        Said(
            CorrectionSubject.FIELD,
            "121.00",
            "12.00",
            "total_amount",
            True,
            0.4,
            "ocr",
            4,
            (0.1, 0.2, 0.3, 0.4),
        ),
        Said(CorrectionSubject.FIELD, None, "B1", "vendor_tax_id"),
    ]
    memory = Memory(str(document_id).encode(), keys) if keys else None
    return Review(of, more.pop("doc_type", "invoice"), said, "ana", memory, **more)


async def record(store: Store, *reviews: Review) -> None:
    async with store.writing() as session:
        for each in reviews:
            await corrections.record(session, each)


async def nearest(store: Store, *wanted: Wanted) -> list[list[str]]:
    async with store.reading() as session:
        found = await corrections.nearest(session, wanted)
    return [[example.decode() for example in examples] for examples in found]


async def test_review_is_kept_whole(store: Store) -> None:
    document = uuid4()
    said = review(document)
    await record(store, said)
    async with store.reading() as session:
        total, tax_id = await corrections.listing(session)
        history = await events.read(session, said.of.request_id)
    assert (total.field, total.value_before, total.value_after) == ("total_amount", "12.00", "121.00")
    assert (total.confidence_before, total.source_before, total.is_changed) == (0.4, "ocr", True)
    assert (total.page_index, total.box, total.operator) == (4, [0.1, 0.2, 0.3, 0.4], "ana")
    assert (total.page_indices, total.file_pages, total.document_id) == ([3, 4], [0, 1], document)
    assert tax_id.value_after is None
    assert [(event.kind, event.data["changed"]) for event in history] == [
        ("correction", ["total_amount", "vendor_tax_id"])
    ]


async def test_listing_is_by_tenant_and_time(store: Store) -> None:
    old = review(uuid4(), at=utc_now() - timedelta(days=3))
    await record(store, old, review(uuid4(), tenant="acme"))
    async with store.reading() as session:
        assert {row.tenant_id for row in await corrections.listing(session, tenant_id="acme")} == {"acme"}
        recent = await corrections.listing(session, since=utc_now() - timedelta(days=1))
    assert {row.tenant_id for row in recent} == {"acme"}


async def test_nearest_are_those_that_share_most_keys(store: Store) -> None:
    one, two, three = sorted(uuid4() for _ in range(3))
    await record(store, review(one, "a"), review(two, "a", "b", "c"), review(three, "x"))
    found = await nearest(
        store,
        Wanted("default", "invoice", ["a", "b"]),
        Wanted("default", "invoice", ["z"]),
        Wanted("default", "receipt", ["a"]),
        Wanted("acme", "invoice", ["a"]),
        Wanted("default", "invoice", []),
    )  # fmt: skip
    assert [set(each) for each in found] == [{str(one), str(two)}, set(), set(), set(), set()]


async def test_of_many_alike_the_latest_are_looked_at(store: Store) -> None:
    ids = [uuid4() for _ in range(corrections.NEAREST + 3)]
    start = utc_now()
    await record(store, *(review(each, "a", at=start + timedelta(seconds=n)) for n, each in enumerate(ids)))
    (found,) = await nearest(store, Wanted("default", "invoice", ["a"]))
    assert set(found) == {str(each) for each in ids[3:]}


async def test_of_a_key_that_very_many_share_the_latest_are_kept(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(corrections, "_CROWD", 10)
    start = utc_now()
    reviews = [review(uuid4(), "ours", f"own {n}", at=start + timedelta(seconds=n)) for n in range(23)]
    await record(store, *reviews)
    async with store.reading() as session:
        shared = list(await session.scalars(select(LayoutKey.created_at).where(LayoutKey.key == "ours")))
    assert 10 <= len(shared) <= 11
    assert min(shared) >= start + timedelta(seconds=12)
    (found,) = await nearest(store, Wanted("default", "invoice", ["own 0"]))
    assert found == [str(reviews[0].of.document_id)]  # still found by what is its own


async def test_second_review_of_a_document_replaces_its_memory(store: Store) -> None:
    document = uuid4()
    await record(store, review(document, "a", "b"), review(document, "c", doc_type="receipt"))
    found = await nearest(
        store, Wanted("default", "invoice", ["a", "b"]), Wanted("default", "receipt", ["c"])
    )
    assert found == [[], [str(document)]]


async def test_where_nobody_corrected_anything_no_keys_are_made(store: Store) -> None:
    asked: list[int] = []

    async def keys(words: Any) -> Any:
        asked.append(len(words))
        return keys_of(words)

    words = page_text.pack(page_of("Suministros Vega, S.L.\nCIF B16596447"))
    seeking = [Seeking("default", "invoice", words), Seeking("default", "invoice", None)]
    assert await Recollection(store, keys).examples(seeking) == [[], []]
    assert asked == []
    await record(store, review(uuid4(), *keys_of([words])[0]))
    found = await Recollection(store, keys).examples(seeking)
    assert [len(each) for each in found] == [1, 0]
    assert asked == [1]


# --- from the command line ------------------------------------------------------------------------------


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Processes]:
    with closing(as_delivered(tmp_path)) as processes:
        yield processes


def draw_sawmill(path: Path, number: str, day: str, amounts: tuple[str, ...], *items: str) -> None:
    """Odd on purpose: the issuer is a drawing, and the total is called something else."""
    drawing = canvas.Canvas(str(path), pagesize=(595, 842))
    drawing.circle(90, 780, 30, fill=1)
    drawing.setFont("Helvetica", 9)
    drawing.drawString(330, 790, "Polígono Las Eras, nave 7 · 45600 Talavera de la Reina")
    drawing.drawString(330, 776, "www.zarzal.example   Tel. 925 800 413")
    drawing.drawString(60, 700, "FACTURA")
    for x, heading, value in ((300, "Expediente", "7781"), (400, "Documento", number), (500, "Día", day)):
        drawing.drawString(x, 700, heading)
        drawing.drawString(x, 684, value)
    drawing.drawString(60, 650, "Para: Gestoría Puerta Nueva, S.A.  NIF A28599033")
    for row, item in enumerate(items):
        drawing.drawString(60, 610 - 18 * row, item)
    names = ("Total bruto", "Impuestos", "Total con recargo anterior", "A su cargo")
    for row, (name, amount) in enumerate(zip(names, amounts, strict=True)):
        y = 590 - 18 * len(items) - 16 * row
        drawing.drawString(330, y, name)
        drawing.drawRightString(540, y, amount)
    drawing.save()


def draw_clinic(path: Path) -> None:
    drawing = canvas.Canvas(str(path), pagesize=(595, 842))
    lines = (
        "Clínica Dental Alameda, S.L.", "CIF: B16596447", "FACTURA", "Número de factura: 26/00900",
        "Fecha: 22/04/2026", "Cliente: Gestoría Puerta Nueva, S.A.", "Base imponible: 100,00 €",
        "IVA 21 %: 21,00 €", "Total factura: 121,00 €",
    )  # fmt: skip
    for row, line in enumerate(lines):
        drawing.drawString(72, 770 - 24 * row, line)
    drawing.save()


Answers = dict[str, dict[str, Any]]


def run(cli: Processes, *names: str) -> tuple[list[str], Answers]:
    """The requests and the fields of files that hold one document each."""
    # A flow that does not classify: how sure an odd page's type is does not matter here.
    done = cli.run("run", *names, "--workflow", "invoices", "--json")
    assert done.code == 0, done.err
    requests, answers = [], {}
    for name, line in zip(names, done.out.splitlines(), strict=True):
        request = json.loads(line)
        (document,) = request["result"]["documents"]
        requests.append(request["request_id"])
        answers[name] = {key: told["value"] for key, told in document["fields"].items()}
    return requests, answers


def test_layout_corrected_once_is_read_right_the_next_time(cli: Processes, tmp_path: Path) -> None:
    amounts = ("345,50", "72,56", "517,56", "418,06")
    draw_sawmill(tmp_path / "first.pdf", "26/00817", "03/02/2026", amounts, "Tablero", "Corte a medida")
    amounts = ("910,40", "191,18", "1.301,58", "1.101,58")
    draw_sawmill(tmp_path / "next.pdf", "26/01230", "19/03/2026", amounts, "Puerta", "Bisagras", "Transporte")
    draw_clinic(tmp_path / "other.pdf")
    requests, before = run(cli, "first.pdf", "next.pdf", "other.pdf")
    right = {"vendor_name": "Zarzal & Hijos", "total_amount": "1101.58", "invoice_number": "26/01230"}
    assert before["next.pdf"].get("vendor_name") != right["vendor_name"], "not an unusual layout any more"

    values = (
        "total_amount=418.06",
        "vendor_name=Zarzal & Hijos",
        "vendor_tax_id=",
        "invoice_number=26/00817",
    )
    said = cli.run(
        "corrections", "add", requests[0], "--operator", "ana", *(x for v in values for x in ("--field", v))
    )
    assert said.code == 0, said.err

    _, after = run(cli, "next.pdf", "other.pdf")
    assert {name: after["next.pdf"].get(name) for name in right} == right
    assert after["next.pdf"].get("vendor_tax_id") is None
    assert after["other.pdf"] == before["other.pdf"]

    # The same review, taken away as a labelled example.
    assert cli.run("corrections", "export", "labelled").code == 0
    (folder,) = labelled.read([tmp_path / "labelled"])
    (file,) = folder.files
    (document,) = file.documents
    assert (document.doc_type, document.page_indices) == ("invoice", (0,))
    assert document.fields == {
        "total_amount": "418.06",
        "vendor_name": "Zarzal & Hijos",
        "vendor_tax_id": None,
        "invoice_number": "26/00817",
    }
    assert folder.path_of(file).read_bytes() == (tmp_path / "first.pdf").read_bytes()


# --- what cannot be right is not learnt -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--field", "total_amount"), "has no value. Write --field NAME=VALUE"),
        (("--field", "total_amount=12,50"), "is not an amount"),
        (
            ("--field", "totl=1.00"),
            "no field 'totl' in workflow default's invoice. Use one of: total_amount,",
        ),
        (("--field", "line_items=abc"), "line_items is a table"),
        (("--confirm", "line_items"), "line_items is a table"),
        (("--field", "line_items=abc", "--type", "receipt"), "line_items is a table"),
        (("--type", "invioce"), "no type 'invioce'. Use one of: bank_statement,"),
        (("--field", "date=12/03/2026"), "is not a date"),
        (("--confirm", "color"), "nothing was read"),
        (("--document", "9", "--field", "date=2026-03-12"), "there is no document 9"),
        ((), "nothing is said"),
    ],
)
def test_what_cannot_be_right_is_refused(home: UUID, arguments: tuple[str, ...], problem: str) -> None:
    refused = CliRunner().invoke(app, ["corrections", "add", str(home), *arguments])
    assert isinstance(refused.exception, UsageError)
    assert problem in str(refused.exception)
    assert ".." not in str(refused.exception)
    assert json.loads(CliRunner().invoke(app, ["corrections", "list", "--json"]).stdout) == []


def test_confirmed_fields_are_kept_as_they_were_read(home: UUID) -> None:
    done = CliRunner().invoke(
        app, ["corrections", "add", str(home), "--confirm-rest", "--type", "receipt", "--json"]
    )
    assert [(each["field"], each["after"], each["changed"]) for each in json.loads(done.stdout)["said"]] == [
        (None, "receipt", True),
        ("total_amount", "121.00", False),
        ("date", "2026-03-12", False),
    ]


def add(request_id: UUID, *arguments: str) -> Result:
    done = CliRunner().invoke(app, ["corrections", "add", str(request_id), *arguments])
    assert done.exit_code == 0, done.exception
    return done


def listed() -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = json.loads(CliRunner().invoke(app, ["corrections", "list", "--json"]).stdout)
    return rows


def test_type_that_was_said_holds_for_later_corrections(home: UUID) -> None:
    add(home, "--type", "receipt")
    add(home, "--confirm", "date")
    assert [(row["subject"], row["doc_type"]) for row in listed()] == [
        ("type", "receipt"),
        ("field", "receipt"),
    ]


def test_memory_follows_the_type_and_passes_tables_over(
    home: UUID, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = page_text.pack(page_of("Suministros Vega, S.L.\nFecha 12/03/2026\nTotal 121,00"))

    async def words(_session: Any, ids: list[UUID]) -> dict[UUID, bytes]:
        return dict.fromkeys(ids, packed)

    monkeypatch.setattr(pages, "words", words)
    add(home, "--confirm-rest")
    add(home, "--type", "receipt")

    async def learnt() -> list[Layout]:
        store = Store(f"sqlite+aiosqlite:///{tmp_path / 'docproc.db'}")
        async with store.reading() as session:
            found = list(await session.scalars(select(Layout)))
        await store.close()
        return found

    (layout,) = asyncio.run(learnt())
    assert layout.doc_type == "receipt"
    assert {each.field for each in memory.unpack(layout.example).lessons} == {"total_amount", "date"}


def test_new_type_is_taken_when_it_is_called_so(home: UUID) -> None:
    add(home, "--type", "policy", "--new-type", "--field", "holder=Ana")
    add(home, "--type", "policy", "--field", "plate=4821 KLM")
    assert {row["doc_type"] for row in listed()} == {"policy"}


def test_value_that_its_validator_refutes_is_recorded_with_a_warning(home: UUID) -> None:
    done = add(home, "--field", "vendor_tax_id=B16596440")
    assert "warning: vendor_tax_id: B16596440 is not a valid" in done.stderr
    assert [row["value_after"] for row in listed()] == ["B16596440"]
    assert "warning" not in add(home, "--field", "vendor_tax_id=B16596447").stderr


@pytest.mark.parametrize(
    ("given", "problem"),
    [("abc", "'abc' is not a request id. docproc request list"), (str(UUID(int=7)), "there is no request")],
)
def test_request_that_is_not_there_is_named(home: UUID, given: str, problem: str) -> None:
    refused = CliRunner().invoke(app, ["corrections", "add", given, "--confirm", "date"])
    assert isinstance(refused.exception, UsageError)
    assert problem in str(refused.exception)


def test_removed_corrections_are_forgotten(home: UUID) -> None:
    add(home, "--confirm-rest")
    done = CliRunner().invoke(app, ["corrections", "remove", str(home)])
    assert done.stdout == "2 corrections removed\n"
    assert listed() == []


async def test_what_memory_learnt_goes_with_the_corrections(store: Store) -> None:
    one, other = review(uuid4(), "a"), review(uuid4(), "a")
    await record(store, one, other)
    async with store.writing() as session:
        assert await corrections.remove(session, one.of.request_id) == 2
    assert await nearest(store, Wanted("default", "invoice", ["a"])) == [[str(other.of.document_id)]]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> UUID:
    """An embedded database with a request of one document."""
    monkeypatch.setenv("DOCPROC_HOME", str(tmp_path))
    request_id = uuid4()
    read = {
        "total_amount": {"value": "121.00", "page": 0},
        "date": {"value": "2026-03-12", "page": 0},
        "line_items": {"value": [{"amount": "100.00"}], "page": 0},
        "vendor_tax_id": None,
    }
    fields = """
        invoice:
          fields:
            - {name: total_amount, type: decimal}
            - {name: date, type: date}
            - {name: vendor_tax_id, validators: [nif]}
            - {name: line_items, type: table, columns: [{name: amount, type: decimal}]}
    """
    flow = MODEL.model_validate(
        {
            "name": "default",
            "sla": {"deadline_seconds": 60},
            "stages": [{"name": "extract", "component": "extractor"}],
            "extraction_schemas": yaml.safe_load(fields),
        }
    )

    async def fill() -> None:
        store = Store(f"sqlite+aiosqlite:///{tmp_path / 'docproc.db'}")
        await schema.upgrade(store)
        async with store.writing() as session:
            session.add(
                WorkflowVersion(
                    name="default", version="1", definition=flow.model_dump_json(exclude_none=True)
                )
            )
            session.add(
                Request(id=request_id, workflow_name="default", workflow_version="1", status="completed")
            )
            await session.flush()
            await documents.insert(session, "default", request_id, [("invoice", [0])])
            key = documents.document_id(request_id, "invoice", [0])
            await documents.change_many(session, [{"id": key, "fields": read}])
        await store.close()

    asyncio.run(fill())
    return request_id
