"""A stored material over HTTP: its pages, its files, and its questions changed by a person."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from docproc.apps.materials.content.editing import QuestionEdit
from docproc.apps.materials.content.evidence import Evidence
from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.errors import DocumentsDownError
from docproc.apps.materials.exports.export import FORMATS
from docproc.apps.materials.http.materials import documents_of
from docproc.apps.materials.http.shelf import marked
from tests.acceptance.conftest import client_of
from tests.harness import Harness, opened, settings_for
from tests.shelved import shelve


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Harness]:
    async with opened(settings_for(tmp_path)) as harness:
        yield harness


@pytest.fixture
async def client(engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(engine) as client:
        yield client


@pytest.fixture
async def quiz(engine: Harness) -> Quiz:
    return await shelve(engine, "mat-1")


def changed(quiz: Quiz, **changes: Any) -> dict[str, Any]:
    return {**QuestionEdit.of(quiz.questions[0]).model_dump(mode="json"), **changes}


async def test_a_change_is_the_next_version_and_one_of_an_older_version_is_refused(
    client: httpx.AsyncClient, quiz: Quiz
) -> None:
    address = f"/materials/mat-1/questions/{quiz.questions[0].id}"
    done = await client.put(address, params={"version": 1}, json=changed(quiz, text="¿Nueva?"))
    assert (done.status_code, done.json()) == (200, {"version": 2, "total_questions": 6})
    stale = await client.put(address, params={"version": 1}, json=changed(quiz, text="¿Tarde?"))
    assert (stale.status_code, stale.json()["error"]["code"]) == (409, "changed_meanwhile")
    told = (await client.get("/materials/mat-1")).json()
    assert told["versions"] == [1, 2] and told["assessment"]["questions"][0]["text"] == "¿Nueva?"
    assert "¿Nueva?" in (await client.get("/library/mat-1/quiz")).text
    assert "¿Nueva?" not in (await client.get("/library/mat-1/quiz", params={"version": 1})).text


@pytest.mark.parametrize(
    ("address", "changes", "status", "code"),
    [
        ("/materials/other/questions/q1", {}, 404, "unknown_material"),
        ("/materials/mat-1/questions/q99", {}, 404, "unknown_question"),
        ("/materials/mat-1/questions/q1", {"correct": "e"}, 422, "invalid_question"),
        ("/materials/mat-1/questions/q1", {"a": ""}, 422, "invalid_question"),
        ("/materials/mat-1/questions/q1", {"a": "igual", "b": " IGUAL"}, 422, "invalid_question"),
        ("/materials/mat-1/questions/q1", {"points": 100}, 422, "invalid_question"),
    ],
)
async def test_a_change_that_cannot_be_is_told_and_changes_nothing(
    client: httpx.AsyncClient, quiz: Quiz, address: str, changes: dict[str, Any], status: int, code: str
) -> None:
    answer = await client.put(address, json=changed(quiz, **changes))
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text
    assert answer.json()["error"]["remedy"]
    assert (await client.get("/materials/mat-1")).json()["versions"] == [1]


async def test_a_quiz_keeps_its_five_questions(client: httpx.AsyncClient, quiz: Quiz) -> None:
    for question, status in ((quiz.questions[0], 200), (quiz.questions[1], 422)):
        answer = await client.put(
            f"/materials/mat-1/questions/{question.id}", json=changed(quiz, remove=True)
        )
        assert answer.status_code == status, answer.text
    assert "at least 5" in answer.json()["error"]["message"]


@pytest.mark.parametrize("name", FORMATS)
async def test_files_are_downloaded(client: httpx.AsyncClient, quiz: Quiz, name: str) -> None:
    answer = await client.get(f"/materials/mat-1/files/{name}")
    assert answer.status_code == 200 and len(answer.content) > 500
    assert answer.headers["content-disposition"].endswith(f'{FORMATS[name].ending}"')


async def test_a_page_is_shown_beside_the_summary_in_either_language(
    client: httpx.AsyncClient, quiz: Quiz
) -> None:
    spanish = (await client.get("/library/mat-1", params={"page": 2, "lang": "es"})).text
    assert "Página 2 de 2" in spanish and "<mark>" in spanish
    assert "Page 1 of 2" in (await client.get("/library/mat-1", params={"lang": "en"})).text
    for missing in ("/library/other", "/library/other/quiz", "/library/other/edit"):
        assert (await client.get(missing)).status_code == 404


async def test_answers_in_the_address_are_counted(client: httpx.AsyncClient, quiz: Quiz) -> None:
    right = {question.id: question.correct_answer for question in quiz.questions}
    assert "100 of 100 points" in (await client.get("/library/mat-1/quiz", params=right)).text
    odd = {quiz.questions[0].id: "z", "elsewhere": "a"}
    assert "of 100 points</strong>" not in (await client.get("/library/mat-1/quiz", params=odd)).text


async def test_a_store_that_is_down_is_said_to_be_down(
    client: httpx.AsyncClient, engine: Harness, quiz: Quiz, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def down(*_: object) -> None:
        raise DocumentsDownError("MongoDB does not answer")

    monkeypatch.setattr(documents_of(engine.app), "get", down)
    for address in ("/materials/mat-1", "/library/mat-1", "/materials/mat-1/files/gift"):
        answer = await client.get(address)
        assert (answer.status_code, answer.json()["error"]["code"]) == (503, "unavailable")


def test_quotations_are_marked_across_lines_and_never_as_markup() -> None:
    page = "Uno <b>dos</b>.\nLa foto-\nsíntesis usa\nluz. Fin."
    shown = marked(page, [Evidence(quote="La fotosíntesis usa luz.", page=1), Evidence(quote="nada", page=1)])
    assert shown == "Uno &lt;b&gt;dos&lt;/b&gt;.\n<mark>La foto-\nsíntesis usa\nluz.</mark> Fin."
