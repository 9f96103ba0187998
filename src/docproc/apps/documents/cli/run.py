"""`docproc run`: files in, answers out, in one command that needs nothing else."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import typer
from pydantic_core import to_jsonable_python

from docproc.apps.documents.cli import embedded
from docproc.apps.documents.cli.sources import Batch, batches, parse_metadata
from docproc.apps.documents.cli.spreadsheet import Format, Spreadsheet
from docproc.apps.documents.cli.view import view
from docproc.engine.store.tenants import DEFAULT
from docproc.errors import DocProcError, UsageError
from docproc.http.reception import Arrival
from docproc.settings import Settings
from docproc.terminal.output import errors, run_async
from docproc.terminal.printer import Printer
from docproc.terminal.progress import SHOWN, LiveView
from docproc.terminal.signals import stop_on_signals
from docproc.terminal.view import TerminalViews

LOOK_SECONDS = 0.05
SHOW_SECONDS = 0.25
# Enough to keep every core busy; the others are not begun, so that their deadlines do not run.
REQUESTS_PER_CORE = 4

INTERRUPTED = 130


def run(
    files: list[str] = typer.Argument(
        metavar="FILES...", help="Files or folders; - reads standard input", show_default=False
    ),
    workflow: str = typer.Option(None, "--workflow", "-w", help="By default chosen by channel and metadata"),
    together: bool = typer.Option(False, "--together", help="One request of all files"),
    out: Path = typer.Option(None, "--out", "-o", file_okay=False, help="Also write NAME.json there"),
    metadata: str = typer.Option("{}", "--metadata", help="A JSON object, kept with each request"),
    channel: str = typer.Option("cli", "--channel", help="Where the files come from"),
    external_id: str = typer.Option(None, "--external-id", help="Your own reference"),
    password: str = typer.Option(None, "--password", help="Opens protected files; it is not kept"),
    tenant: str = typer.Option(DEFAULT, "--tenant", help="Whose request it is"),
    home: Path = typer.Option(None, "--home", file_okay=False, help="Where data lies (default DOCPROC_HOME)"),
    no_keep: bool = typer.Option(False, "--no-keep", help="Leave no data behind but the answers"),
    as_json: bool = typer.Option(False, "--json", help="One line of JSON per request"),
    format: Format = typer.Option(
        None, "--format", help="A table of all documents: csv on standard output, or a file below --out"
    ),
    language: str = typer.Option(
        None, "--lang", help="Of --format: es or en (default: the system's)", show_default=False
    ),
) -> None:
    """Process files here and now, and show what is in them; exit 1 when one failed."""
    if home and no_keep:
        raise UsageError("--home and --no-keep contradict each other", remedy="Give one of them")
    sheet = Spreadsheet.of(format, language, out, as_json=as_json) if format else None
    arrival = Arrival(
        tenant_id=tenant,
        workflow=workflow,
        channel=channel,
        external_id=external_id,
        metadata=parse_metadata(metadata, password),
        review="flag",  # nobody can be asked here, whoever works on it
        is_watched=False,  # whoever typed this watches it, and wants all of it
        source_component="cli",
    )
    requests = batches(files, together=together)
    printer = Printer(
        [batch.name for batch in requests],
        TerminalViews([view]),
        None if sheet else out,
        as_json=as_json,
        is_silent=sheet is not None,
    )
    with _home(home, no_keep) as folder:
        code = run_async(Run(requests, arrival, printer, sheet).main(embedded.embedded_settings(folder)))
    raise typer.Exit(code)


@contextmanager
def _home(given: Path | None, no_keep: bool) -> Iterator[Path | None]:
    if not no_keep:
        yield given
        return
    with tempfile.TemporaryDirectory(prefix="docproc-", ignore_cleanup_errors=True) as folder:
        yield Path(folder)


class Run:
    """Submits a few requests at a time and waits for their ends."""

    def __init__(
        self, found: Sequence[Batch], arrival: Arrival, printer: Printer, sheet: Spreadsheet | None = None
    ) -> None:
        self.found = found
        self.arrival = arrival
        self.printer = printer
        self.sheet = sheet
        self._waiting = list(enumerate(found))[::-1]
        self._running: dict[int, UUID] = {}
        self._ours: set[UUID] = set()
        self._shown_at = 0.0

    async def main(self, settings: Settings) -> int:
        started = time.monotonic()
        stopping = stop_on_signals(once=True)
        window = max(settings.prefetch_count * REQUESTS_PER_CORE, 8)
        with LiveView(len(self.found), "files") as view:
            async with embedded.opened(settings, self.arrival) as engine:
                while (self._waiting or self._running) and not stopping.is_set():
                    while self._waiting and len(self._running) < window and not stopping.is_set():
                        await self._submit(engine, view)
                    await self._collect(engine, view)
                    await self._show(engine, view)
                    await asyncio.sleep(LOOK_SECONDS if self._running else 0)
                if stopping.is_set():
                    await engine.cancel(self._ours & set(self._running.values()))
                elif self.sheet:
                    done = [self.printer.statuses[index] for index in sorted(self.printer.statuses)]
                    await self.sheet.write(engine.application, done)
        self.printer.flush(rest=True)
        if stopping.is_set():
            errors.print("[yellow]cancelled[/]", highlight=False)
            return INTERRUPTED
        self.printer.total(time.monotonic() - started)
        return 0 if self.printer.all_complete else 1

    async def _submit(self, engine: embedded.Embedded, view: LiveView) -> None:
        index, batch = self._waiting.pop()
        try:
            accepted = await engine.submit(batch, self.arrival)
        except (DocProcError, OSError) as error:  # this one cannot be; the others can
            self.printer.add(index, _not_accepted(error, self.arrival), view)
            return
        self._running[index] = accepted.request_id
        if accepted.is_new:
            self._ours.add(accepted.request_id)

    async def _collect(self, engine: embedded.Embedded, view: LiveView) -> None:
        if not self._running:
            return
        over = await engine.find(set(self._running.values()))
        for index, request_id in sorted(self._running.items()):
            if request_id in over:
                del self._running[index]
                self.printer.add(index, to_jsonable_python(over[request_id]), view)

    async def _show(self, engine: embedded.Embedded, view: LiveView) -> None:
        if not view.is_shown or time.monotonic() - self._shown_at < SHOW_SECONDS:
            return
        self._shown_at = time.monotonic()
        shown = sorted(self._running.items())[:SHOWN]
        lines = await engine.progress({request_id: self.found[index].name for index, request_id in shown})
        view.show(lines, len(self.printer.statuses), others=len(self._running) - len(lines))


def _not_accepted(error: Exception, arrival: Arrival) -> dict[str, Any]:
    """The status object of a file that did not become a request."""
    nothing = ("created_at", "deadline_utc", "completed_at", "page_count", "document_count", "result")
    return {
        "request_id": None,
        "status": "failed",
        "workflow_name": arrival.workflow,
        **dict.fromkeys(nothing),
        "error": {"code": "not_accepted", "message": str(error)},
        "answer_version": 0,
        "breached_at": None,
        "amended_at": None,
    }
