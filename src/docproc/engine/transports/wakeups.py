"""Wake-ups between processes for the sql transport: NOTIFY on PostgreSQL, datagrams beside a SQLite file."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import socket
import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from pathlib import Path

import asyncpg
import structlog
from sqlalchemy.engine import URL

log = structlog.get_logger(__name__)

CHANNEL = "docproc_wake"

# Called with the names of queues that may have something new.
Woken = Callable[[str], None]


class Wakeups(ABC):
    """Tells other processes that queues have something new. A lost wake-up only costs the idle timeout."""

    @abstractmethod
    async def open(self, woken: Woken) -> None: ...

    @abstractmethod
    async def close(self) -> None: ...

    @abstractmethod
    async def send(self, names: Iterable[str]) -> None: ...

    @property
    @abstractmethod
    def is_connected(self) -> bool: ...


class PostgresWakeups(Wakeups):
    """LISTEN/NOTIFY on one connection of its own, outside any transaction.

    NOTIFY inside the sender's transaction would serialise all commits behind one lock.
    """

    def __init__(self, url: URL) -> None:
        self.dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._connection: asyncpg.Connection | None = None
        self._keeper: asyncio.Task[None] | None = None
        self._lost = asyncio.Event()
        self._lock = asyncio.Lock()

    @property
    def is_connected(self) -> bool:
        return self._connection is not None and not self._connection.is_closed()

    async def open(self, woken: Woken) -> None:
        self._woken = woken
        await self._connect()
        self._keeper = asyncio.create_task(self._keep_connected(), name="wakeups")

    async def close(self) -> None:
        if self._keeper is not None:
            self._keeper.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._keeper
        if self._connection is not None and not self._connection.is_closed():
            await self._connection.close(timeout=2)

    async def send(self, names: Iterable[str]) -> None:
        # A connection runs one statement at a time; a lost one is the keeper's business.
        async with self._lock:
            if self.is_connected:
                with contextlib.suppress(asyncpg.PostgresError, asyncpg.InterfaceError, OSError):
                    await self._connection.execute(  # type: ignore[union-attr] # is_connected says it is there
                        "SELECT pg_notify($1, name) FROM unnest($2::text[]) AS name", CHANNEL, list(names)
                    )

    async def _connect(self) -> None:
        self._lost.clear()
        connection = await asyncpg.connect(self.dsn, timeout=10, command_timeout=10)
        connection.add_termination_listener(lambda _: self._lost.set())
        await connection.add_listener(CHANNEL, lambda _c, _p, _ch, name: self._woken(str(name)))
        self._connection = connection

    async def _keep_connected(self) -> None:
        wait = 0.1
        while True:
            await self._lost.wait()
            try:
                await self._connect()
                wait = 0.1
                self._woken("*")  # whatever was missed meanwhile
            except (asyncpg.PostgresError, asyncpg.InterfaceError, OSError, TimeoutError) as error:
                log.warning("wakeups_reconnecting", error=str(error).splitlines()[0] if str(error) else "")
                self._lost.set()
                await asyncio.sleep(wait)
                wait = min(wait * 2, 2.0)


class SocketWakeups(Wakeups):
    """A datagram socket per process in a folder named after the database file."""

    def __init__(self, database: str) -> None:
        # Not beside the database: socket paths may have 107 characters at most.
        name = hashlib.sha256(str(Path(database).absolute()).encode()).hexdigest()[:16]
        self.folder = Path(tempfile.gettempdir()) / f"docproc-{os.getuid()}-{name}"
        self.path = self.folder / f"{os.getpid()}-{id(self):x}"
        self._socket: socket.socket | None = None

    @property
    def is_connected(self) -> bool:
        return self._socket is not None

    async def open(self, woken: Woken) -> None:
        self.folder.mkdir(mode=0o700, exist_ok=True)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(str(self.path))
        asyncio.get_running_loop().add_reader(self._socket.fileno(), self._receive, woken)

    def _receive(self, woken: Woken) -> None:
        while self._socket is not None:
            try:
                data = self._socket.recv(4096)
            except BlockingIOError:
                return
            for name in data.decode().split("\n"):
                woken(name)

    async def close(self) -> None:
        if self._socket is not None:
            asyncio.get_running_loop().remove_reader(self._socket.fileno())
            self._socket.close()
            self._socket = None
        self.path.unlink(missing_ok=True)
        with contextlib.suppress(OSError):  # others still listen there
            self.folder.rmdir()

    async def send(self, names: Iterable[str]) -> None:
        data = "\n".join(names).encode()
        for peer in self.folder.iterdir() if self._socket else ():
            if peer == self.path or self._socket is None:
                continue
            try:
                self._socket.sendto(data, str(peer))
            except BlockingIOError:
                pass  # its buffer is full of wake-ups already
            except (ConnectionRefusedError, FileNotFoundError):
                peer.unlink(missing_ok=True)  # its process is gone
