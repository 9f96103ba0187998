"""The watcher: looks at all metrics every few seconds, and sees to what follows. One in the deployment.

Every API process has one; the duty `alerts` decides which of them works. What it knows is in the database, so
another can go on where it stopped: an alert that fired is not fired again, an action that was due is done.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.alerts import evaluation, history, notices, store, wording
from docproc.alerts.actions import WATCH_CLOSELY, closer
from docproc.alerts.channels import Channels, NotToldError
from docproc.alerts.collected import Collected, collect
from docproc.alerts.configuration import AlertSettings
from docproc.alerts.evaluation import Changes, Memory
from docproc.alerts.notices import FIRED, RESOLVED, Told
from docproc.alerts.past import Past
from docproc.alerts.samples import Sample
from docproc.alerts.store import ActionState, Alert
from docproc.engine.message import utc_now
from docproc.engine.store import duties
from docproc.errors import DocProcError
from docproc.harmless import text_for_logs

if TYPE_CHECKING:
    from docproc.app import App

log = structlog.get_logger(__name__)

DUTY = "alerts"
# How long after the last sign of life of one watcher another takes over.
TERM_SECONDS = 5.0
# What a source may take: it reads recent rows only.
SOURCE_SECONDS = 10.0
PAST_SECONDS = 60.0
SWEEP_SECONDS = 3600.0
_PASSING = (SQLAlchemyError, OSError, DocProcError, TimeoutError)


class Watcher:
    def __init__(self, app: App) -> None:
        self.app = app
        self.store = app.store
        self.settings = app.settings.section(AlertSettings)
        self.collected: Collected = collect(app)
        self._memory = Memory()
        self._pasts: dict[tuple[str, str], tuple[float, Past]] = {}
        self._swept_at = float("-inf")
        self._measured_at = float("-inf")
        self._is_close = False
        self._renew_at = float("-inf")

    async def run(self) -> None:
        """Until cancelled."""
        channels = Channels(self.app.settings)
        try:
            while True:
                try:
                    if await self._is_on_duty():
                        await self._work(channels)
                except (SQLAlchemyError, OSError, DocProcError) as error:
                    log.warning("alerts_wait", error=text_for_logs(error))
                await asyncio.sleep(min(1.0, self.interval_seconds))
        finally:
            await channels.close()
            with suppress(SQLAlchemyError, OSError, DocProcError):  # else the duty ends by its age
                await self.leave()

    async def leave(self) -> None:
        self._renew_at = float("-inf")
        async with self.store.claiming() as connection:
            await duties.give_up(connection, DUTY, self.app.worker_id)

    @property
    def interval_seconds(self) -> float:
        return closer(self.settings) if self._is_close else self.settings.alert_interval_seconds

    async def _is_on_duty(self) -> bool:
        """Renewed when half of the term is over: whoever looks more often would only write more often."""
        if time.monotonic() < self._renew_at:
            return True
        began = time.monotonic()
        async with self.store.claiming() as connection:
            held = await duties.hold(connection, self.store, DUTY, self.app.worker_id, TERM_SECONDS)
        self._renew_at = began + TERM_SECONDS / 2 if held else float("-inf")
        return held

    async def _work(self, channels: Channels) -> None:
        """What is due is told and done every second, metrics are measured when their interval is over."""
        if time.monotonic() - self._measured_at >= self.interval_seconds:
            self._measured_at = time.monotonic()
            await self.look()
        await self.act()
        await self.tell(channels)

    async def look(self) -> None:
        """Measure everything, and write down what fires and what is over."""
        now = utc_now()
        samples, is_complete = await self._measure(now - timedelta(minutes=1))
        async with self.store.writing() as session:
            await history.record(session, samples, now)
        pasts = await self._look_back(samples, now)
        async with self.store.reading() as session:
            opened = await store.opened(session)
        changes = evaluation.evaluate(
            self.collected.rules,
            samples,
            pasts,
            {one.key for one in opened},
            self._memory,
            time.monotonic(),
            is_complete=is_complete,
        )
        await self._write(changes, opened, now)
        await self._sweep(now)

    async def _measure(self, since: datetime) -> tuple[list[Sample], bool]:
        """The samples, and whether all sources could say theirs; the others are heard all the same."""
        found: list[Sample] = []
        is_complete = True
        for name, source in self.collected.sources:
            try:
                async with asyncio.timeout(SOURCE_SECONDS), self.store.reading() as session:
                    found += await source(self.app, session, since)
                continue
            except _PASSING as error:
                log.warning("metrics_not_measured", source=name, error=text_for_logs(error))
            except Exception:  # the boundary to an application's own code
                log.exception("metrics_not_measured", source=name)
            is_complete = False
        return found, is_complete

    async def _look_back(self, samples: Sequence[Sample], now: datetime) -> dict[tuple[str, str], Past]:
        """For the rules that compare with the past; it is looked up once a minute."""
        wanted = [rule for rule in self.collected.rules if rule.condition.needs_past]
        found = {}
        for sample in samples:
            if not any(rule.concerns(sample) for rule in wanted):
                continue
            place = (sample.metric, sample.series)
            looked_at, past = self._pasts.get(place, (float("-inf"), Past()))
            if time.monotonic() - looked_at > PAST_SECONDS:
                async with self.store.reading() as session:
                    past = await history.past(session, sample, now)
                self._pasts[place] = (time.monotonic(), past)
            found[place] = past
        for place in [place for place in self._pasts if place not in found]:
            del self._pasts[place]
        return found

    async def _write(self, changes: Changes, opened: Sequence[Alert], now: datetime) -> None:
        by_key = {one.key: one for one in opened}
        for fired in changes.fired:
            async with self.store.writing() as session:
                alert = await store.fire(session, fired, now)
                if alert is not None:
                    await notices.write(session, alert, FIRED, self.settings, now)
            if alert is not None:
                _log(Told(alert.id, FIRED, alert))
                by_key[alert.key] = alert
        for key in changes.resolved:
            alert = by_key.pop(key)
            async with self.store.writing() as session:
                is_ours = await store.resolve(session, alert, now)
                if is_ours:
                    await notices.write(session, alert, RESOLVED, self.settings, now)
            if is_ours:
                _log(Told(alert.id, RESOLVED, alert))
        async with self.store.writing() as session:
            for key, latest in changes.going_on.items():
                if latest != by_key[key].latest:
                    await store.go_on(session, by_key[key], latest)
        self._is_close = any(one.action == WATCH_CLOSELY for one in by_key.values())

    async def act(self) -> None:
        """Begin and end the actions that are due; one that fails is tried again a second later."""
        async with self.store.reading() as session:
            found = await store.to_act_on(session)
        for alert in found:
            result = await self._result(alert)
            if result is None:
                continue
            state = ActionState.BEGUN if alert.action_state is ActionState.DUE else ActionState.ENDED
            async with self.store.writing() as session:
                await store.acted(session, alert, state, result)
            log.info("alert_action", action=alert.action, rule=alert.rule, state=str(state), result=result)

    async def _result(self, alert: Alert) -> dict[str, Any] | None:
        """What an action did; None: it could not."""
        action = self.collected.actions.get(alert.action)
        if action is None:
            return {"problem": "nobody offers this action any more"}
        try:
            if alert.action_state is ActionState.DUE:
                return await action.begin(self.app, alert)
            return await action.end(self.app, alert)
        except _PASSING as error:
            log.warning("alert_action_failed", action=alert.action, error=text_for_logs(error))
        except Exception:  # the boundary to an application's own code
            log.exception("alert_action_failed", action=alert.action)
        return None

    async def tell(self, channels: Channels) -> None:
        """Send the notices that are due."""
        async with self.store.reading() as session:
            batches = await notices.due(session, utc_now())
        for batch in batches:
            problem = ""
            try:
                await channels.send(batch)
            except NotToldError as error:
                problem = str(error)
            async with self.store.writing() as session:
                if not problem:
                    await notices.sent(session, batch, utc_now())
                    continue
                again = await notices.failed(session, batch, problem, utc_now())
            log.warning("alert_notice_not_sent", channel=batch.channel, error=problem, again=again)

    async def _sweep(self, now: datetime) -> None:
        if time.monotonic() - self._swept_at < SWEEP_SECONDS:
            return
        self._swept_at = time.monotonic()
        async with self.store.writing() as session:
            await history.forget(session, now)
            await store.forget(session, now - store.KEPT)


def _log(told: Told) -> None:
    alert = told.alert
    facts = {"rule": alert.rule, "level": str(alert.level), "series": alert.series, "value": alert.value}
    if told.kind == RESOLVED:
        log.info("alert_resolved", **facts)
    else:
        log.warning("alert_fired", text=wording.line(told), **facts)


async def watch(app: App) -> None:
    """A job beside the endpoints of an API process; returns where alerts are off."""
    if app.settings.section(AlertSettings).alerts == "on":
        await Watcher(app).run()
