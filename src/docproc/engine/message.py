"""PipelineMessage: the envelope that travels between stages, whatever the transport."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from docproc.errors import MessageError

SCHEMA_VERSION = 1

# Separates the levels of a unit key: "page:3/line:7" is line 7 of page 3.
UNIT_SEPARATOR = "/"

# In a payload: what opens a file once. No dead letter keeps it.
SECRETS = ("password",)

# In the payload of a compensation: what failed, what is left to undo, and what was undone.
SAGA = "saga"


def utc_now() -> datetime:
    return datetime.now(UTC)


class Failure(BaseModel):
    """Why a unit reaches its join without a result."""

    model_config = ConfigDict(frozen=True)

    stage: str
    component: str
    error: str
    message_id: UUID


class PipelineMessage(BaseModel):
    """One unit of work for one stage.

    The engine reads the addressing fields and `unit_key`. `page_index`, `document_id`, the counts and
    `payload` belong to the application and are carried untouched. Unknown fields are carried too, so
    that workers of two releases can run side by side.
    """

    model_config = ConfigDict(frozen=True, extra="allow")

    # identity
    message_id: UUID = Field(default_factory=uuid4)
    request_id: UUID
    trace_id: UUID = Field(default_factory=uuid4)
    tenant_id: str = "default"
    schema_version: int = SCHEMA_VERSION
    # where in the flow
    workflow_name: str = "default"
    workflow_version: str | None = None
    current_stage: str = ""
    source_component: str = ""
    unit_key: str = ""
    generation: int = Field(default=1, ge=1)
    # urgency
    priority: int = Field(default=5, ge=0, le=9)
    deadline_utc: AwareDatetime | None = None
    created_at: AwareDatetime = Field(default_factory=utc_now)
    # history
    attempt: int = Field(default=1, ge=1)
    replay_of: UUID | None = None
    failure: Failure | None = None
    # carried for the application
    page_index: int | None = None
    page_count: int | None = None
    document_id: UUID | None = None
    document_count: int | None = None
    file_index: int | None = None
    # What becomes of doubts: `ask` a person, or `flag` them; None: as the worker's settings say.
    review: str | None = None
    payload: dict[str, Any] = Field(default_factory=dict)

    def encode(self) -> bytes:
        return self.model_dump_json().encode()

    @classmethod
    def parse(cls, body: bytes | str) -> PipelineMessage:
        """Read a message from the wire; raises MessageError with the raw bytes when it is not one."""
        try:
            message = cls.model_validate_json(body)
        except ValidationError as error:
            raw = body.encode() if isinstance(body, str) else body
            raise MessageError(f"not a PipelineMessage: {_first_problem(error)}", raw=raw) from error
        if message.schema_version > SCHEMA_VERSION:
            raise MessageError(
                f"schema_version {message.schema_version} is newer than this worker's {SCHEMA_VERSION}",
                raw=body.encode() if isinstance(body, str) else body,
                remedy="Upgrade this worker, then replay the dead letter",
            )
        return message

    def without_secrets(self) -> PipelineMessage:
        """As it may be kept after nobody works on it any more."""
        if not any(name in self.payload for name in SECRETS):
            return self
        payload = {name: value for name, value in self.payload.items() if name not in SECRETS}
        return self.model_copy(update={"payload": payload})

    @property
    def group_key(self) -> str:
        """The unit this one is part of; empty for direct parts of the request."""
        return self.unit_key.rpartition(UNIT_SEPARATOR)[0]


def child_key(parent: str, local: str) -> str:
    """The unit key of part `local` of unit `parent`."""
    return f"{parent}{UNIT_SEPARATOR}{local}" if parent else local


def _first_problem(error: ValidationError) -> str:
    first = error.errors(include_url=False)[0]
    where = ".".join(str(part) for part in first["loc"])
    return f"{where}: {first['msg']}" if where else str(first["msg"])
