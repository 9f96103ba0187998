"""What a model must send back, and how its text becomes that: validated whole, or refused."""

from __future__ import annotations

import json
import re
from typing import Annotated, TypeVar

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, ValidationError

from docproc.apps.materials.content.difficulty import Difficulty
from docproc.apps.materials.content.quiz import QUESTIONS, Feedback
from docproc.apps.materials.content.summary import GLOSSARY_TERMS, REFLECTION_QUESTIONS, SECTIONS, Line

_FENCE = re.compile(r"^\s*```[a-zA-Z]*\s*\n(?P<inside>.*?)\n?\s*```\s*$", re.DOTALL)
_MOST_PROBLEMS = 5

Quote = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
Content = Annotated[str, StringConstraints(strip_whitespace=True, min_length=50, max_length=8000)]
Definition = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]


class Reply(BaseModel):
    # A key too many is no reason to pay for another answer; one too few is.
    model_config = ConfigDict(extra="ignore")


class SectionReply(Reply):
    title: Line
    content: Content
    difficulty: Difficulty
    estimated_time_minutes: int = Field(ge=1, le=240)
    quotes: list[Quote] = Field(default_factory=list, max_length=10)


class TermReply(Reply):
    term: Line
    definition: Definition
    quotes: list[Quote] = Field(default_factory=list, max_length=10)


class SummaryReply(Reply):
    title: Line
    sections: list[SectionReply] = Field(min_length=SECTIONS[0], max_length=SECTIONS[1])
    glossary: list[TermReply] = Field(min_length=GLOSSARY_TERMS[0], max_length=GLOSSARY_TERMS[1])
    reflection_questions: list[Line] = Field(
        min_length=REFLECTION_QUESTIONS[0], max_length=REFLECTION_QUESTIONS[1]
    )


class QuestionReply(Reply):
    text: Line
    difficulty: Difficulty
    correct: Line
    distractors: list[Line] = Field(min_length=3, max_length=3)
    feedback: Feedback
    quote: Quote


class QuizReply(Reply):
    title: Line
    questions: list[QuestionReply] = Field(min_length=QUESTIONS[0], max_length=QUESTIONS[1])


class NotesReply(Reply):
    """Of a part of a long text."""

    points: list[Line] = Field(min_length=1, max_length=40)
    terms: list[TermReply] = Field(default_factory=list, max_length=30)
    quotes: list[Quote] = Field(min_length=1, max_length=30)


R = TypeVar("R", bound=Reply)


class BadReplyError(ValueError):
    """What the model sent cannot be used; the text says why, for the model to read."""


def parsed(text: str, kind: type[R], *, is_cut_off: bool = False) -> R:
    """Raises BadReplyError. Nothing is guessed: half an answer is none."""
    if is_cut_off:
        raise BadReplyError("the answer was cut off at the limit of its length; write it shorter")
    fenced = _FENCE.match(text)
    try:
        said = json.loads(fenced["inside"] if fenced else text)
    except ValueError as error:
        raise BadReplyError(f"it is not JSON ({str(error)[:120]})") from error
    if not isinstance(said, dict):
        raise BadReplyError("it is JSON, but not an object")
    try:
        return kind.model_validate(said)
    except ValidationError as error:
        problems = [
            f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in error.errors(include_url=False)
        ]
        raise BadReplyError("; ".join(problems[:_MOST_PROBLEMS])) from error
