"""What `docproc up` runs beside the workers, each in a process of its own: API, station, SLA monitor, and the
doors that the settings open.

What faces the network shares no process with what keeps deadlines: whatever a stranger makes of the one,
the other answers in time.
"""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Any

import structlog

from docproc.cli.serve import API_GATEWAY, BACKOFFICE
from docproc.doors.service import open_doors
from docproc.engine.deadlines.service import COMPONENT as SLA_MONITOR
from docproc.engine.running.keeping import Keeper
from docproc.settings import Settings

log = structlog.get_logger(__name__)

LOOK_SECONDS = 0.5
ANSWER_SECONDS = 5.0


class Service(Keeper):
    """One of them. `port`: where it must be reached besides its health server, if it has one."""

    def __init__(
        self, name: str, settings: Settings, port: int | None, gave_up: Callable[[int], None]
    ) -> None:
        self.host = _reached(settings.host)
        self.ports = [one for one in (port,) if one]
        self.health_port = _free_port(self.host)
        environment = {
            "DOCPROC_API_PORT": str(settings.api_port),
            "DOCPROC_BACKOFFICE_PORT": str(settings.backoffice_port),
            "DOCPROC_HEALTH_PORT": str(self.health_port),
        }
        super().__init__([name], settings.shutdown_seconds, environment)
        self.gave_up = gave_up
        self.is_ready = self.was_ready = False

    async def ended(self, worker_id: str, code: int) -> None:
        self.is_ready = False
        if not self.was_ready and code > 0:  # it said why; a signal from elsewhere is no reason of its own
            self.gave_up(code)

    def tell_died(self, **facts: Any) -> None:
        log.warning("service_died", service=self.names[0], **facts)

    def tell_killed(self, **facts: Any) -> None:
        log.warning("service_killed", service=self.names[0], **facts)

    async def watch(self) -> None:
        while True:
            self.is_ready = await self._is_ready()
            self.was_ready = self.was_ready or self.is_ready
            await asyncio.sleep(LOOK_SECONDS)

    async def _is_ready(self) -> bool:
        with contextlib.suppress(OSError, TimeoutError, ValueError):
            async with asyncio.timeout(ANSWER_SECONDS):
                if await _status(self.host, self.health_port, "/ready") != 200:
                    return False
                return all([await _status(self.host, port, "/health") == 200 for port in self.ports])
        return False


class Services:
    """All of them, until told to stop; one that cannot start ends everything, as it would alone."""

    def __init__(self, settings: Settings) -> None:
        self.exit_code = 0
        self._stopping: asyncio.Event | None = None
        ports: dict[str, int | None] = {
            API_GATEWAY: settings.api_port,
            BACKOFFICE: settings.backoffice_port,
            SLA_MONITOR: None,
            **dict.fromkeys(open_doors(settings)),  # they speak no HTTP, but for their health server
        }
        self._all = [Service(name, settings, port, self._give_up) for name, port in ports.items()]

    def are_ready(self) -> bool:
        return all(one.is_ready for one in self._all)

    async def run(self, stopping: asyncio.Event) -> None:
        self._stopping = stopping
        async with asyncio.TaskGroup() as group:
            watching = [group.create_task(one.watch()) for one in self._all]
            keepers = [group.create_task(one.keep(stopping)) for one in self._all]
            await asyncio.gather(*keepers)
            for watch in watching:
                watch.cancel()

    def _give_up(self, code: int) -> None:
        self.exit_code = code
        if self._stopping is not None:
            self._stopping.set()


def _reached(host: str) -> str:
    """As this machine reaches what listens there."""
    return {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)


def _free_port(host: str) -> int:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.create_server((host, 0), family=family) as server:
        return int(server.getsockname()[1])


async def _status(host: str, port: int, path: str) -> int:
    """Of an HTTP answer. Raises OSError or ValueError where there is none."""
    reader, writer = await asyncio.open_connection(host, port)
    try:
        name = f"[{host}]" if ":" in host else host
        writer.write(f"GET {path} HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
        return int((await reader.readline()).split()[1])
    except IndexError as error:
        raise ValueError("no answer") from error
    finally:
        writer.close()
