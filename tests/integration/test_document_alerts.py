"""Every alert of a deployment with documents fires once and resolves: the real rules, really measured."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from uuid import UUID, uuid4

import pytest
import yaml
from sqlalchemy import delete, insert, select, update

from docproc.alerts import history, request_metrics, store
from docproc.alerts.collected import collect
from docproc.alerts.engine_metrics import PROCESSING_TIME
from docproc.alerts.prometheus_rules import as_yaml
from docproc.alerts.rules import Level
from docproc.alerts.samples import Sample
from docproc.alerts.store import Alert
from docproc.alerts.watcher import Watcher
from docproc.app import App
from docproc.apps.orchestrator.resilience.tables import BreakerRow
from docproc.engine.message import utc_now
from docproc.engine.store.tables import DeadLetter, Event, Message, Request
from docproc.engine.store.task_tables import BackofficeTask, Operator
from docproc.settings import Settings
from tests import schema


@dataclass
class World:
    """A deployment whose rows a test writes, and its watcher."""

    app: App
    watcher: Watcher
    # What a disk says of itself.
    disk: SimpleNamespace = field(default_factory=lambda: SimpleNamespace(free=80, total=100))

    async def write(self, *statements: Any) -> None:
        async with self.app.store.writing() as session:
            for one in statements:
                await session.execute(one)

    async def request(self, *, age: float = 1.0, sla: float = 600.0, **more: Any) -> UUID:
        """One that is being worked on."""
        now, name = utc_now(), uuid4()
        deadline = now + timedelta(seconds=sla - age)
        row = {
            "id": name, "workflow_name": "default", "status": "processing", "sla_seconds": sla,
            "created_at": now - timedelta(seconds=age), "updated_at": now, "deadline_utc": deadline,
            "next_check_at": deadline, "metadata_": {},
        }  # fmt: skip
        await self.write(insert(Request).values(row | more))
        return name

    async def tasks(self, number: int, kind: str = "classification", priority: int = 5) -> None:
        request = await self.request()
        for _ in range(number):
            row = {"id": uuid4(), "request_id": request, "task_type": kind, "priority": priority}
            await self.write(insert(BackofficeTask).values({**row, "required_skills": [kind]}))

    async def remember(self, sample: Sample, *ages: timedelta) -> None:
        async with self.app.store.writing() as session:
            for age in ages:
                await history.record(session, [sample], utc_now() - age)
        self.watcher._pasts.clear()  # the past is looked up once a minute

    async def alerts(self) -> list[Alert]:
        async with self.app.store.reading() as session:
            return list(await store.listed(session))


@pytest.fixture
async def world(tmp_path: Path, database_url: str, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    given: dict[str, Any] = {
        "database_url": database_url,
        "home": tmp_path,
        "storage_path": tmp_path / "files",
    }
    names = [rule.name for rule in collect(App(Settings.load(_env_file=None, **given))).rules]
    rules = tmp_path / "rules.yaml"
    rules.write_text(yaml.safe_dump({"rules": {name: {"resolve_seconds": 0} for name in names}}))
    app = App(Settings.load(_env_file=None, **given, alert_rules=rules))
    await schema.upgrade(app.store)
    found = World(app, Watcher(app))
    monkeypatch.setattr("docproc.alerts.machine_metrics.shutil.disk_usage", lambda _path: found.disk)
    yield found
    await app.close()


# --- what makes each of them fire, and what ends it


async def many_questions(world: World) -> None:
    await world.tasks(51)


async def one_answered(world: World) -> None:
    one = select(BackofficeTask.id).limit(1).scalar_subquery()
    done = {"status": "completed", "completed_at": utc_now()}
    await world.write(update(BackofficeTask).where(BackofficeTask.id == one).values(done))


async def slow_reading(world: World) -> None:
    usual = Sample(PROCESSING_TIME, 1.0, {"application": "documents", "queue": "q.ocr"}, 5)
    await world.remember(usual, *(timedelta(minutes=minute) for minute in range(11, 80)))
    request, now = await world.request(), utc_now()
    row = {"request_id": request, "kind": "handled", "stage": "ocr", "outcome": "done", "busy_seconds": 2.5}
    for number in range(6):
        at = {"unit_key": f"page:{number}", "started_at": now - timedelta(seconds=2.5), "finished_at": now}
        await world.write(insert(Event).values({**row, **at}))


async def read_long_ago(world: World) -> None:
    await world.write(update(Event).values(finished_at=utc_now() - timedelta(minutes=5)))


async def urgent_question(world: World) -> None:
    await world.tasks(1, "extraction", priority=9)


async def somebody_comes(world: World) -> None:
    person = {"id": uuid4(), "username": "ana", "skills": ["extraction"], "last_seen_at": utc_now()}
    await world.write(insert(Operator).values(person))


async def little_time(world: World) -> None:
    await world.request(age=90, sla=100)


async def all_done(world: World) -> None:
    await world.write(update(Request).values(completed_at=utc_now(), status="completed"))


async def much_comes_in(world: World) -> None:
    await world.remember(
        Sample(request_metrics.VOLUME, 60, {"application": "documents"}, 10), timedelta(days=7)
    )
    for _ in range(15):  # in ten minutes: 90 an hour, half more than the 60 of a week ago
        await world.request()


async def nothing_more_comes(world: World) -> None:
    await world.write(update(Request).values(created_at=utc_now() - timedelta(minutes=20)))


async def letter_arrives(world: World) -> None:
    row = {"id": uuid4(), "queue": "q.ocr", "reason": "no page", "attempts": 4, "history": [], "body": b"{}"}
    await world.write(insert(DeadLetter).values(row))


async def letter_settled(world: World) -> None:
    await world.write(update(DeadLetter).values(settled_at=utc_now()))


async def nobody_reads(world: World) -> None:
    then = utc_now() - timedelta(minutes=6)
    row = {
        "id": uuid4(), "request_id": await world.request(), "queue": "q.ocr", "stage": "ocr", "band": 5,
        "unit_key": "page:0", "state": "ready", "body": "{}",
        "deadline_utc": then, "created_at": then, "available_at": then,
    }  # fmt: skip
    await world.write(insert(Message).values(row))


async def it_is_taken(world: World) -> None:
    await world.write(delete(Message))


async def disk_fills(world: World) -> None:
    world.disk.free = 5


async def disk_is_full(world: World) -> None:
    world.disk.free = 1


async def disk_is_emptied(world: World) -> None:
    world.disk.free = 60


async def breaker_opens(world: World) -> None:
    row = {"service": "agent-execution", "endpoint": "primary", "level": "standard", "state": "open"}
    now = utc_now()
    await world.write(
        insert(BreakerRow).values({**row, "opened_at": now, "probe_at": now, "updated_at": now})
    )


async def breaker_closes(world: World) -> None:
    await world.write(update(BreakerRow).values(state="closed", updated_at=utc_now()))


Step = Callable[[World], Awaitable[None]]
CASES: dict[str, tuple[Step, Step, Level]] = {
    # Specification §9.3.
    "manual_queue_long": (many_questions, one_answered, Level.MEDIUM),
    "reading_slow": (slow_reading, read_long_ago, Level.MEDIUM),
    "people_short": (urgent_question, somebody_comes, Level.HIGH),
    "deadline_near": (little_time, all_done, Level.HIGH),
    "volume_high": (much_comes_in, nothing_more_comes, Level.MEDIUM),
    # And what ends any deployment.
    "dead_letters": (letter_arrives, letter_settled, Level.HIGH),
    "queue_old": (nobody_reads, it_is_taken, Level.HIGH),
    "disk_low": (disk_fills, disk_is_emptied, Level.HIGH),
    "disk_full": (disk_is_full, disk_is_emptied, Level.CRITICAL),
    "breaker_open": (breaker_opens, breaker_closes, Level.CRITICAL),
}


@pytest.mark.parametrize("rule", CASES)
async def test_alert_fires_once_and_resolves(world: World, rule: str) -> None:
    begin, end, level = CASES[rule]
    await world.watcher.look()
    assert await world.alerts() == []
    await begin(world)
    await world.watcher.look()
    await world.watcher.look()
    fired = [one for one in await world.alerts() if one.rule == rule]
    assert {(one.level, one.resolved_at) for one in fired} == {(level, None)}
    assert len({one.series for one in fired}) == len(fired)
    await end(world)
    await world.watcher.look()
    assert all(one.resolved_at for one in await world.alerts() if one.rule == rule)


async def test_near_a_deadline_requests_are_escalated(world: World) -> None:
    near, far = await world.request(age=90, sla=100), await world.request(age=10, sla=100)
    await world.watcher.look()
    await world.watcher.act()
    [alert] = await world.alerts()
    assert (alert.rule, alert.action_state, alert.action_result) == (
        "deadline_near",
        "begun",
        {"requests": 1},
    )
    async with world.app.store.reading() as session:
        query = select(Request.id).where(Request.escalate_at <= utc_now(), Request.next_check_at <= utc_now())
        assert list(await session.scalars(query)) == [near]
    assert far != near


async def test_volume_of_another_weekday_says_nothing(world: World) -> None:
    busy = Sample(request_metrics.VOLUME, 1, {"application": "documents"}, 10)
    await world.remember(busy, timedelta(days=6), timedelta(days=8))
    for _ in range(15):
        await world.request()
    await world.watcher.look()
    assert await world.alerts() == []


def test_every_rule_is_one_for_prometheus(tmp_path: Path) -> None:
    rules = collect(App(Settings.load(_env_file=None, home=tmp_path))).rules
    [group] = yaml.safe_load(as_yaml(rules))["groups"]
    told = {one["labels"]["rule"]: one["expr"] for one in group["rules"]}
    assert set(told) == {rule.name for rule in rules}
    assert told["manual_queue_long"] == 'docproc_tasks_open{type="classification"} > 50'
    assert told["dead_letters"] == "docproc_dead_letters_open > 0"
    assert told["volume_high"].startswith(
        'docproc_requests_volume_per_hour{application="documents"} > 1.4 * ('
    )
    slow = 'docproc_message_processing_time_seconds{application="documents",queue="q.ocr"}'
    assert told["reading_slow"] == f"{slow} > 2 * avg_over_time({slow}[1d:1m] offset 10m)"
