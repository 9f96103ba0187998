"""A private Redis on a free port, for tests and benches that flush, restart and kill it."""

from __future__ import annotations

import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.servers import HOST, _environment, _Server, _which


class RedisServer(_Server):
    """Keeps nothing on disk: after a restart it is empty, unless `appendonly` is asked for."""

    label = "Redis"
    stop_signal = signal.SIGTERM
    start_seconds = 20.0
    stop_seconds = 20.0

    def __init__(self, folder: Path | None = None, *, appendonly: bool = False) -> None:
        super().__init__(folder)
        self._appendonly = appendonly

    @staticmethod
    def available() -> str | None:
        """Say why Redis cannot run here, or None when it can."""
        return None if _which("redis-server") else "no redis-server (install Debian's redis-server)"

    @property
    def url(self) -> str:
        return f"redis://{HOST}:{self.port}/0"

    def empty(self) -> None:
        """Forget everything, as an operator's FLUSHALL does."""
        self.command("FLUSHALL")

    def command(self, *arguments: str) -> str:
        """Give Redis a command and return the first line of its answer, without a client library."""
        with socket.create_connection((HOST, self.port), timeout=10) as link:
            link.sendall((" ".join(arguments) + "\r\n").encode())
            return link.makefile("rb").readline().decode(errors="replace").strip()

    def _create(self) -> None:
        """Nothing to prepare: everything is said on the command line."""

    def _spawn(self) -> subprocess.Popen[bytes]:
        told: Sequence[str | Path] = [
            "redis-server",
            *("--port", str(self.port), "--bind", HOST, "--dir", self.home),
            *("--save", "", "--appendonly", "yes" if self._appendonly else "no"),
            *("--maxmemory-policy", "noeviction"),
        ]
        return self._run(told, _environment())

    def _answers(self) -> bool:
        try:
            return self.command("PING") == "+PONG"
        except OSError:
            return False

    def _leftovers(self) -> list[int]:
        return []
