"""One structured log line per handled message, with every field of the specification (§9.1)."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, Self
from uuid import UUID

import structlog

from docproc.engine.message import utc_now
from docproc.engine.running.resources import own_resources
from docproc.engine.running.work import Handle, LogFields, Middleware, MiddlewareContext, Outcome, Work
from docproc.errors import DocProcError
from docproc.harmless import text_for_logs
from docproc.logs import write_many

log = structlog.get_logger(__name__)

_LEVELS = {Outcome.RETRY: logging.WARNING, Outcome.DEAD: logging.ERROR, Outcome.REPEATED: logging.DEBUG}


class Logs(Middleware):
    place = 100

    def __init__(self, component_name: str, log_fields: LogFields) -> None:
        self.component_name = component_name
        self.log_fields = log_fields

    @classmethod
    def create(cls, context: MiddlewareContext) -> Self:
        return cls(context.component.component_name, context.log_fields)

    async def __call__(self, works: Sequence[Work], handle: Handle) -> None:
        structlog.contextvars.bind_contextvars(component=self.component_name)
        if len(works) == 1:
            message = works[0].message
            structlog.contextvars.bind_contextvars(
                request_id=str(message.request_id), trace_id=str(message.trace_id)
            )
        try:
            await handle(works)
        finally:
            structlog.contextvars.unbind_contextvars("request_id", "trace_id")
        self._tell(works)

    def _tell(self, works: Sequence[Work]) -> None:
        """One line each; those without an error, which are nearly all, in one go."""
        plain = [work for work in works if work.outcome is Outcome.DONE and work.error is None]
        if plain and log.is_enabled_for(logging.INFO):
            resources = _resources()
            lines = [self._fields(work, resources) for work in plain]
            if not write_many("message_handled", "info", lines):
                for line in lines:
                    log.info("message_handled", **_plain(line))
        for work in works:
            if work.outcome is Outcome.DONE and work.error is None:
                continue
            level = _LEVELS.get(work.outcome, logging.INFO) if work.outcome else logging.WARNING
            if log.is_enabled_for(level):
                log.log(level, "message_handled", **_plain(self._fields(work, _resources())))

    def _fields(self, work: Work, resources: dict[str, object]) -> dict[str, object]:
        message = work.message
        finished = work.finished_at or utc_now()
        elapsed = (finished - work.started_at).total_seconds()
        # Applications say what they know; nested, they add to the result.
        added = work.described(self.log_fields)
        result: dict[str, object] = {
            "estado": work.outcome or "pendiente",
            "emitidos": len(work.emissions),
            "derivado_manual": work.went_to_people,
        }
        fields: dict[str, object] = {
            "component": self.component_name,
            "request_id": message.request_id,
            "trace_id": message.trace_id,
            "elapsed_s": round(elapsed, 4),
            "etapa": message.current_stage,
            "unit_key": message.unit_key,
            "timestamp_inicio": work.started_at,
            "timestamp_fin": finished,
            "duracion_ms": round(elapsed * 1000, 1),
            "intento": message.attempt,
            "recursos": resources,
            **added,
            "resultado": {**result, **added["resultado"]} if "resultado" in added else result,
        }
        if message.deadline_utc is not None:
            left = (message.deadline_utc - finished).total_seconds() * 1000
            fields["sla"] = {"deadline": message.deadline_utc, "restante_ms": round(left)}
        if work.error is not None:
            fields["error"] = text_for_logs(work.error)
            if not isinstance(work.error, DocProcError):  # a bug: say where
                fields["exc_info"] = work.error
        return fields


def _plain(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Ids and moments as text, for whoever does not write JSON."""
    return {name: _as_text(value) for name, value in fields.items()}


def _as_text(value: Any) -> Any:
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, datetime):
        return value.isoformat()
    return _plain(value) if isinstance(value, dict) else value


def _resources() -> dict[str, object]:
    """Of the process and its children. No engine that comes with DocProc computes on a GPU."""
    usage = own_resources().latest()
    return {"cpu_pct": usage.cpu_pct, "memoria_mb": usage.memory_mb, "gpu_utilizada": False}
