"""The watcher on both databases: fires once, acts, tells, resolves; and another goes on where it stopped."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.alerts import history, notices, store, watcher
from docproc.alerts.actions import ACTIONS
from docproc.alerts.channels import Channels
from docproc.alerts.collected import Collected
from docproc.alerts.configuration import AlertSettings
from docproc.alerts.rules import Above, Deviates, Level, Rule
from docproc.alerts.samples import Sample
from docproc.alerts.store import Alert
from docproc.alerts.tables import MetricRow, NoticeRow
from docproc.alerts.watcher import Watcher
from docproc.app import App
from docproc.engine.message import utc_now
from docproc.engine.running.intake import Submission
from docproc.errors import QuotaError
from docproc.settings import Settings
from tests import schema
from tests.receiver import Receiver, receiving
from tests.smtp import mailbox

LEVELS = {
    Level.CRITICAL: ("stopped", "noted"),
    Level.HIGH: ("flood", "throttle"),
    Level.MEDIUM: ("deep", "watch_closely"),
    Level.LOW: ("odd", "summarise"),
}
RULES = [
    Rule(name, name, ("queue",), Above(10), level, action, resolve_seconds=0)
    for level, (name, action) in LEVELS.items()
]


@dataclass
class Noted:
    """An action of an application, which keeps what was asked of it."""

    asked: list[str] = field(default_factory=list)

    async def begin(self, app: App, alert: Alert) -> dict[str, Any]:
        self.asked.append(f"begin {alert.rule}")
        return {"began": True}

    async def end(self, app: App, alert: Alert) -> dict[str, Any]:
        self.asked.append(f"end {alert.rule}")
        return {"ended": True}


class World:
    """What is measured, said by the test."""

    def __init__(self, app: App) -> None:
        self.app = app
        self.samples: list[Sample] = []
        self.noted = Noted()
        self.is_broken = False

    async def measure(self, _app: App, _session: AsyncSession, _since: datetime) -> list[Sample]:
        if self.is_broken:
            raise RuntimeError("a bug of an application")
        return self.samples

    def watcher(self, *more: Rule) -> Watcher:
        found = Watcher(self.app)
        actions = {**ACTIONS, "noted": self.noted}
        found.collected = Collected([("world", self.measure)], [*RULES, *more], actions)
        return found

    def say(self, **values: float) -> None:
        self.samples = [Sample(metric, value, {"queue": "q"}) for metric, value in values.items()]

    async def alerts(self) -> list[Alert]:
        async with self.app.store.reading() as session:
            return list(await store.listed(session))


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with receiving() as found:
        yield found


@asynccontextmanager
async def opened(tmp_path: Path, database_url: str, **settings: Any) -> AsyncIterator[World]:
    given = {"database_url": database_url, "home": tmp_path, "storage_path": tmp_path / "files", **settings}
    app = App(Settings.load(_env_file=None, **given))
    await schema.upgrade(app.store)
    try:
        yield World(app)
    finally:
        await app.close()


@pytest.fixture
async def world(tmp_path: Path, database_url: str) -> AsyncIterator[World]:
    async with opened(tmp_path, database_url) as found:
        yield found


async def test_an_alert_fires_once_acts_and_resolves(world: World) -> None:
    first = world.watcher()
    world.say(stopped=11)
    await first.look()
    await first.look()
    await first.act()
    [alert] = await world.alerts()
    assert (alert.rule, alert.level, alert.value, alert.threshold) == ("stopped", Level.CRITICAL, 11, 10)
    assert (alert.action_state, alert.action_result) == ("begun", {"began": True})
    world.say(stopped=15)
    await first.look()
    assert (await world.alerts())[0].latest == 15
    world.say(stopped=1)
    await first.look()
    await first.act()
    [alert] = await world.alerts()
    assert alert.resolved_at is not None
    assert (alert.action_state, alert.action_result) == ("ended", {"began": True, "ended": True})
    assert world.noted.asked == ["begin stopped", "end stopped"]


async def test_another_watcher_goes_on_where_one_was_killed(world: World) -> None:
    world.say(stopped=11)
    await world.watcher().look()  # and dies before it acts
    heir = world.watcher()
    await heir.look()
    await heir.act()
    assert len(await world.alerts()) == 1
    assert world.noted.asked == ["begin stopped"]


async def test_one_watcher_works_at_a_time_and_another_takes_over(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(watcher, "TERM_SECONDS", 0.5)
    world.say(stopped=11)
    one, other = world.watcher(), world.watcher()
    other.app = App(world.app.settings, worker_id="other")
    other.store = world.app.store
    assert await one._is_on_duty()
    assert not await other._is_on_duty()
    await one.leave()
    assert await other._is_on_duty()


async def test_a_source_that_breaks_ends_no_alert(world: World) -> None:
    watching = world.watcher()
    world.say(stopped=11)
    await watching.look()
    world.is_broken = True
    await watching.look()
    assert [one.resolved_at for one in await world.alerts()] == [None]


async def test_throttling_holds_tenants_back_until_it_is_over(world: World) -> None:
    app = world.app
    world.say(flood=11)
    watching = world.watcher()
    await watching.look()
    await watching.act()
    [alert] = await world.alerts()
    assert alert.action_result == {"requests_per_minute": {"*": 30}}

    async def submit(number: int = 1) -> None:
        for _ in range(number):
            await app.intake.submit(Submission("video", {}))

    with pytest.raises(QuotaError, match="held back"):
        await submit(61)  # the turn of a minute allows as many again
    world.say(flood=1)
    await watching.look()
    await watching.act()
    await submit()


async def test_closer_monitoring_looks_more_often(world: World) -> None:
    watching = world.watcher()
    usual = watching.interval_seconds
    world.say(deep=11)
    await watching.look()
    await watching.act()
    assert watching.interval_seconds == usual / 5
    assert (await world.alerts())[0].action_result == {"interval_seconds": usual / 5}
    world.say(deep=1)
    await watching.look()
    assert watching.interval_seconds == usual


async def test_people_are_told_as_the_level_says(
    tmp_path: Path, database_url: str, receiver: Receiver
) -> None:
    async with mailbox() as post:
        settings = {
            "alert_webhook_url": f"http://127.0.0.1:{receiver.port}/alerts",
            "alert_sms_url": f"http://127.0.0.1:{receiver.port}/sms",
            "alert_sms_to": "+34600000000",
            "alert_smtp_url": f"smtp://127.0.0.1:{post.port}",
            "alert_mail_to": "ops@example.org",
        }
        async with opened(tmp_path, database_url, **settings) as world:
            channels = Channels(world.app.settings)
            watching = world.watcher()
            world.say(stopped=11, flood=11, deep=11, odd=11)
            await watching.look()
            await watching.tell(channels)
            await watching.tell(channels)  # nothing is told twice
            by_path = [one.path for one in receiver.received]
            assert sorted(by_path) == ["/alerts", "/alerts", "/alerts", "/sms"]
            [text] = [one.said for one in receiver.received if one.path == "/sms"]
            assert text["to"] == "+34600000000"
            assert text["text"].startswith("DocProc critical: stopped (queue=q): stopped is 11, limit 10")
            told = [one.said for one in receiver.received if one.path == "/alerts"]
            assert {(one["level"], one["alerts"][0]["kind"]) for one in told} == {
                ("critical", "fired"),
                ("high", "fired"),
                ("medium", "fired"),
            }
            assert [one["Subject"].split()[1] for one in post.messages] == ["critical:", "high:"]
            # The others wait: one mail after a quarter of an hour, one with the day's summary.
            due = {row.level: row.due_at for row in await _waiting(world)}
            now = utc_now()
            assert timedelta(minutes=14) < due["medium"] - now <= timedelta(minutes=15)
            assert (due["low"].hour, due["low"].minute) == (7, 0)
            assert timedelta(0) < due["low"] - now <= timedelta(days=1)
            await _make_due(world)
            await watching.tell(channels)
            assert [one["Subject"].split()[1] for one in post.messages[2:]] == ["low:", "medium:"]
            await channels.close()


async def test_a_receiver_that_is_away_is_told_later(
    tmp_path: Path, database_url: str, receiver: Receiver
) -> None:
    url = f"http://127.0.0.1:{receiver.port}/alerts"
    async with opened(tmp_path, database_url, alert_webhook_url=url) as world:
        channels = Channels(world.app.settings)
        watching = world.watcher()
        receiver.answers(503, 204)
        world.say(flood=11)
        await watching.look()
        await watching.tell(channels)
        [waiting] = await _waiting(world)
        assert (waiting.attempts, waiting.error) == (1, "the receiver answered 503")
        await _make_due(world)
        await watching.tell(channels)
        assert await _waiting(world) == []
        ids = {one.headers["webhook-id"] for one in receiver.received}
        assert (len(receiver.received), len(ids)) == (2, 1)  # receivers can tell that it is the same
        await channels.close()


async def test_what_is_gathered_becomes_one_mail(tmp_path: Path, database_url: str) -> None:
    async with mailbox() as post:
        smtp = f"smtp://127.0.0.1:{post.port}"
        async with opened(
            tmp_path, database_url, alert_smtp_url=smtp, alert_mail_to="ops@example.org"
        ) as world:
            channels = Channels(world.app.settings)
            watching = world.watcher()
            world.samples = [Sample("deep", 11, {"queue": queue}) for queue in ("a", "b", "c")]
            await watching.look()
            await _make_due(world)
            await watching.tell(channels)
            [mail] = post.messages
            assert mail["Subject"] == "DocProc medium alerts: 3 fired"
            assert mail.get_content().count("deep is 11, limit 10") == 3
            await channels.close()


async def test_history_tells_what_is_usual(world: World) -> None:
    now = utc_now().replace(second=30)
    sample = Sample("latency", 10.0, {"service": "s"})
    async with world.app.store.writing() as session:
        for minute in range(11, 131):
            one = Sample("latency", 10.0 + minute % 2, {"service": "s"})
            await history.record(session, [one], now - timedelta(minutes=minute))
        await history.record(session, [Sample("latency", 99.0, {"service": "s"})], now)
        found = await history.past(session, sample, now)
    assert found.day is not None
    assert (found.day.mean, found.day.deviation, found.day.number) == (10.5, 0.5, 120)
    watching = world.watcher(Rule("unusual", "latency", ("service",), Deviates(3), Level.LOW))
    world.samples = [Sample("latency", 10.9, {"service": "s"})]
    await watching.look()
    assert await world.alerts() == []
    world.samples = [Sample("latency", 30.0, {"service": "s"})]
    await watching.look()
    assert [one.rule for one in await world.alerts()] == ["unusual"]


async def test_history_of_the_same_hour_a_week_ago(world: World) -> None:
    now = utc_now()
    async with world.app.store.writing() as session:
        for weeks in (1, 2):
            week = timedelta(days=7 * weeks)
            await history.record(session, [Sample("volume", 100.0 * weeks, {})], now - week)
        found = await history.past(session, Sample("volume", 1.0, {}), now)
    assert found.same_hour is not None
    assert found.same_hour.mean == 150.0


async def test_old_history_is_forgotten(world: World) -> None:
    now = utc_now()
    async with world.app.store.writing() as session:
        await history.record(session, [Sample("volume", 1.0, {})], now - timedelta(days=2))
        await history.record(session, [Sample("volume", 1.0, {})], now)
        await history.forget(session, now)
        kept = [row.resolution for row in await session.scalars(select(MetricRow))]
    assert sorted(kept) == ["hour", "hour", "minute"]


async def _waiting(world: World) -> list[NoticeRow]:
    async with world.app.store.reading() as session:
        query = select(NoticeRow).where(NoticeRow.state == "waiting").order_by(NoticeRow.level)
        return list(await session.scalars(query))


async def _make_due(world: World) -> None:
    """The time passes."""
    async with world.app.store.writing() as session:
        await session.execute(update(NoticeRow).values(due_at=utc_now()))


def test_channels_need_all_of_their_settings() -> None:
    settings = Settings.load(_env_file=None, alert_mail_to="a@b.example")
    assert notices.channels_in_use(settings.section(AlertSettings)) == set()
