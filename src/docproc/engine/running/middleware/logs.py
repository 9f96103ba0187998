"""One structured log line per handled message, with every field of the specification (§9.1)."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from typing import Self

import psutil
import structlog

from docproc.engine.message import utc_now
from docproc.engine.running.work import Handle, LogFields, Middleware, MiddlewareContext, Outcome, Work
from docproc.errors import DocProcError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

_LEVELS = {Outcome.RETRY: logging.WARNING, Outcome.DEAD: logging.ERROR, Outcome.REPEATED: logging.DEBUG}
_SAMPLE_SECONDS = 1.0


class Logs(Middleware):
    place = 100

    def __init__(self, component_name: str, log_fields: LogFields) -> None:
        self.component_name = component_name
        self.log_fields = log_fields
        self._process = psutil.Process()
        self._process.cpu_percent()
        self._sampled_at = 0.0
        self._resources: dict[str, object] = {}

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
        for work in works:
            level = _LEVELS.get(work.outcome, logging.INFO) if work.outcome else logging.WARNING
            if log.is_enabled_for(level):
                log.log(level, "message_handled", **self._fields(work))

    def _fields(self, work: Work) -> dict[str, object]:
        message = work.message
        finished = work.finished_at or utc_now()
        elapsed = (finished - work.started_at).total_seconds()
        # Applications say what they know; nested, they add to the result.
        payload = work.emissions[0][1].payload if work.emissions else {}
        added = self.log_fields(message, payload)
        fields: dict[str, object] = {
            "component": self.component_name,
            "request_id": str(message.request_id),
            "trace_id": str(message.trace_id),
            "elapsed_s": round(elapsed, 4),
            "etapa": message.current_stage,
            "unit_key": message.unit_key,
            "timestamp_inicio": work.started_at.isoformat(),
            "timestamp_fin": finished.isoformat(),
            "duracion_ms": round(elapsed * 1000, 1),
            "intento": message.attempt,
            "recursos": self._sample(),
            **added,
            "resultado": {**_result(work), **added.get("resultado", {})},
        }
        if message.deadline_utc is not None:
            left = (message.deadline_utc - finished).total_seconds() * 1000
            fields["sla"] = {"deadline": message.deadline_utc.isoformat(), "restante_ms": round(left)}
        if work.error is not None:
            fields["error"] = text_for_logs(work.error)
            if not isinstance(work.error, DocProcError):  # a bug: say where
                fields["exc_info"] = work.error
        return fields

    def _sample(self) -> dict[str, object]:
        """The process's resources, measured at most once a second: reading them costs more than a message."""
        if time.monotonic() - self._sampled_at > _SAMPLE_SECONDS:
            self._sampled_at = time.monotonic()
            self._resources = {
                "cpu_pct": self._process.cpu_percent(),
                "memoria_mb": round(self._process.memory_info().rss / 2**20, 1),
                "gpu_utilizada": False,
            }
        return self._resources


def _result(work: Work) -> dict[str, object]:
    """What came of it, as far as the engine knows."""
    return {
        "estado": str(work.outcome or "pendiente"),
        "emitidos": len(work.emissions),
        "derivado_manual": work.went_to_people,
    }
