"""What people read of an alert, in a mail, a text message or a log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from docproc.alerts.notices import RESOLVED, Batch, Told
from docproc.alerts.rules import Level
from docproc.alerts.store import Alert


def line(told: Told) -> str:
    """`critical: service_down (service=agent-execution): service.availability is 0, limit 0.5`."""
    alert = told.alert
    where = f" ({alert.series})" if alert.series else ""
    if told.kind == RESOLVED:
        return f"resolved: {alert.rule}{where}"
    limit = f", limit {alert.threshold:g}" if alert.threshold is not None else ""
    did = f"; {alert.action} begins" if alert.action else ""
    return f"{alert.level}: {alert.rule}{where}: {alert.metric} is {alert.value:g}{limit}{did}"


def subject(batch: Batch) -> str:
    if len(batch.told) == 1:
        return f"DocProc {line(batch.told[0])}"[:200]
    kinds = Counter(one.kind for one in batch.told)
    counted = ", ".join(f"{number} {kind}" for kind, number in sorted(kinds.items()))
    what = "summary of the day" if batch.level is Level.LOW else f"{batch.level} alerts"
    return f"DocProc {what}: {counted}"


def text(batch: Batch) -> str:
    lines = [f"{_moment(one)}  {line(one)}" for one in batch.told]
    return "\n".join([*lines, "", "docproc alerts list shows what is open now."])


def short(told: Told) -> str:
    """For a text message, which has 160 characters."""
    return f"DocProc {line(told)}"[:160]


def as_json(batch: Batch) -> dict[str, Any]:
    return {
        "id": str(batch.id),
        "level": str(batch.level),
        "alerts": [{"kind": one.kind, **of(one.alert)} for one in batch.told],
    }


def of(alert: Alert) -> dict[str, Any]:
    """An alert as the API and webhooks tell it."""
    return {
        "id": str(alert.id),
        "rule": alert.rule,
        "level": str(alert.level),
        "metric": alert.metric,
        "labels": alert.labels,
        "value": alert.value,
        "latest": alert.latest,
        "threshold": alert.threshold,
        "fired_at": alert.fired_at.isoformat(),
        "resolved_at": alert.resolved_at.isoformat() if alert.resolved_at else None,
        "action": alert.action or None,
        "action_state": str(alert.action_state) or None,
        "action_result": alert.action_result,
        "tenant_id": alert.tenant_id,
    }


def _moment(told: Told) -> str:
    alert = told.alert
    moment = alert.resolved_at if told.kind == RESOLVED and alert.resolved_at else alert.fired_at
    return f"{moment:%Y-%m-%d %H:%M:%S} UTC"


def lines(batch: Batch) -> Sequence[str]:
    return [line(one) for one in batch.told]
