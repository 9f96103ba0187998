"""What can be answered for a request now: its last stage knows, else the engine says what is missing."""

from __future__ import annotations

from typing import Any

import structlog
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import BaseComponent
from docproc.engine.deadlines.node import Node
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store import answers, missing
from docproc.engine.store.session import is_passing
from docproc.engine.store.tables import Request
from docproc.errors import DocProcError

log = structlog.get_logger(__name__)


class Partials:
    """Made in the monitor's own process, so that an answer never waits behind the work it reports on."""

    def __init__(self, application: Node) -> None:
        self.application = application
        self._components: dict[str, BaseComponent] = {}

    async def make(self, session: AsyncSession, request: Request) -> dict[str, Any]:
        """The partial answer; whatever is wrong with a component, there is one."""
        try:
            if (component := await self._last_component(request)) is not None:
                result = await component.partial_result(_message(request), session)
                if result is not None:
                    return result
        except Exception as error:  # the boundary to a component's code: the client gets an answer
            if is_passing(error):
                raise
            log.exception("partial_answer_failed", request_id=str(request.id))
            if (draft := await answers.draft(session, request.id)) is not None:
                return dict(draft)
        left = await missing.missing(session, request.id, utc_now())
        return {"request_id": str(request.id), "partial": True, "missing": left}

    async def _last_component(self, request: Request) -> BaseComponent | None:
        """The component that answers; None where flow or component are not to be had in this process."""
        try:
            plan = (await self.application.versions.router(_message(request))).plan
            last = next(step for step in plan.steps.values() if not step.following)
            return self._component(last.component.name)
        except DocProcError:  # what is missing can be told all the same
            return None

    def _component(self, name: str) -> BaseComponent:
        if name not in self._components:
            self._components[name] = self.application.component(name)
        return self._components[name]


def _message(request: Request) -> PipelineMessage:
    """The request as a message: what components are told of it."""
    return PipelineMessage(
        request_id=request.id,
        trace_id=request.trace_id or request.id,
        tenant_id=request.tenant_id,
        workflow_name=request.workflow_name,
        workflow_version=request.workflow_version,
        priority=request.band,
        deadline_utc=request.deadline_utc,
        created_at=request.created_at,
    )
