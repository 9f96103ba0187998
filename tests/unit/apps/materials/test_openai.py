"""The author that asks a model: replies, repairs, long texts, kept answers and the budget."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from sqlalchemy import select, update

from docproc.app import App
from docproc.apps.materials.answers import Completion, KeptAnswers, spent_by
from docproc.apps.materials.authors.openai import parts
from docproc.apps.materials.authors.openai.asking import Asker
from docproc.apps.materials.authors.openai.author import OpenAiAuthor
from docproc.apps.materials.authors.openai.client import Model
from docproc.apps.materials.authors.openai.replies import BadReplyError, QuizReply, SummaryReply, parsed
from docproc.apps.materials.budget import Budget
from docproc.apps.materials.content.chapters import with_chapters
from docproc.apps.materials.content.source import SourceText
from docproc.apps.materials.errors import MaterialError, ModelDownError, RateLimitedError
from docproc.apps.materials.settings import MaterialsSettings
from docproc.apps.materials.tables import MaterialAnswer
from docproc.engine.message import PipelineMessage
from docproc.engine.running.intake import Submission
from tests import model_server, textbooks
from tests.harness import settings_for


def book(times: int = 1) -> SourceText:
    """Each chapter on a page of its own."""
    pages = [
        "\n\n".join((f"Capítulo {number}. {title.partition('. ')[2]}", *paragraphs))
        for number, (title, paragraphs) in enumerate(textbooks.CHAPTERS * times, start=1)
    ]
    return with_chapters(SourceText.of_pages(pages))


# --- replies ----------------------------------------------------------------------------------------------


def proper(kind: str) -> dict[str, Any]:
    sentences = model_server.sentences_of(book().text)
    return model_server.summary(sentences) if kind == "summary" else model_server.quiz(sentences)


def test_reply_is_read_bare_and_fenced() -> None:
    text = json.dumps(proper("summary"))
    for said in (text, f"```json\n{text}\n```", f"\n```\n{text}\n```\n"):
        assert len(parsed(said, SummaryReply).sections) == 5


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "not JSON"),
        ("Claro, aquí está: {}", "not JSON"),
        ("[]", "not an object"),
        ("null", "not an object"),
        ("{}", "title"),
        (json.dumps({**proper("summary"), "sections": []}), "sections"),
        (json.dumps({**proper("summary"), "glossary": proper("summary")["glossary"][:9]}), "glossary"),
        (json.dumps(proper("summary"))[:-20], "not JSON"),
    ],
)
def test_reply_that_cannot_be_used_says_why(text: str, problem: str) -> None:
    with pytest.raises(BadReplyError, match=problem):
        parsed(text, SummaryReply)


def test_reply_that_was_cut_off_is_not_used_even_if_it_looks_whole() -> None:
    with pytest.raises(BadReplyError, match="cut off"):
        parsed(json.dumps(proper("quiz")), QuizReply, is_cut_off=True)


# --- parts of long texts ----------------------------------------------------------------------------------


@pytest.mark.parametrize("most", [500, 3000, 10_000, 1_000_000])
def test_parts_are_the_whole_text_and_every_chapter_is_in_one(most: int) -> None:
    source = book(times=4)
    divided = parts.divide(source, most)
    assert "".join(part.text for part in divided) == source.text
    assert all(len(part.text) <= most for part in divided)
    named = {title for part in divided for title in part.chapters}
    assert named == {chapter.title for chapter in source.chapters}


def test_text_without_chapters_is_divided_at_its_paragraphs() -> None:
    source = SourceText.of_pages(["Una frase corta.\n\n" * 200])
    divided = parts.divide(source, 1000)
    assert len(divided) > 3 and all(part.text.endswith("\n\n") for part in divided[:-1])


# --- asking -----------------------------------------------------------------------------------------------


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    app = App(settings_for(tmp_path))
    await app.prepare_database()
    yield app
    await app.close()


async def kept_for(app: App, settings: MaterialsSettings, **budget: Any) -> KeptAnswers:
    """Of a request that is there, because answers belong to one."""
    request_id = await app.intake.submit(Submission("materials", {}, request_id=uuid4()))
    message = PipelineMessage(request_id=request_id)
    return KeptAnswers(app.store, message, settings.materials_model, Budget(settings, **budget))


def settings_with(**values: Any) -> MaterialsSettings:
    given = {f"materials_{name}": value for name, value in values.items()}
    return MaterialsSettings(_env_file=None, **given)


async def test_long_text_is_asked_about_in_parts_and_no_chapter_is_left_out(app: App) -> None:
    """C19; the quiz finds the notes of the summary kept."""
    source = book(times=4)
    with model_server.serving() as server:
        settings = settings_with(model_url=server.url, context_tokens=8000, max_tokens=2000)
        asker = Asker(Model(settings), await kept_for(app, settings), 2)
        author = OpenAiAuthor(asker, settings)
        assert len(source.text) > author.most_characters
        summary = await author.summarise(source, language="es")
        asked = len(server.calls)
        assert server.steps() == ["notes"] * (asked - 1) + ["summary"] and asked > 2
        told = "".join(json.loads(call["messages"][1]["content"])["material"] for call in server.calls[:-1])
        assert told == source.text
        in_prompts = " ".join(call["messages"][0]["content"] for call in server.calls[:-1])
        for chapter in source.chapters:
            assert chapter.title in in_prompts
        quiz = await author.examine(source, summary, language="es", questions=6)
        assert server.steps()[asked:] == ["quiz"]
        pages = {one.page for question in quiz.questions for one in question.evidence}
        assert len(quiz.questions) == 6 and pages <= set(range(1, 21))
        for call in server.calls:
            size = sum(len(message["content"]) for message in call["messages"])
            assert size / parts.CHARACTERS_PER_TOKEN + 2000 <= 8000
        await asker.model.close()


async def test_answer_is_kept_and_asked_for_once(app: App) -> None:
    settings = settings_with()
    kept = await kept_for(app, settings)
    calls = []

    async def call() -> Completion:
        calls.append(1)
        return Completion("{}", False, 100, 10)

    for _ in range(3):
        assert (await kept.ask("summary", "h", call)).text == "{}"
    await kept.ask("summary", "another prompt", call)
    assert len(calls) == 2
    async with app.store.reading() as session:
        spent = await spent_by(session, kept.request_id)
    assert (spent.calls, spent.tokens) == (2, 220)
    assert spent.cost_usd == pytest.approx(2 * (100 * 10 + 10 * 30) / 1e6)
    await kept.discard("summary")
    await kept.ask("summary", "h", call)
    assert len(calls) == 3


async def test_call_that_failed_is_counted_and_asked_again(app: App) -> None:
    kept = await kept_for(app, settings_with())

    async def fails() -> Completion:
        raise ModelDownError("away")

    async def answers() -> Completion:
        return Completion("{}", False, 1, 1)

    with pytest.raises(ModelDownError):
        await kept.ask("quiz", "h", fails)
    await kept.ask("quiz", "h", answers)
    async with app.store.reading() as session:
        assert await session.scalar(select(MaterialAnswer.asked)) == 2


@pytest.mark.parametrize(
    ("play", "error", "told"),
    [
        (model_server.late(2), ModelDownError, "within 0.3 s"),
        (model_server.refuses(500), ModelDownError, "HTTP 500"),
        (model_server.refuses(503), ModelDownError, "HTTP 503"),
        (model_server.refuses(503, Retry_After="9"), RateLimitedError, "overloaded"),
        (model_server.refuses(429, Retry_After="9"), RateLimitedError, "9 s"),
        (model_server.refuses(429, "insufficient_quota"), MaterialError, "credit"),
        (model_server.refuses(401), MaterialError, "key"),
        (model_server.refuses(403), MaterialError, "key"),
        (model_server.refuses(404), MaterialError, "refused the call"),
        (model_server.refuses(400), MaterialError, "refused the call"),
        (
            lambda model, body: model_server.Answer(200, {"no": "completion"}),
            ModelDownError,
            "gave no answer",
        ),
    ],
)
async def test_what_a_server_does_wrong_becomes_one_of_our_errors(
    play: model_server.Play, error: type[Exception], told: str
) -> None:
    with model_server.serving() as server:
        model = Model(settings_with(model_url=server.url, timeout_seconds=0.3))
        server.script.append(play)
        with pytest.raises(error, match=told):
            await model.complete([{"role": "system", "content": '"glossary"'}, _MATERIAL], {})
        assert len(server.calls) == 1  # it is never asked twice for one call
        await model.close()


_MATERIAL = {
    "role": "user",
    "content": json.dumps({"material": "La célula es la unidad estructural de los seres vivos. " * 40}),
}


# GPT-4's tokens of Spanish text have four characters, about; a whole answer of ten questions, or of seven
# sections and fifteen terms, six thousand.
TOKEN, ANSWER_TOKENS = 4, 1500


async def test_text_of_five_thousand_words_costs_less_than_twenty_cents(app: App) -> None:
    """C20, by the prices that are set; the quiz is asked about every chapter, in the text's own words."""
    source = book(times=8)
    assert 5000 <= source.word_count <= 5500
    with model_server.serving() as server:
        settings = settings_with(model_url=server.url)
        asker = Asker(Model(settings), await kept_for(app, settings), 0)
        author = OpenAiAuthor(asker, settings)
        summary = await author.summarise(source, language="es")
        await author.examine(source, summary, language="es", questions=10)
        assert server.steps() == ["summary", "quiz"]
        sent = [sum(len(message["content"]) for message in call["messages"]) for call in server.calls]
        told = json.loads(server.calls[1]["messages"][1]["content"])["material"]
    cost = Budget(settings).cost(sum(sent) // TOKEN, 2 * ANSWER_TOKENS)
    assert 0.1 < cost < 0.2
    for chapter in source.chapters:
        assert chapter.title in told
    assert len(told) < 7500


# --- budget -----------------------------------------------------------------------------------------------

NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


async def spend(app: App, kept: KeptAnswers, tokens: int, at: datetime) -> None:
    """A call of so many tokens; it, and all before it, were made at that moment."""

    async def call() -> Completion:
        return Completion("{}", False, tokens, 0)

    budget, kept.budget = kept.budget, Budget(settings_with())
    await kept.ask("summary", uuid4().hex, call)
    kept.budget = budget
    async with app.store.writing() as session:
        await session.execute(update(MaterialAnswer).values(asked_at=at))


async def checked(app: App, budget: Budget, request_id: UUID) -> None:
    async with app.store.writing() as session:
        await budget.check(session, request_id)


async def test_day_that_is_spent_waits_for_the_next(app: App) -> None:
    kept = await kept_for(app, settings_with(usd_per_day=1.0), now=lambda: NOON)
    await spend(app, kept, 100_000, NOON - timedelta(hours=1))
    with pytest.raises(RateLimitedError) as caught:
        await checked(app, kept.budget, kept.request_id)
    assert caught.value.delay == 12 * 3600 and not caught.value.counts_attempt
    await spend(app, kept, 0, NOON - timedelta(days=1))  # as if all of it had been yesterday
    await checked(app, kept.budget, kept.request_id)


async def test_material_that_costs_too_much_has_failed(app: App) -> None:
    kept = await kept_for(app, settings_with(usd_per_material=0.5), now=lambda: NOON)
    await spend(app, kept, 40_000, NOON)
    await checked(app, kept.budget, kept.request_id)
    await spend(app, kept, 20_000, NOON)
    with pytest.raises(MaterialError) as caught:
        await checked(app, kept.budget, kept.request_id)
    assert caught.value.code == "budget"
    await checked(app, kept.budget, uuid4())


async def test_calls_of_a_minute_are_limited_for_all_workers(app: App) -> None:
    kept = await kept_for(app, settings_with(calls_per_minute=2), now=lambda: NOON)
    for _ in range(2):
        await spend(app, kept, 1, NOON - timedelta(seconds=20))
    with pytest.raises(RateLimitedError) as caught:
        await checked(app, kept.budget, uuid4())
    assert caught.value.delay == pytest.approx(40, abs=0.1)
    later = Budget(kept.budget.settings, now=lambda: NOON + timedelta(seconds=41))
    await checked(app, later, uuid4())
