"""`docproc up`: everything on this machine in one command, until Ctrl-C."""

from __future__ import annotations

import asyncio
import fcntl
import os
import socket
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import typer
from rich.markup import escape

from docproc import logs
from docproc.app import App, open_database
from docproc.cli.serve import require_servers
from docproc.cli.services import Services
from docproc.cli.worker import keep_workers
from docproc.errors import ConfigurationError
from docproc.http.exposure import check_api, check_station
from docproc.private import private_file, private_folder
from docproc.settings import Settings
from docproc.terminal.output import console, errors, run_async
from docproc.terminal.signals import stop_on_signals

LOCK = "up.lock"


def up(
    home: Path = typer.Option(None, "--home", file_okay=False, help="Where data lies (default DOCPROC_HOME)"),
    host: str = typer.Option(None, "--host", help="Address to listen on (default DOCPROC_HOST, 127.0.0.1)"),
    port: int = typer.Option(
        None, "--port", min=0, max=65535, help="Of the API; 0 takes any (default DOCPROC_API_PORT)"
    ),
    review: str = typer.Option(
        None, "--review", help="Doubtful results: ask a person, or flag them (default DOCPROC_REVIEW, ask)"
    ),
    processes: int = typer.Option(
        None, "--processes", min=1, help="Pages worked on at once (default DOCPROC_PROCESSES, the cores)"
    ),
) -> None:
    """Serve the API and process what comes, until Ctrl-C or SIGTERM."""
    settings = _settings(home, host, port, processes, review)
    logs.configure(settings, component="up")
    require_servers()
    check_api(settings, settings.host)
    check_station(settings, settings.host)
    with _only_one(settings) as lock:
        settings = _with_free_ports(settings)
        lock.truncate(0)
        lock.write(f"process {os.getpid()}, {_url(settings.host, settings.api_port)}\n")
        lock.flush()
        code = run_async(_serve(settings))
    sys.exit(code)


def _settings(
    home: Path | None, host: str | None, port: int | None, processes: int | None, review: str | None
) -> Settings:
    """As the options say; what the worker processes must know of it goes into the environment, too."""
    given: dict[str, Any] = {"host": host, "api_port": port, "processes": processes, "review": review}
    if home is not None:
        given["home"] = home.expanduser().absolute()
    overrides = {name: value for name, value in given.items() if value is not None}
    settings = Settings.load(**overrides)
    if home is not None and settings.is_embedded:
        own = {"storage_path": given["home"] / "storage", "storage_url": None, "database_url": None}
        settings = Settings.load(**overrides, **own)
    changed: dict[str, Any] = {}
    if settings.is_embedded and (processes or "prefetch_count" not in settings.model_fields_set):
        # One process with many children: several would only wait for each other's writes to one file.
        changed["prefetch_count"] = settings.processes
    if "log_level" not in settings.model_fields_set:
        changed["log_level"] = "warning"  # addresses and trouble; the rest is asked for
    settings = settings.model_copy(update=changed)
    for name in ("home", "host", "prefetch_count", "log_level", "review"):
        os.environ[f"DOCPROC_{name.upper()}"] = str(getattr(settings, name))
    if home is not None and settings.is_embedded:
        os.environ["DOCPROC_STORAGE_PATH"] = str(settings.storage_path)
        for name in ("DOCPROC_DATABASE_URL", "DOCPROC_STORAGE_URL"):
            os.environ[name] = ""  # counts as unset
    return settings


@contextmanager
def _only_one(settings: Settings) -> Iterator[IO[str]]:
    """The lock's file. Data has one master; the lock ends with this process, however that ends."""
    path = settings.home.expanduser().absolute() / LOCK
    try:
        private_file(private_folder(path.parent) / LOCK)
        file = path.open("a+", encoding="utf-8")
    except OSError as error:
        raise ConfigurationError(
            f"{path.parent} cannot be used: {error.strerror}", remedy="Check --home or DOCPROC_HOME"
        ) from error
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            file.seek(0)
            holder = file.read().strip() or "another process"
            raise ConfigurationError(
                f"DocProc runs already on {path.parent}: {holder}",
                remedy="Stop it first, or give this one another --home",
            ) from None
        yield file
        file.truncate(0)


