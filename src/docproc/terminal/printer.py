"""Answers of several requests, printed in their order, each as soon as those before it are known."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson
from rich.markup import escape

from docproc.engine.store.requests import TERMINAL
from docproc.errors import UsageError
from docproc.terminal.output import console, errors, print_json
from docproc.terminal.progress import LiveView
from docproc.terminal.view import TerminalViews


class Printer:
    """Tables for people or a line of JSON per request; a file each where a folder is given.

    A silent one only keeps what became of them: the command writes something else.
    """

    def __init__(
        self,
        names: Sequence[str],
        views: TerminalViews,
        out: Path | None = None,
        *,
        as_json: bool,
        is_silent: bool = False,
    ) -> None:
        self.names = names
        self.views = views
        self.out = out
        self.as_json = as_json
        self.is_silent = is_silent
        self.statuses: dict[int, Mapping[str, Any]] = {}
        self._files = unique_names(names)
        self._printed = 0
        if out is not None:
            _make(out)

    @property
    def all_complete(self) -> bool:
        return all(map(is_complete, self.statuses.values()))

    def add(self, index: int, status: Mapping[str, Any], view: LiveView) -> None:
        self.statuses[index] = status
        if self.out is not None:
            pretty = orjson.dumps(status, default=str, option=orjson.OPT_INDENT_2)
            (self.out / self._files[index]).write_bytes(pretty + b"\n")
        if self._printed in self.statuses:
            with view.aside():
                self.flush()

    def flush(self, *, rest: bool = False) -> None:
        """What can be printed in order; `rest`: all there is, as nothing more will come."""
        while self._printed < len(self.names):
            if self._printed in self.statuses:
                self._print(self._printed)
            elif not rest:
                return
            self._printed += 1

    def _print(self, index: int) -> None:
        status = self.statuses[index]
        if self.is_silent:
            return _complain(self.names[index], status)
        if self.as_json:
            return print_json(status)
        console.print(self.views.answer(self.names[index], status), highlight=False)
        if status["status"] not in TERMINAL:
            line = "  It waits for a person and goes on when one has answered (docproc up)"
            console.print(f"[yellow]{line}[/]", highlight=False, soft_wrap=True)
        if self.out is not None:
            where = escape(str(self.out / self._files[index]))
            console.print(f"[dim]  JSON: {where}[/]", highlight=False, soft_wrap=True)

    def total(self, seconds: float) -> None:
        """How it went, on the side; for several requests and for people."""
        if self.as_json or len(self.names) < 2:
            return
        done = sum(map(is_complete, self.statuses.values()))
        summed = self.views.total(list(self.statuses.values()))
        bad = len(self.statuses) - done
        failed = f", [red]{bad} failed[/]" if bad else ""
        facts = " ".join(f"· {fact}" for fact in (escape(summed), f"{seconds:.1f} s") if fact)
        completed = f"[bold]{done} of {len(self.names)} completed[/]"
        errors.print(f"{completed}{failed} [dim]{facts}[/]", highlight=False)


def _complain(name: str, status: Mapping[str, Any]) -> None:
    """Aside: standard output may be a file."""
    if not is_complete(status):
        said = (status["error"] or {}).get("message") or status["status"]
        errors.print(f"[red]{escape(name)}: {escape(str(said))}[/]", highlight=False, soft_wrap=True)


def is_complete(status: Mapping[str, Any]) -> bool:
    """Late is complete, too; that it was late is in the status."""
    return status["status"] != "failed" and status["completed_at"] is not None


def unique_names(names: Sequence[str]) -> list[str]:
    """A `.json` name for each, none twice: also where letters' case makes no difference."""
    taken: set[str] = set()
    unique = []
    for name in names:
        stem = re.sub(r"[^\w. -]", "-", Path(name).stem).strip() or "request"
        chosen, number = stem, 1
        while chosen.casefold() in taken:
            number += 1
            chosen = f"{stem}-{number}"
        taken.add(chosen.casefold())
        unique.append(f"{chosen}.json")
    return unique


def _make(folder: Path) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        remedy = "Choose another folder for --out"
        raise UsageError(f"{folder} cannot be made: {error.strerror}", remedy=remedy) from error
