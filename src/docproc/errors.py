"""Every exception of DocProc, in families by who must act."""

from __future__ import annotations

from pathlib import Path
from typing import Any


class DocProcError(Exception):
    """Root of all errors raised on purpose; `remedy` says what the reader should do next."""

    exit_code = 1

    def __init__(self, message: str, *, remedy: str = "") -> None:
        super().__init__(message)
        self.remedy = remedy

    def __str__(self) -> str:
        text = super().__str__()
        return f"{text}. {self.remedy}" if self.remedy else text

    def __reduce__(self) -> tuple[Any, ...]:
        # Child processes hand errors over pickled. By default that calls __init__ with the text alone,
        # which fails in the parent for classes with another signature.
        return _rebuild, (type(self), self.args, vars(self))


def _rebuild(error_class: type[DocProcError], args: tuple[Any, ...], facts: dict[str, Any]) -> DocProcError:
    error = error_class.__new__(error_class, *args)
    vars(error).update(facts)
    return error


class ConfigurationError(DocProcError):
    """An operator must change a setting or a file before the process can start."""


class UnusableStorageError(ConfigurationError):
    """The storage of files answers, and refuses: an operator must give access, make the bucket, or name
    another."""


class UsageError(DocProcError):
    """Whoever typed the command must type it differently."""

    exit_code = 2


class ReusedKeyError(UsageError):
    """An idempotency key came again with another content: one of the two is a mistake."""


class UnknownRequestError(UsageError):
    """There is no request with that id."""


class UnknownTenantError(UsageError):
    """There is no tenant of that name, or it is switched off."""


class QuotaError(UsageError):
    """The tenant has taken what it may: to be sent again after `retry_seconds`."""

    def __init__(self, message: str, *, retry_seconds: int, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.retry_seconds = retry_seconds


class RequestConflictError(UsageError):
    """The request is in a state in which this cannot be done."""


class TooLargeError(UsageError):
    """More bytes came than are allowed; nothing of them is kept."""


class EmptyFileError(UsageError):
    """A file without a single byte was sent; nothing of its request is kept."""


class DownloadError(UsageError):
    """A file could not be fetched from the address that was named; nothing was accepted."""


class UnknownTaskError(UsageError):
    """There is no task with that id."""


class TaskConflictError(UsageError):
    """The task is somebody else's, nobody's, or done: whoever asked must take another."""


class NotAllowedError(UsageError):
    """The person may not do this: a stranger's task, a missing skill or role."""


class InvalidAnswerError(UsageError):
    """What a person answered cannot be; `problems` says what is wrong, by field."""

    def __init__(self, message: str, *, problems: dict[str, str] | None = None, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.problems = problems or {}


class DeadlineAtRiskError(UsageError):
    """The workflow takes nothing it cannot answer in time: to be sent again after `retry_seconds`."""

    def __init__(self, message: str, *, retry_seconds: int, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.retry_seconds = retry_seconds


class CallbackError(UsageError):
    """Answers cannot be sent to the address that was named; nothing was accepted."""


class WorkflowError(ConfigurationError):
    """A workflow file cannot be used; names the file, the line and the remedy."""

    def __init__(self, message: str, *, file: Path | None = None, line: int | None = None, remedy: str = ""):
        super().__init__(message, remedy=remedy)
        self.file = file
        self.line = line

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line) if part is not None)
        return f"{place}: {super().__str__()}" if place else super().__str__()


class UnknownWorkflowError(WorkflowError):
    """No workflow of that name exists."""


class TransportError(DocProcError):
    """The connection to broker or database is in trouble; the runner reconnects."""


class DatabaseDownError(TransportError, OSError):
    """The database takes no connections now; whatever was under way is repeated when it does."""


class CutOffError(TransportError):
    """Work was broken off with its transaction, through no fault of the message: it is repeated at once."""


class UnroutableError(TransportError):
    """No queue is bound to a routing key: the message stays in the database, nothing is lost."""

    def __init__(self, routing_key: str, exchange: str) -> None:
        super().__init__(
            f"no queue is bound to routing key {routing_key!r} on exchange {exchange!r}",
            remedy="Add it to QUEUE_BINDINGS, or set routing_key on the component",
        )
        self.routing_key = routing_key
        self.exchange = exchange


class MessageError(DocProcError):
    """The message itself is unusable; nobody can help, it goes to the dead letters with its raw bytes."""

    def __init__(self, message: str, *, raw: bytes = b"", remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.raw = raw


class ProcessingError(DocProcError):
    """A component could not do its work on a message."""


class TransientError(ProcessingError):
    """Worth trying again, after `delay` seconds when given.

    `counts_attempt=False` is for waits somebody else asked for (rate limits, open breakers):
    they never exhaust the retries.
    """

    def __init__(
        self, message: str, *, delay: float | None = None, counts_attempt: bool = True, remedy: str = ""
    ) -> None:
        super().__init__(message, remedy=remedy)
        self.delay = delay
        self.counts_attempt = counts_attempt


class SilentTransactionError(TransientError):
    """A component computed inside its transaction for so long that the database ended it.

    It counts as an attempt: repeated without end, the same would happen again and again.
    """

    def __init__(self, seconds: float) -> None:
        super().__init__(
            f"the database ended a transaction in which nothing happened for {seconds:.0f} s",
            remedy="Compute and call others before touching the session",
        )


class TimeLimitError(TransientError):
    """The stage's `timeout_seconds` passed while the message was being handled."""


class ChildDiedError(TransientError):
    """A killable child process died (crash, memory limit, kill) while working on the message."""


class NoChildError(TransientError):
    """No child process can be started now (descriptors, memory, processes): nothing was begun, so no attempt
    is counted."""

    def __init__(
        self, message: str, *, delay: float | None = None, counts_attempt: bool = False, remedy: str = ""
    ) -> None:
        super().__init__(message, delay=delay, counts_attempt=counts_attempt, remedy=remedy)


class StorageDownError(TransientError, OSError):
    """The storage of files does not answer now; whatever was under way is repeated when it does, and no
    attempt is counted."""

    def __init__(
        self, message: str, *, delay: float | None = None, counts_attempt: bool = False, remedy: str = ""
    ) -> None:
        super().__init__(message, delay=delay, counts_attempt=counts_attempt, remedy=remedy)


class PermanentError(ProcessingError):
    """Trying again cannot help: dead letter or back office."""


class DamagedBlobError(PermanentError):
    """A stored file is not what was stored: cut off, changed, or encrypted with a key that is not known."""


class UnreadableFileError(PermanentError):
    """A file that was sent cannot be read; `code` says why (docs/reference/files.md lists them)."""

    def __init__(self, message: str, *, code: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.code = str(code)
