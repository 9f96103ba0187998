"""What every deployment can do about an alert by itself."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from docproc.alerts.alert_set import Action
from docproc.alerts.configuration import AlertSettings
from docproc.alerts.request_metrics import LEFT
from docproc.alerts.samples import TENANT
from docproc.alerts.store import Alert
from docproc.engine.message import utc_now
from docproc.engine.store import throttles, watch

if TYPE_CHECKING:
    from docproc.app import App

THROTTLE, WATCH_CLOSELY, SUMMARISE = "throttle", "watch_closely", "summarise"
ESCALATE = "escalate"
# Nobody is held back to less than this: it is meant to slow down a flood, not to keep people out.
LEAST_PER_MINUTE = 30
# How much more often metrics are looked at while an alert asks for it.
CLOSER = 5


class Throttling:
    """Every tenant may send half of what it sent in the last minute, until the alert is over.

    Of an alert about one tenant, only that one. Who sends more gets 429 and is told when to try again.
    """

    async def begin(self, app: App, alert: Alert) -> dict[str, Any]:
        now = utc_now()
        async with app.store.writing() as session:
            received = await throttles.received(session, now - timedelta(minutes=1))
            limits = limits_of(received, alert.labels.get(TENANT))
            await throttles.begin(session, str(alert.id), limits)
        app.tenants.forget()
        return {"requests_per_minute": limits}

    async def end(self, app: App, alert: Alert) -> dict[str, Any]:
        async with app.store.writing() as session:
            await throttles.end(session, str(alert.id))
        app.tenants.forget()
        return {}


def limits_of(received: Mapping[str, int], tenant_id: str | None) -> dict[str, int]:
    """Requests a minute by tenant."""
    if tenant_id is not None:
        return {tenant_id: _half(received.get(tenant_id, 0))}
    halves = {tenant: _half(number) for tenant, number in received.items()}
    return {**halves, throttles.EVERYBODY: LEAST_PER_MINUTE}


def _half(number: int) -> int:
    return max(LEAST_PER_MINUTE, math.ceil(number / 2))


class WatchingClosely:
    """Metrics are looked at five times as often; the watcher sees by the open alert that it should."""

    async def begin(self, app: App, alert: Alert) -> dict[str, Any]:
        return {"interval_seconds": closer(app.settings.section(AlertSettings))}

    async def end(self, app: App, alert: Alert) -> dict[str, Any]:
        return {}


def closer(settings: AlertSettings) -> float:
    return settings.alert_interval_seconds / CLOSER


class Summarising:
    """It is kept, and told of in the day's summary."""

    async def begin(self, app: App, alert: Alert) -> dict[str, Any]:
        return {"summary_hour_utc": app.settings.section(AlertSettings).alert_summary_hour}

    async def end(self, app: App, alert: Alert) -> dict[str, Any]:
        return {}


class Escalating:
    """Requests whose time runs out are escalated now, not when their workflow's threshold says so.

    The SLA monitor does it, as ever: their messages and questions go first, the partial answer is drafted.
    Those that come near their deadline while the alert is open are left to the workflow's threshold.
    """

    async def begin(self, app: App, alert: Alert) -> dict[str, Any]:
        async with app.store.writing() as session:
            number = await watch.escalate_near(session, LEFT, utc_now())
        return {"requests": number}

    async def end(self, app: App, alert: Alert) -> dict[str, Any]:
        return {}


ACTIONS: dict[str, Action] = {
    ESCALATE: Escalating(),
    THROTTLE: Throttling(),
    WATCH_CLOSELY: WatchingClosely(),
    SUMMARISE: Summarising(),
}
