"""What the API answers: the shapes of its JSON."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator

from docproc.engine.store import events
from docproc.engine.store.tables import RequestStatus
from docproc.installed import find_applications
from docproc.registry import declared

# The statuses that requests can be asked for: the engine's, and those of the components installed here.
KnownStatus = StrEnum(  # type: ignore[misc] # its members are what is installed
    "KnownStatus",
    {
        status.upper(): str(status)
        for status in dict.fromkeys(
            [
                *RequestStatus,
                *(spec.status for spec in declared(find_applications().applications).values() if spec.status),
            ]
        )
    },
)

AN_ID = "0b8f2a52-6a0c-4f6e-9c57-3d8b1f0b9a11"


class ProblemDetail(BaseModel):
    where: str = Field(description="The parameter or field")
    problem: str


class ProblemBody(BaseModel):
    code: str = Field(description="For programs, see docs/reference/http.md", examples=["unknown_request"])
    message: str = Field(description="For people", examples=["there is no request " + AN_ID])
    remedy: str = Field(description="What to do about it; may be empty", examples=["Check the id"])
    details: list[ProblemDetail] | None = Field(default=None, description="Where several values are wrong")


class ProblemAnswer(BaseModel):
    """Every error looks like this."""

    error: ProblemBody


class Health(BaseModel):
    status: str = Field(examples=["ok"])


class Accepted(BaseModel):
    """A request that was taken in."""

    request_id: UUID = Field(examples=[AN_ID])
    status: str = Field(examples=["received"])


class Received(Accepted):
    """A submission that was taken in, and what to expect of it."""

    expected_completion: datetime | None = Field(
        default=None,
        description="When it will be done, from the backlog and how long such work took lately; empty while "
        "nothing like it was measured, and of a repeated submission",
    )
    deadline_at_risk: bool = Field(default=False, description="Whether that is after the deadline")


class Reprocessed(Accepted):
    linked_to: UUID = Field(description="The request whose files are processed again")


class _Began(BaseModel):
    """The first fields of what is said about a request; those of applications follow."""

    model_config = ConfigDict(from_attributes=True, populate_by_name=True)

    request_id: UUID = Field(validation_alias="id", examples=[AN_ID])
    status: str = Field(examples=["received"])
    workflow_name: str = Field(examples=["default"])


class StatusHead(_Began):
    created_at: datetime
    deadline_utc: datetime | None
    completed_at: datetime | None


class StatusTail(BaseModel):
    model_config = ConfigDict(from_attributes=True, populate_by_name=True)

    result: Any | None = Field(validation_alias="result_payload", description="The answer, once there is one")
    error: Any | None = Field(description="Why it failed", examples=[{"code": "cancelled", "message": "…"}])
    answer_version: int = Field(description="How often it was answered; `result` is that version")
    breached_at: datetime | None = Field(description="When its deadline passed unfinished")
    amended_at: datetime | None = Field(
        default=None, description="When its answer was last changed after it was complete"
    )


class Status(StatusTail, StatusHead):
    """Where a request stands. Applications add fields of their own (http/views.py)."""


class Answered(StatusTail, StatusHead):
    """A submission that was waited for, as `GET /status/{request_id}` has it; applications add fields."""


class FileInfo(BaseModel):
    """A file of a request, as it was sent."""

    name: str
    size: int | None = Field(default=None, description="In bytes, of a file as it was sent")


class StageProgress(BaseModel):
    stage: str
    done: int = Field(description="Messages handled")
    failed: int = Field(description="Messages that failed for good")


class Progress(BaseModel):
    stages: list[StageProgress] = Field(description="In the order in which they began")


class DetailTail(BaseModel):
    channel: str
    external_id: str | None
    priority: int = Field(description="0 to 9, 9 is most urgent")
    metadata: Any
    linked_to: UUID | None = Field(description="The request this one follows")
    link: str | None = Field(
        description="How: `reprocess` (same files), `revision` (new content) or `shadow` (a version on trial)"
    )
    files: list[FileInfo]
    progress: Progress
    open_tasks: int = Field(description="Questions that wait for a person")


class SummaryHead(_Began):
    channel: str
    external_id: str | None
    created_at: datetime
    deadline_utc: datetime | None
    completed_at: datetime | None


class SummaryTail(BaseModel):
    error: Any | None
    file_names: list[str]


class RequestSummary(SummaryTail, SummaryHead):
    """A line of the list: no result, which can be large."""


class RequestList(BaseModel):
    requests: list[RequestSummary]
    next: str | None = Field(description="`cursor` of the next page; empty on the last one")


class EventInfo(BaseModel):
    """Something that happened to a request."""

    model_config = ConfigDict(from_attributes=True)

    kind: str = Field(examples=["status"])
    stage: str | None
    unit_key: str | None = Field(examples=["page:3"])
    attempt: int | None
    outcome: str | None = Field(examples=["received"])
    worker_id: str | None
    started_at: datetime
    finished_at: datetime
    data: Any | None

    @model_validator(mode="after")
    def _without_people(self) -> EventInfo:
        self.data = events.for_clients(self.kind, self.data)
        return self


class Timeline(BaseModel):
    events: list[EventInfo]
    next: str = Field(description="`after` for what comes later", examples=["741.12"])


class ReprocessBody(BaseModel):
    model_config = ConfigDict(extra="forbid")

    workflow: str | None = Field(default=None, description="Another workflow than the first time")
