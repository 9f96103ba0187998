"""Checkpoints: the moments at which the monitor looks at a request, from reception to its deadline."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from docproc.engine.workflow.definition import Sla


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """The clock starts at reception, however long a request waits for its workflow."""

    deadline_utc: datetime
    sla_seconds: float
    warn_at: datetime
    escalate_at: datetime


def checkpoints(received_at: datetime, sla: Sla | None, default_seconds: float) -> Checkpoints:
    """Of a request under `sla`; `default_seconds` where its workflow has none."""
    sla = sla or Sla(deadline_seconds=default_seconds)

    def after(percent: float) -> datetime:
        return received_at + timedelta(seconds=sla.deadline_seconds * percent / 100)

    return Checkpoints(
        deadline_utc=after(100),
        sla_seconds=sla.deadline_seconds,
        warn_at=after(sla.warn_threshold_pct),
        escalate_at=after(sla.escalation_threshold_pct),
    )
