"""The quiz of a material, in the shape it is stored in.

The models hold what every quiz must be (four options, one of them correct, points that add up). Whether a
question is any good is judged by `checks`, because such a question goes to a person instead of failing.
"""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator, model_validator

from docproc.apps.materials.content.difficulty import Difficulty
from docproc.apps.materials.content.evidence import Evidence
from docproc.apps.materials.content.summary import Language, Line
from docproc.apps.materials.content.wording import normal

QUESTIONS = (5, 10)
OPTION_IDS = ("a", "b", "c", "d")
TOTAL_POINTS = 100
PASSING_SCORE = 70

OptionId = Literal["a", "b", "c", "d"]
Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]


class Option(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: OptionId
    text: Line


class Feedback(BaseModel):
    model_config = ConfigDict(extra="forbid")

    correct: Text
    incorrect: Text


class Question(BaseModel):
    model_config = ConfigDict(extra="forbid")

    id: Line
    text: Text
    type: Literal["multiple_choice"] = "multiple_choice"
    difficulty: Difficulty
    points: int = Field(ge=1, le=TOTAL_POINTS)
    order: int = Field(ge=1)
    options: list[Option] = Field(min_length=4, max_length=4)
    correct_answer: OptionId
    feedback: Feedback
    evidence: list[Evidence] = Field(min_length=1)
    # The checks it did not pass: a person is to look at it.
    needs_review: list[str] = []

    @field_validator("options")
    @classmethod
    def _are_four_different_ones(cls, options: list[Option]) -> list[Option]:
        if tuple(option.id for option in options) != OPTION_IDS:
            raise ValueError("options must be a, b, c and d, in this order")
        if len({normal(option.text) for option in options}) != len(options):
            raise ValueError("two options say the same")
        return options

    @property
    def correct_option(self) -> Option:
        return self.options[OPTION_IDS.index(self.correct_answer)]

    @property
    def distractors(self) -> list[Option]:
        return [option for option in self.options if option.id != self.correct_answer]


class Quiz(BaseModel):
    """What is stored in `material_assessment`, without the keys of the store (`content.stored`)."""

    model_config = ConfigDict(extra="forbid")

    title: Line
    language: Language
    questions: list[Question] = Field(min_length=QUESTIONS[0], max_length=QUESTIONS[1])
    total_questions: int
    total_points: int = TOTAL_POINTS
    passing_score: int = Field(default=PASSING_SCORE, ge=1, le=TOTAL_POINTS)
    time_limit_minutes: int = Field(ge=1)
    generator: Line

    @model_validator(mode="after")
    def _adds_up(self) -> Quiz:
        count = len(self.questions)
        if self.total_questions != count:
            raise ValueError(f"total_questions is {self.total_questions}, but there are {count}")
        if sum(question.points for question in self.questions) != self.total_points:
            raise ValueError(f"the questions' points must add up to {self.total_points}")
        if [question.order for question in self.questions] != list(range(1, count + 1)):
            raise ValueError(f"questions must be ordered 1 to {count}")
        if len({question.id for question in self.questions}) != count:
            raise ValueError("two questions have the same id")
        return self
