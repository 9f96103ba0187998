"""A kind of task in a few lines: a form with the fields of a model, filled in with what was found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from pydantic import BaseModel, ValidationError
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import PipelineMessage
from docproc.engine.store.task_tables import BackofficeTask
from docproc.engine.store.tasks import AMENDS
from docproc.errors import InvalidAnswerError
from docproc.people.audit import Change, change
from docproc.people.kinds import Listed, Shown, Sitting, TaskKind, Words, asked, message_of, plain

# How a field of the model is asked, by its JSON schema; whatever else is a line of text.
_INPUTS = {"boolean": "checkbox", "integer": "number", "number": "number"}


@dataclass(frozen=True, slots=True)
class FormAnswer:
    """The values of the form, as JSON."""

    values: Mapping[str, Any]

    def output(self) -> dict[str, Any]:
        return dict(self.values)


@dataclass(frozen=True, slots=True)
class Entry:
    """A field of the form. `input` is checkbox, number, text or select."""

    name: str
    label: str
    input: str
    value: Any
    is_required: bool
    options: tuple[str, ...] = ()


class FormKind(TaskKind[FormAnswer]):
    """Shows what the task's `input_data` has, asks for the fields of `answer`, and sends the unit on.

    Of `input_data`, values named like fields of the answer are what the machine found: the form begins with
    them, and the audit compares. All others are shown beside the form. What goes on is the waiting message
    with the answer in its payload; override `apply` to write, too.
    """

    # What a person is asked, where the title does not say it.
    question: ClassVar[Words | None] = None
    # The fields of an answer, and what they may be.
    answer: ClassVar[type[BaseModel]]
    template: ClassVar[str] = "form.html"

    def listed(self, task: BackofficeTask, language: str) -> Listed:
        return Listed(self.title[language])

    async def shown(self, session: AsyncSession, sitting: Sitting) -> Shown:
        language = sitting.language
        context = {
            "question": (self.question or self.title)[language],
            "facts": [(self._label(name, language), value) for name, value in self._facts(sitting.task)],
            "entries": self._entries(sitting.task, language),
        }
        return Shown(self.template, context)

    def _label(self, name: str, language: str) -> str:
        return self.name_of(name, language) or plain(name)

    def _facts(self, task: BackofficeTask) -> list[tuple[str, Any]]:
        hidden = {*self.answer.model_fields, AMENDS, "answers", "review"}
        return [(name, value) for name, value in asked(task).items() if name not in hidden]

    def _entries(self, task: BackofficeTask, language: str) -> list[Entry]:
        found = []
        for name, kind in self._kinds().items():
            one = self.answer.model_fields[name]
            options = tuple(str(option) for option in kind.get("enum", ()))
            shape = "select" if options else _INPUTS.get(kind.get("type", ""), "text")
            value = asked(task).get(name, None if one.is_required() else one.get_default())
            found.append(Entry(name, self._label(name, language), shape, value, one.is_required(), options))
        return found

    def _kinds(self) -> dict[str, Mapping[str, Any]]:
        """By field, the JSON schema of its values."""
        schema = self.answer.model_json_schema()
        definitions = schema.get("$defs", {})
        return {name: _plainest(one, definitions) for name, one in schema["properties"].items()}

    def takes(self) -> Mapping[str, str]:
        return {name: kind.get("type", "string") for name, kind in self._kinds().items()}

    def read(self, said: Mapping[str, Any], sitting: Sitting) -> FormAnswer:
        """Whatever else came, such as who sends it, is left out."""
        given = {name: value for name, value in said.items() if name in self.answer.model_fields}
        try:
            found = self.answer.model_validate(given)
        except ValidationError as error:
            problems = {".".join(map(str, one["loc"])): one["msg"] for one in error.errors()}
            told = "; ".join(f"{name}: {problem}" for name, problem in problems.items())
            raise InvalidAnswerError(
                told, problems=problems, remedy="Correct these fields and send it again"
            ) from error
        return FormAnswer(found.model_dump(mode="json"))

    async def apply(
        self, session: AsyncSession, task: BackofficeTask, answer: FormAnswer
    ) -> PipelineMessage | None:
        message = message_of(task)
        return message.model_copy(update={"payload": {**message.payload, **answer.values}})

    def changes(self, task: BackofficeTask, answer: FormAnswer) -> list[Change]:
        found = asked(task)
        return [change(name, found.get(name), value) for name, value in answer.values.items()]

    def meant(self, task: BackofficeTask, output: Mapping[str, Any]) -> dict[str, Any]:
        return {name: output.get(name) for name in self.answer.model_fields}


def _plainest(schema: Mapping[str, Any], definitions: Mapping[str, Any]) -> Mapping[str, Any]:
    """The JSON schema of a field's value; of `X | None` that of X, of a name what it stands for."""
    either = [one for one in schema.get("anyOf", ()) if one.get("type") != "null"]
    one: Mapping[str, Any] = either[0] if either else schema
    return definitions[one["$ref"].rpartition("/")[2]] if "$ref" in one else one
