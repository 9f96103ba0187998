"""What the orchestrator's API answers: the shapes of its JSON."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, Field


class TaskAccepted(BaseModel):
    """A task that was taken in; nothing of it has begun."""

    task_id: UUID
    session_id: str
    correlation_id: UUID
    status: Literal["pending", "processing", "completed", "failed"] = "pending"


class StepInfo(BaseModel):
    """A call of a plan, or of a tool that an agent asked for."""

    step: str
    call_id: UUID
    tool: str | None = Field(default=None, description="The name that the agent gave its question")
    parent: UUID | None = Field(default=None, description="The agent's call, of a tool's")
    service: str
    queue: str
    type: str = Field(examples=["agent.execute"])
    status: str = Field(examples=["completed"])
    attempt: int
    fencing: int
    progress: int
    started_at: datetime
    ended_at: datetime | None
    result: Any | None = None
    error: Any | None = None
    degraded: Any | None = None


class Delegated(BaseModel):
    service: str
    task_id: str
    status: Literal["pending", "completed", "failed"]


class TaskInfo(BaseModel):
    """Where a task stands."""

    task_id: UUID
    session_id: str
    conversation_id: UUID | None
    correlation_id: UUID
    type: str
    priority: int = Field(description="0 is the most urgent")
    status: Literal["pending", "processing", "completed", "failed"]
    progress: int = Field(description="Of the whole task, in percent")
    created_at: datetime
    completed_at: datetime | None
    expires_at: datetime | None
    result: Any | None
    error: Any | None
    delegated_services: list[Delegated]


class TaskDetail(TaskInfo):
    steps: list[StepInfo] = Field(description="In the order in which they began")


class TaskList(BaseModel):
    tasks: list[TaskInfo]
    next: int | None = Field(description="`before` of the next page; empty on the last one")


class ServiceInfo(BaseModel):
    name: str
    title: str
    queue: str
    integrations: list[str]
    answers: bool
    priority: int
    criticality: str
    takes: list[str]
    secondary: list[str]
    open_calls: int = Field(description="Envelopes that nobody has answered yet")
    calls: int = Field(description="Calls that ended in the last five minutes")
    failed: int
    availability: float | None = Field(description="Share that did not fail; empty while nothing was called")
    health: Literal["up", "standby", "down"] = Field(
        description="Where calls go: to the service, to its second endpoint, or nowhere but for probes"
    )
    breaker: Literal["closed", "open", "half_open"] = Field(description="Of its first endpoint")


class ServiceList(BaseModel):
    services: list[ServiceInfo]


class SessionInfo(BaseModel):
    session_id: str
    context: dict[str, Any]
    created_at: datetime
    expires_at: datetime
    tasks: list[TaskInfo]


class TraceEntry(BaseModel):
    """Something that happened to a request, in order."""

    at: datetime
    task_id: UUID
    kind: str
    step: str | None
    outcome: str | None
    attempt: int | None
    worker_id: str | None
    data: Any | None


class Trace(BaseModel):
    """The whole of one request, found by its correlation id."""

    correlation_id: UUID
    tasks: list[TaskDetail]
    timeline: list[TraceEntry]
