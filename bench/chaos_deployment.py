"""What bench/chaos.py attacks: a whole deployment, each part of it started again when it ends.

On SQLite it is `docproc up`, one tree of processes; elsewhere the parts stand alone, as containers do, with
two monitors.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Mapping
from pathlib import Path

import httpx
import psutil

from bench.servers import _free_ports as free_ports

ROOT = Path(__file__).parents[1]
# As an orchestrator would; it counts in the recovery.
RESTART_SECONDS = 0.2
READY_SECONDS = 2.0
MONITOR = "sla_monitor"


class Service:
    """A process that is started again whenever it ends, with all that it starts."""

    def __init__(
        self, name: str, command: tuple[str, ...], environment: Mapping[str, str], logs: Path
    ) -> None:
        self.name = name
        self.command = command
        (self.health_port,) = free_ports(1)
        self.environment = {**environment, "DOCPROC_HEALTH_PORT": str(self.health_port)}
        self.log = logs / f"{name}.log"
        self.process: asyncio.subprocess.Process | None = None
        self._keeper: asyncio.Task[None] | None = None

    def start(self) -> None:
        self._keeper = asyncio.create_task(self._keep(), name=self.name)

    async def _keep(self) -> None:
        while True:
            with self.log.open("ab") as log:
                self.process = await asyncio.create_subprocess_exec(
                    sys.executable, *self.command, env=self.environment, stderr=log, stdout=log, cwd=ROOT
                )
            await self.process.wait()
            await asyncio.sleep(RESTART_SECONDS)

    async def close(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            await asyncio.gather(self._keeper, return_exceptions=True)
        if self.process is not None and self.process.returncode is None:
            for one in self.tree():  # one that was stopped does not hear SIGTERM
                with contextlib.suppress(psutil.Error):
                    one.send_signal(signal.SIGCONT)
            self.process.terminate()
            try:
                await asyncio.wait_for(self.process.wait(), 15)
            except TimeoutError:
                self.process.kill()
                await self.process.wait()

    def tree(self) -> list[psutil.Process]:
        """The process and all below it: supervised workers, and children that run native work."""
        if self.process is None or self.process.returncode is not None:
            return []
        with contextlib.suppress(psutil.Error):
            top = psutil.Process(self.process.pid)
            return [top, *top.children(recursive=True)]
        return []

    def last_words(self, lines: int = 3) -> list[str]:
        """What it said last, for whoever wants to know why nothing moves."""
        said = (
            self.log.read_text(encoding="utf-8", errors="replace").splitlines() if self.log.exists() else []
        )
        return [f"{self.name}: {line[:400]}" for line in said[-lines:]]

    async def is_ready(self, client: httpx.AsyncClient) -> bool:
        with contextlib.suppress(httpx.HTTPError):
            answer = await client.get(f"http://127.0.0.1:{self.health_port}/ready", timeout=READY_SECONDS)
            return answer.status_code == 200
        return False


class Deployment:
    """All services on one combination."""

    def __init__(self, variables: Mapping[str, str], home: Path, logs: Path, *, is_embedded: bool) -> None:
        self.api_port, station_port = free_ports(2)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DOCPROC_")}
        environment = {
            **kept,
            "DOCPROC_HOME": str(home),
            "DOCPROC_API_PORT": str(self.api_port),
            "DOCPROC_BACKOFFICE_PORT": str(station_port),
            "DOCPROC_PROCESSES": "2",
            "DOCPROC_LOG_LEVEL": "warning",
            "DOCPROC_LOG_FORMAT": "json",
            # None of the installed ones: their models would be most of a restart's time.
            "DOCPROC_APPLICATIONS": ",",
            "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}",
            **variables,
        }
        commands: dict[str, tuple[str, ...]] = {"up": ("-m", "docproc", "up")}
        if not is_embedded:
            components = [part.partition("=")[0] for part in variables["DOCPROC_COMPONENTS"].split(",")]
            workers = ("-m", "docproc", "worker", "workflow_router", *components, "--processes", "2")
            alone = ("api_gateway", "backoffice", MONITOR, f"{MONITOR}_2")
            commands = {"workers": workers, **dict.fromkeys(alone, ("-m", "docproc"))}
        self.services = [
            Service(name, command, {**environment, "DOCPROC_COMPONENT_NAME": name.removesuffix("_2")}, logs)
            for name, command in commands.items()
        ]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.api_port}"

    def start(self) -> None:
        for service in self.services:
            service.start()

    async def is_ready(self, client: httpx.AsyncClient) -> bool:
        """Whether every service says so."""
        return all(await asyncio.gather(*(service.is_ready(client) for service in self.services)))

    def processes(self) -> list[tuple[str, psutil.Process]]:
        return [(service.name, one) for service in self.services for one in service.tree()]

    async def close(self) -> None:
        await asyncio.gather(*(service.close() for service in self.services))


def role(process: psutil.Process) -> str:
    """What a process of the tree is for, in a word."""
    with contextlib.suppress(psutil.Error):
        command = " ".join(process.cmdline())
        if "multiprocessing.spawn" in command:
            return "child"
        if "resource_tracker" in command:
            return "resource tracker"
        if "worker --child" in command:
            last = command.rsplit(" ", 1)[-1]
            return last if last in ("api_gateway", "backoffice", MONITOR) else "worker"
        if "docproc up" in command:
            return "up"
        if "docproc worker" in command:
            return "supervisor"
        return process.environ().get("DOCPROC_COMPONENT_NAME", "process").removesuffix("_2")
    return "process"
