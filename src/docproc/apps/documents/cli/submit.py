"""`docproc submit`: send files to a running DocProc."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from typing import IO, Any
from uuid import UUID

import typer
from rich.markup import escape
from rich.progress import BarColumn, DownloadColumn, Progress, TaskID, TextColumn, TransferSpeedColumn

from docproc.apps.documents.cli.sources import Batch, Source, batches, parse_metadata
from docproc.errors import PermanentError
from docproc.terminal.following import follow
from docproc.terminal.output import console, errors, print_json
from docproc.terminal.server import Server, ServerOption, connected


def submit(
    files: list[str] = typer.Argument(
        metavar="FILES...", help="Files or folders; - reads standard input", show_default=False
    ),
    workflow: str = typer.Option(None, "--workflow", "-w", help="By default chosen by channel and metadata"),
    together: bool = typer.Option(False, "--together", help="One request of all files"),
    metadata: str = typer.Option("{}", "--metadata", help="A JSON object, kept with each request"),
    channel: str = typer.Option("cli", "--channel", help="Where the files come from"),
    external_id: str = typer.Option(None, "--external-id", help="Your own reference"),
    password: str = typer.Option(None, "--password", help="Opens protected files; it is not kept"),
    wait: bool = typer.Option(False, "--wait", help="Follow the requests to their ends, as `watch`"),
    server: str = ServerOption,
    as_json: bool = typer.Option(False, "--json", help="One line of JSON per request"),
) -> None:
    """Send files to a running DocProc and say the ids of the requests; exit 1 when one was refused."""
    fields = {
        "metadata": json.dumps(parse_metadata(metadata, password)),
        "channel": channel,
        **({"workflow": workflow} if workflow else {}),
        **({"external_id": external_id} if external_id else {}),
    }
    requests = batches(files, together=together)
    with connected(server) as there:
        accepted = _send_all(there, requests, fields)
        for batch, answer in accepted:
            if not (wait and answer["request_id"]):
                _say(batch, answer, as_json, server)
        sent = [(batch.name, answer["request_id"]) for batch, answer in accepted if answer["request_id"]]
        code = 0 if len(sent) == len(requests) else 1
        if wait and sent:
            names, ids = zip(*sent, strict=True)
            code = max(code, follow(there, [UUID(one) for one in ids], names, as_json=as_json))
    raise typer.Exit(code)


def _send_all(
    server: Server, requests: Sequence[Batch], fields: Mapping[str, str]
) -> list[tuple[Batch, dict[str, Any]]]:
    """One that is refused does not stop the others."""
    answers = []
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=errors, transient=True, redirect_stdout=False) as bar:
        task = bar.add_task("", total=_size(requests))
        for batch in requests:
            bar.update(task, description=escape(batch.name))
            try:
                answers.append((batch, _send(server, batch, fields, bar, task)))
            except (PermanentError, OSError) as error:
                refused = {"code": "not_accepted", "message": str(error)}
                answers.append((batch, {"request_id": None, "status": "failed", "error": refused}))
    return answers


def _send(
    server: Server, batch: Batch, fields: Mapping[str, str], bar: Progress, task: TaskID
) -> dict[str, Any]:
    def count(number: int) -> None:
        bar.advance(task, number)

    with ExitStack() as opened:
        parts: list[tuple[str, Any]] = []
        for source in batch.sources:
            reader = _Reader(source, count) if source.path is None else _FileReader(source, count)
            opened.callback(reader.close)
            parts.append((source.name, reader))
        return server.send("/process", parts, fields)


class _Reader:
    """Opened when first read, closed at its end: a request may have more files than a process may open."""

    def __init__(self, source: Source, count: Callable[[int], None]) -> None:
        self.source = source
        self.count = count
        self._file: IO[bytes] | None = None

    def read(self, size: int = -1) -> bytes:
        if self._file is None:
            self._file = self.source.open()
        chunk = self._file.read(size)
        self.count(len(chunk))
        if not chunk:
            self.close()
        return chunk

    def close(self) -> None:
        if self._file is not None:
            self._file.close()


class _FileReader(_Reader):
    """What httpx needs to tell the size beforehand; the size of standard input nobody knows."""

    def tell(self) -> int:
        return 0

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return _bytes_of(self.source) if whence == os.SEEK_END else offset


def _bytes_of(source: Source) -> int:
    return source.path.stat().st_size if source.path else 0


def _size(requests: Sequence[Batch]) -> int | None:
    """Of all files; None when one of them is standard input."""
    sources = [source for batch in requests for source in batch.sources]
    return None if any(source.path is None for source in sources) else sum(map(_bytes_of, sources))


def _say(batch: Batch, answer: Mapping[str, Any], as_json: bool, server: str | None) -> None:
    if as_json:
        return print_json({"name": batch.name, **answer})
    name = escape(batch.name)
    if answer["request_id"] is None:
        message = escape(answer["error"]["message"])
        errors.print(f"[bold red]error:[/] {name}: {message}", highlight=False, soft_wrap=True)
        return
    elsewhere = f" --server {escape(server)}" if server else ""
    follow_up = f"[dim]{name}; docproc watch {answer['request_id']}{elsewhere}[/]"
    console.print(f"{answer['request_id']}  {follow_up}", highlight=False, soft_wrap=True)
