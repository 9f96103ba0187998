"""The alerts of documents: the five of specification §9.3."""

from __future__ import annotations

from docproc.alerts import people_metrics, request_metrics
from docproc.alerts.actions import ESCALATE, WATCH_CLOSELY
from docproc.alerts.alert_set import AlertSet, Figure
from docproc.alerts.engine_metrics import PROCESSING_TIME
from docproc.alerts.rules import Above, AboveSameHour, Level, Rule, TimesUsual
from docproc.alerts.stage_metrics import HANDLED
from docproc.apps.documents.texts.names import type_names

APPLICATION = "documents"
_OURS = {"application": APPLICATION}

RULES = (
    # Capacity: people cannot keep up with the pages whose type is in doubt.
    Rule(
        "manual_queue_long",
        people_metrics.OPEN,
        ("type",),
        Above(50),
        Level.MEDIUM,
        only={"type": "classification"},
    ),
    # The service gets worse: reading a page takes twice as long as on the last day.
    Rule(
        "reading_slow",
        PROCESSING_TIME,
        ("application", "queue"),
        TimesUsual(2),
        Level.MEDIUM,
        WATCH_CLOSELY,
        only={**_OURS, "queue": "q.ocr"},
        least_count=5,
    ),
    # Too few people: less of them are there than urgent questions wait.
    Rule("people_short", people_metrics.MISSING, ("type",), Above(0), Level.HIGH),
    # Less than a fifth of a request's time is left, and it is not finished.
    Rule("deadline_near", request_metrics.AT_RISK, ("application",), Above(0), Level.HIGH, ESCALATE, _OURS),
    # More machines are needed: 40 % more comes in than at this hour of this weekday in the last weeks.
    Rule(
        "volume_high",
        request_metrics.VOLUME,
        ("application",),
        AboveSameHour(0.4),
        Level.MEDIUM,
        WATCH_CLOSELY,
        _OURS,
        least_count=10,
    ),
)

alerts = AlertSet(
    rules=RULES,
    figures=(Figure("monitor_pages_per_hour", HANDLED, "component=ocr"),),
    type_names=type_names,
)
