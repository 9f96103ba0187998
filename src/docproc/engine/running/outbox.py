"""Outbox: turns what components emit into message rows, inside the sender's transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from uuid import UUID

from sqlalchemy import update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import BACKOFFICE, NEXT, Emission
from docproc.engine.message import PipelineMessage, child_key
from docproc.engine.running import branches, sagas
from docproc.engine.running.releasing import Releasing
from docproc.engine.running.sending import Handled, Sending
from docproc.engine.running.statuses import Statuses
from docproc.engine.running.windows import Windows
from docproc.engine.store import fan_in, fan_out, messages, requests
from docproc.engine.store.completing import Ending
from docproc.engine.store.session import Store
from docproc.engine.store.tables import MessageState, Request
from docproc.engine.transport import Copy, Delivery, Topology
from docproc.engine.workflow.plan import Step
from docproc.engine.workflow.routing import JoinArrival, Route, Routed, Router
from docproc.engine.workflow.versions import Versions


class Outbox:
    """Sends messages by inserting rows; afterwards `copies` tell the transport what to bring."""

    def __init__(
        self, store: Store, versions: Versions, topology: Topology, worker_id: str, releasing: Releasing
    ) -> None:
        self.store = store
        self.versions = versions
        self.topology = topology
        self.worker_id = worker_id
        self.releasing = releasing
        self.has_broker = releasing.transport.has_broker
        self.statuses = Statuses()
        self.windows = Windows(versions, topology, store.dialect)

    @property
    def _state(self) -> MessageState:
        return MessageState.SENT if self.has_broker else MessageState.READY

    @property
    def _sender(self) -> str | None:
        return self.worker_id if self.has_broker else None

    async def dispatch(
        self,
        session: AsyncSession,
        handled: Sequence[Handled],
        *,
        more_to_come: bool = False,
    ) -> list[Copy]:
        """Send what was emitted for these messages; `more_to_come` leaves a streamed fan-out unsealed."""
        sending = await self.route(session, handled, more_to_come=more_to_come)
        return await self.write(session, sending)

    async def enter(self, session: AsyncSession, router: Router, message: PipelineMessage) -> list[Copy]:
        """Send a new request into its flow; it stays `received` until somebody works on it."""
        return await self.send(session, router, entering(router, message))

    async def resume(self, session: AsyncSession, message: PipelineMessage) -> list[Copy]:
        """A person answered: the message goes on from its stage, by the version its request started with."""
        router = await self.versions.router(message)
        return await self.send(session, router, router.after(message))

    async def repeat(self, session: AsyncSession, message: PipelineMessage) -> list[Copy]:
        """A person said that it must be done otherwise: the message's own stage handles it once more."""
        router = await self.versions.router(message)
        return await self.send(
            session, router, [router.address(router.plan.step(message.current_stage), message)]
        )

    async def send(self, session: AsyncSession, router: Router, routes: Sequence[Route]) -> list[Copy]:
        """Send what a router has addressed."""
        return await self.send_all(session, [(router, route) for route in routes])

    async def send_all(self, session: AsyncSession, routes: list[tuple[Router, Route]]) -> list[Copy]:
        """Send what routers have addressed, in as few statements as for one."""
        sending = Sending()
        await branches.meet(session, routes, sending)
        return await self.write(session, sending)

    # --- the three steps of sending -------------------------------------------------------------------

    async def route(
        self, session: AsyncSession, handled: Sequence[Handled], *, more_to_come: bool = False
    ) -> Sending:
        """Find out where everything goes that was emitted for these messages; no row is written yet."""
        sending = Sending()
        routes: list[tuple[Router, Route]] = []
        for one in handled:
            for router, found in await self._routes(session, one, sending, more_to_come):
                routes.extend((router, route) for route in found)
        await branches.meet(session, routes, sending)
        await self._release(session, handled, [], sending)
        return sending

    async def count(self, session: AsyncSession, sending: Sending) -> None:
        """Count the units that arrived at joins; one that is complete now gets its message, in `onward`.

        As late as possible, because from here on others who bring units to the same joins wait for this
        transaction. Statuses before it: whoever locks both locks a request first, then its joins.
        """
        arrived, sending.arrivals = sending.arrivals, []
        for _, arrival in arrived:
            sending.stands(arrival.step.standing, arrival.message.request_id)
        await self.statuses.advance(session, sending.standings)
        sending.standings.clear()
        for join in await fan_in.arrive(session, [_counted(arrival) for _, arrival in arrived]):
            router, arrival = arrived[join.completed_by]
            sending.onward.append(_completed(router, arrival.step, arrival.message, join))
        await self._release(session, [], arrived, sending)

    async def write(self, session: AsyncSession, sending: Sending) -> list[Copy]:
        """Write the rows of everything that is to be sent, and end the requests that are done."""
        if sending.arrivals:
            await self.count(session, sending)
        offered = self._offered(session, sending)
        sending.routed += sending.onward
        for item in sending.routed:
            sending.stands(item.standing, item.message.request_id)
        await self.statuses.advance(session, sending.standings)
        outgoing = await self._outgoing(session, sending)
        if offered:
            outgoing = self._handed_over(session, outgoing, offered)
        await messages.send(session, outgoing, state=self._state, worker_id=self._sender)
        sending.copies.extend(self._copies(sending.routed, outgoing))
        await requests.finish_all(session, sending.endings)
        return sending.copies

    def _offered(self, session: AsyncSession, sending: Sending) -> set[UUID]:
        """Messages for consumers of this process that wait for nothing else: they go on at once, without a
        claim. Of several for one queue others may want some, so those are ready for everybody."""
        transport = self.releasing.transport
        offered: set[UUID] = set()
        for queue, number in Counter(routed.queue for routed in sending.onward).items():
            routed = next(one for one in sending.onward if one.queue == queue)
            message_id = routed.message.message_id
            if number == 1 and routed.held_by is None and transport.offer(queue, message_id):
                withdraw = partial(transport.withdraw, queue, message_id)
                session.info.setdefault("after_rollback", []).append(withdraw)
                offered.add(message_id)
        return offered

    def _handed_over(
        self, session: AsyncSession, outgoing: Sequence[messages.Outgoing], offered: set[UUID]
    ) -> list[messages.Outgoing]:
        """The same, those that were offered under this process's lease."""
        after_commit = session.info.setdefault("after_commit", [])
        found = []
        for one in outgoing:
            if one.message.message_id in offered:
                one = replace(one, leased_by=self.worker_id)
                after_commit.append(partial(self.releasing.transport.hand, _delivery(one)))
            found.append(one)
        return found

    async def post(self, session: AsyncSession, queue: str, posted: Sequence[PipelineMessage]) -> list[Copy]:
        """Send messages to a queue that a component wrote itself, under ids that may have been used before:
        the first of an id counts."""
        if not posted:
            return []
        exchange, routing_key = self.topology.bindings[queue]
        unique = {one.message_id: one for one in posted}
        sending = Sending(routed=[Routed(one, exchange, routing_key, queue) for one in unique.values()])
        outgoing = await self._outgoing(session, sending)
        new = await messages.send_new(session, outgoing, state=self._state, worker_id=self._sender)
        copies = self._copies(sending.routed, outgoing)
        return [copy for copy in copies if copy.message_id in new] if self.has_broker else copies

    def _copies(self, routed: Sequence[Routed], outgoing: Sequence[messages.Outgoing]) -> list[Copy]:
        """What the transport is to bring now."""
        sent = [
            (r, o)
            for r, o in zip(routed, outgoing, strict=True)
            if r.held_by is None and not o.is_kept_back and o.leased_by is None
        ]
        if not self.has_broker:  # consumers are only woken: one copy per queue says it all
            sent = list({r.queue: (r, o) for r, o in sent}.values())
        return [
            Copy(
                r.message.message_id, r.exchange, r.routing_key, r.queue, r.message.priority, o.body.encode()
            )
            for r, o in sent
        ]

    async def _outgoing(self, session: AsyncSession, sending: Sending) -> list[messages.Outgoing]:
        """All that is to be sent; where a broker has enough for now, it waits for its turn (releasing.py)."""
        releasing = self.releasing
        if not self.has_broker or not sending.routed:
            return [messages.Outgoing.of(r.message, r.queue, r.held_by) for r in sending.routed]
        await releasing.look_for_tenants(session)
        outgoing = [
            messages.Outgoing.of(
                r.message,
                r.queue,
                r.held_by,
                is_kept_back=r.held_by is None and not releasing.may_send(r.queue, r.message.tenant_id),
            )
            for r in sending.routed
        ]
        if any(one.is_kept_back for one in outgoing):
            session.info.setdefault("after_commit", []).append(releasing.nudge)
        return outgoing

    async def _release(
        self,
        session: AsyncSession,
        handled: Sequence[Handled],
        arrived: Sequence[tuple[Router, JoinArrival]],
        sending: Sending,
    ) -> None:
        if not self.releasing.is_active:
            state, sender = self._state, self._sender
            return await self.windows.release(
                session, handled, arrived, sending, state=state, worker_id=sender
            )
        # Room in a fan-out's window is none in the queue: the next units wait for their turn there.
        known = len(sending.copies)
        await self.windows.release(
            session, handled, arrived, sending, state=MessageState.READY, worker_id=None
        )
        if len(sending.copies) > known:
            del sending.copies[known:]
            session.info.setdefault("after_commit", []).append(self.releasing.nudge)

    # --- where it goes ------------------------------------------------------------------------------

    async def _routes(
        self, session: AsyncSession, handled: Handled, sending: Sending, more_to_come: bool
    ) -> list[tuple[Router, list[Route]]]:
        message, emissions, fired = handled.message, handled.emissions, handled.fired
        if not message.current_stage:
            return [
                await self._enter_flow(session, emitted) for target, emitted in emissions if target == NEXT
            ]
        router = await self.versions.router(message)
        step = router.plan.step(message.current_stage)
        sending.stands(step.standing, message.request_id)
        if step.is_compensation:
            done = [emitted for target, emitted in emissions if target == NEXT]
            return [(router, await sagas.go_on(session, router, one)) for one in map(_same(message), done)]
        if not step.following:
            generation = fired.generation if fired else message.generation
            sending.endings.extend(_endings(message.request_id, emissions, generation))
            emissions = [emission for emission in emissions if emission[0] != NEXT]
        if step.fans_out_to is None:
            return [(router, router.resolve(message, emissions, fired.generation if fired else None))]
        return [(router, await self._fan_out(session, router, step, handled, sending, more_to_come))]

    async def _enter_flow(
        self, session: AsyncSession, emitted: PipelineMessage
    ) -> tuple[Router, list[Route]]:
        """A message that is in no stage yet (from a router or another system) enters its workflow."""
        router = await self.versions.pin(session, emitted.workflow_name, emitted.tenant_id)
        await session.execute(
            update(Request)
            .where(Request.id == emitted.request_id)
            .values(workflow_name=emitted.workflow_name, workflow_version=router.plan.version)
        )
        return router, entering(router, emitted)

    # --- fan-out ------------------------------------------------------------------------------------

    async def _fan_out(
        self,
        session: AsyncSession,
        router: Router,
        step: Step,
        handled: Handled,
        sending: Sending,
        more_to_come: bool,
    ) -> list[Route]:
        """Announce the units to the join that will collect them; seal it when these were the last."""
        message, emissions, fired = handled.message, handled.emissions, handled.fired
        over = not more_to_come and (fired is not None or not step.is_join)
        if not emissions and not over:
            return []
        join = router.plan.step(step.fans_out_to or "")
        group_key = message.group_key if step.is_join else message.unit_key
        hint = fired.generation if fired else message.generation
        like = replace(fan_in.Arrival.of(message, join.join_name), group_key=group_key, generation=hint)
        units = sum(target != BACKOFFICE for target, _ in emissions)
        opened = await fan_out.announce_units(session, like, units, is_last=over)
        routes = router.resolve(message, emissions, opened.generation)
        if step.stage.window is not None:
            routes = self.windows.hold(routes, step.stage.window, opened, join, group_key)
        if opened.complete:
            sending.onward.append(_completed(router, join, message, opened.complete))
        # Its units are there to be worked on side by side: nobody goes on with them here.
        sending.routed.extend(route for route in routes if isinstance(route, Routed))
        return [route for route in routes if not isinstance(route, Routed)]


