"""Bodies in the OpenAPI document: a new task, of whose envelope nearly all may be left out, and a reply."""

from __future__ import annotations

from typing import Any

from docproc.apps.orchestrator.accepting import CALLBACK, FLOW, PLAN
from docproc.apps.orchestrator.envelope import kinds
from docproc.apps.orchestrator.plans.building import PlanBody

_ID = {"type": "string", "format": "uuid"}
_SERVICE = {"type": "string", "pattern": "^[a-z0-9][a-z0-9-]{0,63}$"}


def body_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "What is left out is filled in. A task with a `flow` or a `plan` needs no `type`",
        "required": ["type"],
        "additionalProperties": False,
        "properties": {
            "type": {"oneOf": [_type(domain) for domain in kinds.DOMAINS]},
            "payload": {"type": "object"},
            "priority": {
                "type": "integer",
                "minimum": 0,
                "maximum": 9,
                "description": "0 is the most urgent",
            },
            "session_id": {"type": "string", "pattern": "^[!-~]{1,128}$"},
            "message_id": _ID,
            "task_id": _ID,
            "correlation_id": _ID,
            "conversation_id": _ID,
            "tenant_id": {"type": "string", "description": "No other than the key says"},
            "expires_at": {"type": "string", "format": "date-time", "description": "In the future"},
            "schema_version": {"type": "string", "enum": ["1.1"]},
            "source_service": _SERVICE,
            "target_service": {**_SERVICE, "description": "Whom the type leads to, unless named"},
            "metadata": {"type": "object"},
            FLOW: {"type": "string", "description": "The name of a flow, instead of one operation"},
            PLAN: {"type": "object", "description": PlanBody.__doc__},
            CALLBACK: {"type": "string", "description": "Where the result is sent"},
        },
    }


def reply_schema() -> dict[str, Any]:
    return {
        "type": "object",
        "description": "The envelope that was taken (its schema: GET /api/v1/schemas/envelope), with another "
        "message_id, and what the service says of it",
        "required": ["message_id", "task_id", "tenant_id", "correlation_id", "status", "type", "metadata"],
        "properties": {
            "message_id": _ID,
            "task_id": _ID,
            "correlation_id": _ID,
            "tenant_id": {"type": "string", "description": "No other than the key says"},
            "status": {"type": "string", "enum": ["processing", "completed", "failed"]},
            "type": {"oneOf": [_type(domain) for domain in kinds.DOMAINS]},
            "metadata": {
                "type": "object",
                "required": ["call_id", "fencing"],
                "properties": {"call_id": _ID, "fencing": {"type": "integer", "minimum": 1}},
            },
            "payload": {
                "type": "object",
                "description": "The result; of one in work, `progress` or `tool_request`",
            },
            "error": {"type": "object", "description": "Of a failure: `code`, `message`, `status`, `kind`"},
        },
    }


def _type(domain: str) -> dict[str, Any]:
    return {
        "type": "object",
        "required": ["domain", "action"],
        "additionalProperties": False,
        "properties": {
            "domain": {"type": "string", "enum": [domain]},
            "action": {"type": "string", "enum": kinds.actions_of(domain)},
        },
    }
