"""Outbox: turns what components emit into message rows, inside the sender's transaction."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID, uuid5

from sqlalchemy import update
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import BACKOFFICE, NEXT, Emission
from docproc.engine.message import PipelineMessage, child_key
from docproc.engine.store import fan_in, fan_out, messages, requests
from docproc.engine.store.columns import as_uuid
from docproc.engine.store.session import Store
from docproc.engine.store.tables import MessageState, Request
from docproc.engine.transport import Copy, Topology
from docproc.engine.workflow.plan import Step
from docproc.engine.workflow.routing import BranchArrival, Route, Routed, Router
from docproc.engine.workflow.versions import Versions


@dataclass(slots=True)
class Sending:
    """What one transaction sends, gathered over all the messages it handles."""

    routed: list[Routed] = field(default_factory=list)
    statuses: dict[str, set[UUID]] = field(default_factory=lambda: defaultdict(set))
    copies: list[Copy] = field(default_factory=list)
    endings: list[requests.Ending] = field(default_factory=list)


class Outbox:
    """Sends messages by inserting rows; afterwards `copies` tell the transport what to bring."""

    def __init__(
        self, store: Store, versions: Versions, topology: Topology, worker_id: str, *, has_broker: bool
    ) -> None:
        self.store = store
        self.versions = versions
        self.topology = topology
        self.worker_id = worker_id
        self.has_broker = has_broker
        self._ranks: OrderedDict[UUID, int] = OrderedDict()

    @property
    def _state(self) -> MessageState:
        return MessageState.SENT if self.has_broker else MessageState.READY

    @property
    def _sender(self) -> str | None:
        return self.worker_id if self.has_broker else None

    async def dispatch(
        self,
        session: AsyncSession,
        handled: Sequence[tuple[PipelineMessage, Sequence[Emission]]],
        *,
        more_to_come: bool = False,
    ) -> list[Copy]:
        """Send what was emitted for these messages; `more_to_come` leaves a streamed fan-out unsealed."""
        sending = Sending()
        routes: list[tuple[Router, Route]] = []
        for message, emissions in handled:
            for router, found in await self._routes(session, message, emissions, sending, more_to_come):
                routes.extend((router, route) for route in found)
        await self._meet(session, routes, sending)
        await self._release_windows(session, handled, sending)
        copies = await self._send(session, sending)
        await requests.finish_all(session, sending.endings)
        return copies

    async def enter(self, session: AsyncSession, router: Router, message: PipelineMessage) -> list[Copy]:
        """Send a new request into its flow; it stays `received` until somebody works on it."""
        sending = Sending()
        await self._meet(session, [(router, route) for route in _silent(router.enter(message))], sending)
        return await self._send(session, sending)

    async def resume(self, session: AsyncSession, message: PipelineMessage) -> list[Copy]:
        """A person answered: the message goes on from its stage, by the version its request started with."""
        router = await self.versions.router(message)
        sending = Sending()
        await self._meet(session, [(router, route) for route in router.after(message)], sending)
        return await self._send(session, sending)

    async def send(self, session: AsyncSession, routed: Sequence[Routed]) -> list[Copy]:
        """Send messages whose address is known."""
        return await self._send(session, Sending(routed=list(routed)))

    # --- where it goes ------------------------------------------------------------------------------

    async def _routes(
        self,
        session: AsyncSession,
        message: PipelineMessage,
        emissions: Sequence[Emission],
        sending: Sending,
        more_to_come: bool,
    ) -> list[tuple[Router, list[Route]]]:
        if not message.current_stage:
            return [
                await self._enter_flow(session, emitted) for target, emitted in emissions if target == NEXT
            ]
        router = await self.versions.router(message)
        step = router.plan.step(message.current_stage)
        if step.component.status:
            sending.statuses[step.component.status].add(message.request_id)
        fired = _fired(session, message)
        if not step.following:
            generation = fired.generation if fired else message.generation
            sending.endings.extend(_endings(message.request_id, emissions, generation))
            emissions = [emission for emission in emissions if emission[0] != NEXT]
        if step.fans_out_to is None:
            return [(router, router.resolve(message, emissions, fired.generation if fired else None))]
        routes = await self._fan_out(session, router, step, message, emissions, sending, more_to_come)
        return [(router, routes)]

    async def _enter_flow(
        self, session: AsyncSession, emitted: PipelineMessage
    ) -> tuple[Router, list[Route]]:
        """A message that is in no stage yet (from a router or another system) enters its workflow."""
        router = await self.versions.pin(session, emitted.workflow_name)
        await session.execute(
            update(Request)
            .where(Request.id == emitted.request_id)
            .values(workflow_name=emitted.workflow_name, workflow_version=router.plan.version)
        )
        return router, _silent(router.enter(emitted))

    # --- fan-out ------------------------------------------------------------------------------------

    async def _fan_out(
        self,
        session: AsyncSession,
        router: Router,
        step: Step,
        message: PipelineMessage,
        emissions: Sequence[Emission],
        sending: Sending,
        more_to_come: bool,
    ) -> list[Route]:
        """Announce the units to the join that will collect them; seal it when these were the last."""
        fired = _fired(session, message)
        over = not more_to_come and (fired is not None or not step.is_join)
        if not emissions and not over:
            return []
        join = router.plan.step(step.fans_out_to or "")
        group_key = message.group_key if step.is_join else message.unit_key
        hint = fired.generation if fired else message.generation
        like = fan_in.Arrival(message.request_id, message.tenant_id, join.join_name, group_key, hint, "")
        units = sum(target != BACKOFFICE for target, _ in emissions)
        opened = await fan_out.announce_units(session, like, units, is_last=over)
        routes = router.resolve(message, emissions, opened.generation)
        if step.stage.window is not None:
            room = max(0, step.stage.window + opened.received_count - opened.announced_before)
            routes = _hold(routes, room, window_name(like, opened.generation))
        if opened.complete:
            sending.routed.append(self._nudge(router, join, message, opened.complete))
        return routes

    def _nudge(self, router: Router, join: Step, message: PipelineMessage, complete: fan_in.Join) -> Routed:
        """All units came before the fan-out was over: tell the join, which fires now."""
        nudge = message.model_copy(
            update={
                "current_stage": join.name,
                "unit_key": child_key(complete.group_key, fan_in.SEALED_UNIT),
                "generation": complete.generation,
                "message_id": uuid5(message.message_id, f"sealed:{complete.id}"),
                "attempt": 1,
                "failure": None,
            }
        )
        return router.address(join, nudge)

    async def _release_windows(
        self,
        session: AsyncSession,
        handled: Sequence[tuple[PipelineMessage, Sequence[Emission]]],
        sending: Sending,
    ) -> None:
        """Units that arrived at a join, or left for a person, make room in the window of their fan-out."""
        room: dict[tuple[UUID, str], int] = defaultdict(int)
        for message, emissions in handled:
            if not message.current_stage or not message.unit_key:
                continue
            plan = (await self.versions.router(message)).plan
            if not plan.has_windows:
                continue
            step = plan.step(message.current_stage)
            left = step.is_join or any(target == BACKOFFICE for target, _ in emissions)
            join = step if step.is_join else plan.steps.get(step.collected_by or "")
            if left and join and join.opened_by and plan.step(join.opened_by).stage.window:
                like = fan_in.Arrival(message.request_id, "", join.join_name, message.group_key, 0, "")
                room[message.request_id, window_name(like, message.generation)] += 1
        for (request_id, name), count in sorted(room.items(), key=lambda item: (str(item[0][0]), item[0][1])):
            freed = await messages.release_held(
                session,
                self.store.dialect,
                request_id,
                name,
                count,
                state=self._state,
                worker_id=self._sender,
            )
            sending.copies.extend(copy_of(row, self.topology) for row in freed)

    # --- branches -----------------------------------------------------------------------------------

    async def _meet(
        self, session: AsyncSession, routes: list[tuple[Router, Route]], sending: Sending
    ) -> None:
        """Let branches of a unit wait for each other; whoever comes last goes on with what all found."""
        while routes:
            sending.routed.extend(route for _, route in routes if isinstance(route, Routed))
            waiting = [(router, r) for router, r in routes if isinstance(r, BranchArrival)]
            routes = []
            if not waiting:
                return
            for join in await fan_in.arrive(session, [_branch(arrival) for _, arrival in waiting]):
                router, arrival = waiting[join.completed_by]
                merged = await self._merge(session, arrival, join)
                onward = router.into(arrival.step, merged, uuid5(join.id, str(join.generation)))
                routes.extend((router, route) for route in onward)

    async def _merge(
        self, session: AsyncSession, arrival: BranchArrival, join: fan_in.Join
    ) -> PipelineMessage:
        """One message for the unit: the branches' payloads on top of each other, in the order of `after:`."""
        found = await fan_in.bodies(session, join)
        payload: dict[str, Any] = {}
        for branch in arrival.step.previous:
            if branch in found:
                payload |= found[branch].payload
        return arrival.message.model_copy(update={"payload": payload, "generation": join.generation})

    # --- rows ---------------------------------------------------------------------------------------

    async def _send(self, session: AsyncSession, sending: Sending) -> list[Copy]:
        for item in sending.routed:
            if item.status:
                sending.statuses[item.status].add(item.message.request_id)
        await self._advance(session, sending.statuses)
        outgoing = [messages.Outgoing.of(r.message, r.queue, r.held_by) for r in sending.routed]
        await messages.send(session, outgoing, state=self._state, worker_id=self._sender)
        sent = [(r, o) for r, o in zip(sending.routed, outgoing, strict=True) if r.held_by is None]
        if not self.has_broker:  # consumers are only woken: one copy per queue says it all
            sent = list({routed.queue: (routed, out) for routed, out in sent}.values())
        sending.copies.extend(
            Copy(
                r.message.message_id, r.exchange, r.routing_key, r.queue, r.message.priority, o.body.encode()
            )
            for r, o in sent
        )
        return sending.copies

    async def _advance(self, session: AsyncSession, statuses: dict[str, set[UUID]]) -> None:
        for status in sorted(statuses, key=requests.rank):
            place = requests.rank(status)
            behind = [rid for rid in statuses[status] if self._ranks.get(rid, -1) < place]
            if behind:
                await requests.advance(session, behind, status)
                session.info.setdefault("after_commit", []).append(
                    lambda ids=tuple(behind), rank=place: self._note_ranks(ids, rank)
                )

    def _note_ranks(self, request_ids: Sequence[UUID], rank: int) -> None:
        """Remembered so that the thousandth page does not ask again; forgotten when it grows old."""
        for request_id in request_ids:
            self._ranks[request_id] = max(rank, self._ranks.pop(request_id, -1))
        while len(self._ranks) > 10_000:
            self._ranks.popitem(last=False)


