"""DocProc processing documents: workers on one combination, files submitted together, memory watched."""

from __future__ import annotations

import asyncio
import contextlib
import tempfile
import threading
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import psutil
from sqlalchemy import func, select

from bench.documents import Paper, pages_of
from bench.fleet import ROOT, Fleet, running
from docproc.engine.store.requests import TERMINAL
from docproc.engine.store.tables import Request
from docproc.http.reception import Arrival, reception_of
from docproc.registry import COMPONENT_REGISTRY

EMBEDDED = "sql/sqlite"
# Embedded is one process with two children, as `docproc up` starts it; else two with one child each.
PROCESSES = {EMBEDDED: 1, "sql/postgresql": 2, "rabbitmq/postgresql": 2}
LOOK_SECONDS = 0.1
_CHUNK = 1 << 20
_PATIENCE_SECONDS = 1200


@dataclass(frozen=True)
class Outcome:
    """One timed run, from the first submission to the last completion, and how many documents it found."""

    seconds: float
    pages: int
    found: int

    @property
    def pages_per_s(self) -> float:
        return self.pages / self.seconds


@dataclass(frozen=True)
class DocumentFleet:
    """Workers that run the default workflow, and a client beside them."""

    fleet: Fleet

    async def process(self, papers: Sequence[Paper], look_seconds: float = LOOK_SECONDS) -> Outcome:
        """Submit all files, one request each, and wait until all are completed."""
        started = time.perf_counter()
        ids = [await self.submit(paper) for paper in papers]
        await self._until_over(ids, look_seconds)
        seconds = time.perf_counter() - started
        return Outcome(seconds, pages_of([*papers]), await self._check(ids, papers))

    async def submit(self, paper: Paper) -> UUID:
        reception = reception_of(self.fleet.app)
        request_id = reception.new_request_id()
        upload = await reception.store_file(request_id, 0, paper.path.name, _chunks(paper.path))
        await reception.submit(request_id, [upload], Arrival())
        return request_id

    async def _until_over(self, ids: Sequence[UUID], look_seconds: float) -> None:
        query = select(func.count()).where(Request.id.in_(ids), Request.status.in_(TERMINAL))
        async with asyncio.timeout(_PATIENCE_SECONDS):
            while True:
                async with self.fleet.app.store.reading() as session:
                    if await session.scalar(query) == len(ids):
                        return
                self._check_alive()
                await asyncio.sleep(look_seconds)

    def _check_alive(self) -> None:
        if any(process.returncode is not None for process in self.fleet.processes):
            log = (self.fleet.folder / "workers.log").read_text(encoding="utf-8", errors="replace")
            raise SystemExit(f"a worker ended early:\n{log[-2000:]}")

    async def _check(self, ids: Sequence[UUID], papers: Sequence[Paper]) -> int:
        """Every request completed with all its pages; the number of documents found."""
        documents = 0
        for request_id, paper in zip(ids, papers, strict=True):
            request = await reception_of(self.fleet.app).find(request_id)
            result = request.result_payload or {}
            if request.status != "completed" or result.get("total_pages") != paper.pages:
                raise SystemExit(f"{paper.path.name} ended {request.status}: {request.error}")
            documents += result["total_documents"]
        return documents

    @contextlib.contextmanager
    def watching_memory(self) -> Iterator[Memory]:
        """The highest memory of the workers and their children while the block runs."""
        memory = Memory([process.pid for process in self.fleet.processes])
        with memory.watching():
            yield memory


@contextlib.asynccontextmanager
async def opened(combination: str, variables: dict[str, str], *, ocr: bool) -> AsyncIterator[DocumentFleet]:
    """Workers in a folder of their own; both children are warm only after a first run."""
    processes = PROCESSES[combination]
    with tempfile.TemporaryDirectory(prefix="docproc-bench-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        fleet = Fleet(
            {
                **variables,
                "DOCPROC_STORAGE_PATH": str(folder / "storage"),
                "DOCPROC_PREFETCH_COUNT": str(2 // processes),
                "DOCPROC_WARM_UP": str(ocr),
                "DOCPROC_REVIEW": "flag",
            },
            {name: path for name, path in COMPONENT_REGISTRY.items() if name != "collect"},
            {"default": patient_workflow()},
            folder=folder,
        )
        async with running(fleet, processes):
            yield DocumentFleet(fleet)


def patient_workflow() -> str:
    """The default workflow with a deadline that a long bench cannot pass."""
    text = (ROOT / "config/workflows/default.yaml").read_text(encoding="utf-8")
    return text.replace("deadline_seconds: 60", "deadline_seconds: 3600")


class Memory:
    """Samples the resident memory of process trees; what children share is counted in each."""

    EVERY_SECONDS = 0.05

    def __init__(self, pids: Sequence[int]) -> None:
        self.peak_mb = 0.0
        self._pids = pids
        self._over = threading.Event()

    @contextlib.contextmanager
    def watching(self) -> Iterator[None]:
        thread = threading.Thread(target=self._watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            self._over.set()
            thread.join()

    def _watch(self) -> None:
        while not self._over.is_set():
            self.peak_mb = max(self.peak_mb, self._now() / 2**20)
            self._over.wait(self.EVERY_SECONDS)

    def _now(self) -> int:
        total = 0
        for pid in self._pids:
            with contextlib.suppress(psutil.Error):
                parent = psutil.Process(pid)
                for process in (parent, *parent.children(recursive=True)):
                    with contextlib.suppress(psutil.Error):  # it ended while we looked
                        total += process.memory_info().rss
        return total


async def _chunks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            yield chunk
