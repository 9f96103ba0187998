"""A step of a plan: what the stage of a flow says about the call it makes."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid5

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from docproc.apps.orchestrator.envelope.models import MessageType, ServiceName
from docproc.apps.orchestrator.services.catalogue import Catalogue, Service
from docproc.engine.workflow.definition import Stage
from docproc.errors import PermanentError

CALL = "service_call"
RESULT = "task_result"
# The stage that ends every plan.
RESULT_STAGE = "result"


class StepOptions(BaseModel):
    """`options:` of a stage that calls a service."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: MessageType
    # None: whom the type leads to.
    service: ServiceName | None = None
    # What it is sent; a task's own words for the step go on top of it.
    payload: dict[str, Any] = Field(default_factory=dict)
    # As in the envelope, 0 is the most urgent; None: as the task.
    priority: int | None = Field(default=None, ge=0, le=9)
    timeout_ms: int | None = Field(default=None, ge=1, le=86_400_000)
    # Its failure does not fail the task.
    optional: bool = False

    def service_in(self, catalogue: Catalogue) -> Service | None:
        return catalogue.find(self.service) if self.service else catalogue.for_type(self.type)


def options_of(stage: Stage) -> StepOptions:
    """Raises PermanentError: the flow was checked when it was made, so another release wrote it."""
    try:
        return StepOptions.model_validate(stage.options)
    except ValidationError as error:
        raise PermanentError(
            f"stage {stage.name!r} does not say what to call: {error.errors(include_url=False)[0]['msg']}",
            remedy="Give it options: {type: {domain: agent, action: execute}}",
        ) from error


def call_id(request_id: UUID, stage: str, generation: int) -> UUID:
    """The call of a step is the same however often it is tried."""
    return uuid5(request_id, f"call:{stage}:{generation}")


def tool_call_id(parent_id: UUID, key: str) -> UUID:
    return uuid5(parent_id, f"tool:{key}")
