"""A fleet for benchmarks: databases and vhosts of its own, worker processes, and a client beside them."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import psutil
from sqlalchemy import func, select

from docproc.app import App
from docproc.engine.running.intake import Submission
from docproc.engine.store import migrate
from docproc.engine.store.session import Store
from docproc.engine.store.tables import Request, Worker
from docproc.settings import Settings

ROOT = Path(__file__).parents[1]
COMBINATIONS = ("sql/sqlite", "sql/postgresql", "rabbitmq/postgresql", "redis/postgresql")


@contextlib.contextmanager
def addresses(combination: str) -> Iterator[dict[str, str]]:
    """DOCPROC_ variables for a combination, on the machine's servers but in state of its own."""
    from bench.redis_server import RedisServer
    from tests import services

    with contextlib.ExitStack() as stack:
        variables: dict[str, str] = {}
        if "postgresql" in combination:
            variables["DOCPROC_DATABASE_URL"] = stack.enter_context(services.postgres_database())
        if combination.startswith("rabbitmq"):
            variables["DOCPROC_RABBITMQ_URL"] = stack.enter_context(services.rabbitmq_vhost())
        if combination.startswith("redis"):  # of our own: a database of the machine's may be somebody's
            variables["DOCPROC_REDIS_URL"] = stack.enter_context(RedisServer()).url
        yield variables


@dataclass
class Fleet:
    """Worker processes on one combination, and a client to submit to them."""

    variables: Mapping[str, str]
    components: Mapping[str, str]
    workflows: Mapping[str, str]
    command: tuple[str, ...] = ("-m", "docproc", "worker", "--child")
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="docproc-bench-")))
    # Whether the command wants the component names as arguments.
    takes_components: bool = True
    processes: list[asyncio.subprocess.Process] = field(default_factory=list)

    def __post_init__(self) -> None:
        (self.folder / "workflows").mkdir(exist_ok=True)
        for name, text in self.workflows.items():
            (self.folder / "workflows" / f"{name}.yaml").write_text(text, encoding="utf-8")
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("DOCPROC_")},
            "DOCPROC_HOME": str(self.folder),
            "DOCPROC_WORKFLOWS_DIR": str(self.folder / "workflows"),
            "DOCPROC_COMPONENTS": ",".join(f"{n}={p}" for n, p in self.components.items()),
            "DOCPROC_LOG_LEVEL": "error",
            **self.variables,
        }
        fields = {
            name.removeprefix("DOCPROC_").lower(): value
            for name, value in self.environment.items()
            if name.startswith("DOCPROC_")
        }
        self.settings = Settings.load(_env_file=None, **fields)
        self.app = App(self.settings, worker_id=f"client-{os.getpid()}")
        self._relay: asyncio.Task[None] | None = None

    async def open(self) -> None:
        store = Store(self.settings.effective_database_url)
        await migrate.upgrade(store, self.app.applications.migrations)
        await store.close()
        await self.app.transport.open()
        # As every sender does: what it sends while the broker restarts is published when that is back.
        self._relay = asyncio.create_task(self.app.relay.run())

    async def start(self, count: int = 2) -> None:
        for _ in range(count):
            await self.spawn()
        await self.until_ready(count)

    async def spawn(self, root: Path = ROOT, **variables: str) -> asyncio.subprocess.Process:
        """Start a worker, of this tree or of an older one."""
        log = (self.folder / "workers.log").open("ab")
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *self.command,
            *(self.components if self.takes_components else ()),
            stdin=asyncio.subprocess.PIPE,
            stderr=log,
            env={**self.environment, "PYTHONPATH": f"{root}:{root / 'src'}", **variables},
            cwd=root,
        )
        log.close()
        self.processes.append(process)
        return process

    async def until_ready(self, count: int, seconds: float = 60) -> None:
        async with asyncio.timeout(seconds):
            while await self._ready() < count:
                await asyncio.sleep(0.05)

    async def _ready(self) -> int:
        async with self.app.store.reading() as session:
            query = select(func.count()).select_from(Worker).where(Worker.is_ready)
            return int(await session.scalar(query) or 0)

    async def submit(self, workflow: str, **payload: object) -> UUID:
        return await self.app.intake.submit(Submission(workflow, payload))

    async def status(self, request_id: UUID) -> str | None:
        async with self.app.store.reading() as session:
            return await session.scalar(select(Request.status).where(Request.id == request_id))

    async def finished(self, request_id: UUID, seconds: float = 600) -> str:
        async with asyncio.timeout(seconds):
            while (status := await self.status(request_id)) not in ("completed", "failed"):
                await asyncio.sleep(0.01)
        return str(status)

    def memory_mb(self) -> float:
        """The largest worker's resident memory."""
        sizes = [psutil.Process(p.pid).memory_info().rss for p in self.processes if p.returncode is None]
        return max(sizes, default=0) / 2**20

    async def close(self) -> None:
        for process in self.processes:
            if process.returncode is None:
                process.send_signal(signal.SIGTERM)
        for process in self.processes:
            try:
                await asyncio.wait_for(process.wait(), 20)
            except TimeoutError:
                process.kill()
                await process.wait()
        if self._relay is not None:
            self._relay.cancel()
            await asyncio.gather(self._relay, return_exceptions=True)
        await self.app.transport.close()
        await self.app.close()


@contextlib.asynccontextmanager
async def running(fleet: Fleet, count: int = 2) -> AsyncIterator[Fleet]:
    await fleet.open()
    try:
        await fleet.start(count)
        yield fleet
    finally:
        await fleet.close()
