"""Errors: families by who must act, and text that says what to do next."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from docproc import errors
from docproc.errors import (
    ChildDiedError,
    ConfigurationError,
    DocProcError,
    MessageError,
    NoChildError,
    PermanentError,
    ProcessingError,
    TimeLimitError,
    TransientError,
    TransportError,
    UnknownWorkflowError,
    UnroutableError,
    WorkflowError,
)


class QuotaError(TransientError):
    """An application's own, with a signature of its own."""

    def __init__(self, what: str, left: int) -> None:
        super().__init__(f"only {left} {what} left", delay=60, counts_attempt=False, remedy="Wait")
        self.left = left


ALL = [e for e in vars(errors).values() if isinstance(e, type) and issubclass(e, Exception)]


@pytest.mark.parametrize("error", ALL)
def test_every_error_has_the_one_root_and_says_what_it_is_for(error: type[Exception]) -> None:
    assert issubclass(error, DocProcError)
    assert error.__doc__


@pytest.mark.parametrize(
    ("error", "families"),
    [
        (WorkflowError, {ConfigurationError}),
        (UnknownWorkflowError, {ConfigurationError, WorkflowError}),
        (UnroutableError, {TransportError}),
        (TransientError, {ProcessingError}),
        (TimeLimitError, {ProcessingError, TransientError}),
        (ChildDiedError, {ProcessingError, TransientError}),
        (NoChildError, {ProcessingError, TransientError}),
        (PermanentError, {ProcessingError}),
        (MessageError, set()),
    ],
)
def test_errors_belong_to_those_who_must_act(
    error: type[DocProcError], families: set[type[DocProcError]]
) -> None:
    all_families = {
        ConfigurationError, WorkflowError, TransportError, MessageError, ProcessingError, TransientError,
    }  # fmt: skip
    assert {f for f in all_families if issubclass(error, f)} - {error} == families


def test_text_ends_with_the_remedy() -> None:
    assert str(DocProcError("it broke", remedy="Fix it")) == "it broke. Fix it"
    assert str(DocProcError("it broke")) == "it broke"


@pytest.mark.parametrize(
    ("file", "line", "text"),
    [
        (Path("a/flow.yaml"), 7, "a/flow.yaml:7: bad. Fix it"),
        (Path("a/flow.yaml"), None, "a/flow.yaml: bad. Fix it"),
        (None, None, "bad. Fix it"),
    ],
)
def test_workflow_error_begins_with_its_place(file: Path | None, line: int | None, text: str) -> None:
    error = WorkflowError("bad", file=file, line=line, remedy="Fix it")
    assert str(error) == text
    assert (error.file, error.line, error.remedy) == (file, line, "Fix it")


def test_unroutable_error_names_key_exchange_and_remedy() -> None:
    error = UnroutableError("page.x", "doc.direct")
    assert "'page.x'" in str(error) and "'doc.direct'" in str(error)
    assert "QUEUE_BINDINGS" in error.remedy
    assert (error.routing_key, error.exchange) == ("page.x", "doc.direct")


def test_message_error_keeps_the_raw_bytes() -> None:
    assert MessageError("bad", raw=b"\xff").raw == b"\xff"
    assert MessageError("bad").raw == b""


@pytest.mark.parametrize("error_class", [TransientError, TimeLimitError, ChildDiedError])
def test_transient_errors_count_and_ask_for_no_delay_unless_told(error_class: type[TransientError]) -> None:
    assert (error_class("x").delay, error_class("x").counts_attempt) == (None, True)
    asked = error_class("x", delay=3.5, counts_attempt=False)
    assert (asked.delay, asked.counts_attempt) == (3.5, False)


def test_errors_end_the_process_with_a_failure() -> None:
    assert DocProcError("x").exit_code != 0


@pytest.mark.parametrize(
    "error",
    [
        DocProcError("x", remedy="r"),
        WorkflowError("x", file=Path("f"), line=3, remedy="r"),
        UnroutableError("key", "exchange"),
        MessageError("x", raw=b"raw"),
        TransientError("x", delay=2.0, counts_attempt=False),
        NoChildError("x", delay=2.0),
        PermanentError("x", remedy="r"),
        QuotaError("images", 3),
    ],
    ids=lambda error: type(error).__name__,
)
def test_errors_come_whole_out_of_a_child_process(error: DocProcError) -> None:
    # Child processes hand their errors back pickled.
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is type(error)
    assert str(copy) == str(error)
    assert vars(copy) == vars(error)
