"""What a person makes of a question: other words, another answer, or nothing at all."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

from docproc.apps.materials.content.drafts import MINUTES_PER_QUESTION, shared_points
from docproc.apps.materials.content.quiz import OPTION_IDS, QUESTIONS, Feedback, OptionId, Question, Quiz
from docproc.apps.materials.content.summary import Line

Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]


class QuestionEdit(BaseModel):
    """A question as a person wants it; what is not named here stays."""

    model_config = ConfigDict(extra="forbid")

    text: Text
    a: Line
    b: Line
    c: Line
    d: Line
    correct: OptionId
    feedback_correct: Text
    feedback_incorrect: Text
    # The quiz goes on without it.
    remove: bool = Field(default=False)

    @classmethod
    def of(cls, question: Question) -> QuestionEdit:
        """The edit that changes nothing: what a form begins with."""
        return cls(
            text=question.text,
            correct=question.correct_answer,
            feedback_correct=question.feedback.correct,
            feedback_incorrect=question.feedback.incorrect,
            **{option.id: option.text for option in question.options},
        )


class NoSuchQuestionError(ValueError):
    """The quiz has no question of this id (any more)."""


def edited(quiz: Quiz, question_id: str, edit: QuestionEdit) -> Quiz:
    """The quiz with the question as the person wants it, who thereby vouches for it.

    Raises NoSuchQuestionError, or ValueError (Pydantic's, too) for what cannot be.
    """
    if question_id not in {question.id for question in quiz.questions}:
        raise NoSuchQuestionError(question_id)
    if edit.remove:
        return without(quiz, question_id)
    questions = [
        _changed(question, edit) if question.id == question_id else question for question in quiz.questions
    ]
    return Quiz.model_validate({**quiz.model_dump(), "questions": [one.model_dump() for one in questions]})


def without(quiz: Quiz, question_id: str) -> Quiz:
    """The quiz without one of its questions; its points are the others'."""
    left = [question for question in quiz.questions if question.id != question_id]
    if len(left) < QUESTIONS[0]:
        raise ValueError(f"a quiz has at least {QUESTIONS[0]} questions: change this one instead")
    points = shared_points(len(left))
    questions = [
        {**question.model_dump(), "order": order, "points": worth}
        for order, (question, worth) in enumerate(zip(left, points, strict=True), start=1)
    ]
    changes = {
        "questions": questions,
        "total_questions": len(left),
        "time_limit_minutes": MINUTES_PER_QUESTION * len(left),
    }
    return Quiz.model_validate({**quiz.model_dump(), **changes})


def _changed(question: Question, edit: QuestionEdit) -> Question:
    changes = {
        "text": edit.text,
        "options": [{"id": letter, "text": getattr(edit, letter)} for letter in OPTION_IDS],
        "correct_answer": edit.correct,
        "feedback": Feedback(correct=edit.feedback_correct, incorrect=edit.feedback_incorrect).model_dump(),
        "needs_review": [],
    }
    return Question.model_validate({**question.model_dump(), **changes})
