"""Structured logging: JSON for machines, colours on a terminal, the specified fields on every line."""

from __future__ import annotations

import contextlib
import json
import logging
import sys
import time
import traceback
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from docproc import harmless
from docproc.settings import Settings

# Without local variables: they hold documents, people's data and passwords.
_TRACEBACKS = structlog.tracebacks.ExceptionDictTransformer(show_locals=False)
_started = time.monotonic()
# The component that lines of JSON name, once they are wanted; None: lines are for people, or nobody has said.
_json_component: str | None = None


def configure(settings: Settings, component: str = "docproc") -> None:
    """Set up structlog and the standard library's logging for this process, both in one format."""
    global _json_component
    as_json = settings.log_format == "json" or (settings.log_format == "auto" and not sys.stderr.isatty())
    _json_component = component if as_json else None
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _Exceptions(as_json=as_json),
    ]
    if as_json:
        shared.append(_Specified(component))
        renderer: Processor = structlog.processors.JSONRenderer(serializer=_dumps)
    else:
        # Its own formatter would print local variables.
        renderer = structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
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


def write_many(event: str, level: str, lines: Sequence[Mapping[str, Any]]) -> bool:
    """Many lines of one event in one go, as JSON; False where lines are not JSON, and nothing was written.

    For what is logged once a message: structlog's way takes several times as long a line, which is more than
    a light message itself takes. The caller has looked at the level, and no line has an exception. Ids and
    moments may be given as they are.
    """
    if _json_component is None:
        return False
    common = {
        "component": _json_component,
        "request_id": None,
        "trace_id": None,
        "elapsed_s": round(time.monotonic() - _started, 4),
        **structlog.contextvars.get_contextvars(),
        "event": event,
        "level": level,
        "timestamp": datetime.now(UTC).isoformat().replace("+00:00", "Z"),
    }
    _Stderr().write("".join(f"{_dumps({**common, **line})}\n" for line in lines))
    return True


class _Stderr:
    """Standard error as it is now, closed or a broken pipe too: a log line must never stop the work."""

    def write(self, text: str) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.write(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()


class _Exceptions:
    """Tracebacks without what people's documents put into them (harmless.py).

    A line that says `shows_errors=True` shows the errors' texts: of starting a process, before any document.
    """

    def __init__(self, *, as_json: bool) -> None:
        self.as_json = as_json

    def __call__(self, _logger: WrappedLogger, _method: str, event: EventDict) -> EventDict:
        shows = event.pop("shows_errors", False)
        error = _error_of(event.pop("exc_info", None))
        if error is None:
            return event
        if "_record" in event:  # another library's line: asyncio's go on with the error's own words
            event["event"] = (str(event.get("event")).splitlines() or [""])[0]
        if self.as_json:
            event["exception"] = _as_json(error, shows=shows)
        else:
            said = "".join(traceback.format_exception(error)) if shows else harmless.traceback_for_logs(error)
            event["exception"] = said
        return event


def _error_of(given: Any) -> BaseException | None:
    """What a caller passed as `exc_info`: an exception, what `sys.exc_info` returns, or just True."""
    if isinstance(given, BaseException):
        return given
    found: tuple[Any, BaseException | None, Any] = (
        given if isinstance(given, tuple) else sys.exc_info() if given else (None, None, None)
    )
    return found[1]


def _as_json(error: BaseException, *, shows: bool) -> Any:
    made = _TRACEBACKS((type(error), error, error.__traceback__))
    if not shows:
        texts = {str(one): harmless.value_for_logs(one) for one in harmless.chain(error)}
        for part in made:
            _hide(part, texts)
    return made


def _hide(part: dict[str, Any], texts: dict[str, str]) -> None:
    part["exc_value"] = texts.get(part["exc_value"], "")
    part["exc_notes"] = []
    for group in part.get("exceptions", ()):
        for one in group:
            _hide(one, texts)


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
