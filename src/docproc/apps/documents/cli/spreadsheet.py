"""`docproc run --format`: all documents of a run as one table for a spreadsheet."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any
from uuid import UUID

from docproc.app import App
from docproc.errors import UsageError
from docproc.terminal.output import errors
from docproc.texts import DEFAULT, LANGUAGES


class Format(StrEnum):
    CSV = "csv"
    XLSX = "xlsx"


@dataclass(frozen=True, slots=True)
class Spreadsheet:
    """Where the table goes, and how it is written."""

    format: Format
    language: str
    out: Path | None

    @classmethod
    def of(cls, format: Format, language: str | None, out: Path | None, *, as_json: bool) -> Spreadsheet:
        """Raises UsageError for what does not go together."""
        if as_json:
            raise UsageError("--json and --format contradict each other", remedy="Give one of them")
        if language not in (None, *LANGUAGES):
            raise UsageError(
                f"{language!r} is no language of ours", remedy=f"Choose {' or '.join(LANGUAGES)}"
            )
        if format is Format.XLSX and out is None:
            raise UsageError("a workbook needs a place", remedy="Give a folder: --out FOLDER")
        return cls(format, language or system_language(), out)

    async def write(self, application: App, statuses: Sequence[Mapping[str, Any]]) -> None:
        from docproc.apps.documents.exports import bulk  # what makes tables is needed for this alone

        ids = [UUID(str(status["request_id"])) for status in statuses if status["request_id"]]
        answers = await bulk.answered(application, ids)
        if self.out is None:
            sys.stdout.buffer.write(bulk.made(answers, self.format, self.language))
            sys.stdout.buffer.flush()
            return
        for name, table in self._files():
            path = self.out / name
            try:
                self.out.mkdir(parents=True, exist_ok=True)
                path.write_bytes(bulk.made(answers, self.format, self.language, table))
            except OSError as error:
                remedy = "Choose another folder for --out"
                raise UsageError(f"{path} cannot be written: {error.strerror}", remedy=remedy) from error
            errors.print(f"[dim]{path}[/]", highlight=False, soft_wrap=True)

    def _files(self) -> list[tuple[str, str]]:
        if self.format is Format.XLSX:
            return [("documents.xlsx", "documents")]
        return [("documents.csv", "documents"), ("lines.csv", "lines")]


def system_language() -> str:
    """As LC_ALL, LC_MESSAGES or LANG say."""
    said = next(filter(None, map(os.environ.get, ("LC_ALL", "LC_MESSAGES", "LANG"))), "")
    return said[:2] if said[:2] in LANGUAGES else DEFAULT
