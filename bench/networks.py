"""The network of containers without containers: an address for each service, under its own name.

`Namespaces` gives each a network namespace on a bridge, as Docker does, with its own loopback and its own
`/etc/hosts`; it needs root and iproute2. `Loopback` gives each an address of 127.0.0.0/8, and puts addresses
where settings have names.
"""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import sys
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

# Set where the program runs in a namespace of its own.
INSIDE = "DOCPROC_BENCH_NAMESPACE"
NAMES = (
    "postgres", "rabbitmq", "redis", "mongo", "migrate", "api-gateway", "backoffice", "workflow-router",
    "splitter", "ocr", "classifier", "classification-aggregator", "extractor", "extraction-aggregator",
    "consolidator", "sla-monitor", "service-call", "task-result", "material-worker", "video-server",
    "video-worker", "video-preview",
)  # fmt: skip


class Network(ABC):
    def __init__(self) -> None:
        self._doors: list[socket.socket] = []

    @abstractmethod
    def address(self, name: str) -> str:
        """Where this machine reaches the service."""

    @abstractmethod
    def listens(self, name: str) -> str:
        """What the service binds to."""

    def prefix(self, name: str) -> list[str]:
        """What a command begins with to run inside the service's network."""
        return []

    def replaced(self, name: str) -> dict[str, str]:
        """Texts of settings that mean something else here."""
        return {}

    @abstractmethod
    def door_address(self, name: str) -> str:
        """Where a server of this machine is reached from services."""

    def door(self, name: str, port: int, actual: int) -> None:
        """A server that listens on loopback, under a service's name and port."""
        door = socket.create_server((self.door_address(name), port), backlog=256)
        self._doors.append(door)
        threading.Thread(target=_serve_door, args=(door, actual), daemon=True).start()

    def close(self) -> None:
        for door in self._doors:
            door.close()


class Loopback(Network):
    def address(self, name: str) -> str:
        return f"127.77.0.{NAMES.index(name) + 10}"

    def listens(self, name: str) -> str:
        return self.address(name)

    def door_address(self, name: str) -> str:
        return self.address(name)

    def replaced(self, name: str) -> dict[str, str]:
        servers = {f"@{one}:": f"@{self.address(one)}:" for one in ("postgres", "rabbitmq")}
        redis = {"//redis:": f"//{self.address('redis')}:"}
        return {**servers, **redis, "0.0.0.0": self.address(name), "127.0.0.1": self.address(name)}


class Namespaces(Network):
    """A bridge inside the run's own namespace (`go_inside`), so its addresses are nobody
    else's; every name resolves in every
    namespace."""

    def __init__(self) -> None:
        super().__init__()
        if INSIDE not in os.environ:
            raise OSError("not in a namespace of its own")
        self.mark = f"dp{os.getpid() % 10000}"
        self.bridge = f"{self.mark}br"
        self.subnet = "198.18.0"  # reserved for measurements
        self._made: list[str] = []
        self._outside: set[str] = set()
        _ip("link", "add", self.bridge, "type", "bridge")
        _ip("addr", "add", f"{self.subnet}.1/24", "dev", self.bridge)
        _ip("link", "set", self.bridge, "up")

    def address(self, name: str) -> str:
        return f"{self.subnet}.{NAMES.index(name) + 10}"

    def listens(self, name: str) -> str:
        return "0.0.0.0"

    def door_address(self, name: str) -> str:
        """On the bridge itself: the server runs outside of every service's namespace."""
        if name not in self._outside:
            self._outside.add(name)
            _ip("addr", "add", f"{self.address(name)}/24", "dev", self.bridge)
        return self.address(name)

    def prefix(self, name: str) -> list[str]:
        space = f"{self.mark}-{name}"
        if space not in self._made:
            self._made.append(space)
            self._make(space, name)
        return ["ip", "netns", "exec", space]

    def _make(self, space: str, name: str) -> None:
        number = NAMES.index(name)
        outer, inner = f"{self.mark}o{number}", f"{self.mark}i{number}"
        _ip("netns", "add", space)
        _ip("link", "add", outer, "type", "veth", "peer", "name", inner)
        _ip("link", "set", outer, "master", self.bridge, "up")
        _ip("link", "set", inner, "netns", space)
        _ip("-n", space, "link", "set", "lo", "up")
        _ip("-n", space, "addr", "add", f"{self.address(name)}/24", "dev", inner)
        _ip("-n", space, "link", "set", inner, "up")
        hosts = Path("/etc/netns") / space / "hosts"  # `ip netns exec` lays it over /etc/hosts
        hosts.parent.mkdir(parents=True, exist_ok=True)
        lines = ["127.0.0.1 localhost", *(f"{self.address(one)} {one}" for one in NAMES)]
        hosts.write_text("\n".join(lines) + "\n")

    def close(self) -> None:
        super().close()
        for space in self._made:
            with suppress(subprocess.CalledProcessError):
                _ip("netns", "del", space)
            folder = Path("/etc/netns") / space
            (folder / "hosts").unlink(missing_ok=True)
            folder.rmdir()
        with suppress(subprocess.CalledProcessError):
            _ip("link", "del", self.bridge)


def go_inside() -> None:
    """Begin this program again in a network namespace that has nothing but a loopback of its own, if
    this machine allows it; else
    go on here."""
    if INSIDE in os.environ or os.geteuid() != 0 or not shutil.which("unshare") or not shutil.which("ip"):
        return
    trial = subprocess.run(
        ["unshare", "--net", "--mount", "ip", "link", "set", "lo", "up"], capture_output=True, check=False
    )
    if trial.returncode == 0:
        os.environ[INSIDE] = "1"
        start = 'ip link set lo up && exec "$@"'
        os.execvp(
            "unshare", ["unshare", "--net", "--mount", "sh", "-c", start, "sh", sys.executable, *sys.argv]
        )


@contextmanager
def best_network() -> Iterator[Network]:
    network: Network
    try:
        network = Namespaces()
    except (OSError, subprocess.CalledProcessError):
        network = Loopback()
    with closing(network):
        yield network


def _ip(*told: str) -> None:
    subprocess.run(["ip", *told], check=True, capture_output=True, timeout=20)


def _serve_door(door: socket.socket, actual: int) -> None:
    with suppress(OSError):  # it was closed
        while True:
            near, _ = door.accept()
            far = socket.create_connection(("127.0.0.1", actual))
            for source, target in ((near, far), (far, near)):
                threading.Thread(target=_pump, args=(source, target), daemon=True).start()


def _pump(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    with suppress(OSError):
        target.shutdown(socket.SHUT_WR)
