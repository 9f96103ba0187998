"""What a capacity plan looks like: a table, sentences, JSON, and a patch for Kustomize."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import yaml
from rich.table import Table

from docproc.capacity.planning import CapacityPlan


def as_json(plan: CapacityPlan) -> dict[str, Any]:
    """Times in seconds, shares from 0 to 1; null stands for "the workers cannot keep up"."""
    staff = plan.staff
    return {
        "enough": plan.is_enough,
        "deadline_seconds": plan.load.deadline_seconds,
        "requests_per_second": plan.load.per_second,
        "workers": {
            pool: {"replicas": number, "utilisation": round(plan.formula.utilisation[pool], 4)}
            for pool, number in plan.workers.items()
        },
        "formula": {
            "p95_seconds": _finite(plan.formula.p95),
            "late_share": round(plan.formula.late_share, 4),
        },
        "simulation": {
            "p50_seconds": _finite(plan.simulated.percentile(0.5)),
            "p95_seconds": _finite(plan.simulated.percentile(0.95)),
            "late_share": round(plan.simulated.late_share, 4),
            "requests": len(plan.simulated.seconds),
        },
        "people": None
        if staff is None
        else {
            "tasks_per_hour": round(staff.tasks_per_hour, 1),
            "operators_per_shift": staff.present,
            "shifts": staff.shifts,
            "wait_seconds": round(staff.wait_seconds, 1),
        },
    }


def table(plan: CapacityPlan) -> Table:
    found = Table("component", "replicas", "busy", box=None, header_style="bold")
    for pool, number in plan.workers.items():
        found.add_row(pool, str(number), f"{plan.formula.utilisation[pool]:.0%}")
    return found


def sentences(plan: CapacityPlan) -> Sequence[str]:
    """What is to be expected, in words."""
    said = [
        f"95 % of the requests are answered within {_seconds(plan.formula.p95)} by formula and "
        f"{_seconds(plan.simulated.percentile(0.95))} by simulation; the deadline is "
        f"{_seconds(plan.load.deadline_seconds)}.",
        f"Late: {plan.formula.late_share:.1%} by formula, {plan.simulated.late_share:.1%} of "
        f"{len(plan.simulated.seconds)} simulated requests.",
    ]
    if plan.staff is not None:
        said.append(
            f"People: {plan.staff.present} at the same time in {plan.staff.shifts} shift(s) a day for "
            f"{plan.staff.tasks_per_hour:.0f} questions an hour; a question waits "
            f"{_seconds(plan.staff.wait_seconds)}."
        )
    if not plan.is_enough:
        said.append(
            "More replicas do not help: what one request has to go through takes longer than its deadline. "
            "Give it a later deadline, faster processors, or let it be answered in part."
        )
    return said


def kustomize_patch(plan: CapacityPlan) -> str:
    """The `replicas` of a kustomization.yaml: one entry a component, named as its Deployment is."""
    replicas = [{"name": pool.replace("_", "-"), "count": number} for pool, number in plan.workers.items()]
    head = (
        "# Made by `docproc capacity`: put it into the kustomization.yaml of an overlay. A component that a\n"
        "# HorizontalPodAutoscaler scales takes the number as its minReplicas instead.\n"
    )
    return head + yaml.safe_dump({"replicas": replicas}, sort_keys=False)


def _finite(value: float) -> float | None:
    return None if math.isinf(value) else round(value, 3)


def _seconds(value: float) -> str:
    return "never" if math.isinf(value) else f"{value:.1f} s"
