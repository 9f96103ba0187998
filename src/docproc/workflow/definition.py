"""The YAML of a workflow as validated models (specification §6, with `after`, `when`, `retry`, …)."""

from __future__ import annotations

import hashlib
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import from_json, to_json

from docproc.workflow import conditions

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$")]


class _Strict(BaseModel):
    # Unknown keys are refused: a misspelt `tiemout_seconds` must not be silently ignored.
    # So is infinity: versions are kept as JSON, which has no such number.
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class OnFailure(StrEnum):
    """What the failure of one unit means for its request."""

    CONTINUE = "continue"
    FAIL_REQUEST = "fail_request"


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


class Stage(_Strict):
    """One step of the flow: a component and its settings here."""

    name: Name
    component: Name
    routing_key: str | None = None
    timeout_seconds: float | None = Field(default=None, gt=0)
    parallel: bool = False
    confidence_threshold: float | None = Field(default=None, ge=0, le=1)
    backoffice_queue: str | None = None
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


class SchemaField(_Strict):
    name: str = Field(pattern=r"^[a-z][a-z0-9_]*$")
    type: Literal["string", "decimal", "date"] = "string"
    required: bool = False


class ExtractionSchema(_Strict):
    fields: tuple[SchemaField, ...]

    @field_validator("fields")
    @classmethod
    def _once_each(cls, value: tuple[SchemaField, ...]) -> tuple[SchemaField, ...]:
        names = [field.name for field in value]
        if twice := sorted({name for name in names if names.count(name) > 1}):
            raise ValueError(f"these fields are listed twice: {', '.join(twice)}")
        return value


class Workflow(_Strict):
    """A whole flow. List order is the flow unless a stage says `after:`."""

    name: Name
    description: str = ""
    version: int | str = 1
    sla: Sla | None = None
    stages: tuple[Stage, ...] = Field(min_length=1)
    extraction_schemas: dict[str, ExtractionSchema] = Field(default_factory=dict)

    def stage(self, name: str) -> Stage:
        return next(stage for stage in self.stages if stage.name == name)

    @property
    def content_version(self) -> str:
        """The content's address: the same flow has the same version on every machine."""
        canonical = self.model_dump_json(exclude_none=True).encode()
        return hashlib.sha256(canonical).hexdigest()[:16]
