"""Requests that are in flight under the previous release finish under this one, with workers of both at once.

On the transports that release 0.1.0 has: the message table on SQLite and PostgreSQL, and RabbitMQ. It knows
no Redis and no application but documents, so there is nothing of theirs to take over.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from bench import previous
from tests import services
from tests.processes import query_postgres, query_sqlite, until

ROOT = Path(__file__).parents[2]
REQUESTS, UNITS = 3, 15

# One that both releases can run: each has its contracts elsewhere, and its bench knows where.
STAGES = """
import asyncio, pathlib
from bench.graph import NEXT, BaseComponent

class SlowWork(BaseComponent):
    component_name = "slow_work"

    async def process_message(self, message, session):
        # Two seconds each while the file is there: however slow the machine, the new release gets some.
        if pathlib.Path(__file__).with_name("slow").exists():
            await asyncio.sleep(2)
        return [(NEXT, message)]
"""
FLOW = """
name: slow
sla: {deadline_seconds: 600}
stages:
  - {name: split, component: bench_split}
  - {name: work, component: slow_work}
  - {name: join, component: bench_join}
"""
COMPONENTS = {"bench_split": "bench.graph.Split", "slow_work": "slow_stages.SlowWork"}
COMPONENTS["bench_join"] = "bench.graph.Count"

# In the previous release's own words.
SUBMIT = """
import asyncio, json, sys
from docproc.app import App
from docproc.engine.intake import Submission
from docproc.settings import Settings
from docproc.store import migrate
from docproc.store.session import Store

async def main(number, units):
    settings = Settings.load(_env_file=None)
    store = Store(settings.effective_database_url)
    await migrate.upgrade(store)
    await store.close()
    app = App(settings, worker_id="client")
    await app.transport.open()
    ids = [str(await app.intake.submit(Submission("slow", {"pages": units}))) for _ in range(number)]
    await app.transport.close()
    await app.store.close()
    print(json.dumps(ids))

asyncio.run(main(int(sys.argv[1]), int(sys.argv[2])))
"""


class Upgrade:
    """One deployment, as both releases see it."""

    def __init__(self, folder: Path, old: Path, addresses: Mapping[str, str]) -> None:
        self.folder = folder
        self.old = old
        (folder / "workflows").mkdir()
        (folder / "workflows/slow.yaml").write_text(FLOW)
        (folder / "slow_stages.py").write_text(STAGES)
        self.slow = folder / "slow"
        self.slow.touch()
        kept = {name: value for name, value in os.environ.items() if not name.startswith("DOCPROC_")}
        self.environment = {
            **kept,
            "DOCPROC_HOME": str(folder),
            "DOCPROC_WORKFLOWS_DIR": str(folder / "workflows"),
            "DOCPROC_COMPONENTS": ",".join(f"{name}={path}" for name, path in COMPONENTS.items()),
            "DOCPROC_HEALTH_PORT": "0",
            "DOCPROC_LOG_FORMAT": "json",
            **addresses,
        }
        self.database_url = addresses.get("DOCPROC_DATABASE_URL")
        self.running: list[subprocess.Popen[bytes]] = []

    def of(self, root: Path, applications: str | None = None) -> dict[str, str]:
        known = {"DOCPROC_APPLICATIONS": applications} if applications else {}
        return {**self.environment, "PYTHONPATH": f"{self.folder}:{root}:{root / 'src'}", **known}

    def run(self, root: Path, *arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, *arguments], cwd=root, env=self.of(root), capture_output=True, text=True,
            check=False, timeout=60,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def worker(self, root: Path, name: str) -> subprocess.Popen[bytes]:
        with (self.folder / f"{name}.log").open("wb") as log:
            process = subprocess.Popen(
                [sys.executable, "-m", "docproc", "worker", "--child", *COMPONENTS],
                cwd=root, env=self.of(root) | {"DOCPROC_WORKER_ID": name}, stdout=log, stderr=log,
            )  # fmt: skip
        self.running.append(process)
        return process

    def query(self, statement: str) -> list[Any]:
        if self.database_url is None:
            return query_sqlite(self.folder / "docproc.db", statement)
        return asyncio.run(query_postgres(self.database_url, statement))

    def count(self, rest: str) -> int:
        return int(self.query(f"SELECT count(*) FROM {rest}")[0][0])

    def said(self) -> str:
        return "\n".join(path.read_text()[-2000:] for path in sorted(self.folder.glob("*.log")))

    def close(self) -> None:
        for process in self.running:
            if process.poll() is None:
                process.kill()
            process.wait()


@pytest.fixture(scope="module")
def old(tmp_path_factory: pytest.TempPathFactory) -> Path:
    services.require(previous.unavailable())
    return previous.extract(tmp_path_factory.mktemp("previous"))


@pytest.fixture(params=["sql/sqlite", "sql/postgresql", "rabbitmq/postgresql"])
def upgrade(request: pytest.FixtureRequest, tmp_path: Path, old: Path) -> Iterator[Upgrade]:
    with ExitStack() as ending:
        addresses = {}
        if "postgresql" in request.param:
            services.require(services.postgres_problem())
            addresses["DOCPROC_DATABASE_URL"] = ending.enter_context(services.postgres_database())
        if "rabbitmq" in request.param:
            services.require(services.rabbitmq_problem())
            addresses["DOCPROC_RABBITMQ_URL"] = ending.enter_context(services.rabbitmq_vhost())
        found = Upgrade(tmp_path, old, addresses)
        ending.callback(found.close)
        yield found


def test_requests_in_flight_finish_under_the_new_release(upgrade: Upgrade) -> None:
    ids = json.loads(upgrade.run(upgrade.old, "-c", SUBMIT, str(REQUESTS), str(UNITS)))
    assert len(ids) == REQUESTS
    before = upgrade.worker(upgrade.old, "old")
    handled = "events WHERE stage = 'work' AND kind = 'handled'"
    until(lambda: upgrade.count(handled) >= 2, "the old worker works", 60)

    upgrade.run(ROOT, "-m", "docproc", "db", "upgrade")
    assert before.poll() is None, "it goes on while tables change"
    upgrade.worker(ROOT, "new")
    until(lambda: upgrade.count(f"{handled} AND worker_id LIKE 'new%'") > 0, "the new worker works, too", 60)
    upgrade.slow.unlink()
    before.send_signal(signal.SIGTERM)
    assert before.wait(40) == 0, upgrade.said()

    ended = "requests WHERE status NOT IN ('received', 'routing', 'processing')"
    until(lambda: upgrade.count(ended) == REQUESTS, f"all requests end: {upgrade.said()[-500:]}", 90)
    rows = upgrade.query("SELECT status, result_payload FROM requests")
    results = [json.loads(result) if isinstance(result, str) else result for _, result in rows]
    assert {status for status, _ in rows} == {"completed"}
    assert [result["units"] for result in results] == [UNITS] * REQUESTS
    assert upgrade.count(f"{handled} AND outcome = 'done'") == REQUESTS * UNITS, "each unit once"
    assert upgrade.count("messages") == upgrade.count("dead_letters") == 0
    assert upgrade.count(f"{handled} AND worker_id LIKE 'old%'") >= 2
