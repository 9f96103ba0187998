"""Logs: one JSON object a line, with the specified fields, whatever happens."""

from __future__ import annotations

import io
import json
import logging
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
import structlog

from docproc import logs
from docproc.settings import Settings

# Specification §9.1: on every line.
SPECIFIED = {"event", "component", "request_id", "trace_id", "elapsed_s", "timestamp", "level"}

Lines = Callable[[], list[dict[str, Any]]]


@pytest.fixture(autouse=True)
def _logging_restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level, config = root.handlers[:], root.level, structlog.get_config()
    yield
    structlog.contextvars.clear_contextvars()
    structlog.configure(**config)
    root.handlers[:] = handlers
    root.setLevel(level)


@pytest.fixture
def lines(capsys: pytest.CaptureFixture[str]) -> Lines:
    """What was written since, each line read as JSON."""

    def read() -> list[dict[str, Any]]:
        captured = capsys.readouterr()
        assert captured.out == ""  # standard output belongs to results
        return [json.loads(line) for line in captured.err.splitlines()]

    return read


def _configure(**values: Any) -> None:
    logs.configure(Settings.load(**{"log_format": "json", "_env_file": None, **values}), "ocr")


def _only(lines: Lines) -> dict[str, Any]:
    (line,) = lines()
    return line


def test_every_line_has_the_specified_fields(lines: Lines) -> None:
    _configure()
    structlog.get_logger().info("page_read", page=3)
    line = _only(lines)
    assert set(line) >= SPECIFIED
    assert (line["event"], line["component"], line["level"], line["page"]) == ("page_read", "ocr", "info", 3)
    assert (line["request_id"], line["trace_id"]) == (None, None)
    assert isinstance(line["elapsed_s"], float) and line["elapsed_s"] >= 0


def test_timestamp_is_iso_8601_in_utc(lines: Lines) -> None:
    _configure()
    structlog.get_logger().info("x")
    assert datetime.fromisoformat(_only(lines)["timestamp"]).utcoffset() == timedelta(0)


@pytest.mark.parametrize("level", ["debug", "info", "warning", "error", "critical"])
def test_level_is_named(lines: Lines, level: str) -> None:
    _configure(log_level="debug")
    getattr(structlog.get_logger(), level)("x")
    assert _only(lines)["level"] == level


@pytest.mark.parametrize(("level", "written"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_lines_below_the_level_are_left_out(lines: Lines, level: str, written: int) -> None:
    _configure(log_level=level)
    log = structlog.get_logger()
    for method in (log.debug, log.info, log.warning, log.error):
        method("x")
    assert len(lines()) == written


def test_bound_context_is_on_every_line_of_the_task(lines: Lines) -> None:
    _configure()
    request_id, trace_id = str(uuid4()), str(uuid4())
    structlog.contextvars.bind_contextvars(request_id=request_id, trace_id=trace_id, component="classifier")
    structlog.get_logger().info("one")
    logging.getLogger("library").warning("two")
    for line in lines():
        assert (line["request_id"], line["trace_id"]) == (request_id, trace_id)
        assert line["component"] == "classifier"


def test_line_may_say_its_own_elapsed_time(lines: Lines) -> None:
    _configure()
    structlog.get_logger().info("x", elapsed_s=1.25)
    assert _only(lines)["elapsed_s"] == 1.25


def test_lines_of_libraries_have_the_same_form(lines: Lines) -> None:
    _configure()
    logging.getLogger("sqlalchemy.pool").warning("lost %s of %d", "one", 5)
    line = _only(lines)
    assert set(line) >= SPECIFIED
    assert (line["event"], line["level"], line["component"]) == ("lost one of 5", "warning", "ocr")


def test_libraries_are_heard_from_warning_on(lines: Lines) -> None:
    _configure(log_level="debug")
    logging.getLogger("library").info("chatter")
    logging.getLogger("library").error("trouble")
    assert [line["event"] for line in lines()] == ["trouble"]


def _raise() -> None:
    password = "hunter2"
    try:
        raise KeyError("inner")
    except KeyError as error:
        raise ValueError(f"outer {len(password)}") from error


@pytest.mark.parametrize("source", ["ours", "library"])
def test_exceptions_are_json_too(lines: Lines, source: str) -> None:
    _configure()
    try:
        _raise()
    except ValueError:
        if source == "ours":
            structlog.get_logger().exception("failed")
        else:
            logging.getLogger("library").exception("failed")
    line = _only(lines)
    assert (line["event"], line["level"]) == ("failed", "error")
    outer, inner = line["exception"]
    assert (outer["exc_type"], outer["exc_value"]) == ("ValueError", "")  # its text may quote a document
    assert inner["exc_type"] == "KeyError"
    assert outer["frames"][-1]["name"] == "_raise"


def test_errors_of_starting_a_process_are_told_in_their_own_words(lines: Lines) -> None:
    _configure()
    try:
        _raise()
    except ValueError:
        structlog.get_logger().exception("failed", shows_errors=True)
    line = _only(lines)
    assert line["exception"][0]["exc_value"] == "outer 7"
    assert "shows_errors" not in line


@pytest.mark.parametrize("source", ["ours", "library"])
def test_exceptions_do_not_give_away_local_variables(capsys: pytest.CaptureFixture[str], source: str) -> None:
    _configure()
    try:
        _raise()
    except ValueError:
        if source == "ours":
            structlog.get_logger().exception("failed")
        else:
            logging.getLogger("library").exception("failed")
    written = capsys.readouterr().err
    assert "ValueError" in written
    assert "hunter2" not in written


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (UUID(int=1), "00000000-0000-0000-0000-000000000001"),
        ({"a": {"b": [1, None]}}, {"a": {"b": [1, None]}}),
        ({1: "x"}, {"1": "x"}),
        (b"raw", "b'raw'"),
        (ValueError("x"), "x"),
        ("line\nbreak ñ €", "line\nbreak ñ €"),
        (2**70, 2**70),
        ("half \ud83d", "half \ud83d"),
    ],
    ids=["uuid", "nested", "number as key", "bytes", "error", "line break", "huge number", "half character"],
)
def test_any_value_can_be_logged_on_one_line(lines: Lines, value: Any, written: Any) -> None:
    _configure()
    structlog.get_logger().info("x", value=value)
    assert _only(lines)["value"] == written


