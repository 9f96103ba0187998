"""Windows: of a large fan-out only so many units are under way; arrivals release the next ones."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import replace
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import BACKOFFICE
from docproc.engine.running.sending import Handled, Sending, copy_of
from docproc.engine.store import messages
from docproc.engine.store.fan_out import FanOut
from docproc.engine.store.tables import MessageState
from docproc.engine.transport import Topology
from docproc.engine.workflow.plan import Plan, Step
from docproc.engine.workflow.routing import JoinArrival, Route, Routed, Router
from docproc.engine.workflow.versions import Versions


class Windows:
    """Holds the units of a fan-out beyond its window, and lets them go one for one."""

    def __init__(self, versions: Versions, topology: Topology, dialect: str) -> None:
        self.versions = versions
        self.topology = topology
        self.dialect = dialect

    def hold(
        self, routes: Sequence[Route], window: int, opened: FanOut, join: Step, group_key: str
    ) -> list[Route]:
        """All messages but those there is room for are written `held`."""
        room = max(0, window + opened.received_count - opened.announced_before)
        name = _name(join, group_key, opened.generation)
        return [
            replace(route, held_by=name) if place >= room and isinstance(route, Routed) else route
            for place, route in enumerate(routes)
        ]

    async def release(
        self,
        session: AsyncSession,
        handled: Sequence[Handled],
        arrived: Sequence[tuple[Router, JoinArrival]],
        sending: Sending,
        *,
        state: MessageState,
        worker_id: str | None,
    ) -> None:
        """Units that arrived at a join, or left for a person, make room in the window of their fan-out."""
        room: dict[tuple[UUID, str], int] = defaultdict(int)
        for one in handled:
            if name := await self._window_left(one):
                room[one.message.request_id, name] += 1
        for router, arrival in arrived:
            if router.plan.has_windows and _opens_window(router.plan, arrival.step):
                message = arrival.message
                name = _name(arrival.step, message.group_key, message.generation)
                room[message.request_id, name] += 1
        for (request_id, name), count in sorted(room.items(), key=lambda item: (str(item[0][0]), item[0][1])):
            freed = await messages.release_held(
                session, self.dialect, request_id, name, count, state=state, worker_id=worker_id
            )
            sending.copies.extend(copy_of(row, self.topology) for row in freed)

    async def _window_left(self, handled: Handled) -> str | None:
        """The window that this message's unit no longer fills; None when there is none."""
        message = handled.message
        if not message.current_stage or not message.unit_key:
            return None
        plan = (await self.versions.router(message)).plan
        if not plan.has_windows:
            return None
        step = plan.step(message.current_stage)
        has_left = step.is_join or any(target == BACKOFFICE for target, _ in handled.emissions)
        join = _join_of(plan, step)
        if not (has_left and join and _opens_window(plan, join)):
            return None
        return _name(join, message.group_key, message.generation)


def _opens_window(plan: Plan, join: Step) -> bool:
    """Whether the fan-out that a join collects has a window."""
    return bool(join.opened_by and plan.step(join.opened_by).stage.window)


def _join_of(plan: Plan, step: Step) -> Step | None:
    """The join that counts what a step works on."""
    return step if step.is_join else plan.steps.get(step.collected_by or "")


def _name(join: Step, group_key: str, generation: int) -> str:
    return f"{join.join_name}:{group_key}:{generation}"
