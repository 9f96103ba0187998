"""A video deployment of its own for tests and benches: Redis on a free port, a server, workers, clients."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import psutil
import redis

from bench.compose import Service
from bench.servers import HOST, _free_ports

ROOT = Path(__file__).parents[1]
START_SECONDS = 60.0
OPTIONS = ("--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction")


def redis_problem() -> str | None:
    return None if shutil.which("redis-server") else "no redis-server (install Debian's redis-server)"


class PrivateRedis:
    """Keeps nothing on disk: after a restart it is empty."""

    def __init__(self, folder: Path, options: Sequence[str] = OPTIONS) -> None:
        self.folder = folder
        self.options = options
        self.port = _free_ports(1)[0]
        self.url = f"redis://{HOST}:{self.port}/0"
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        told = ["redis-server", *self.options, "--port", str(self.port), "--bind", HOST]
        told += ["--dir", str(self.folder)]
        with (self.folder / "redis.log").open("ab") as log:
            self._process = subprocess.Popen(told, stdout=log, stderr=log)
        until(self._answers, "Redis answers")

    def _answers(self) -> bool:
        with contextlib.suppress(redis.RedisError), self.client() as client:
            return bool(client.ping())
        return False

    def client(self) -> redis.Redis:
        return redis.Redis(host=HOST, port=self.port, socket_timeout=5)

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def restart_empty(self) -> None:
        self.kill()
        self.start()


class Running:
    """A process of the deployment, with what it says."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path) -> None:
        self.process = process
        self.log = log

    @property
    def pid(self) -> int:
        return self.process.pid

    def said(self) -> str:
        return self.log.read_text(errors="replace")

    def tree(self) -> list[psutil.Process]:
        try:
            parent = psutil.Process(self.pid)
            return [parent, *parent.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def kill(self) -> None:
        """At once, its children included: a machine that loses power."""
        for process in self.tree():
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        self.process.wait()

    def stop(self, seconds: float = 40) -> int:
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"it did not stop: {self.said()[-2000:]}") from None

    def rss_mb(self) -> float:
        return sum(one.memory_info().rss for one in self.tree()) / 2**20


class VideoDeployment:
    """Everything in one folder. `redis_url` None: the server filters frames by itself."""

    def __init__(self, folder: Path, redis_url: str | None = None, **settings: object) -> None:
        self.folder = folder
        self.data = Path(str(settings.get("VIDEO_DATA", folder / "home/video")))
        self.port, self.health_port = _free_ports(2)
        # What every process has, whatever its service.
        self.machine = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(folder),
            "PYTHONPATH": f"{folder / 'plugins'}:{ROOT}:{ROOT / 'src'}",
            "DOCPROC_LOG_FORMAT": "json",
            "DOCPROC_SHUTDOWN_SECONDS": "5",
            "DOCPROC_PROCESSES": "2",
        }
        self.environment = {
            **self.machine,
            "DOCPROC_HOME": str(folder / "home"),
            "DOCPROC_HEALTH_PORT": str(self.health_port),
            **({"DOCPROC_VIDEO_REDIS_URL": redis_url} if redis_url else {}),
        }
        for name, value in settings.items():
            self.environment[f"DOCPROC_{name}"] = str(value)
        self.running: list[Running] = []
        self._clients: list[subprocess.Popen[str]] = []

    def server(self) -> Running:
        """Started, and answering."""
        return self.until_it_listens(self.start("video", "serve", "--port", str(self.port)), self.port)

    @staticmethod
    def until_it_listens(running: Running, port: int) -> Running:
        def answers() -> bool:
            assert running.process.poll() is None, running.said()
            with contextlib.suppress(OSError):
                socket.create_connection((HOST, port), 1).close()
                return True
            return False

        until(answers, f"{running.log.stem} answers")
        return running

    def service(self, service: Service, **settings: object) -> Running:
        """As a compose file has it; `settings`: what cannot be the same on one machine, such as ports."""
        more = {**service.environment, **{f"DOCPROC_{key}": str(value) for key, value in settings.items()}}
        return self._start(service.command, service.name, {**self.machine, **more})

    def worker(self, concurrency: int = 1, name: str | None = None) -> Running:
        """Started; it takes frames when it is ready."""
        named = ["--name", f"{name}@%h"] if name else []
        return self.start("video", "worker", "-c", str(concurrency), *named)

    def component(self, name: str, **settings: object) -> Running:
        """One of the engine's own, in a process as a container has it."""
        told = {"COMPONENT_NAME": name, "HEALTH_PORT": _free_ports(1)[0], **settings}
        return self.start(name=name, more={f"DOCPROC_{key}": str(value) for key, value in told.items()})

    def start(self, *arguments: str, name: str = "", more: Mapping[str, str] | None = None) -> Running:
        return self._start(arguments, name or arguments[1], {**self.environment, **(more or {})})

    def _start(self, arguments: Sequence[str], name: str, environment: Mapping[str, str]) -> Running:
        log = self.folder / f"{name}-{len(self.running)}.log"
        with log.open("ab") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "docproc", *arguments],
                env=environment, cwd=self.folder, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            )  # fmt: skip
        running = Running(process, log)
        self.running.append(running)
        return running

    def sending(self, film: Path, *arguments: str, out: Path | None = None) -> subprocess.Popen[str]:
        """The client, at work."""
        target = out or self.folder / "out.mp4"
        told = ["--video", str(film), "--port", str(self.port), "--out", str(target), "--json", *arguments]
        client = subprocess.Popen(
            [sys.executable, "-m", "docproc", "video", "send", *told],
            env=self.environment, cwd=self.folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self._clients.append(client)
        return client

    def send(
        self, film: Path, *arguments: str, out: Path | None = None, seconds: float = 100
    ) -> dict[str, Any]:
        """The metrics of a film that was made."""
        return self.made(self.sending(film, *arguments, out=out), seconds)

    @staticmethod
    def made(client: subprocess.Popen[str], seconds: float = 100) -> dict[str, Any]:
        out, err = client.communicate(timeout=seconds)
        assert client.returncode == 0, err
        found: dict[str, Any] = json.loads(out)
        return found

    def frames(self, session_id: str) -> Path:
        return self.data / "frames" / session_id

    def films(self, session_id: str) -> Path:
        return self.data / "films" / session_id

    def sessions(self) -> set[str]:
        folder = self.data / "films"
        return {one.name for one in folder.iterdir()} if folder.is_dir() else set()

    def new_session(self, before: set[str] | None = None) -> str:
        """The id of the session that was not there before."""
        found: set[str] = until(lambda: self.sessions() - (before or set()), "there is a session")
        return next(iter(found))

    def progress(self, session_id: str) -> dict[str, Any]:
        try:
            found: dict[str, Any] = json.loads((self.films(session_id) / "progress.json").read_bytes())
            return found
        except FileNotFoundError:
            return {"frames_processed": 0, "status": "queued"}

    def close(self) -> None:
        for client in self._clients:
            if client.poll() is None:
                client.kill()
            client.communicate()
        for one in reversed(self.running):
            one.kill()


def until(condition: Callable[[], Any], what: str, seconds: float = START_SECONDS) -> Any:
    end = time.monotonic() + seconds
    while not (found := condition()):
        assert time.monotonic() < end, f"not: {what}"
        time.sleep(0.05)
    return found
