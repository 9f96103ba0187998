"""What a door does with what cannot be taken: refuse it for good and say why, or try again later."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy.exc import SQLAlchemyError

from docproc.engine import disk
from docproc.errors import (
    CallbackError,
    DeadlineAtRiskError,
    DocProcError,
    EmptyFileError,
    QuotaError,
    ReusedKeyError,
    TooLargeError,
    UnknownWorkflowError,
)
from docproc.http.problems import KINDS, Problem

# Sent again, these would be refused again. Everything else passes: a server that is away, a quota, a workflow
# file that somebody repairs.
FOR_GOOD = (CallbackError, EmptyFileError, ReusedKeyError, TooLargeError, UnknownWorkflowError)
# What waiting for may help.
PASSING = (DocProcError, SQLAlchemyError, OSError)
# Until the next attempt, where nobody said how long.
WAIT_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Refusal:
    code: str
    message: str
    remedy: str

    def as_json(self) -> dict[str, dict[str, str]]:
        return {"error": {"code": self.code, "message": self.message, "remedy": self.remedy}}

    def __str__(self) -> str:
        return f"{self.message}. {self.remedy}" if self.remedy else self.message


def refusal(error: BaseException) -> Refusal | None:
    """Why it is refused for good, as HTTP would say it; None: it is to be tried again."""
    if isinstance(error, Problem) and error.status_code < 500:
        return Refusal(error.code, str(error.detail), error.remedy)
    if isinstance(error, FOR_GOOD):
        code = next(code for kind, _, code in KINDS if isinstance(error, kind))
        return Refusal(code, str(error.args[0]), error.remedy)
    return None


def wait_seconds(error: BaseException) -> float:
    """How long to leave alone what could not be taken now."""
    if isinstance(error, QuotaError | DeadlineAtRiskError):
        return float(error.retry_seconds)
    return WAIT_SECONDS


def is_full(error: BaseException) -> bool:
    return isinstance(error, OSError) and error.errno in disk.FULL
