"""The published JSON Schema of envelopes, and which versions are accepted."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from pydantic import BaseModel

from docproc.apps.orchestrator.envelope.models import CURRENT_VERSION, Envelope
from docproc.apps.orchestrator.envelope.versions import ACCEPTED
from docproc.http.access.scopes import open_to_all

router = APIRouter(prefix="/api/v1/schemas", tags=["orchestrator"])


class Versions(BaseModel):
    current: str
    accepted: list[str]


@router.get("/envelope", summary="The JSON Schema of an envelope")
@open_to_all
async def envelope() -> dict[str, Any]:
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"envelope-{CURRENT_VERSION}",
        **Envelope.model_json_schema(),
    }


@router.get("/envelope/versions", summary="The versions that are accepted", response_model=Versions)
@open_to_all
async def versions() -> Versions:
    return Versions(current=CURRENT_VERSION, accepted=list(ACCEPTED))
