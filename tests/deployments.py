"""Whole deployments for acceptance tests: embedded by one command, and one process per component."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import httpx

from bench.servers import HOST, _free_ports
from docproc.registry import COMPONENT_REGISTRY
from tests.processes import ROOT, Processes, Service, until

# Of documents and films. Materials have a process of their own, with all their stages in it.
PIPELINE = [name for name in COMPONENT_REGISTRY if name != "collect" and not name.startswith("material_")]
# How many times longer than delivered the deadlines of tests are.
PATIENCE = 10
TERMINAL = ("completed", "failed", "sla_breached")


class Deployment:
    """A running DocProc, seen from outside: HTTP, SQL and files."""

    def __init__(self, processes: Processes, services: list[Service], url: str) -> None:
        self.processes = processes
        self.services = services
        self.http = httpx.Client(base_url=url, timeout=30)
        self.url = url

    @property
    def is_distributed(self) -> bool:
        return not self.processes.settings.is_embedded

    @property
    def storage(self) -> Path:
        return Path(self.processes.environment["DOCPROC_STORAGE_PATH"])

    def workflow(self, name: str, change: Mapping[str, Any] | None = None, *, like: str = "default") -> None:
        """A workflow file of its own: a shipped one with some lines replaced."""
        text = (ROOT / "config/workflows" / f"{like}.yaml").read_text(encoding="utf-8")
        if not any("deadline_seconds" in old for old in change or {}):
            text = patient(text)
        for old, new in {f"name: {like}": f"name: {name}", **(change or {})}.items():
            assert old in text, old
            text = text.replace(old, str(new))
        (self.processes.settings.workflows_dir / f"{name}.yaml").write_text(text, encoding="utf-8")

    def post(
        self, *files: Path | tuple[str, bytes], headers: Mapping[str, str] | None = None, **fields: Any
    ) -> httpx.Response:
        parts = [
            ("file", (file.name, file.read_bytes()) if isinstance(file, Path) else file) for file in files
        ]
        data = {
            name: value if isinstance(value, str) else json.dumps(value) for name, value in fields.items()
        }
        return self.http.post("/process", files=parts, data=data, headers=dict(headers or {}))

    def submit(self, *files: Path | tuple[str, bytes], **fields: Any) -> str:
        answer = self.post(*files, **fields)
        assert answer.status_code == 200, answer.text
        return str(answer.json()["request_id"])

    def status(self, request_id: str) -> dict[str, Any]:
        answer = self.http.get(f"/status/{request_id}")
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = answer.json()
        return found

    def finished(self, request_id: str, seconds: float = 60) -> dict[str, Any]:
        until(
            lambda: self.status(request_id)["status"] in TERMINAL,
            f"{request_id} ends; it is {self.status(request_id)['status']}",
            seconds,
        )
        return self.status(request_id)

    def process(self, *files: Path | tuple[str, bytes], seconds: float = 60, **fields: Any) -> dict[str, Any]:
        return self.finished(self.submit(*files, **fields), seconds)

    def query(self, statement: str) -> list[Any]:
        return self.processes.query(statement)

    def statuses(self, request_id: str) -> list[str]:
        """The statuses a request went through, by its timeline."""
        rows = self.query(
            f"SELECT outcome FROM events WHERE request_id = '{request_id}' AND kind = 'status' ORDER BY id"
        )
        return [row[0] for row in rows]

    def until_quiet(self, seconds: float = 60) -> None:
        """Nothing is queued any more."""
        until(
            lambda: (
                self.query("SELECT count(*) FROM messages WHERE queue NOT LIKE 'q.backoffice%'")[0][0] == 0
            ),
            "all messages are handled",
            seconds,
        )


@contextlib.contextmanager
def embedded(folder: Path) -> Iterator[Deployment]:
    """`docproc up`, on SQLite."""
    processes = _processes(folder)
    port, backoffice = _free_ports(2)
    service = processes.start("up", "--port", str(port), BACKOFFICE_PORT=backoffice, PROCESSES=2)
    with _running(processes, [service], port) as deployment:
        service.until_status("/ready", 200, 90)
        yield deployment


@contextlib.contextmanager
def distributed(folder: Path, database_url: str, rabbitmq_url: str) -> Iterator[Deployment]:
    """One process per component and one for the API, on PostgreSQL and RabbitMQ."""
    processes = _processes(folder, database_url, rabbitmq_url)
    (port,) = _free_ports(1)
    workers = [processes.start(COMPONENT_NAME=name) for name in PIPELINE]
    monitor = processes.start(COMPONENT_NAME="sla_monitor")
    gateway = processes.start(COMPONENT_NAME="api_gateway", API_PORT=port)
    with _running(processes, [*workers, monitor, gateway], port) as deployment:
        for worker in workers:
            worker.until_status("/ready", 200, 120)
        yield deployment


def _processes(folder: Path, *urls: str) -> Processes:
    processes = Processes(folder, *urls)
    processes.environment["DOCPROC_STORAGE_PATH"] = str(folder / "files")
    # One server for all tests, and it takes a hundred connections.
    processes.environment["DOCPROC_DATABASE_CONNECTIONS"] = "2"
    del processes.environment["DOCPROC_COMPONENTS"]  # as it is delivered, without the engine tests' own
    for path in (ROOT / "config/workflows").glob("*.yaml"):
        text = patient(path.read_text(encoding="utf-8"))
        (processes.settings.workflows_dir / path.name).write_text(text, encoding="utf-8")
    return processes


def patient(workflow: str) -> str:
    """A workflow file with longer to answer: a slow machine must not decide what a test sees."""
    longer = r"deadline_seconds: (\d+)"
    return re.sub(longer, lambda found: f"deadline_seconds: {PATIENCE * int(found[1])}", workflow)


@contextlib.contextmanager
def _running(processes: Processes, running: list[Service], port: int) -> Iterator[Deployment]:
    deployment = Deployment(processes, running, f"http://{HOST}:{port}")
    try:
        until(lambda: _answers(deployment), "the API answers; it says " + running[-1].said()[-2000:], 90)
        yield deployment
    finally:
        deployment.http.close()
        processes.close()


def _answers(deployment: Deployment) -> bool:
    with contextlib.suppress(httpx.TransportError):
        return deployment.http.get("/health").status_code == 200
    return False
