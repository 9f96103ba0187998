"""The YAML of a workflow as validated models (specification §6, with `after`, `when`, `retry`, …)."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from datetime import date
from decimal import InvalidOperation
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError, from_json, to_json

from docproc.apps.documents.understanding import validate
from docproc.apps.documents.understanding.extract import rules
from docproc.apps.documents.understanding.extract.checks import comparable
from docproc.apps.documents.understanding.extract.spec import ColumnSpec, FieldSpec
from docproc.engine.workflow import conditions

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]


class _Strict(BaseModel):
    # Unknown keys are refused: a misspelt `tiemout_seconds` must not be silently ignored.
    # So is infinity: versions are kept as JSON, which has no such number.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class OnFailure(StrEnum):
    """What the failure of one unit means for its request."""

    CONTINUE = "continue"
    FAIL_REQUEST = "fail_request"


class WhenNoTime(StrEnum):
    """What becomes of a doubt that nobody can settle before the deadline."""

    ANSWER_FLAGGED = "answer_flagged"  # the answer goes out marked; a person's word amends it
    WAIT = "wait"


class Admission(StrEnum):
    """What becomes of a request whose deadline is at risk when it arrives."""

    ACCEPT = "accept"
    REFUSE = "refuse"


class ErrorRetry(_Strict):
    """How one class of error is retried, by explicit delays or for as long as the server asks."""

    delays_seconds: tuple[Annotated[float, Field(ge=0)], ...] = ()
    unlimited: bool = False
    delay_seconds: float = Field(default=1.0, ge=0)

    @model_validator(mode="after")
    def _one_of_both(self) -> ErrorRetry:
        if self.unlimited == bool(self.delays_seconds):
            raise ValueError("give either `delays_seconds: [..]` or `unlimited: true`")
        return self


class Retry(_Strict):
    """Exponential delays with jitter; `errors` overrides them by exception class name."""

    attempts: int = Field(default=3, ge=1)
    delay_seconds: float = Field(default=1.0, ge=0)
    factor: float = Field(default=2.0, ge=1)
    max_delay_seconds: float = Field(default=300.0, ge=0)
    jitter: float = Field(default=0.1, ge=0, le=1)
    errors: dict[str, ErrorRetry] = Field(default_factory=dict)


class Aggregation(_Strict):
    type: Literal["fan_in"] = "fan_in"
    # Units are collected by what they are part of; at the top that is the request.
    collect_by: Literal["request_id"] = "request_id"
    expect_count_from: str | None = None


class Sla(_Strict):
    deadline_seconds: float = Field(gt=0)
    warn_threshold_pct: float = Field(default=70, gt=0, le=100)
    escalation_threshold_pct: float = Field(default=90, gt=0, le=100)

    @model_validator(mode="after")
    def _warn_before_escalating(self) -> Sla:
        if self.warn_threshold_pct > self.escalation_threshold_pct:
            raise ValueError("warn_threshold_pct must not be above escalation_threshold_pct")
        return self


class SecondReader(_Strict):
    """Whose answers are checked by a second person who does not see them."""

    # Of all answers, chosen by the task's id.
    share: float = Field(default=0.0, ge=0, le=1)
    # Every answer that decides one of these.
    fields: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _reads_something(self) -> SecondReader:
        if not self.share and not self.fields:
            raise ValueError("give `share: 0.05`, `fields: [..]` or both")
        return self


class Stage(_Strict):
    """One step of the flow: a component and its settings here."""

    name: Name
    component: Name
    routing_key: str | None = None
    timeout_seconds: float | None = Field(default=None, gt=0)
    parallel: bool = False
    confidence_threshold: float | None = Field(default=None, ge=0, le=1)
    backoffice_queue: str | None = None
    # None: as `answer_flagged`.
    when_no_time: WhenNoTime | None = None
    second_reader: SecondReader | None = None
    aggregation: Aggregation | None = None
    after: tuple[Name, ...] | None = None
    when: str | None = None
    retry: Retry = Retry()
    on_failure: OnFailure | None = None
    window: int | None = Field(default=None, ge=1)
    # Free settings for the component itself.
    options: dict[str, Any] = Field(default_factory=dict)

    @field_validator("after", mode="before")
    @classmethod
    def _one_name_is_a_list(cls, value: Any) -> Any:
        return [value] if isinstance(value, str) else value

    @field_validator("when")
    @classmethod
    def _readable_condition(cls, value: str | None) -> str | None:
        if value is not None:
            conditions.check(value)
        return value

    @field_validator("options")
    @classmethod
    def _as_read_back(cls, value: dict[str, Any]) -> dict[str, Any]:
        """As any process will read it from the stored version: a YAML date is text for all of them."""
        return dict(from_json(to_json(value)))


FieldName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
# What is printed beside a value: a list, or lists by language for whoever reads the file; all of them count.
Labels = tuple[str, ...] | dict[str, tuple[str, ...]]


def _all_labels(labels: Labels) -> tuple[str, ...]:
    if isinstance(labels, dict):
        return tuple(dict.fromkeys(label for of_one in labels.values() for label in of_one))
    return labels


class SchemaColumn(_Strict):
    """A column of a table field."""

    name: FieldName
    type: Literal["string", "decimal", "date"] = "string"
    labels: Labels = ()


class SchemaField(_Strict):
    """A field of a document type: how it is found, and what a right value looks like."""

    name: FieldName
    type: Literal["string", "decimal", "date", "table"] = "string"
    required: bool = False
    # False: what is not sure is left out instead of asking a person.
    review: bool = True
    # Known fields need none.
    labels: Labels = ()
    validators: tuple[str, ...] = ()
    pattern: str | None = None
    one_of: tuple[str, ...] = ()
    # As values are written, so that nothing is lost to floating point: `1250.00`, `2026-03-12`.
    min: str | None = None
    max: str | None = None
    columns: tuple[SchemaColumn, ...] = ()

    @field_validator("min", "max", mode="before")
    @classmethod
    def _as_written(cls, value: Any) -> Any:
        return str(value) if isinstance(value, int | float | date) and not isinstance(value, bool) else value

    @field_validator("columns")
    @classmethod
    def _columns_once_each(cls, value: tuple[SchemaColumn, ...]) -> tuple[SchemaColumn, ...]:
        _refuse_twice("columns", [column.name for column in value])
        return value

    @model_validator(mode="after")
    def _checks_fit_the_type(self) -> SchemaField:
        if self.required and not self.review:
            raise ValueError("a field that is `required` cannot have `review: false`")
        if (self.type == "table") != bool(self.columns):
            raise ValueError("a field of type `table` has `columns`, and only such a field")
        if (self.pattern or self.one_of) and self.type != "string":
            raise ValueError("`pattern` and `one_of` are for fields of type `string`")
        if (self.min or self.max) and self.type not in ("decimal", "date"):
            raise ValueError("`min` and `max` are for fields of type `decimal` or `date`")
        self._check_validators()
        self._check_values()
        return self

    def _check_validators(self) -> None:
        for name in self.validators:
            if name not in validate.KINDS:
                known = ", ".join(sorted(validate.KINDS))
                raise ValueError(f"no validator is called {name!r}; there are {known}")
            if (wanted := validate.TYPES.get(name, "string")) != self.type:
                raise ValueError(f"the validator {name!r} is for fields of type `{wanted}`")

    def _check_values(self) -> None:
        try:
            re.compile(self.pattern or "")
        except re.error as error:
            raise ValueError(f"`pattern` is not a regular expression: {error}") from error
        for bound in filter(None, (self.min, self.max)):
            try:
                comparable(self.type, bound)
            except (InvalidOperation, ValueError):
                raise ValueError(f"{bound!r} is not a {self.type}, such as `10.50` or `2026-03-12`") from None

    @property
    def spec(self) -> FieldSpec:
        """As the extraction asks for it."""
        columns = tuple(ColumnSpec(one.name, one.type, _all_labels(one.labels)) for one in self.columns)
        return FieldSpec(
            self.name, self.type, self.required, _all_labels(self.labels),
            self.validators, self.pattern, self.one_of, self.min, self.max, columns,
        )  # fmt: skip


class ExtractionSchema(_Strict):
    """The fields of a document type, and what must be true between them."""

    fields: tuple[SchemaField, ...]
    # Phrases that tell the type; the built-in types need none.
    keywords: tuple[str, ...] = ()
    rules: tuple[str, ...] = ()

    @field_validator("fields")
    @classmethod
    def _once_each(cls, value: tuple[SchemaField, ...]) -> tuple[SchemaField, ...]:
        _refuse_twice("fields", [field.name for field in value])
        return value

    @model_validator(mode="after")
    def _readable_rules(self) -> ExtractionSchema:
        types = {field.name: str(field.type) for field in self.fields}
        columns = {
            field.name: {column.name: str(column.type) for column in field.columns}
            for field in self.fields
            if field.columns
        }
        for index, rule in enumerate(self.rules):
            try:
                rules.check(rule, types, columns)
            except ValueError as error:
                raise _at(("rules", index), rule, str(error)) from error
        return self


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"these {what} are listed twice: {', '.join(twice)}")


def _at(location: tuple[str | int, ...], value: Any, problem: str) -> ValidationError:
    """An error at a place inside the model, so that the loader can name its line."""
    kind = PydanticCustomError("value_error", "{problem}", {"problem": problem})
    return ValidationError.from_exception_data("schema", [{"type": kind, "loc": location, "input": value}])


class EarlyAnswer(_Strict):
    """Answer before everything is there: when each of these types has a document without doubts."""

    types: tuple[Name, ...] = Field(min_length=1)

    @field_validator("types")
    @classmethod
    def _once_each(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        _refuse_twice("types", value)
        return value


class Workflow(_Strict):
    """A whole flow. List order is the flow unless a stage says `after:`."""

    name: Name
    description: str = ""
    version: int | str = 1
    # Which requests that name no workflow are this one's, by channel and metadata.
    accepts: str | None = None
    sla: Sla | None = None
    early_answer: EarlyAnswer | None = None
    # What becomes of a request that cannot be done in time as things stand; None: as `accept`.
    admission: Admission | None = None
    stages: tuple[Stage, ...] = Field(min_length=1)
    extraction_schemas: dict[str, ExtractionSchema] = Field(default_factory=dict)

    @field_validator("accepts")
    @classmethod
    def _readable_accepts(cls, value: str | None) -> str | None:
        if value is not None:
            conditions.check(value, conditions.REQUEST_NAMES, key="accepts")
        return value

    @model_validator(mode="after")
    def _early_types_are_known(self) -> Workflow:
        for index, name in enumerate(self.early_answer.types if self.early_answer else ()):
            if name not in self.extraction_schemas:
                known = ", ".join(self.extraction_schemas) or "none"
                problem = f"no extraction schema is called {name!r}; there are {known}"
                raise _at(("early_answer", "types", index), name, problem)
        return self

    def stage(self, name: str) -> Stage:
        return next(stage for stage in self.stages if stage.name == name)

    @property
    def content_version(self) -> str:
        """The content's address: the same flow has the same version on every machine."""
        canonical = self.model_dump_json(exclude_none=True).encode()
        return hashlib.sha256(canonical).hexdigest()[:16]
