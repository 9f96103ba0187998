"""Admission: when a new request would be done, and whether it is taken in at all."""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import datetime

from docproc.engine.deadlines.forecast import Forecaster
from docproc.engine.message import utc_now
from docproc.engine.running.intake import Submission
from docproc.engine.workflow.checkpoints import checkpoints
from docproc.engine.workflow.definition import Admission as Policy
from docproc.engine.workflow.loader import WorkflowLoader
from docproc.engine.workflow.plan import Plan
from docproc.errors import DeadlineAtRiskError

LONGEST_RETRY_SECONDS = 3600


@dataclass(frozen=True, slots=True)
class Expectation:
    """When a request will be done, as things stand; `completion` is None while nothing was measured."""

    completion: datetime | None
    deadline_utc: datetime

    @property
    def is_at_risk(self) -> bool:
        return self.completion is not None and self.completion > self.deadline_utc

    @property
    def late_seconds(self) -> float:
        return (self.completion - self.deadline_utc).total_seconds() if self.completion else 0.0


class Admission:
    """Asked before a request is taken in; the router may still choose another workflow and deadline."""

    def __init__(self, forecaster: Forecaster, loader: WorkflowLoader, default_sla_seconds: float) -> None:
        self.forecaster = forecaster
        self.loader = loader
        self.default_sla_seconds = default_sla_seconds

    async def expect(self, submission: Submission) -> Expectation:
        plan = self._plan(submission)
        now = utc_now()
        deadline = checkpoints(now, plan.workflow.sla, self.default_sla_seconds).deadline_utc
        completion = await self.forecaster.expect(
            plan, submission.priority, now, deadline, submission.content_bytes
        )
        return Expectation(completion, deadline)

    def accepted(self, submission: Submission, expected: Expectation) -> None:
        """It was taken in: whoever comes next waits behind it."""
        plan = self._plan(submission)
        self.forecaster.accepted(
            submission.request_id, plan, submission.priority, expected.deadline_utc, submission.content_bytes
        )

    def refuses(self, submission: Submission, expected: Expectation) -> bool:
        policy = self._plan(submission).workflow.admission
        return expected.is_at_risk and policy is Policy.REFUSE

    def _plan(self, submission: Submission) -> Plan:
        return self.loader.of(submission.tenant_id).plan(submission.workflow)

    def refusal(self, workflow: str, expected: Expectation) -> DeadlineAtRiskError:
        late = expected.late_seconds
        seconds = min(max(1, math.ceil(late)), LONGEST_RETRY_SECONDS)
        return DeadlineAtRiskError(
            f"workflow {workflow!r} takes only what it can answer in time; this would be {late:.0f} s late",
            remedy=f"Send it again in {seconds} s",
            retry_seconds=seconds,
        )
