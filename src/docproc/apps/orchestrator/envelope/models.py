"""The envelope as a model: every message between clients, orchestrator and services (specification §3.1)."""

from __future__ import annotations

from datetime import UTC, datetime
from enum import StrEnum
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from pydantic import (
    AfterValidator,
    AwareDatetime,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)
from pydantic_core import PydanticCustomError

from docproc.apps.orchestrator.envelope import kinds
from docproc.apps.orchestrator.envelope.errors import Code

CURRENT_VERSION: Final = "1.1"
# A message as JSON, in bytes.
LARGEST_BYTES: Final = 1024 * 1024


def _lower(value: Any) -> Any:
    return value.strip().lower() if isinstance(value, str) else value


def _service_name(value: Any) -> Any:
    """`Agent Execution`, `agent_execution` and `agent-execution` are the same service."""
    return "-".join(value.replace("_", " ").lower().split()) if isinstance(value, str) else value


def _whole(value: Any) -> Any:
    """`3.0` is a whole number in JSON, too; `"3"` and `true` are none."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


Lower = BeforeValidator(_lower)
Priority = Annotated[int, Field(ge=0, le=9, strict=True), BeforeValidator(_whole)]
Moment = Annotated[AwareDatetime, AfterValidator(lambda moment: moment.astimezone(UTC))]
ServiceName = Annotated[
    str,
    BeforeValidator(_service_name),
    Field(min_length=1, max_length=64, pattern=r"^[a-z0-9][a-z0-9.:-]*$"),
]
SessionName = Annotated[str, Field(min_length=1, max_length=128, pattern=r"^[!-~]+$")]


class Status(StrEnum):
    PENDING = "pending"
    PROCESSING = "processing"
    COMPLETED = "completed"
    FAILED = "failed"


class Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


class MessageType(Part):
    """What is wanted, in which domain. Every domain knows the common actions, some have others."""

    domain: Annotated[Literal["agent", "workflow", "conversation", "tool", "system"], Lower]
    action: Annotated[
        Literal[
            "execute", "update", "query", "notify", "status", "start", "step", "response", "health", "metric"
        ],
        Lower,
    ]

    @model_validator(mode="after")
    def _known(self) -> MessageType:
        if not kinds.is_known(self.domain, self.action):
            known = ", ".join(kinds.actions_of(self.domain))
            raise _problem(
                Code.TYPE, "type.action", f"{self.domain} has no action {self.action}", f"Use one of {known}"
            )
        return self

    @property
    def name(self) -> str:
        return f"{self.domain}.{self.action}"


class DelegatedService(Part):
    """A service that works on the task, and how far it is."""

    service: ServiceName
    task_id: str = Field(max_length=128)
    status: Literal["pending", "completed", "failed"] = "pending"


class Metadata(BaseModel):
    """What is known of the message besides; further keys are carried along."""

    model_config = ConfigDict(extra="allow", frozen=True)

    source: Literal["api", "scheduled", "system"] = "api"
    user_id: str | None = Field(default=None, max_length=128)
    timeout_ms: int | None = Field(default=None, ge=1, le=86_400_000)
    retry_count: int = Field(default=0, ge=0)
    expected_duration_ms: int | None = Field(default=None, ge=0)
    deduplication_key: str | None = Field(default=None, min_length=1, max_length=255)
    # Of messages to a service, and of what it says of them: which call, and which envelope of it.
    call_id: UUID | None = None
    fencing: int | None = Field(default=None, ge=1)


class Envelope(Part):
    """A message. Complete: what a sender may leave out was filled in."""

    schema_version: Literal["1.1"] = "1.1"
    message_id: UUID
    task_id: UUID
    tenant_id: str = Field(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9][A-Za-z0-9_.-]*$")
    session_id: SessionName | None = None
    conversation_id: UUID | None = None
    correlation_id: UUID
    created_at: Moment
    expires_at: Moment | None = None
    status: Annotated[Status, Lower]
    type: MessageType
    priority: Priority = Field(description="0 is the most urgent")
    source_service: ServiceName
    target_service: ServiceName
    delegated_services: tuple[DelegatedService, ...] = Field(default=(), max_length=1000)
    metadata: Metadata = Metadata()
    payload: dict[str, Any]
    error: dict[str, Any] | None = None

    @model_validator(mode="after")
    def _expires_later(self) -> Envelope:
        if self.expires_at is not None and self.expires_at <= self.created_at:
            raise _problem(
                Code.EXPIRES,
                "expires_at",
                "it expires at or before created_at",
                "Send a moment in the future, or leave it out",
            )
        return self

    def is_expired(self, now: datetime) -> bool:
        return self.expires_at is not None and self.expires_at <= now

    def encode(self) -> bytes:
        return self.model_dump_json(exclude_none=True).encode()

    def as_dict(self) -> dict[str, Any]:
        return self.model_dump(mode="json", exclude_none=True)


# What identifies the work: no service may change it on the way.
IMMUTABLE: Final = ("task_id", "tenant_id", "session_id", "conversation_id", "correlation_id")


def _problem(code: Code, path: str, message: str, remedy: str) -> PydanticCustomError:
    facts = {"code": code.value, "path": path, "remedy": remedy}
    return PydanticCustomError("envelope", message, facts)
