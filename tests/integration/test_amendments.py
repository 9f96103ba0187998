"""Where nobody can answer in time the answer goes out flagged, and a person's word amends it later."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.store import documents, pages
from docproc.apps.documents.tables import PageStatus
from docproc.engine.component import NEXT, BaseComponent, Emission
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import answers
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.reading import page as page_text
from docproc.reading.plain_text import page_of
from tests.components import PATHS
from tests.harness import Harness, filled

FIRST = ("laid_words", "classifier")
REST = ("classification_aggregator", "work", "extraction_aggregator", "consolidator")
FLOW = """
    sla: {deadline_seconds: 3600}
    stages:
      - {name: lay, component: laid_words}
      - {name: classify, component: classifier, CLASSIFY}
      - {name: group, component: classification_aggregator}
      - {name: extract, EXTRACT}
      - {name: all, component: extraction_aggregator}
      - {name: answer, component: consolidator}
    extraction_schemas:
      invoice:
        fields: [{name: invoice_number, required: true}, {name: total_amount, type: decimal, required: true}]
"""
UNSURE_TYPES = "confidence_threshold: 1.0, backoffice_queue: task.classification"
UNSURE_FIELDS = "component: extractor, confidence_threshold: 1.0, backoffice_queue: task.extraction"
TEXTS = [f"FACTURA\nNº factura: {n}\nCliente: Ana Gil\nTotal factura 12{n},50 €" for n in (101, 202)]


def flow(classify: str = UNSURE_TYPES, extract: str = "component: work") -> str:
    return FLOW.replace("CLASSIFY", classify).replace("EXTRACT", extract)


class LaidWords(BaseComponent):
    """Pages that are read already: their texts come in the payload."""

    component_name = "laid_words"
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
        "request_id": message.request_id, "file_index": index, "file_page": 0, "page_index": index,
        "status": PageStatus.READ, "words": page_text.pack(page_of(text)), "ocr_text": text,
    }  # fmt: skip


@pytest.fixture(params=["sqlite+sql", "postgresql+rabbitmq"])
def combination(request: pytest.FixtureRequest) -> str:
    """The two ways to run."""
    return str(request.param)


@pytest.fixture(autouse=True)
def _components(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PATHS, "laid_words", f"{__name__}.LaidWords")


# --- what the back office will do ---------------------------------------------------------------------


async def _tasks(engine: Harness, request_id: UUID) -> list[BackofficeTask]:
    query = select(BackofficeTask).where(BackofficeTask.request_id == request_id)
    async with engine.app.store.reading() as session:
        return list(await session.scalars(query))


async def _about_page(engine: Harness, request_id: UUID, index: int) -> BackofficeTask:
    asked = await _tasks(engine, request_id)
    return next(task for task in asked if task.reference_id == pages.page_id(request_id, index))


async def _send(engine: Harness, session: AsyncSession, task: BackofficeTask) -> Any:
    """The task's message goes on from its stage; whatever the person said stands in the rows."""
    message = PipelineMessage.parse(str(task.message))
    return await engine.app.outbox.resume(session, message)


async def _say_type(engine: Harness, task: BackofficeTask, doc_type: str) -> None:
    said = {"id": task.reference_id, "doc_type": doc_type, "origin": "BACKOFFICE"}
    async with engine.app.store.writing() as session:
        await pages.change_many(session, [{**said, "status": PageStatus.CLASSIFIED}])
        copies = await _send(engine, session, task)
    await engine.app.relay.publish(copies)


async def _say_total(engine: Harness, task: BackofficeTask, total: float) -> None:
    values = {**filled(task.input_data)["extracted_data"], "total_amount": total}
    said: dict[str, Any] = {"id": task.reference_id, "extracted_data": values, "needs_review": []}
    async with engine.app.store.writing() as session:
        await documents.change_many(session, [said])
        copies = await _send(engine, session, task)
    await engine.app.relay.publish(copies)


async def _amended(engine: Harness, request_id: UUID, version: int) -> dict[str, Any]:
    async def answered() -> bool:
        return (await engine.request(request_id)).answer_version >= version

    await engine.until(answered, f"version {version} is stored", 60)
    request = await engine.request(request_id)
    assert request.status == "completed"
    result: dict[str, Any] = filled(request.result_payload)
    return result


async def _handled(engine: Harness, request_id: UUID, stage: str) -> int:
    return sum(event.stage == stage for event in await engine.events(request_id, "handled"))


async def _notices(engine: Harness) -> int:
    ((number,),) = await engine.query("SELECT count(*) FROM messages WHERE queue LIKE 'q.backoffice%'")
    return int(number)


# --- types --------------------------------------------------------------------------------------------


async def test_flagged_page_is_grouped_anew_when_a_person_says_its_type(engine: Harness) -> None:
    engine.workflow("unsure", flow())
    await engine.start(*FIRST, *REST)
    request = await engine.finished(await engine.submit("unsure", texts=TEXTS), 60)
    assert (request.status, request.answer_version) == ("completed", 1), request.error
    first, second = filled(request.result_payload)["documents"]
    task = await _about_page(engine, request.id, 1)
    assert filled(task.input_data)["amends"] is True
    assert await _notices(engine) == 0

    await _say_type(engine, task, "receipt")
    result = await _amended(engine, request.id, 2)
    assert [document["doc_type"] for document in result["documents"]] == ["invoice", "receipt"]
    assert result["documents"][0] == first
    assert result["documents"][1]["document_id"] != second["document_id"]
    assert await _handled(engine, request.id, "extract") == 3, "only the changed document is extracted again"