def _delivery(outgoing: messages.Outgoing) -> Delivery:
    """As the transport would have found it."""
    message = outgoing.message
    return Delivery(
        outgoing.queue,
        outgoing.body.encode(),
        message.message_id,
        attempt=message.attempt,
        cursor=0,
        band=message.priority,
        handle=message.tenant_id,
    )


def _same(handled: PipelineMessage) -> Callable[[PipelineMessage], PipelineMessage]:
    """What a compensation emitted, under the identity of the message that it was handled as."""
    return lambda emitted: handled.model_copy(update={"payload": emitted.payload})


def _counted(arrival: JoinArrival) -> fan_in.Arrival:
    step = arrival.step
    return fan_in.Arrival.of(arrival.message, step.join_name, body=step.component.keeps_bodies)


def _completed(router: Router, join: Step, message: PipelineMessage, complete: fan_in.Join) -> Routed:
    """Every unit of a join has come: the one message its component gets, like the last that came."""
    whole = message.model_copy(
        update={
            "current_stage": join.name,
            "unit_key": child_key(complete.group_key, fan_in.SEALED_UNIT),
            "generation": complete.generation,
            "message_id": fan_in.completion_id(complete.id),
            "attempt": 1,
            "failure": None,
        }
    )
    return router.address(join, whole)


def entering(router: Router, message: PipelineMessage) -> list[Route]:
    """Into a flow: the status changes when the first stage works on it, not when it is sent there."""
    routes = router.enter(message)
    return [replace(route, standing=None) if isinstance(route, Routed) else route for route in routes]


def _endings(request_id: UUID, emissions: Sequence[Emission], generation: int) -> list[Ending]:
    """NEXT after the last stage publishes nothing: it ends the request; the payload is its result.

    A component that knows its result to be newer than the units it was sent for says so by `generation`.
    """
    return [
        Ending(request_id, emitted.payload, max(generation, emitted.generation))
        for target, emitted in emissions
        if target == NEXT
    ]