def _with_free_ports(settings: Settings) -> Settings:
    """Told before anything starts; only ports that nobody asked for and nobody types may become others."""
    host, to_free = settings.host, "to a free port"
    api = _port(host, settings.api_port, "the API", f"Set --port or DOCPROC_API_PORT {to_free}")
    ports = {"api_port": api}
    for name, who in (("backoffice_port", "the review station"), ("health_port", "the health server")):
        remedy = f"Set DOCPROC_{name.upper()} {to_free}"
        try:
            ports[name] = _port(host, getattr(settings, name), who, remedy)
        except ConfigurationError:
            if name in settings.model_fields_set:
                raise
            ports[name] = _port(host, 0, who, remedy)
    return settings.model_copy(update=ports)


def _port(host: str, port: int, who: str, remedy: str) -> int:
    """The port, found free; 0 becomes one that is."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        with socket.create_server((host, port), family=family) as server:
            return int(server.getsockname()[1])
    except OSError as error:
        problem = os.strerror(error.errno) if error.errno and error.errno > 0 else str(error)
        raise ConfigurationError(f"{who} cannot listen on {host}:{port}: {problem}", remedy=remedy) from error


async def _serve(settings: Settings) -> int:
    stopping, warm = stop_on_signals(once=True), asyncio.Event()
    names = sorted(App(settings).registry.paths)
    processes = 1 if settings.is_embedded else settings.processes
    async with open_database(settings):
        pass  # brought up to date once, before several processes ask for it
    services = Services(settings)
    try:
        async with asyncio.TaskGroup() as group:
            is_up = services.are_ready
            group.create_task(keep_workers(settings, names, processes, stopping, warm, is_up))
            group.create_task(services.run(stopping))
            group.create_task(_announce(App(settings), settings, stopping, warm))
    except BaseExceptionGroup as several:
        first: BaseException = several
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from several  # one reason to end is enough, and it has a remedy
    return services.exit_code


async def _announce(
    application: App, settings: Settings, stopping: asyncio.Event, warm: asyncio.Event
) -> None:
    api, review = _url(settings.host, settings.api_port), _url(settings.host, settings.backoffice_port)
    data = settings.home.expanduser().absolute() if settings.is_embedded else _without_password(settings)
    server = api.rstrip("/")
    elsewhere = "" if server == settings.server else f" --server {server}"
    takes_files = any(
        command.name == "submit" for one in application.applications.all for command in one.commands
    )
    sending = [("send a file", f"docproc submit FILE --wait{elsewhere}")] if takes_files else []
    for what, where in (
        ("API and page", api),
        ("review station", review if settings.auth == "on" else f"{review}?operator=NAME"),
        ("data", str(data)),
        *sending,
        ("stop", "Ctrl-C"),
    ):
        console.print(f"{what:15} [bold]{escape(where)}[/]", highlight=False, soft_wrap=True)
    sys.stdout.flush()
    await _first(warm, stopping)
    if not stopping.is_set():
        console.print("[green]Ready.[/]")
        if settings.review == "ask":
            console.print(
                "[yellow]Questions wait for people at the review station; while nobody is there, doubtful "
                "results go out marked. --review flag asks none.[/]",
                soft_wrap=True,
            )
        sys.stdout.flush()
        await stopping.wait()
    errors.print("Stopping …")


async def _first(*events: asyncio.Event) -> None:
    waits = [asyncio.create_task(event.wait()) for event in events]
    await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
    for wait in waits:
        wait.cancel()


def _url(host: str, port: int) -> str:
    """As a browser on this machine reaches it."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{shown}:{port}/"


def _without_password(settings: Settings) -> str:
    from sqlalchemy import make_url

    return make_url(settings.effective_database_url).render_as_string(hide_password=True)
