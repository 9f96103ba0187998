"""The suite: every golden case of a workflow run on one version, as requests that nobody else is told of."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select

from docproc.app import App
from docproc.engine.running.intake import Submission
from docproc.engine.store.promotion_tables import GoldenCase
from docproc.engine.store.requests import TERMINAL
from docproc.engine.store.tables import Request
from docproc.engine.workflow.definition import Workflow
from docproc.promotion.cases import comparable_of
from docproc.promotion.comparing import Difference, differences

CHANNEL = "golden"
LOOK_SECONDS = 0.05
# A case that takes longer is wrong in itself.
MOST_SECONDS = 600.0
AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """What became of one case."""

    case_id: UUID
    title: str
    differences: Sequence[Difference]
    # Why there is no answer to compare.
    problem: str = ""

    @property
    def passed(self) -> bool:
        return not self.problem and not self.differences


@asynccontextmanager
async def workers_for(app: App, workflows: Sequence[Workflow]) -> AsyncIterator[None]:
    """Workers in this process for these flows, beside those that may run elsewhere."""
    worker = app.worker(sorted({stage.component for flow in workflows for stage in flow.stages}))
    await worker.start()
    try:
        yield
    finally:
        await worker.shutdown()


async def run_suite(
    app: App,
    workflow: Workflow,
    cases: Sequence[GoldenCase],
    tell: Callable[[CaseOutcome], None] = lambda outcome: None,
) -> list[CaseOutcome]:
    """Each case once, a few at a time; needs workers. The requests are erased afterwards."""
    turns = asyncio.Semaphore(AT_ONCE)
    comparable = comparable_of(app, workflow.name)

    async def one(case: GoldenCase) -> CaseOutcome:
        async with turns:
            request = await _finished(app, workflow, case)
            outcome = _judged(case, request, comparable)
            await app.erasure.erase(request.id, "golden suite")
        tell(outcome)
        return outcome

    return list(await asyncio.gather(*map(one, cases)))


def _judged(case: GoldenCase, request: Request, comparable: Callable[[Any], Any]) -> CaseOutcome:
    if request.status == "failed" or request.result_payload is None:
        error = request.error or {}
        problem = str(error.get("message") or f"not answered within {MOST_SECONDS:.0f} s")
        return CaseOutcome(case.id, case.title, (), problem)
    return CaseOutcome(case.id, case.title, differences(case.expected, comparable(request.result_payload)))


async def _finished(app: App, workflow: Workflow, case: GoldenCase) -> Request:
    request_id = uuid4()
    files = []
    for upload in case.uploads:
        key = f"{request_id}/in/{upload['key'].rpartition('/')[2]}"
        await app.blobs.copy(upload["key"], key)
        files.append({**upload, "key": key})
    payload = {"files": files, "metadata": case.metadata_, "channel": CHANNEL, "workflow_named": True}
    submission = Submission(
        workflow.name,
        payload,
        channel=CHANNEL,
        metadata=case.metadata_,
        tenant_id=case.tenant_id,
        request_id=request_id,
        definition=workflow,
        uploads=files,
        review="flag",  # nobody is asked: what is compared is what the machine says
        is_watched=False,
    )
    await app.intake.submit(submission)
    query = select(Request).where(Request.id == request_id)
    ends = asyncio.get_running_loop().time() + MOST_SECONDS
    while True:
        async with app.store.reading() as session:
            request = (await session.scalars(query)).one()
        if request.status in TERMINAL or asyncio.get_running_loop().time() > ends:
            return request
        await asyncio.sleep(LOOK_SECONDS)