def test_console_format_is_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    _configure(log_format="console")
    structlog.get_logger().info("page_read", page=3)
    written = capsys.readouterr().err
    assert "page_read" in written
    with pytest.raises(json.JSONDecodeError):
        json.loads(written)


@pytest.mark.parametrize(("is_terminal", "is_json"), [(False, True), (True, False)])
def test_auto_format_is_json_unless_a_person_watches(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, is_terminal: bool, is_json: bool
) -> None:
    monkeypatch.setattr("sys.stderr.isatty", lambda: is_terminal)
    _configure(log_format="auto")
    structlog.get_logger().info("x")
    assert capsys.readouterr().err.startswith("{") is is_json


def test_configuring_twice_writes_each_line_once(lines: Lines) -> None:
    _configure()
    _configure()
    structlog.get_logger().info("ours")
    logging.getLogger("library").warning("theirs")
    assert [line["event"] for line in lines()] == ["ours", "theirs"]


def test_closed_standard_error_does_not_stop_the_work(monkeypatch: pytest.MonkeyPatch, lines: Lines) -> None:
    _configure()
    log = structlog.get_logger()
    log.info("before")
    with monkeypatch.context() as patched:
        closed = io.StringIO()
        closed.close()
        patched.setattr(sys, "stderr", closed)
        log.info("lost")
        logging.getLogger("other").warning("lost too")
    log.info("after")
    assert [line["event"] for line in lines()] == ["before", "after"]


def test_many_lines_at_once_are_lines_like_others(lines: Lines) -> None:
    _configure()
    request, now = uuid4(), datetime.now(UTC)
    assert logs.write_many("page_read", "info", [{"request_id": request, "at": now}, {"component": "other"}])
    structlog.get_logger().info("page_read", request_id=str(request), at=now.isoformat())
    first, second, single = lines()
    assert set(first) == set(single)
    different = {"timestamp", "elapsed_s"}
    assert {key: first[key] for key in set(first) - different} == {
        key: single[key] for key in set(single) - different
    }
    assert (second["component"], second["request_id"]) == ("other", None)
    assert datetime.fromisoformat(first["timestamp"]).utcoffset() == timedelta(0)


def test_where_lines_are_for_people_many_are_left_to_the_caller(lines: Lines) -> None:
    _configure(log_format="console")
    assert not logs.write_many("page_read", "info", [{}])
    assert lines() == []
