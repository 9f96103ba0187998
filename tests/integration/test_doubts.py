"""One rule on every path: what is below its threshold is answered by a person or named in `needs_review`."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any
from uuid import UUID

import httpx
import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components import answer
from docproc.apps.documents.store import pages
from docproc.apps.documents.tables import PageStatus
from docproc.console.servers import station as create_app
from docproc.engine.component import NEXT, BaseComponent, Emission
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.running.intake import Submission
from docproc.engine.store.missing import Why
from docproc.reading import page as page_text
from docproc.reading.plain_text import page_of
from tests.components import PATHS
from tests.harness import Harness, filled

COMPONENTS = (
    "file_of_words", "classifier", "classification_aggregator",
    "extractor", "extraction_aggregator", "consolidator",
)  # fmt: skip
# Nothing that a machine says is sure enough.
FLOW = """
    sla: {deadline_seconds: 3600}
    stages:
      - {name: lay, component: file_of_words}
      - {name: classify, component: classifier, confidence_threshold: 1.0 CLASSIFICATION}
      - {name: group, component: classification_aggregator, confidence_threshold: 1.0 CLASSIFICATION}
      - {name: extract, component: extractor, confidence_threshold: 1.0 EXTRACTION}
      - {name: all, component: extraction_aggregator}
      - {name: answer, component: consolidator}
    extraction_schemas:
      invoice:
        fields:
          - {name: invoice_number, required: true}
          - {name: total_amount, type: decimal, required: true}
          - {name: vendor_name}
"""
TEXTS = [
    f"FACTURA\nTalleres {n}, S.L.\nNº factura: {n}\nCliente: Ana Gil\nTotal factura 12{n},50 €"
    for n in (101, 202)
]
UNSURE = ["doc_type", "boundary"]


def _flow(when_no_time: str | None) -> str:
    """None: nobody can be asked."""
    text = FLOW
    for kind in ("classification", "extraction"):
        queue = f", backoffice_queue: task.{kind}, when_no_time: {when_no_time}" if when_no_time else ""
        text = text.replace(f" {kind.upper()}", queue)
    return text


class FileOfWords(BaseComponent):
    """One file whose pages are read already: their texts come in the payload."""

    component_name = "file_of_words"
    takes = "request"
    gives = "page"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        texts = message.payload["texts"]
        await pages.insert(session, [_row(message, index, text) for index, text in enumerate(texts)])
        return [
            (NEXT, message.model_copy(update={"unit_key": f"page:{i}", "page_index": i, "payload": {}}))
            for i in range(len(texts))
        ]


def _row(message: PipelineMessage, index: int, text: str) -> dict[str, Any]:
    return {
        "id": pages.page_id(message.request_id, index), "tenant_id": message.tenant_id,
        "request_id": message.request_id, "file_index": 0, "file_page": index, "page_index": index,
        "status": PageStatus.READ, "words": page_text.pack(page_of(text)), "ocr_text": text,
    }  # fmt: skip


@pytest.fixture(autouse=True)
def _components(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PATHS, "file_of_words", f"{__name__}.FileOfWords")


@pytest.fixture
async def station(sqlite_engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(sqlite_engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
        yield client


async def _submit(engine: Harness, when_no_time: str | None, review: str | None = None) -> UUID:
    name = f"unsure_{when_no_time}".lower()
    engine.workflow(name, _flow(when_no_time))
    return await engine.app.intake.submit(Submission(name, {"texts": TEXTS}, review=review))


def _breaks_the_rule(result: dict[str, Any]) -> list[str]:
    """What is neither certain, by a person's word, nor marked; and what is marked though it is."""
    wrong = []
    for document in result["documents"]:
        sure = {
            "doc_type": document["doc_type_confidence"],
            "boundary": document["boundary_confidence"],
            **{name: found["confidence"] for name, found in document["fields"].items()},
        }
        wrong += [
            f"{document['doc_type']} {document['page_indices']}: {name}"
            for name, confidence in sure.items()
            if (confidence < 1.0) != (name in document["needs_review"])
        ]
    return wrong


async def _is_quiet(engine: Harness) -> bool:
    """Nothing under way but questions."""
    under_way = "SELECT id FROM messages WHERE queue NOT LIKE 'q.backoffice%'"
    return not await engine.query(under_way)


async def _answer_all(
    engine: Harness, station: httpx.AsyncClient, most: int = 12, **cannot: str
) -> dict[str, int]:
    """One person takes what comes, and says of everything that it is right; or cannot read it."""
    asked: dict[str, int] = {}
    for _ in range(most):
        await engine.until(lambda: _is_quiet(engine), "nothing is under way", 30)
        taken = await station.post("/next", json={"operator": "ana"})
        if taken.status_code == 204:
            break
        (row,) = await engine.query(
            "SELECT id, task_type, input_data FROM backoffice_tasks WHERE status = 'assigned'"
        )
        seen = json.loads(row.input_data) if isinstance(row.input_data, str) else row.input_data
        kind = seen.get("kind", row.task_type)
        asked[kind] = asked.get(kind, 0) + 1
        what, said = ("cannot-read", cannot) if cannot else ("submit", _confirming(kind, seen))
        url = f"/tasks/{taken.json()['task_id']}/{what}"
        done = await station.post(url, json={"operator": "ana", **said})
        assert done.status_code == 200, done.text
    return asked


def _confirming(kind: str, seen: dict[str, Any]) -> dict[str, Any]:
    if kind == "split":
        return {"splits": {str(one["pages"][1]): one["suggested"] for one in seen["splits"]}}
    if kind == "classification":
        return {"doc_type": seen["suggested_type"]}
    right = {name: (seen["fields"].get(name) or {}).get("value") or "7" for name in seen["review"]}
    return {"extracted_data": right}


