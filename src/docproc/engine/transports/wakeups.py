"""Wake-ups between processes for the sql transport: the contract, and datagrams beside a SQLite file."""

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

from docproc.private import FILE_MODE, private_folder

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
        private_folder(self.folder)
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.setblocking(False)
        self._socket.bind(str(self.path))
        self.path.chmod(FILE_MODE)
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
