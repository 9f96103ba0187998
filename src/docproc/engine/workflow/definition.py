"""The YAML of a workflow as validated models (specification §6, with `after`, `when`, `retry`, …)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    ValidationError,
    create_model,
    field_validator,
    model_validator,
)
from pydantic_core import PydanticCustomError, from_json, to_json

from docproc.engine.workflow import conditions

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]


class Strict(BaseModel):
    """The base of everything in a workflow file, the sections of applications included."""

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


class ErrorRetry(Strict):
    """How one class of error is retried, by explicit delays or for as long as the server asks."""

    delays_seconds: tuple[Annotated[float, Field(ge=0)], ...] = ()
    unlimited: bool = False
    delay_seconds: float = Field(default=1.0, ge=0)

    @model_validator(mode="after")
    def _one_of_both(self) -> ErrorRetry:
        if self.unlimited == bool(self.delays_seconds):
            raise ValueError("give either `delays_seconds: [..]` or `unlimited: true`")
        return self


class Retry(Strict):
    """Exponential delays with jitter; `errors` overrides them by exception class name."""

    attempts: int = Field(default=3, ge=1)
    delay_seconds: float = Field(default=1.0, ge=0)
    factor: float = Field(default=2.0, ge=1)
    max_delay_seconds: float = Field(default=300.0, ge=0)
    jitter: float = Field(default=0.1, ge=0, le=1)
    errors: dict[str, ErrorRetry] = Field(default_factory=dict)


class Aggregation(Strict):
    type: Literal["fan_in"] = "fan_in"
    # Units are collected by what they are part of; at the top that is the request.
    collect_by: Literal["request_id"] = "request_id"
    expect_count_from: str | None = None


class Sla(Strict):
    deadline_seconds: float = Field(gt=0)
    warn_threshold_pct: float = Field(default=70, gt=0, le=100)
    escalation_threshold_pct: float = Field(default=90, gt=0, le=100)

    @model_validator(mode="after")
    def _warn_before_escalating(self) -> Sla:
        if self.warn_threshold_pct > self.escalation_threshold_pct:
            raise ValueError("warn_threshold_pct must not be above escalation_threshold_pct")
        return self


class Retention(Strict):
    """How many days after its end a request stays; None: until somebody erases it."""

    # Files, rows and answers.
    content_days: float | None = Field(default=None, ge=0)
    # After the content is erased: who did what kind of thing, and when.
    audit_days: float | None = Field(default=None, ge=0)

    @model_validator(mode="after")
    def _audit_outlasts_content(self) -> Retention:
        if self.content_days is None and self.audit_days is None:
            raise ValueError("give `content_days: 90`, `audit_days: 730` or both")
        return self


class SecondReader(Strict):
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


class Stage(Strict):
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
    # The stage that undoes this one when a later one, or this one itself, fails the request.
    compensate: Name | None = None
    # `off`: its messages always go through its queue, even where the stage before could go on with them.
    chain: bool | None = None
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


class Workflow(Strict):
    """A whole flow. List order is the flow unless a stage says `after:`.

    What applications add to it (`with_sections`) is read by `section`.
    """

    name: Name
    description: str = ""
    version: int | str = 1
    # Which requests that name no workflow are this one's, by channel and metadata.
    accepts: str | None = None
    sla: Sla | None = None
    # What becomes of a request that cannot be done in time as things stand; None: as `accept`.
    admission: Admission | None = None
    # How long its requests are kept; None: as long as nobody erases them.
    retention: Retention | None = None
    stages: tuple[Stage, ...] = Field(min_length=1)

    @field_validator("accepts")
    @classmethod
    def _readable_accepts(cls, value: str | None) -> str | None:
        if value is not None:
            conditions.check(value, conditions.REQUEST_NAMES, key="accepts")
        return value

    def stage(self, name: str) -> Stage:
        return next(stage for stage in self.stages if stage.name == name)

    def section(self, key: str) -> Any:
        """What the flow says under an application's key; None when it says nothing there."""
        return getattr(self, key, None)

    @property
    def content_version(self) -> str:
        """The content's address: the same flow has the same version on every machine."""
        canonical = self.model_dump_json(exclude_none=True).encode()
        return hashlib.sha256(canonical).hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class WorkflowSection:
    """A key that an application adds to workflow files, and what its value must be."""

    key: str
    type: Any
    # Looks at the whole flow; raises ValueError, or what `error_at` makes.
    check: Callable[[Workflow], None] | None = None


def with_sections(sections: Sequence[WorkflowSection]) -> type[Workflow]:
    """Workflow with these keys. A key that a file leaves out is None, and then no part of its version: a flow
    has the same version in processes that know different applications."""
    if not sections:
        return Workflow
    fields: dict[str, Any] = {one.key: (one.type | None, None) for one in sections}
    checks: dict[str, Any] = {f"check_{one.key}": _after(one.check) for one in sections if one.check}
    return create_model("Workflow", __base__=Workflow, __validators__=checks, **fields)


def _after(check: Callable[[Workflow], None]) -> Any:
    def validator(workflow: Workflow) -> Workflow:
        check(workflow)
        return workflow

    return model_validator(mode="after")(validator)


def refuse_twice(what: str, names: Sequence[str]) -> None:
    """A ValueError that lists the names which stand there more than once."""
    if twice := sorted({name for name in names if names.count(name) > 1}):
        raise ValueError(f"these {what} are listed twice: {', '.join(twice)}")


def error_at(location: tuple[str | int, ...], value: Any, problem: str) -> ValidationError:
    """An error at a place inside a model, so that the loader can name its line."""
    kind = PydanticCustomError("value_error", "{problem}", {"problem": problem})
    return ValidationError.from_exception_data("schema", [{"type": kind, "loc": location, "input": value}])
