"""What a log line says of a task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from docproc.engine.message import PipelineMessage


def fields(message: PipelineMessage, payload: Mapping[str, Any]) -> dict[str, Any]:
    """The correlation id of the request; of other applications' requests, too, it is their trace."""
    return {"correlation_id": str(message.trace_id)}
