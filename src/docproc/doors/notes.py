"""Notes that lie beside a file (`invoice.pdf.json`): what HTTP clients say in the fields of their form."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from docproc.http import fields
from docproc.http.problems import Problem
from docproc.http.reception import Arrival

SUFFIX = ".json"
LARGEST_BYTES = fields.METADATA_BYTES
_REMEDY = 'Write, for example, {"workflow": "default", "metadata": {"customer": "ACME"}}'


class Notes(BaseModel):
    """Everything may be left out."""

    model_config = ConfigDict(extra="forbid")

    workflow: str | None = None
    external_id: str | None = None
    callback_url: str | None = None
    priority: int = Field(default=5, ge=0, le=9)
    metadata: dict[str, Any] = Field(default_factory=dict)


def read(text: bytes) -> Notes:
    """Raises Problem, which says what is wrong with them."""
    said = fields.json_object(text, "the notes beside the file", "invalid_notes")
    try:
        return Notes.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"])) or "the notes"
        raise Problem(422, "invalid_notes", f"{where}: {first['msg']}", _REMEDY) from error


def arrival(
    notes: Notes,
    *,
    channel: str,
    tenant_id: str,
    external_id: str,
    workflow: str | None,
    answer_to: str | None,
) -> Arrival:
    """What comes in; what the notes leave out is as the door has it. Raises Problem."""
    texts = {
        "workflow": notes.workflow or workflow or "",
        "external_id": notes.external_id or external_id,
        "callback_url": notes.callback_url or "",
    }
    plain = fields.arrival(texts)
    return Arrival(
        workflow=plain.workflow,
        channel=channel,
        external_id=plain.external_id,
        metadata=fields.checked_password(notes.metadata),
        callback_url=plain.callback_url,
        answer_to=answer_to,
        priority=notes.priority,
        tenant_id=tenant_id,
        by=f"{channel}:{tenant_id}",
    )
