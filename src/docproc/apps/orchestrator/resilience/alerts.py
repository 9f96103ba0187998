"""The orchestrator's alerts: the thresholds of §8.1, the levels and actions of §8.3."""

from __future__ import annotations

from typing import Any

from docproc.alerts.actions import SUMMARISE, THROTTLE, WATCH_CLOSELY
from docproc.alerts.alert_set import AlertSet
from docproc.alerts.engine_metrics import ERROR_RATE, PROCESSING_TIME, QUEUE_DEPTH
from docproc.alerts.rules import Above, Below, Deviates, Level, Rule
from docproc.alerts.store import Alert
from docproc.app import App
from docproc.apps.orchestrator.resilience import metrics
from docproc.apps.orchestrator.resilience.breakers import Breakers
from docproc.apps.orchestrator.resilience.metrics import APPLICATION, AVAILABILITY, BREAKER, LATENCY, RETRIES
from docproc.apps.orchestrator.resilience.policies import policy_of
from docproc.apps.orchestrator.services.catalogue import catalogue_of

FAILOVER = "failover"
# A share of fewer calls or messages says nothing.
_ENOUGH = 10

_SERVICE = ("service",)
_TYPE = ("type",)
_QUEUE = ("application", "queue")
_OURS = {"application": APPLICATION}

RULES = (
    Rule("service_down", AVAILABILITY, _SERVICE, Below(0.01), Level.CRITICAL, FAILOVER, least_count=5),
    Rule("service_stalled", LATENCY, _SERVICE, Above(10), Level.CRITICAL, FAILOVER),
    Rule("breaker_open", BREAKER, ("endpoint", "service"), Above(0.9), Level.CRITICAL, FAILOVER),
    Rule("errors_many", ERROR_RATE, _TYPE, Above(0.05), Level.HIGH, THROTTLE, least_count=_ENOUGH),
    Rule("queue_overflowing", QUEUE_DEPTH, _QUEUE, Above(5000), Level.HIGH, THROTTLE, _OURS),
    Rule("internal_errors", metrics.INTERNAL_ERRORS, _TYPE, Above(0), Level.HIGH),
    Rule("errors", ERROR_RATE, _TYPE, Above(0.01), Level.MEDIUM, WATCH_CLOSELY, least_count=_ENOUGH),
    Rule("service_slow", LATENCY, _SERVICE, Above(2), Level.MEDIUM, WATCH_CLOSELY),
    Rule(
        "service_failing",
        AVAILABILITY,
        _SERVICE,
        Below(0.99),
        Level.MEDIUM,
        WATCH_CLOSELY,
        least_count=_ENOUGH,
    ),
    Rule("queue_deep", QUEUE_DEPTH, _QUEUE, Above(1000), Level.MEDIUM, WATCH_CLOSELY, _OURS),
    Rule("processing_slow", PROCESSING_TIME, _TYPE, Above(5), Level.MEDIUM, WATCH_CLOSELY),
    Rule("retries_many", RETRIES, _SERVICE, Above(5), Level.MEDIUM, WATCH_CLOSELY),
    Rule("service_less_quick", LATENCY, _SERVICE, Above(1), Level.LOW, SUMMARISE),
    Rule("latency_unusual", LATENCY, _SERVICE, Deviates(3), Level.LOW, SUMMARISE, for_seconds=60),
)


class Failover:
    """Calls of the service go to its second endpoint until a probe of the first one passes."""

    async def begin(self, app: App, alert: Alert) -> dict[str, Any]:
        name = alert.labels["service"]
        service = catalogue_of(app.settings).find(name)
        if service is None:
            return {"problem": f"there is no service {name} any more"}
        policy = policy_of(service)
        if not policy.has_second:
            return {"problem": f"{name} has no second endpoint: its fallback answers"}
        await Breakers(app.store).trip(policy, f"alert {alert.rule}")
        return {"service": name, "endpoint": "secondary"}

    async def end(self, app: App, alert: Alert) -> dict[str, Any]:
        """The probes of the breaker decide when calls go back, whatever the alert says."""
        return {}


alerts = AlertSet(sources=(metrics.measure,), rules=RULES, actions={FAILOVER: Failover()})
