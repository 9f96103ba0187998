"""`compensate:` in a flow: what undoes a stage is no part of the flow, and stands where it can be found."""

from __future__ import annotations

import pytest

from docproc.engine.workflow.graph import mermaid
from docproc.engine.workflow.plan import PlanError
from tests.unit.engine.workflow.flows import plan_of

SAGA = """
    stages:
      - {name: book, component: work, compensate: unbook}
      - {name: unbook, component: work}
      - {name: pay, component: work, compensate: refund}
      - {name: refund, component: work}
      - {name: end, component: work}
"""


def test_compensations_are_no_part_of_the_flow() -> None:
    plan = plan_of(SAGA)
    assert plan.first == ("book",)
    assert plan.step("book").following == ("pay",) and plan.step("pay").following == ("end",)
    assert plan.compensations == {"book": "unbook", "pay": "refund"}
    for name in ("unbook", "refund"):
        step = plan.step(name)
        assert step.is_compensation and not step.previous and not step.following
    assert not plan.step("book").is_compensation
    assert '-. "undone by" .->' in mermaid(plan)


@pytest.mark.parametrize(
    ("stages", "problem"),
    [
        ("[{name: a, component: work, compensate: b}]", "does not exist"),
        (
            "[{name: a, component: work, compensate: c}, {name: b, component: work, compensate: c},"
            " {name: c, component: work}]",
            "undoes several stages",
        ),
        (
            "[{name: a, component: work, compensate: b}, {name: b, component: work, after: [a]}]",
            "no part of the flow",
        ),
        (
            "[{name: a, component: work, compensate: b}, {name: b, component: work, compensate: a}]",
            "no part of the flow",
        ),
    ],
)
def test_compensations_that_cannot_work_are_refused(stages: str, problem: str) -> None:
    with pytest.raises(PlanError, match=problem) as caught:
        plan_of(f"stages: {stages}")
    assert caught.value.key == "compensate" and caught.value.remedy
