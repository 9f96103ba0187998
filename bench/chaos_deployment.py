"""What bench/chaos.py attacks: supervised workers, the API and the monitor, started again when they end."""

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
RESTART_SECONDS = 0.2


class Service:
    """A process that is started again whenever it ends."""

    def __init__(
        self, name: str, command: tuple[str, ...], environment: Mapping[str, str], log: Path
    ) -> None:
        self.name = name
        self.command = command
        (self.health_port,) = free_ports(1)
        self.environment = {**environment, "DOCPROC_HEALTH_PORT": str(self.health_port)}
        self.log = log
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
            return (await client.get(f"http://127.0.0.1:{self.health_port}/ready")).status_code == 200
        return False


class Deployment:
    """Three services on one combination."""

    def __init__(self, variables: Mapping[str, str], folder: Path) -> None:
        self.folder = folder
        (self.api_port,) = free_ports(1)
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DOCPROC_")}
        environment = {
            **kept,
            "DOCPROC_HOME": str(folder),
            "DOCPROC_API_PORT": str(self.api_port),
            "DOCPROC_LOG_LEVEL": "warning",
            "DOCPROC_LOG_FORMAT": "json",
            "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}",
            **variables,
        }
        components = [part.partition("=")[0] for part in variables["DOCPROC_COMPONENTS"].split(",")]
        workers = ("-m", "docproc", "worker", "workflow_router", *components, "--processes", "2")
        self.services = [
            Service("workers", workers, environment, folder / "workers.log"),
            *(
                Service(
                    name,
                    ("-m", "docproc"),
                    {**environment, "DOCPROC_COMPONENT_NAME": name},
                    folder / f"{name}.log",
                )
                for name in ("api_gateway", "sla_monitor")
            ),
        ]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.api_port}"

    def processes(self) -> list[tuple[str, psutil.Process]]:
        return [(service.name, one) for service in self.services for one in service.tree()]

    async def close(self) -> None:
        await asyncio.gather(*(service.close() for service in self.services))
