"""Real processes for tests: commands that end, and services that are watched and always ended."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import sqlite3
import subprocess
import sys
import tempfile
import textwrap
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

import aiormq
import asyncpg
import psutil

from bench.servers import HOST, _free_ports
from docproc.app import open_client
from docproc.engine.running.intake import Submission
from docproc.settings import Settings
from tests import forking
from tests.components import PATHS
from tests.harness import settings_for

ROOT = Path(__file__).parents[1]
FAULTS = {"gate": "tests.faults.Gate", "crash": "tests.faults.CrashingSetup"}
COMMAND_SECONDS = 60.0


@dataclass(frozen=True)
class Ended:
    """A command's exit code and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line a person reads, after `error: `; anything else fails the test."""
        assert "Traceback" not in self.err, self.err
        lines = self.err.splitlines()
        assert len(lines) == 1 and lines[0].startswith("error: "), self.err
        return lines[0].removeprefix("error: ")


class Service:
    """A process that runs until it is told to stop."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, port: int) -> None:
        self.process = process
        self.pid = process.pid
        self.log = log
        self.port = port

    def get(self, path: str) -> tuple[int, str] | None:
        """Status and body of an HTTP answer; None while nobody answers."""
        try:
            with urllib.request.urlopen(f"http://{HOST}:{self.port}{path}", timeout=5) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as refused:
            with refused:
                return refused.code, refused.read().decode()
        except OSError:
            return None

    def status(self, path: str) -> int | None:
        answer = self.get(path)
        return answer[0] if answer else None

    def until_status(self, path: str, status: int, seconds: float = 30) -> None:
        def answers() -> bool:
            assert self.is_alive, f"it ended: {self.said()}"
            return self.status(path) == status

        until(answers, f"{path} is {status}", seconds)

    @property
    def is_alive(self) -> bool:
        return self.process.poll() is None

    def events(self, name: str) -> list[dict[str, Any]]:
        """Its log lines of that name so far."""
        lines = [line for line in self.said().splitlines() if line.startswith("{") and line.endswith("}")]
        return [found for line in lines if (found := json.loads(line)).get("event") == name]

    def until_event(self, name: str, seconds: float = 30) -> dict[str, Any]:
        until(lambda: self.events(name), f"the log says {name}; it says {self.said()}", seconds)
        return self.events(name)[0]

    def said(self) -> str:
        return self.log.read_text(encoding="utf-8")

    def children(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self.pid).children(recursive=True)
        except psutil.NoSuchProcess:
            return []

    def signal(self, number: signal.Signals) -> None:
        self.process.send_signal(number)

    def wait(self, seconds: float = 20) -> int:
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it did not end in {seconds} s: {self.said()}") from None

    def stop(self) -> None:
        """In order, with everything it left behind checked."""
        self.signal(signal.SIGTERM)
        assert self.wait() == 0, self.said()

    def kill(self) -> None:
        """Whatever state it is in; by process id, its children included."""
        for child in self.children():
            with contextlib.suppress(psutil.NoSuchProcess):
                child.kill()
        if self.is_alive:
            self.process.kill()
        self.process.wait()


class Processes:
    """DocProc in other processes, all on one database, with a folder and an environment of their own."""

    def __init__(
        self, folder: Path, database_url: str | None = None, rabbitmq_url: str | None = None
    ) -> None:
        self.folder = folder
        urls = {"database_url": database_url, "rabbitmq_url": rabbitmq_url}
        paths = {**PATHS, **FAULTS}
        self.settings: Settings = settings_for(folder, components=paths, **urls)
        self.environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(folder),
            "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}",  # this tree, whatever is installed
            "DOCPROC_HOME": str(folder),
            "DOCPROC_WORKFLOWS_DIR": str(self.settings.workflows_dir),
            "DOCPROC_COMPONENTS": ",".join(f"{name}={path}" for name, path in paths.items()),
            **{f"DOCPROC_{name.upper()}": url for name, url in urls.items() if url},
        }
        self._services: list[Service] = []

    def workflow(self, name: str, text: str) -> Path:
        path = self.settings.workflows_dir / f"{name}.yaml"
        path.write_text(f"name: {name}\n" + textwrap.dedent(text), encoding="utf-8")
        return path

    def run(self, *arguments: str, **settings: object) -> Ended:
        """A command, to its end; settings are given without `DOCPROC_`, as PREFETCH_COUNT=2."""
        with tempfile.TemporaryDirectory() as folder:
            results = Path(folder)
            environment = self._environment(settings)
            code = forking.run(arguments, environment, self.folder, results, COMMAND_SECONDS)
            out, err = ((results / name).read_text(encoding="utf-8") for name in ("out", "err"))
        return Ended(code, out, err)

    def run_all(self, *commands: str, **settings: object) -> list[Ended]:
        """Commands that do not depend on each other, two at a time: starting Python is most of their time."""
        with ThreadPoolExecutor(2) as pool:
            return list(pool.map(lambda command: self.run(*command.split(), **settings), commands))

    def start(self, *arguments: str, **settings: object) -> Service:
        """A service: `python -m docproc` with those arguments, or a component by COMPONENT_NAME."""
        values = {"HEALTH_PORT": _free_ports(1)[0], **settings}
        log = self.folder / f"service-{len(self._services)}.log"
        with log.open("wb") as stderr:
            process = subprocess.Popen(
                [sys.executable, "-m", "docproc", *arguments],
                env=self._environment(values),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=stderr,
            )
        service = Service(process, log, int(str(values["HEALTH_PORT"])))
        self._services.append(service)
        return service

    def _environment(self, settings: dict[str, object]) -> dict[str, str]:
        return {**self.environment, **{f"DOCPROC_{name}": str(value) for name, value in settings.items()}}

    def close(self) -> None:
        for service in self._services:
            service.kill()

    # --- looking at the same database from here ---------------------------------------------------------

    def submit(self, workflow: str, times: int = 1, **payload: Any) -> list[UUID]:
        async def main() -> list[UUID]:
            async with open_client(self.settings) as app:
                return [await app.intake.submit(Submission(workflow, payload)) for _ in range(times)]

        return asyncio.run(main())

    def query(self, statement: str) -> list[Any]:
        url = self.settings.effective_database_url
        if self.settings.is_embedded:
            return query_sqlite(Path(url.partition("///")[2]), statement)
        return asyncio.run(query_postgres(url.replace("+asyncpg", ""), statement))

    def count(self, rest: str) -> int:
        """`count("messages WHERE state = 'leased'")`; none while the service still makes the tables."""
        try:
            return int(self.query(f"SELECT count(*) FROM {rest}")[0][0])
        except sqlite3.OperationalError as error:
            if "no such table" not in str(error):
                raise
            return 0

    def until_all(self, status: str, number: int, seconds: float = 30) -> None:
        def ended() -> bool:
            return self.count(f"requests WHERE status = '{status}'") == number

        until(ended, f"{number} requests are {status}", seconds)

    # --- the gate's files, see tests/faults.py ----------------------------------------------------------

    def open_gate(self, name: str) -> None:
        (self.folder / name).touch()

    def entered(self) -> int:
        """How many messages the gate has begun to handle."""
        return len(list(self.folder.glob("entered-*")))


def query_sqlite(path: Path, statement: str) -> list[Any]:
    with contextlib.closing(sqlite3.connect(path, timeout=30)) as connection:
        return connection.execute(statement).fetchall()


async def query_postgres(url: str, statement: str) -> list[Any]:
    connection = await asyncpg.connect(url, timeout=10)
    try:
        return list(await connection.fetch(statement))
    finally:
        await connection.close(timeout=5)


async def waiting_on(url: str, queue: str) -> int | None:
    """How many messages a queue holds undelivered; None when there is no such queue."""
    connection = await aiormq.connect(url)
    try:
        channel = await connection.channel()
        return (await channel.queue_declare(queue, passive=True)).message_count
    except aiormq.exceptions.ChannelNotFoundEntity:
        return None
    finally:
        await connection.close()


async def delete_queue(url: str, queue: str) -> None:
    connection = await aiormq.connect(url)
    channel = await connection.channel()
    await channel.queue_delete(queue)
    await connection.close()


def until(condition: Callable[[], Any], what: str, seconds: float = 20) -> None:
    """Poll a condition with a deadline: the outside view has no other way to wait."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, f"not within {seconds} s: {what}"
        time.sleep(0.02)


def are_gone(processes: Sequence[psutil.Process]) -> bool:
    return not any(p.is_running() and p.status() != psutil.STATUS_ZOMBIE for p in processes)