async def _told(engine: Harness, request_id: UUID) -> dict[str, Any]:
    result: dict[str, Any] = filled((await engine.request(request_id)).result_payload)
    assert len(result["documents"]) == 2
    return result


async def test_what_nobody_was_asked_before_is_marked(sqlite_engine: Harness) -> None:
    """Nobody may be asked (no queue); `flag`, as `docproc run` has it; nobody is there in time."""
    await sqlite_engine.start(*COMPONENTS)
    for when_no_time, review, tasks in ((None, None, 0), ("wait", "flag", 0), ("answer_flagged", None, 5)):
        request_id = await _submit(sqlite_engine, when_no_time, review)
        request = await sqlite_engine.finished(request_id, 60)
        assert request.status == "completed", request.error
        result = await _told(sqlite_engine, request_id)
        assert not _breaks_the_rule(result)
        for document in result["documents"]:
            assert document["needs_review"][:2] == UNSURE and len(document["needs_review"]) > 2
            assert 0 < document["doc_type_confidence"] < 1 and 0.5 <= document["boundary_confidence"] < 1
        assert len(await sqlite_engine.query("SELECT id FROM backoffice_tasks")) == tasks


async def _check_pages(engine: Harness, station: httpx.AsyncClient, request_id: UUID) -> None:
    """Whoever is asked about fields, and whoever supervises, is told of the document's own doubts."""
    (task, *_) = await engine.query("SELECT id FROM backoffice_tasks WHERE task_type = 'extraction'")
    await station.post(f"/tasks/{task.id}/claim", json={"operator": "eva"})
    headers = {"Accept": "text/html", "Accept-Language": "en"}
    shown = (await station.get(f"/tasks/{task.id}", params={"operator": "eva"}, headers=headers)).text
    assert all(f'data-doubt="{name}"' in shown for name in UNSURE), shown[:2000]
    await station.post(f"/tasks/{task.id}/skip", json={"operator": "eva", "reason": "only looking"})
    await engine.query("UPDATE operators SET role = 'supervisor' WHERE username = 'eva'")
    address = f"/supervisor/requests/{request_id}"
    shown = (await station.get(address, params={"operator": "eva"}, headers=headers)).text
    assert shown.count("type doubtful, ") == shown.count("pages doubtful, ") == 2, shown[:2000]


async def test_answers_that_come_later_take_the_marks_away(
    sqlite_engine: Harness, station: httpx.AsyncClient
) -> None:
    await sqlite_engine.start(*COMPONENTS)
    request_id = await _submit(sqlite_engine, "answer_flagged")
    first = await sqlite_engine.finished(request_id, 60)
    assert (first.answer_version, first.amended_at) == (1, None)
    await _check_pages(sqlite_engine, station, request_id)
    asked = await _answer_all(sqlite_engine, station)
    assert asked == {"classification": 2, "split": 1, "extraction": 2}
    result = await _told(sqlite_engine, request_id)
    assert not _breaks_the_rule(result)
    for document in result["documents"]:
        assert (document["needs_review"], document["doc_type_confidence"]) == ([], 1.0)
        assert (document["boundary_confidence"], document["extraction_confidence"]) == (1.0, 1.0)
    last = await sqlite_engine.request(request_id)
    assert last.completed_at == first.completed_at, "it was done when it was done"
    assert last.amended_at is not None and last.amended_at > filled(first.completed_at)


async def _check_partial(engine: Harness, request_id: UUID) -> None:
    """At a deadline that comes now: types and splits are settled, fields are marked, and missing."""
    message = PipelineMessage(request_id=request_id, workflow_name="unsure_wait")
    async with engine.app.store.reading() as session:
        result = await answer.partial(session, message, utc_now())
    assert not _breaks_the_rule(result)
    assert {entry["reason"] for entry in result["missing"]} == {Why.WAITING}
    told = {entry["field"] for entry in result["missing"]}
    assert told == {name for document in result["documents"] for name in document["needs_review"]}


async def test_what_people_answered_before_goes_out_unmarked(
    sqlite_engine: Harness, station: httpx.AsyncClient
) -> None:
    await sqlite_engine.start(*COMPONENTS)
    request_id = await _submit(sqlite_engine, "wait")
    asked = await _answer_all(sqlite_engine, station, most=3)
    assert asked == {"classification": 2, "split": 1}
    await sqlite_engine.until(lambda: _is_quiet(sqlite_engine), "fields are asked about", 30)
    await _check_partial(sqlite_engine, request_id)
    assert await _answer_all(sqlite_engine, station) == {"extraction": 2}
    request = await sqlite_engine.finished(request_id, 60)
    assert (request.status, request.answer_version) == ("completed", 1)
    result = await _told(sqlite_engine, request_id)
    assert not _breaks_the_rule(result)
    assert all(document["needs_review"] == [] for document in result["documents"])


async def test_what_nobody_can_read_is_asked_once_and_stays_marked(
    sqlite_engine: Harness, station: httpx.AsyncClient
) -> None:
    await sqlite_engine.start(*COMPONENTS)
    request_id = await _submit(sqlite_engine, "wait")
    asked = await _answer_all(sqlite_engine, station, reason="torn")
    assert asked == {"classification": 2, "split": 1, "extraction": 2}
    assert (await sqlite_engine.finished(request_id, 60)).status == "completed"
    result = await _told(sqlite_engine, request_id)
    assert not _breaks_the_rule(result)
    assert all(document["needs_review"][:2] == UNSURE for document in result["documents"])
