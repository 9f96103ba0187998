"""Structured logging: JSON for machines, colours on a terminal, the specified fields on every line."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import time
from typing import Any

import orjson
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from docproc.settings import Settings

# Without local variables: they hold documents, people's data and passwords.
_TRACEBACKS = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
_started = time.monotonic()


def configure(settings: Settings, component: str = "docproc") -> None:
    """Set up structlog and the standard library's logging for this process, both in one format."""
    as_json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    if as_json:
        shared += [_Specified(component), structlog.processors.ExceptionRenderer(_TRACEBACKS)]
        renderer: Processor = structlog.processors.JSONRenderer(serializer=_dumps)
    else:
        renderer = structlog.dev.ConsoleRenderer()
    structlog.configure(
        processors=[*shared, renderer],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.WriteLoggerFactory(file=_Stderr()),  # type: ignore[arg-type] # it only writes
        cache_logger_on_first_use=True,
    )
    formatter = structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=shared,
        processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, renderer],
    )
    handler = logging.StreamHandler(_Stderr())
    handler.setFormatter(formatter)
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING), force=True)
    # What aiormq complains about it also raises, and we say it in our own words.
    logging.getLogger("aiormq").setLevel(logging.CRITICAL)


class _Stderr:
    """Standard error as it is now, closed or a broken pipe too: a log line must never stop the work."""

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()


class _Specified:
    """Fills in the fields that every log line must have (specification §9.1)."""

    def __init__(self, component: str) -> None:
        self.component = component

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        event.setdefault("component", self.component)
        event.setdefault("request_id", None)
        event.setdefault("trace_id", None)
        event.setdefault("elapsed_s", round(time.monotonic() - _started, 4))
        return event


def _dumps(value: Any, **_options: Any) -> str:
    try:
        return orjson.dumps(value, default=str, option=orjson.OPT_NON_STR_KEYS).decode()
    except TypeError:  # a huge number or half a character: a log line must never stop the work
        return json.dumps(value, default=str, skipkeys=True)
