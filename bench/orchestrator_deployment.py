"""An orchestrator for the bench: private PostgreSQL and Redis, APIs, workers and services, each a process
of its own; and its peers behind the same kind of front."""

from __future__ import annotations

import base64
import contextlib
import hmac
import json
import os
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import orchestrator_peers
from bench.fleet import ROOT
from bench.orchestrator_load import Target
from bench.redis_server import RedisServer
from bench.servers import HOST, PostgresServer, _free_ports

# Of the tokens that clients come with.
ISSUER = "bench"
SECRET = "a secret of the bench, and of nobody else"
SESSION = "bench"
START_SECONDS = 60.0
STOP_SECONDS = 15.0


@dataclass
class Children:
    """Processes that end with the bench, by their ids."""

    folder: Path
    running: dict[str, subprocess.Popen[bytes]] = field(default_factory=dict)

    def start(self, name: str, command: list[str], environment: dict[str, str]) -> subprocess.Popen[bytes]:
        clean = {key: value for key, value in os.environ.items() if not key.startswith("DOCPROC_")}
        with (self.folder / f"{name}.log").open("ab") as log:
            self.running[name] = subprocess.Popen(
                command,
                cwd=ROOT,
                env={**clean, "PYTHONPATH": f"{ROOT}:{ROOT / 'src'}", **environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
            )
        return self.running[name]

    def said(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")[-3000:]

    def until(self, name: str, condition: Callable[[], bool]) -> None:
        end = time.monotonic() + START_SECONDS
        while not condition():
            if self.running[name].poll() is not None or time.monotonic() > end:
                raise RuntimeError(f"{name} did not start: {self.said(name)}")
            time.sleep(0.05)

    def stop(self) -> None:
        for process in self.running.values():
            if process.poll() is None:
                process.send_signal(signal.SIGCONT)
                process.send_signal(signal.SIGTERM)
        for process in self.running.values():
            try:
                process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=2) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


# --- the orchestrator -----------------------------------------------------------------------------------


@dataclass
class Orchestrator:
    children: Children
    redis: RedisServer
    postgres: PostgresServer
    environment: dict[str, str]
    ports: list[int]

    def target(self, number: int = 0, tenant: str = "default", session: str = SESSION) -> Target:
        """One of the APIs, as a tenant's client sees it that follows a session."""
        port = self.ports[number]
        return Target(
            host=HOST,
            port=port,
            path="/api/v1/tasks",
            events_url=f"ws://{HOST}:{port}/ws?session_id={session}",
            task_id=lambda answer: answer.get("task_id"),
            ended_id=ended_id,
            ready="session.synced",
            headers={"Authorization": f"Bearer {token(tenant)}"},
        )


def token(tenant: str) -> str:
    """Signed as RFC 7519 says, by hand."""
    claims = {
        "iss": ISSUER,
        "aud": ISSUER,
        "sub": f"client of {tenant}",
        "exp": int(time.time()) + 3600,
        "tenant_id": tenant,
        "scope": "docproc:read docproc:submit",
    }
    parts = [_base64(json.dumps(part).encode()) for part in ({"alg": "HS256", "typ": "JWT"}, claims)]
    said = ".".join(parts)
    return f"{said}.{_base64(hmac.digest(SECRET.encode(), said.encode(), 'sha256'))}"


def _base64(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def _command(made: Orchestrator, *arguments: str) -> None:
    command = [sys.executable, "-m", "docproc", *arguments]
    environment = {**os.environ, **made.environment}
    done = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"docproc {' '.join(arguments)}: {done.stderr}")


def ended_id(event: Any) -> str | None:
    """Of an event on the WebSocket: the task that it says is over."""
    if event.get("type") in ("task.completed", "task.failed"):
        return str(event.get("task_id"))
    return None


@contextlib.contextmanager
def orchestrator(
    apis: int = 1, workers: int = 1, services: int = 1, tenants: tuple[str, ...] = ()
) -> Iterator[Orchestrator]:
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="docproc-orchestrator-")))
        postgres = stack.enter_context(PostgresServer())
        redis = stack.enter_context(RedisServer())
        children = Children(folder)
        stack.callback(children.stop)
        environment = {
            "DOCPROC_DATABASE_URL": postgres.url,
            "DOCPROC_REDIS_URL": redis.url,
            "DOCPROC_APPLICATIONS": "orchestrator",
            "DOCPROC_HOME": str(folder),
            "DOCPROC_STORAGE_PATH": str(folder / "files"),
            "DOCPROC_LOG_LEVEL": "warning",
            "DOCPROC_CALLS_PER_MINUTE": "10000000",
            "DOCPROC_AUTH": "on",
            "DOCPROC_JWT_ISSUER": ISSUER,
            "DOCPROC_JWT_AUDIENCE": ISSUER,
            "DOCPROC_JWT_SECRET": SECRET,
        }
        made = Orchestrator(children, redis, postgres, environment, [])
        for arguments in (["db", "upgrade"], *(["tenants", "create", tenant] for tenant in tenants)):
            _command(made, *arguments)
        for number in range(services):
            start_service(made, f"service-{number}")
        for number in range(workers):
            start_worker(made, f"worker-{number}")
        for number in range(apis):
            start_api(made, f"api-{number}")
        yield made


def start_worker(made: Orchestrator, name: str) -> subprocess.Popen[bytes]:
    (health,) = _free_ports(1)
    more = {"DOCPROC_HEALTH_PORT": str(health)}
    command = [sys.executable, "-m", "docproc", "worker", "--processes", "1"]
    process = made.children.start(name, command, {**made.environment, **more})
    made.children.until(name, lambda: answers(f"http://{HOST}:{health}/ready"))
    return process


def start_api(made: Orchestrator, name: str) -> subprocess.Popen[bytes]:
    port, health = _free_ports(2)
    more = {
        "DOCPROC_COMPONENT_NAME": "api_gateway",
        "DOCPROC_API_PORT": str(port),
        "DOCPROC_HEALTH_PORT": str(health),
    }
    process = made.children.start(name, [sys.executable, "-m", "docproc"], {**made.environment, **more})
    made.children.until(name, lambda: answers(f"http://{HOST}:{port}/health"))
    made.ports.append(port)
    return process


def start_service(made: Orchestrator, name: str) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "bench.orchestrator_service"]
    return made.children.start(name, command, made.environment)


# --- its peers ------------------------------------------------------------------------------------------


@contextlib.contextmanager
def peer(name: str, workers: int = 1) -> Iterator[Target]:
    """One worker process and one front, on a Redis that keeps its log."""
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(TemporaryDirectory(prefix="docproc-peer-")))
        redis = stack.enter_context(RedisServer(appendonly=True))
        children = Children(folder)
        stack.callback(children.stop)
        environment = {orchestrator_peers.URL: redis.url}
        (port,) = _free_ports(1)
        for number in range(workers):
            children.start(f"worker-{number}", orchestrator_peers.workers()[name], environment)
        command = [sys.executable, "-m", "bench.orchestrator_peers.front", name, str(port)]
        children.start("front", command, environment)
        children.until("front", lambda: answers(f"http://{HOST}:{port}/openapi.json"))
        yield Target(
            host=HOST,
            port=port,
            path="/tasks",
            events_url=f"ws://{HOST}:{port}/ws",
            task_id=lambda answer: answer.get("id"),
            ended_id=lambda event: event.get("completed"),
        )