def _silent(routes: Sequence[Route]) -> list[Route]:
    """Into a flow: the status changes when the first stage works on it, not when it is sent there."""
    return [replace(route, status=None) if isinstance(route, Routed) else route for route in routes]


def _fired(session: AsyncSession, message: PipelineMessage) -> fan_in.Join | None:
    """The join that handling this message completed, if it did."""
    joins: dict[UUID, fan_in.Join] = session.info.get(fan_in.FIRED_JOINS, {})
    return joins.get(message.message_id)


def _endings(request_id: UUID, emissions: Sequence[Emission], generation: int) -> list[requests.Ending]:
    """NEXT after the last stage publishes nothing: it ends the request; the payload is its result.

    A component that knows its result to be newer than the units it was sent for says so by `generation`.
    """
    return [
        requests.Ending(request_id, emitted.payload, max(generation, emitted.generation))
        for target, emitted in emissions
        if target == NEXT
    ]


def _branch(arrival: BranchArrival) -> fan_in.Arrival:
    message = arrival.message
    return fan_in.Arrival(
        request_id=message.request_id,
        tenant_id=message.tenant_id,
        stage=arrival.step.branch_join_name,
        group_key=message.unit_key,
        generation=message.generation,
        unit_key=arrival.branch,
        body=message.encode().decode(),
        expected=len(arrival.step.previous),
    )


def _hold(routes: Sequence[Route], room: int, name: str) -> list[Route]:
    """All but the first `room` messages wait for the window."""
    held: list[Route] = []
    for place, route in enumerate(routes):
        if place >= room and isinstance(route, Routed):
            route = replace(route, held_by=name)
        held.append(route)
    return held


def window_name(like: fan_in.Arrival, generation: int) -> str:
    return f"{like.stage}:{like.group_key}:{generation}"


def copy_of(row: Row[Any], topology: Topology) -> Copy:
    """The copy of a row that was read back from the database."""
    # A queue this process does not know (another system's) is addressed by its name.
    exchange, routing_key = topology.bindings.get(row.queue, ("", row.queue))
    return Copy(as_uuid(row.id), exchange, routing_key, row.queue, row.band, row.body.encode())
