"""Where nobody is sure that a document ends, a person is asked; before documents go out, if that can wait."""

from __future__ import annotations

import json
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.store import pages
from docproc.apps.documents.tables import PageStatus
from docproc.apps.documents.understanding.boundaries import marks
from docproc.engine.component import NEXT, BaseComponent, Emission
from docproc.engine.message import PipelineMessage
from docproc.engine.store.task_tables import BackofficeTask
from docproc.reading.plain_text import page_of
from tests.components import PATHS
from tests.harness import Harness, filled

COMPONENTS = ("laid_out", "classification_aggregator", "work", "extraction_aggregator", "consolidator")
FLOW = """
    stages:
      - {name: lay, component: laid_out}
      - {name: group, component: classification_aggregator, confidence_threshold: THRESHOLD,
         backoffice_queue: task.classification, when_no_time: NO_TIME}
      - {name: fields, component: work}
      - {name: all, component: extraction_aggregator}
      - {name: answer, component: consolidator}
"""
INVOICE = "FACTURA\nNº factura: {n}\nCliente: Ana Gil\nTotal factura 12{n},50 €"


def _flow(threshold: float, when_no_time: str) -> str:
    return FLOW.replace("THRESHOLD", str(threshold)).replace("NO_TIME", when_no_time)


class LaidOut(BaseComponent):
    """Pages that are read and classified already: their texts come in the payload."""

    component_name = "laid_out"
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
        "status": PageStatus.CLASSIFIED, "doc_type": "invoice", "classification_confidence": 0.95,
        "origin": "AUTO", "marks": marks(page_of(text)),
    }  # fmt: skip


@pytest.fixture
def _components(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PATHS, "laid_out", f"{__name__}.LaidOut")


async def _task(engine: Harness, request_id: UUID) -> BackofficeTask | None:
    async with engine.app.store.reading() as session:
        return (
            await session.scalars(select(BackofficeTask).where(BackofficeTask.request_id == request_id))
        ).first()


async def _answer(engine: Harness, task: BackofficeTask, splits: dict[str, bool]) -> None:
    """As the back office does: the task's message goes on from its stage, with the answer in its payload."""
    message = PipelineMessage.parse(str(task.message))
    message = message.model_copy(update={"payload": {**message.payload, "splits": splits}})
    async with engine.app.store.writing() as session:
        copies = await engine.app.outbox.resume(session, message)
    await engine.app.relay.publish(copies)


def _documents(result: dict[str, Any]) -> list[list[int]]:
    return [document["page_indices"] for document in result["documents"]]


@pytest.mark.usefixtures("_components")
@pytest.mark.parametrize(("begins", "expected"), [(True, [[0], [1], [2]]), (False, [[0, 1], [2]])])
async def test_documents_wait_for_the_answer_and_follow_it(
    sqlite_engine: Harness, begins: bool, expected: list[list[int]]
) -> None:
    sqlite_engine.workflow("unsure", _flow(1.0, "wait"))
    await sqlite_engine.start(*COMPONENTS)
    texts = [INVOICE.format(n=n) for n in (101, 102, 103)]
    request_id = await sqlite_engine.submit("unsure", texts=texts)

    async def asked() -> bool:
        return await _task(sqlite_engine, request_id) is not None

    await sqlite_engine.until(asked, "a person is asked")
    task = await _task(sqlite_engine, request_id)
    assert task is not None and task.task_type == "classification" and task.status == "pending"
    assert [split["pages"] for split in filled(task.input_data)["splits"]] == [[0, 1], [1, 2]]
    assert (
        filled(task.input_data)["kind"] == "split"
        and 0.5 <= filled(task.input_data)["splits"][0]["confidence"] < 1
    )
    ((made,),) = await sqlite_engine.query("SELECT count(*) FROM documents")
    assert made == 0, "no document goes out before the answer"
    ((notice,),) = await sqlite_engine.query(
        "SELECT body FROM messages WHERE queue = 'q.backoffice.classification'"
    )
    assert json.loads(notice)["payload"]["task_id"] == str(task.id)
    await _answer(sqlite_engine, task, {"1": begins, "2": True})
    done = await sqlite_engine.finished(request_id)
    assert done.status == "completed", done.error
    assert _documents(filled(done.result_payload)) == expected


@pytest.mark.usefixtures("_components")
async def test_where_there_is_no_time_documents_go_out_and_the_answer_amends(sqlite_engine: Harness) -> None:
    sqlite_engine.workflow("unsure", _flow(1.0, "answer_flagged"))
    await sqlite_engine.start(*COMPONENTS)
    done = await sqlite_engine.run("unsure", texts=[INVOICE.format(n=n) for n in (101, 102, 103)])
    assert (done.status, done.answer_version) == ("completed", 1), done.error
    first = _documents(filled(done.result_payload))
    task = await _task(sqlite_engine, done.id)
    assert task is not None and filled(task.input_data)["amends"] is True and task.status == "pending"

    async def answered(version: int) -> bool:
        return (await sqlite_engine.request(done.id)).answer_version == version

    # A correction elsewhere groups anew, and asks nobody a second time.
    await _answer(sqlite_engine, task, {})
    await sqlite_engine.until(lambda: answered(2), "the second answer")
    assert _documents(filled((await sqlite_engine.request(done.id)).result_payload)) == first
    assert len(await sqlite_engine.events(done.id, "task")) == 1

    await _answer(sqlite_engine, task, {"1": False, "2": False})
    await sqlite_engine.until(lambda: answered(3), "the third answer")
    assert _documents(filled((await sqlite_engine.request(done.id)).result_payload)) == [[0, 1, 2]]


@pytest.mark.usefixtures("_components")
async def test_sure_splits_ask_nobody(sqlite_engine: Harness) -> None:
    sqlite_engine.workflow("sure", _flow(0.5, "wait"))
    await sqlite_engine.start(*COMPONENTS)
    done = await sqlite_engine.run("sure", texts=[INVOICE.format(n=101), INVOICE.format(n=202)])
    assert done.status == "completed", done.error
    assert _documents(filled(done.result_payload)) == [[0], [1]]
    assert await _task(sqlite_engine, request_id=done.id) is None
