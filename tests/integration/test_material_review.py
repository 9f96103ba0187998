"""A question that fails a check is a task; the person's answer is the quiz's next version."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from docproc.apps.materials.application import application as manifest
from docproc.apps.materials.components import check
from docproc.apps.materials.content.editing import QuestionEdit, edited
from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.http.materials import documents_of
from docproc.apps.materials.order import PAYLOAD_KEY, WORKFLOW, Order
from docproc.apps.materials.publishing import ChangedMeanwhileError, publish
from docproc.apps.materials.review.checks import CHECK_NAMES
from docproc.apps.materials.store import Kind
from docproc.errors import InvalidAnswerError
from docproc.http.reception import Arrival, reception_of
from docproc.people.desk import Desk
from tests import textbooks
from tests.harness import Harness, opened, settings_for

STAGES = [component.name for component in manifest.components]


@pytest.fixture
async def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[Harness]:
    """The second question of every quiz is found wanting, as no question of the offline author would be."""
    monkeypatch.setattr(check, "_checked", _second_is_bad)
    async with opened(settings_for(tmp_path, warm_up=False, review="ask")) as harness:
        await harness.start("workflow_router", *STAGES)
        yield harness


def _second_is_bad(path: Path, quiz: Quiz) -> Quiz:
    bad = quiz.questions[1].model_copy(update={"needs_review": ["supported", "answerable"]})
    return quiz.model_copy(update={"questions": [quiz.questions[0], bad, *quiz.questions[2:]]})


async def processed(engine: Harness, tmp_path: Path) -> UUID:
    textbooks.draw(tmp_path / "book.pdf")
    reception = reception_of(engine.app)
    request_id = reception.new_request_id()

    async def content() -> AsyncIterator[bytes]:
        yield (tmp_path / "book.pdf").read_bytes()

    upload = await reception.store_file(request_id, 0, "book.pdf", content(), "default")
    order = Order(material_id="mat-1", language="es")
    arrival = Arrival(workflow=WORKFLOW, payload={PAYLOAD_KEY: order.model_dump(mode="json")})
    await reception.submit(request_id, [upload], arrival)
    request = await engine.finished(request_id, 60)
    assert request.status == "completed", request.error
    return request_id


async def quiz_now(engine: Harness, version: int | None = None) -> dict[str, Any]:
    found = await documents_of(engine.app).get(Kind.ASSESSMENT, "default", "mat-1", version)
    assert found is not None
    return found


async def test_the_person_who_answers_publishes_the_next_version(engine: Harness, tmp_path: Path) -> None:
    await processed(engine, tmp_path)
    before = await quiz_now(engine)
    assert [question["needs_review"] for question in before["questions"]][1] == ["supported", "answerable"]
    desk = Desk(engine.app)
    ana = await desk.operator("ana", create=True)
    task = await desk.next(ana)
    assert task is not None and task.task_type == "material_question"
    kind = desk.kinds["material_question"]
    assert kind.listed(task, "es").about.startswith(before["questions"][1]["text"][:40])
    async with engine.app.store.reading() as session:
        shown = await kind.shown(session, await desk.sitting(task, ana, "es"))
    facts = dict(shown.context["facts"])
    assert facts["Lo que no se cumple"].startswith(CHECK_NAMES["supported"]["es"])
    assert before["questions"][1]["evidence"][0]["quote"] in facts["En el texto"]

    said = {**(task.input_data or {}), "text": "¿Qué pregunta es mejor?", "b": "esta opción"}
    with pytest.raises(InvalidAnswerError, match="same as option"):
        await desk.submit(task.id, ana, {**said, "c": " Esta  OPCIÓN "})
    await desk.submit(task.id, ana, said)
    after = await quiz_now(engine)
    assert (before["version"], after["version"]) == (1, 2)
    assert after["questions"][1]["text"] == "¿Qué pregunta es mejor?"
    assert after["questions"][1]["needs_review"] == [] and after["processing_metadata"]["edited_by"] == "ana"
    assert after["questions"][0] == before["questions"][0]
    kept = await quiz_now(engine, 1)
    assert kept["questions"] == before["questions"], "the version before is kept"
    assert await desk.next(ana) is None


async def test_removing_a_question_shares_its_points(engine: Harness, tmp_path: Path) -> None:
    await processed(engine, tmp_path)
    desk = Desk(engine.app)
    ana = await desk.operator("ana", create=True)
    task = await desk.next(ana)
    assert task is not None
    before = await quiz_now(engine)
    await desk.submit(task.id, ana, {**(task.input_data or {}), "remove": True})
    after = await quiz_now(engine)
    assert after["total_questions"] == before["total_questions"] - 1 == len(after["questions"])
    assert sum(question["points"] for question in after["questions"]) == 100
    rows = await engine.query("SELECT total_questions FROM assessment")
    assert rows == [(after["total_questions"],)]


async def test_processing_again_withdraws_the_questions_about_the_old_quiz(
    engine: Harness, tmp_path: Path
) -> None:
    await processed(engine, tmp_path)
    await processed(engine, tmp_path)
    tasks = await engine.query("SELECT status FROM backoffice_tasks ORDER BY created_at")
    assert tasks == [("completed",), ("pending",)]
    assert (await quiz_now(engine))["version"] == 2


async def test_an_edit_of_an_older_version_is_refused_and_the_same_edit_again_changes_nothing(
    engine: Harness, tmp_path: Path
) -> None:
    await processed(engine, tmp_path)
    documents = documents_of(engine.app)

    async def change(edit_id: str, base: int) -> int:
        def change(quiz: Quiz) -> Quiz:
            edit = QuestionEdit.of(quiz.questions[0]).model_copy(update={"text": edit_id})
            return edited(quiz, quiz.questions[0].id, edit)

        async with engine.app.store.writing() as session:
            stored = await publish(
                session, documents, "default", "mat-1", change, edit_id=edit_id, by="ana", base_version=base
            )
        return stored.version

    assert await change("one", 1) == 2
    assert await change("one", 2) == 2
    with pytest.raises(ChangedMeanwhileError, match="version 2"):
        await change("two", 1)
    assert await change("two", 2) == 3
    assert await documents.versions(Kind.ASSESSMENT, "default", "mat-1") == [1, 2, 3]
