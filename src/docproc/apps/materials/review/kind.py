"""The task about a question that did not pass a check: put it right, let it stand, or take it out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials.content.editing import NoSuchQuestionError, QuestionEdit, edited
from docproc.apps.materials.content.quiz import QUESTIONS, Quiz
from docproc.apps.materials.content.wording import normal
from docproc.apps.materials.http.materials import documents_of
from docproc.apps.materials.publishing import publish
from docproc.apps.materials.review.checks import CHECK_NAMES
from docproc.apps.materials.store import MaterialStore
from docproc.engine.message import PipelineMessage
from docproc.engine.store.task_tables import BackofficeTask
from docproc.errors import InvalidAnswerError
from docproc.people.forms import FormAnswer, FormKind
from docproc.people.kinds import Listed, Shown, Sitting, Words, asked


@dataclass(frozen=True, slots=True)
class _Prepared:
    documents: MaterialStore
    edit: QuestionEdit
    by: str


class QuestionKind(FormKind):
    title: ClassVar[Words] = {"en": "Question of a quiz", "es": "Pregunta de un cuestionario"}
    question: ClassVar[Words] = {
        "en": "Is this question right, and can it be answered from the text?",
        "es": "¿Es correcta esta pregunta, y se puede responder con el texto?",
    }
    names: ClassVar[Mapping[str, Words]] = {
        "material_id": {"en": "Material", "es": "Material"},
        "problems": {"en": "What did not pass", "es": "Lo que no se cumple"},
        "evidence": {"en": "In the text", "es": "En el texto"},
        "text": {"en": "Question", "es": "Pregunta"},
        "a": {"en": "Option a", "es": "Opción a"},
        "b": {"en": "Option b", "es": "Opción b"},
        "c": {"en": "Option c", "es": "Opción c"},
        "d": {"en": "Option d", "es": "Opción d"},
        "correct": {"en": "Correct option", "es": "Opción correcta"},
        "feedback_correct": {"en": "Said when it is right", "es": "Comentario si se acierta"},
        "feedback_incorrect": {"en": "Said when it is wrong", "es": "Comentario si se falla"},
        "remove": {"en": "Take the question out of the quiz", "es": "Quitar la pregunta del cuestionario"},
    }
    answer = QuestionEdit
    usual_seconds = 60.0

    def listed(self, task: BackofficeTask, language: str) -> Listed:
        return Listed(
            self.title[language], about=str(asked(task)["text"])[:120], detail=str(asked(task)["material_id"])
        )

    async def shown(self, session: AsyncSession, sitting: Sitting) -> Shown:
        """What did not pass, in words, and what the text says, instead of the bare values."""
        form = await super().shown(session, sitting)
        seen, language = asked(sitting.task), sitting.language
        page = {"en": "page", "es": "página"}[language]
        quotes = "\n".join(f"«{one['quote']}» ({page} {one['page']})" for one in seen["evidence"])
        problems = "; ".join(CHECK_NAMES[name][language] for name in seen["needs_review"])
        facts = {"material_id": seen["material_id"], "problems": problems, "evidence": quotes}
        told = [(self._label(name, language), value) for name, value in facts.items()]
        return Shown(form.template, {**form.context, "facts": told}, form.script_texts)

    def read(self, said: Mapping[str, Any], sitting: Sitting) -> FormAnswer:
        answer = super().read(said, sitting)
        edit = QuestionEdit.model_validate(answer.values)
        options: dict[str, str] = {}
        for letter in ("a", "b", "c", "d"):
            text = normal(getattr(edit, letter))
            if text in options and not edit.remove:
                problem = f"it says the same as option {options[text]}"
                raise InvalidAnswerError(
                    problem, problems={letter: problem}, remedy="Give four different options"
                )
            options[text] = letter
        return answer

    async def prepare(self, sitting: Sitting, answer: FormAnswer) -> _Prepared:
        by = sitting.operator.username
        return _Prepared(documents_of(sitting.application), QuestionEdit.model_validate(answer.values), by)

    async def keep(self, session: AsyncSession, task: BackofficeTask, prepared: _Prepared) -> None:
        """The quiz's next version; a quiz that lost the question in the meantime stays as it is."""
        seen = asked(task)

        def change(quiz: Quiz) -> Quiz:
            return edited(quiz, seen["question_id"], prepared.edit)

        try:
            await publish(
                session,
                prepared.documents,
                task.tenant_id,
                seen["material_id"],
                change,
                edit_id=f"task:{task.id}",
                by=prepared.by,
            )
        except NoSuchQuestionError:
            pass
        except ValueError as error:  # the last of five cannot be taken out
            told = {"remove": f"a quiz has at least {QUESTIONS[0]} questions"}
            raise InvalidAnswerError(
                str(error), problems=told, remedy="Change the question instead"
            ) from error

    async def apply(
        self, session: AsyncSession, task: BackofficeTask, answer: FormAnswer
    ) -> PipelineMessage | None:
        """The material was done before anybody was asked: nothing goes on."""
        return None

    async def give_up(self, session: AsyncSession, task: BackofficeTask) -> PipelineMessage | None:
        """The question stays as it is, still marked."""
        return None
