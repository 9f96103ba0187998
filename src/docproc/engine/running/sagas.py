"""Sagas: a request that fails is undone first, stage by stage, backwards, each by its `compensate:` stage.

What is left to undo travels in the message from one compensation to the next: a crash anywhere resumes where
it was, and each compensation is handled once, like any stage.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import SAGA, PipelineMessage
from docproc.engine.store import events, messages, requests
from docproc.engine.store.tables import Event, RequestStatus
from docproc.engine.workflow.plan import Plan
from docproc.engine.workflow.routing import Route, Router, child_id


async def begin(
    session: AsyncSession, router: Router, failed: PipelineMessage, error: dict[str, Any]
) -> list[Route] | None:
    """The first compensation, in the transaction of the dead letter; None: nothing is to be undone.

    What else is queued for the request is held from now on, and has no effect.
    """
    left = await _begun(session, router.plan, failed)
    if not left:
        return None
    request = await requests.locked(session, failed.request_id)
    if request is None or request.status in requests.TERMINAL:
        return None
    request.status = RequestStatus.COMPENSATING
    await messages.suspend_request(session, failed.request_id)
    await session.flush()
    await events.record(
        session,
        [
            _note(failed, "status", RequestStatus.COMPENSATING),
            _note(failed, "saga", "begun", {"failed": failed.current_stage, "to_undo": left}),
        ],
    )
    saga = {"error": error, "left": left, "undone": [], "not_undone": []}
    return [_next(router, failed, saga)]


async def go_on(
    session: AsyncSession, router: Router, done: PipelineMessage, *, has_failed: bool = False
) -> list[Route]:
    """A compensation was done, or failed for good: the next one; after the last one the request fails."""
    saga = dict(done.payload.get(SAGA) or {})
    left = list(saga.get("left", ()))
    stage, left = (left[0], left[1:]) if left else (done.current_stage, [])
    kept = "not_undone" if has_failed else "undone"
    saga = {**saga, "left": left, kept: [*saga.get(kept, ()), stage]}
    outcome = "not_undone" if has_failed else "undone"
    await events.record(session, [_note(done, "saga", outcome, {"stage": stage})])
    if left:
        return [_next(router, done, saga)]
    error = {
        **saga.get("error", {}),
        "undone": saga.get("undone", []),
        "not_undone": saga.get("not_undone", []),
    }
    await requests.fail(session, done.request_id, error)
    return []


def _next(router: Router, message: PipelineMessage, saga: dict[str, Any]) -> Route:
    undo = router.plan.compensations[saga["left"][0]]
    step = router.plan.step(undo)
    identity = child_id(message.message_id, undo, "", message.generation)
    payload = {name: value for name, value in message.payload.items() if name != SAGA}
    update = {
        "message_id": identity,
        "current_stage": undo,
        "unit_key": "",
        "attempt": 1,
        "failure": None,
        "replay_of": None,
        "payload": {**payload, SAGA: saga},
    }
    return router.address(step, message.model_copy(update=update))


async def _begun(session: AsyncSession, plan: Plan, failed: PipelineMessage) -> list[str]:
    """Stages with a compensation that anything was done for, the last begun first; the failed one leads:
    part of it may have taken effect."""
    undone_by = plan.compensations
    query = (
        select(Event.stage)
        .where(
            Event.request_id == failed.request_id, Event.kind == "handled", Event.stage.in_(list(undone_by))
        )
        .group_by(Event.stage)
        .order_by(func.min(Event.id).desc())
    )
    begun: Sequence[str | None] = list(await session.scalars(query)) if undone_by else []
    found = [stage for stage in begun if stage is not None and stage != failed.current_stage]
    return [failed.current_stage, *found] if failed.current_stage in undone_by else found


def _note(
    message: PipelineMessage, kind: str, outcome: str, data: dict[str, Any] | None = None
) -> events.Event:
    return events.Event(message.request_id, kind, tenant_id=message.tenant_id, outcome=outcome, data=data)