async def test_answer_that_comes_while_the_flagged_page_is_queued_counts(sqlite_engine: Harness) -> None:
    sqlite_engine.workflow("unsure", flow())
    await sqlite_engine.start(*FIRST)
    request_id = await sqlite_engine.submit("unsure", texts=TEXTS)

    async def queued(number: int) -> bool:
        rows = await sqlite_engine.query(
            "SELECT count(*) FROM messages WHERE queue = 'q.classification_aggregator'"
        )
        return tuple(rows[0]) == (number,)

    await sqlite_engine.until(lambda: queued(1), "both pages are classified and counted", 60)
    await _say_type(sqlite_engine, await _about_page(sqlite_engine, request_id, 1), "receipt")
    assert await queued(1), "nobody has grouped the pages yet: the answer needs no grouping of its own"
    await sqlite_engine.start(*REST)
    result = await _amended(sqlite_engine, request_id, 1)
    assert [document["doc_type"] for document in result["documents"]] == ["invoice", "receipt"]


async def test_page_waits_for_a_person_who_is_there(sqlite_engine: Harness) -> None:
    async with sqlite_engine.app.store.writing() as session:
        # However slow this machine is, she does not leave before the question comes.
        seen = utc_now() + timedelta(hours=1)
        session.add(Operator(id=uuid4(), username="ana", skills=["classification"], last_seen_at=seen))
    sqlite_engine.workflow("unsure", flow())
    await sqlite_engine.start(*FIRST, *REST)
    request_id = await sqlite_engine.submit("unsure", texts=TEXTS[:1])

    async def asked() -> bool:
        return bool(await _tasks(sqlite_engine, request_id))

    await sqlite_engine.until(asked, "a person is asked", 60)
    task = await _about_page(sqlite_engine, request_id, 0)
    assert "amends" not in filled(task.input_data)
    assert await _notices(sqlite_engine) == 1
    assert await sqlite_engine.query("SELECT status FROM pages") == [("EN_REVISION",)]
    await _say_type(sqlite_engine, task, "receipt")
    result = await _amended(sqlite_engine, request_id, 1)
    assert [document["doc_type"] for document in result["documents"]] == ["receipt"]


async def test_later_amendment_that_is_done_first_does_not_bury_the_earlier_one(engine: Harness) -> None:
    engine.workflow("unsure", flow(extract="component: extractor"))
    await engine.start(*FIRST, *REST)
    extracting = await engine.start("extractor")
    request = await engine.finished(await engine.submit("unsure", texts=TEXTS), 60)
    await engine.stop(extracting)
    await _say_type(engine, await _about_page(engine, request.id, 1), "receipt")

    async def waits() -> bool:
        return bool(await engine.query("SELECT id FROM messages WHERE stage = 'extract'"))

    await engine.until(waits, "the changed document waits to be extracted", 60)
    await _say_type(engine, await _about_page(engine, request.id, 0), "invoice")
    result = await _amended(engine, request.id, 2)
    assert [document["status"] for document in result["documents"]] == ["completed", "pending"]
    await engine.start("extractor")
    result = await _amended(engine, request.id, 3)
    assert [document["doc_type"] for document in result["documents"]] == ["invoice", "receipt"]
    assert not result["missing"]


# --- fields -------------------------------------------------------------------------------------------


async def test_flagged_document_is_answered_and_amended_when_a_person_corrects_it(engine: Harness) -> None:
    engine.workflow("unsure", flow(extract=UNSURE_FIELDS))
    await engine.start(*FIRST, *REST, "extractor")
    request = await engine.finished(await engine.submit("unsure", texts=TEXTS), 60)
    assert (request.status, request.answer_version) == ("completed", 1), request.error
    first, second = filled(request.result_payload)["documents"]
    assert first["needs_review"] and second["needs_review"]
    assert first["status"] == second["status"] == "completed"
    asked = {task.reference_id: task for task in await _tasks(engine, request.id)}
    assert {task.status for task in asked.values()} == {"pending"}
    assert [event.data["amends"] for event in await engine.events(request.id, "task")] == [True] * 4

    await _say_total(engine, asked[UUID(second["document_id"])], 777.25)
    result = await _amended(engine, request.id, 2)
    assert result["documents"][0] == first
    assert result["documents"][1]["extracted_data"]["total_amount"] == 777.25
    assert result["documents"][1]["needs_review"] == ["doc_type"], "nobody has said that it is an invoice"
    assert await _handled(engine, request.id, "extract") == 2, "nothing is extracted again"
    async with engine.app.store.reading() as session:
        versions = await answers.of_request(session, request.id)
    assert [one.version for one in versions] == [1, 2]
    assert filled(versions[0].payload)["documents"][1] == second, "the first answer stays as it was given"

    # The first page turns out to be something else: nobody need look at the fields of the invoice it was not.
    await _say_type(engine, asked[pages.page_id(request.id, 0)], "letter")
    await _amended(engine, request.id, 3)
    gone = next(t for t in await _tasks(engine, request.id) if str(t.reference_id) == first["document_id"])
    assert (gone.status, gone.output_data) == ("completed", {"closed": "regrouped"})
