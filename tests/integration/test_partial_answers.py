"""An answer before everything is there: what it holds, what it says is missing, when it is given early."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import event, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components import answer
from docproc.apps.documents.store import documents, pages
from docproc.apps.documents.tables import Document, DocumentStatus, File, PageStatus
from docproc.engine.component import BaseComponent
from docproc.engine.message import Failure, PipelineMessage, utc_now
from docproc.engine.running.intake import Submission
from docproc.engine.store import answers, fan_in, messages, requests, rows, tasks
from docproc.engine.store.messages import Outgoing
from docproc.engine.store.session import Store
from docproc.engine.store.tables import Answer, MessageState, Request
from docproc.engine.store.task_tables import BackofficeTask
from docproc.settings import Settings
from tests import packet
from tests.components import PATHS
from tests.harness import Harness, filled, opened
from tests.packet import FLOW

EARLY = "early_answer: {types: [id_card, payslip]}"


@pytest.fixture
async def flow(settings: Settings) -> AsyncIterator[Harness]:
    known = settings.model_copy(update={"components": {**PATHS, **packet.PATHS}})
    async with opened(known) as harness:
        harness.workflow("whole", FLOW.replace("EARLY", ""))
        harness.workflow("early", FLOW.replace("EARLY", EARLY))
        await harness.start(*packet.COMPONENTS)
        yield harness


# What a broker carries makes no difference here.
both_databases = pytest.mark.parametrize("combination", ["sqlite+sql", "postgresql+sql"])


async def partial(harness: Harness, request_id: UUID) -> dict[str, Any]:
    """As the monitor asks for it."""
    consolidator: BaseComponent = harness.app.component("consolidator")
    message = PipelineMessage(request_id=request_id, workflow_name="whole", current_stage="answer")
    async with harness.app.store.reading() as session:
        result = await consolidator.partial_result(message, session)
    assert result is not None
    return result


async def given(harness: Harness, request_id: UUID) -> list[Answer]:
    async with harness.app.store.reading() as session:
        return await answers.of_request(session, request_id)


async def pages_settle(harness: Harness, request_id: UUID, *, delayed: int, asked: int) -> None:
    """Until all that can be done is done: only delayed messages and questions to people are left."""

    async def quiet() -> bool:
        states = await harness.query(
            "SELECT state FROM messages WHERE request_id = :request AND queue NOT LIKE 'q.backoffice.%'",
            request=request_id,
        )
        open_tasks = await harness.query(
            "SELECT id FROM backoffice_tasks WHERE request_id = :request", request=request_id
        )
        return [row.state for row in states] == ["delayed"] * delayed and len(open_tasks) == asked

    await harness.until(quiet, "everything waits", 60)


async def answer_question(harness: Harness, request_id: UUID, unit: str, **found: Any) -> None:
    """As the back office does: what the person found is written and the unit goes on from its stage."""
    async with harness.app.store.writing() as session:
        asked = await session.scalars(select(BackofficeTask).where(BackofficeTask.request_id == request_id))
        task = next(one for one in asked if PipelineMessage.parse(str(one.message)).unit_key == unit)
        task.status, task.completed_at = "completed", utc_now()
        await session.flush()
        message = PipelineMessage.parse(str(task.message))
        if task.task_type == "classification":
            row = {"id": task.reference_id, "status": PageStatus.CLASSIFIED, **found}
            await pages.change_many(session, [row])
        else:
            row = {"id": task.reference_id, "status": DocumentStatus.COMPLETED, "needs_review": [], **found}
            await documents.change_many(session, [row])
        copies = await harness.app.outbox.resume(session, message)
    await harness.app.relay.publish(copies)


# --- the content ----------------------------------------------------------------------------------------

PACKET = ["id_card", "invoice", "contract", "letter", "asked", "later", "broken"]


@both_databases
async def test_partial_answer_of_a_packet_has_what_is_found_and_names_the_rest(flow: Harness) -> None:
    request_id = await flow.submit("whole", pages=PACKET)
    await pages_settle(flow, request_id, delayed=2, asked=2)
    result = await partial(flow, request_id)
    assert result["partial"] is True and result["request_id"] == str(request_id)
    assert (result["total_pages"], result["total_documents"]) == (7, 3)
    assert [file["name"] for file in result["files"]] == ["packet.pdf"]
    told = [(d["doc_type"], d["page_indices"], d["status"]) for d in result["documents"]]
    assert told == [
        ("id_card", [0], "completed"),
        ("invoice", [1], "in_review"),
        ("contract", [2], "pending"),
    ]
    doubtful = result["documents"][1]
    assert doubtful["fields"] == {"total_amount": {"value": "121?"}, "number": {"value": "F-1"}}
    assert doubtful["needs_review"] == ["total_amount", "date"]
    assert result["documents"][2]["fields"] == {}
    expected = [entry.pop("expected_at", None) for entry in result["missing"]]
    waiting = {"reason": "waiting_for_operator"}
    assert result["missing"] == [
        {"unit": "document:1-1", "field": "total_amount", **waiting},
        {"unit": "document:1-1", "field": "date", **waiting},
        {"unit": "document:2-2", "reason": "retrying"},
        {"unit": "page:3", "reason": "queued", "detail": answer.UNGROUPED},
        {"unit": "page:4", **waiting},
        {"unit": "page:5", "reason": "retrying"},
        {"unit": "page:6", "reason": "failed", "detail": "cannot be read"},
    ]
    # Only what is known: the end of the two delays of an hour.
    assert [bool(moment) for moment in expected] == [False, False, True, False, False, True, False]
    soon = utc_now() + timedelta(minutes=50)
    assert all(datetime.fromisoformat(moment) > soon for moment in expected if moment)


async def test_request_that_is_still_queued_is_answered_with_nothing_but_itself_missing(
    sqlite_engine: Harness,
) -> None:
    sqlite_engine.workflow("whole", "stages: [{name: answer, component: consolidator}]")
    request_id = await sqlite_engine.submit("whole")
    result = await partial(sqlite_engine, request_id)
    assert result["documents"] == [] and result["total_pages"] == 0
    assert result["missing"] == [{"unit": "request", "reason": "queued"}]


# --- single states, as the tables hold them -------------------------------------------------------------


@pytest.fixture
async def request_id(store: Store) -> UUID:
    made = uuid4()
    async with store.writing() as session:
        session.add(Request(id=made, workflow_name="any"))
    return made


async def add_document(store: Store, request_id: UUID, indices: list[int], **values: Any) -> None:
    async with store.writing() as session:
        kind = values.pop("doc_type", "invoice")
        row = {"id": uuid4(), "request_id": request_id, "doc_type": kind, "page_indices": indices, **values}
        session.add(Document(**row))


async def send(store: Store, request_id: UUID, *units: str) -> None:
    outgoing = [Outgoing.of(PipelineMessage(request_id=request_id, unit_key=unit), "q.any") for unit in units]
    async with store.writing() as session:
        await messages.send(session, outgoing, state=MessageState.READY, worker_id=None)


async def look(store: Store, request_id: UUID) -> dict[str, Any]:
    async with store.reading() as session:
        return await answer.partial(session, PipelineMessage(request_id=request_id), utc_now())


async def test_document_that_is_done_is_not_missing_while_its_message_goes_to_the_join(
    store: Store, request_id: UUID
) -> None:
    await add_document(store, request_id, [0, 1], status="completed")
    await add_document(store, request_id, [2], status="completed")
    await send(store, request_id, "document:0-1", "page:2")  # with grouping, and without
    assert (await look(store, request_id))["missing"] == []


async def test_page_that_is_a_document_by_itself_is_called_as_its_message_is(
    store: Store, request_id: UUID
) -> None:
    await add_document(store, request_id, [2], status="in_review", needs_review=["date"])
    message = PipelineMessage(request_id=request_id, unit_key="page:2")
    async with store.writing() as session:
        await tasks.create(session, message, task_type="extraction", reference_id=uuid4(), input_data={})
    assert (await look(store, request_id))["missing"] == [
        {"unit": "page:2", "field": "date", "reason": "waiting_for_operator"}
    ]


async def test_field_that_somebody_answered_is_on_its_way(store: Store, request_id: UUID) -> None:
    await add_document(store, request_id, [2, 3], status="in_review", needs_review=["date"])
    await send(store, request_id, "document:2-3")
    assert (await look(store, request_id))["missing"] == [
        {"unit": "document:2-3", "field": "date", "reason": "queued"}
    ]


async def test_document_that_was_made_this_moment_is_missing(store: Store, request_id: UUID) -> None:
    """Between two statements: its pages were read before, its message afterwards."""
    await add_document(store, request_id, [0, 4])
    result = await look(store, request_id)
    assert result["documents"][0]["status"] == "pending"
    assert result["missing"] == [{"unit": "document:0-4", "reason": "queued"}]


async def test_document_whose_extraction_failed_is_told_as_failed(store: Store, request_id: UUID) -> None:
    await add_document(store, request_id, [0])
    failure = Failure(stage="x", component="x", error="no fields", message_id=uuid4()).model_dump_json()
    async with store.writing() as session:
        await rows.execute(
            session,
            "INSERT INTO fan_in_arrivals (request_id, stage, group_key, generation, unit_key, failure) "
            "VALUES (:request, 'extraction', '', 1, 'document:0-0', :failure)",
            request=request_id,
            failure=failure,
        )
    result = await look(store, request_id)
    assert result["documents"][0]["status"] == "failed"
    assert result["missing"] == [{"unit": "document:0-0", "reason": "failed", "detail": "no fields"}]


async def test_thousand_pages_are_answered_without_their_texts(store: Store, request_id: UUID) -> None:
    async with store.writing() as session:
        session.add(File(request_id=request_id, file_index=0, name="a", media_type="x", page_count=1000))
        await pages.insert(session, [_read_page(request_id, index) for index in range(1000)])
        await documents.insert(session, "default", request_id, [("letter", [n]) for n in range(500)])
    await send(store, request_id, *[f"document:{n}-{n}" for n in range(500)])
    statements: list[str] = []
    async with store.reading() as session:
        connection = (await session.connection()).sync_connection
        event.listen(connection, "before_cursor_execute", lambda *given: statements.append(given[2]))
        result = await answer.partial(session, PipelineMessage(request_id=request_id), utc_now())
    assert result["total_pages"] == 1000 and len(result["documents"]) == 500
    units = [entry["unit"] for entry in result["missing"]]
    assert units == [f"document:{n}-{n}" for n in range(500)] + [f"page:{n}" for n in range(500, 1000)]
    assert len(statements) <= 5
    assert not any(column in sql for sql in statements for column in ("ocr_text", "words", "body"))


def _read_page(request_id: UUID, index: int) -> dict[str, Any]:
    return {
        "id": pages.page_id(request_id, index), "request_id": request_id, "file_index": 0,
        "page_index": index, "file_page": index, "ocr_text": "long", "words": b"many",
    }  # fmt: skip


# --- early ----------------------------------------------------------------------------------------------


@both_databases
async def test_early_answer_is_given_once_and_the_complete_one_follows(flow: Harness) -> None:
    request_id = await flow.submit("early", pages=["id_card", "payslip", "payslip", "letter", "asked"])
    await pages_settle(flow, request_id, delayed=0, asked=1)
    (early,) = await given(flow, request_id)
    assert (early.version, early.is_partial, early.reason) == (1, True, "early")
    request = await flow.request(request_id)
    assert request.status not in ("completed", "failed") and request.completed_at is None
    assert request.answer_version == 1 and request.result_payload == early.payload
    types = [(d["doc_type"], d["status"]) for d in filled(early.payload)["documents"]]
    assert {("id_card", "completed"), ("payslip", "completed")} <= set(types)
    units = {entry["unit"]: entry["reason"] for entry in filled(early.payload)["missing"]}
    assert units["page:4"] in ("queued", "waiting_for_operator"), "what is irrelevant is missing all the same"
    await answer_question(flow, request_id, "page:4", doc_type="id_card")
    done = await flow.finished(request_id)
    assert done.status == "completed" and done.answer_version == 2
    assert filled(done.result_payload)["partial"] is False and filled(done.result_payload)["missing"] == []
    assert [(one.version, one.reason) for one in await given(flow, request_id)] == [
        (1, "early"),
        (2, "complete"),
    ]
    told = [one.data for one in await flow.events(request_id, "answer")]
    assert [(data["version"], data["partial"], data["reason"]) for data in told] == [
        (1, True, "early"),
        (2, False, "complete"),
    ]


async def _answered(harness: Harness, request_id: UUID) -> list[tuple[str, bool]]:
    done = await harness.finished(request_id)
    assert done.status == "completed", done.error
    return [(one.reason, one.is_partial) for one in await given(harness, request_id)]


@pytest.mark.parametrize("combination", ["sqlite+sql"])
async def test_nothing_is_answered_early_when_everything_is_there(flow: Harness) -> None:
    # Both documents go out with the last page. Whichever arrives first, the other is found by then or not.
    request_id = await flow.submit("early", pages=["id_card", "asked"])
    await pages_settle(flow, request_id, delayed=0, asked=1)
    assert await given(flow, request_id) == []
    await answer_question(flow, request_id, "page:1", doc_type="payslip")
    assert await _answered(flow, request_id) == [("complete", False)]


@pytest.mark.parametrize("combination", ["sqlite+sql"])
async def test_nothing_is_answered_early_when_the_join_fires(flow: Harness) -> None:
    flow.workflow("one", FLOW.replace("EARLY", "early_answer: {types: [id_card]}"))
    request_id = uuid4()
    await send(flow.app.store, request_id, "page:9")  # whatever else is on its way
    submission = Submission("one", {"pages": ["id_card"]}, request_id=request_id)
    await flow.app.intake.submit(submission)
    assert await _answered(flow, request_id) == [("complete", False)]


@pytest.mark.parametrize("combination", ["sqlite+sql"])
async def test_flow_without_early_answer_gives_none(flow: Harness) -> None:
    request_id = await flow.submit("whole", pages=["id_card", "payslip", "letter", "asked"])
    await pages_settle(flow, request_id, delayed=0, asked=1)
    assert await given(flow, request_id) == []
    await answer_question(flow, request_id, "page:3", doc_type="letter")
    assert await _answered(flow, request_id) == [("complete", False)]


@pytest.mark.parametrize("combination", ["sqlite+sql"])
async def test_doubtful_document_is_not_enough_until_a_person_has_settled_it(
    flow: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(packet.FIELDS, "payslip", {"net_amount": None})
    request_id = await flow.submit("early", pages=["id_card", "payslip", "letter", "asked"])
    await pages_settle(flow, request_id, delayed=0, asked=2)
    assert await given(flow, request_id) == []
    await answer_question(flow, request_id, "document:1-1", extracted_data={"net_amount": 1.0})
    await flow.until(lambda: _has_answer(flow, request_id), "the early answer", 60)
    (early,) = await given(flow, request_id)
    assert early.reason == "early" and filled(early.payload)["documents"][1]["status"] == "completed"


@pytest.mark.parametrize("combination", ["sqlite+sql"])
async def test_document_without_a_required_field_is_not_enough(
    flow: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(packet.FIELDS, "payslip", {})  # nobody doubts, nothing was found
    request_id = await flow.submit("early", pages=["id_card", "payslip", "letter", "asked"])
    await pages_settle(flow, request_id, delayed=0, asked=1)
    assert await given(flow, request_id) == []


@pytest.mark.parametrize("combination", ["sqlite+sql"])
async def test_request_that_was_answered_at_its_deadline_gets_no_early_answer(flow: Harness) -> None:
    request_id = await flow.submit("early", pages=["id_card", "asked", "payslip", "asked"])
    await pages_settle(flow, request_id, delayed=0, asked=2)
    async with flow.app.store.writing() as session:
        request = await session.get_one(Request, request_id)
        await answers.give(session, [answers.Given(request, {}, True, answers.Reason.DEADLINE)])
    await answer_question(flow, request_id, "page:1", doc_type="letter")
    await pages_settle(flow, request_id, delayed=0, asked=2)
    await answer_question(flow, request_id, "page:3", doc_type="letter")
    assert await _answered(flow, request_id) == [("deadline", True), ("complete", False)]


async def _has_answer(harness: Harness, request_id: UUID) -> bool:
    return bool(await given(harness, request_id))


# --- the moment of an arrival, made by hand -------------------------------------------------------------


class Moment:
    """A request with an identity card that arrives at the join and a payslip that has its fields already."""

    def __init__(self, harness: Harness, message: PipelineMessage) -> None:
        self.harness = harness
        self.message = message

    async def arrive(self) -> list[str]:
        """The card arrives; returns the reasons of the answers that the request has then."""
        aggregator = self.harness.app.component("extraction_aggregator")
        async with self.harness.app.store.writing() as session:
            assert await aggregator.process_messages([self.message], session) == [[]]
        return [one.reason for one in await given(self.harness, self.message.request_id)]


@pytest.fixture
async def moment(sqlite_engine: Harness) -> Moment:
    sqlite_engine.workflow(
        "early",
        """
        early_answer: {types: [id_card, payslip]}
        stages: [{name: all, component: work}]
        extraction_schemas:
          id_card: {fields: [{name: id_number, required: true}]}
          payslip: {fields: [{name: net_amount, type: decimal, required: true}]}
        """,
    )
    store = sqlite_engine.app.store
    request_id = await sqlite_engine.submit("early")
    await sqlite_engine.query("DELETE FROM messages")
    made = [("id_card", [0]), ("payslip", [1])]
    ids = [documents.document_id(request_id, *one) for one in made]
    async with store.writing() as session:
        await documents.insert(session, "default", request_id, made)
        filled = [packet.filled(key, one[0]) for key, one in zip(ids, made, strict=True)]
        await documents.change_many(session, filled)
    await send(store, request_id, "document:1-1")
    version = (await sqlite_engine.request(request_id)).workflow_version
    message = PipelineMessage(
        request_id=request_id, workflow_name="early", workflow_version=version, current_stage="all",
        unit_key="document:0-0", document_id=ids[0],
    )  # fmt: skip
    return Moment(sqlite_engine, message)


async def test_documents_that_are_enough_are_answered_while_others_are_to_come(moment: Moment) -> None:
    await send(moment.harness.app.store, moment.message.request_id, "page:2")
    assert await moment.arrive() == ["early"]


async def test_nothing_is_answered_early_when_the_rest_only_has_to_arrive(moment: Moment) -> None:
    assert await moment.arrive() == []


async def test_nothing_is_answered_early_when_the_rest_has_failed(moment: Moment) -> None:
    failure = Failure(stage="x", component="x", error="no", message_id=uuid4()).model_dump_json()
    arrival = fan_in.Arrival(moment.message.request_id, "default", "pages", "", 1, "page:2", failure)
    async with moment.harness.app.store.writing() as session:
        await fan_in.arrive(session, [arrival])
    assert await moment.arrive() == []


async def test_document_that_is_flagged_is_not_enough(moment: Moment) -> None:
    """Complete, because nobody could be asked in time, but with a doubt."""
    await send(moment.harness.app.store, moment.message.request_id, "page:2")
    await moment.harness.query(
        """UPDATE documents SET needs_review = '["net_amount"]' WHERE doc_type = 'payslip'"""
    )
    assert await moment.arrive() == []


async def test_answer_that_came_while_the_early_one_was_made_stands_alone(
    moment: Moment, monkeypatch: pytest.MonkeyPatch
) -> None:
    await send(moment.harness.app.store, moment.message.request_id, "page:2")
    locked = requests.locked

    async def after_the_monitor(session: AsyncSession, request_id: UUID) -> Request | None:
        request = await locked(session, request_id)
        assert request is not None
        await answers.give(session, [answers.Given(request, {}, True, answers.Reason.DEADLINE)])
        return await locked(session, request_id)

    monkeypatch.setattr(requests, "locked", after_the_monitor)
    assert await moment.arrive() == ["deadline"]
