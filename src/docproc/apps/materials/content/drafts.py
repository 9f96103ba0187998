"""Makes a quiz of what an author drafted: ids, points, time, and the place of the correct option."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from docproc.apps.materials.content.difficulty import Difficulty
from docproc.apps.materials.content.evidence import Evidence
from docproc.apps.materials.content.quiz import OPTION_IDS, TOTAL_POINTS, Feedback, Option, Question, Quiz
from docproc.apps.materials.content.summary import Line

MINUTES_PER_QUESTION = 2


class QuestionDraft(BaseModel):
    """What an author has to say of a question; everything else follows from it."""

    model_config = ConfigDict(extra="forbid")

    text: Line
    difficulty: Difficulty
    correct: Line
    # Three wrong options.
    distractors: list[Line] = Field(min_length=3, max_length=3)
    feedback: Feedback
    evidence: list[Evidence] = Field(min_length=1)


def assemble(title: str, drafts: Sequence[QuestionDraft], *, language: str, generator: str) -> Quiz:
    """The quiz of these questions, in their order; the same drafts always give the same quiz."""
    places = correct_places(drafts)
    points = shared_points(len(drafts))
    questions = [
        _question(number, draft, place, worth)
        for number, (draft, place, worth) in enumerate(zip(drafts, places, points, strict=True), start=1)
    ]
    return Quiz(
        title=title,
        language=language,
        questions=questions,
        total_questions=len(questions),
        time_limit_minutes=MINUTES_PER_QUESTION * len(questions),
        generator=generator,
    )


def shared_points(count: int) -> list[int]:
    """`TOTAL_POINTS` in `count` whole shares that differ by one at most; the larger ones come last."""
    share, rest = divmod(TOTAL_POINTS, count)
    return [share + (index >= count - rest) for index in range(count)]


def correct_places(drafts: Sequence[QuestionDraft]) -> list[int]:
    """Where each question's correct option stands: every place about equally often, in no visible order.

    Seeded by the questions themselves, because a retry must store the same quiz.
    """
    texts = "\n".join(draft.text for draft in drafts)
    chance = random.Random(hashlib.sha256(texts.encode()).digest())
    places: list[int] = []
    while len(places) < len(drafts):
        four = list(range(len(OPTION_IDS)))
        chance.shuffle(four)
        places += four
    return places[: len(drafts)]


def _question(number: int, draft: QuestionDraft, place: int, points: int) -> Question:
    texts = list(draft.distractors)
    texts.insert(place, draft.correct)
    return Question(
        id=f"q{number}",
        text=draft.text,
        difficulty=draft.difficulty,
        points=points,
        order=number,
        options=[Option(id=letter, text=text) for letter, text in zip(OPTION_IDS, texts, strict=True)],
        correct_answer=OPTION_IDS[place],
        feedback=draft.feedback,
        evidence=draft.evidence,
    )
