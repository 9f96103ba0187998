"""What can go wrong with a material, each kind with a retry rule of its own in the workflow file."""

from __future__ import annotations

from docproc.errors import PermanentError, TransientError


class MaterialError(PermanentError):
    """No retry will help: the event, the file or its text is of no use; `code` says which."""

    def __init__(self, message: str, *, code: str, remedy: str = "") -> None:
        super().__init__(message, remedy=remedy)
        self.code = code


class SourceDownError(TransientError):
    """The PDF could not be downloaded."""


class ModelDownError(TransientError):
    """The model did not answer in time, or not as it should."""


class RateLimitedError(TransientError):
    """The model's server asked to be left alone for a while: `delay` says how long; no attempt is counted."""

    def __init__(
        self, message: str, *, delay: float | None = None, counts_attempt: bool = False, remedy: str = ""
    ) -> None:
        super().__init__(message, delay=delay, counts_attempt=counts_attempt, remedy=remedy)


class DocumentsDownError(TransientError):
    """The document database does not answer."""
