"""The alerts of every deployment, whatever its applications: dead letters, old queues, full disks."""

from __future__ import annotations

from docproc.alerts.actions import WATCH_CLOSELY
from docproc.alerts.engine_metrics import QUEUE_AGE
from docproc.alerts.machine_metrics import DEAD_LETTERS, DISK_FREE
from docproc.alerts.rules import Above, Below, Level, Rule

_QUEUE = ("application", "queue")
_PLACE = ("place",)

RULES = (
    Rule("disk_full", DISK_FREE, _PLACE, Below(0.03), Level.CRITICAL),
    Rule("disk_low", DISK_FREE, _PLACE, Below(0.1), Level.HIGH),
    Rule("dead_letters", DEAD_LETTERS, (), Above(0), Level.HIGH),
    # Nobody took the oldest message for five minutes: a worker is missing, or far too few are there.
    Rule("queue_old", QUEUE_AGE, _QUEUE, Above(300), Level.HIGH, WATCH_CLOSELY),
)
