"""The step that calls a service: it sends the envelope and ends; the answer brings it back to go on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.application import load
from docproc.apps.orchestrator.calls import adopting, rows, telling
from docproc.apps.orchestrator.calls.caller import Caller
from docproc.apps.orchestrator.calls.dispatcher import Dispatcher
from docproc.apps.orchestrator.calls.hearing import Hearing
from docproc.apps.orchestrator.chores import Chores
from docproc.apps.orchestrator.plans.step import options_of
from docproc.apps.orchestrator.resilience.guard import Guard
from docproc.apps.orchestrator.resilience.probing import Prober
from docproc.apps.orchestrator.services.catalogue import catalogue_of
from docproc.apps.orchestrator.services.choosing import adapters_of, stand_ins, wire_of
from docproc.apps.orchestrator.services.wire import WireContext
from docproc.apps.orchestrator.settings import OrchestratorSettings, redis_address
from docproc.apps.orchestrator.tables import CallState
from docproc.engine.component import NEXT, REQUEST_UNIT, BaseComponent, Context, Emission
from docproc.engine.message import PipelineMessage
from docproc.engine.store import events
from docproc.engine.store.session import Store
from docproc.settings import Settings


class ServiceCallComponent(BaseComponent):
    """Light: nothing is waited for here. Its queue takes the steps' messages, and what services answered."""

    component_name = "service_call"
    routing_key = "service.call"
    takes = REQUEST_UNIT
    status = "processing"
    # Not more: a tenant's next step waits for the group that is being handled (bench/orchestrator.py, noisy).
    batch = 20
    # The guard may ask the database, so nobody's transaction may be open when it is asked.
    chains = False
    waits = True

    def __init__(self, context: Context) -> None:
        super().__init__(context)
        self.catalogue = catalogue_of(self.settings)
        self.guard = Guard(self.store)
        own = self.settings.section(OrchestratorSettings)
        given = WireContext(self.settings, self.store, context.worker_id, context.wake)
        self.dispatcher = Dispatcher(
            self.store, wire_of(given), context.wake, context.post, own.orchestrator_resend_seconds
        )
        self.hearing = Hearing(self.store, self, self.dispatcher.ended)
        self.dispatcher.hear = self.hearing
        self.samples = stand_ins(given, self.catalogue)
        self.adapters = adapters_of(given, self.catalogue)
        self.chores = Chores(self.store, Prober(self.guard.breakers, self.catalogue), context.worker_id)
        self.keeper = keeper_of(self.settings, self.store, context.worker_id)
        self.caller = Caller(
            self.store,
            self.catalogue,
            self.guard,
            self.workflow_of,
            self._opened,
            lambda: context.wake(["*"]),
        )

    def _opened(self, outgoing: Sequence[Any]) -> None:
        self.dispatcher.opened(outgoing)
        self.samples.wake()
        self.adapters.wake()

    async def setup(self) -> None:
        await self.guard.start()
        await self.dispatcher.start()
        await self.samples.start()
        await self.adapters.start()
        await self.chores.start()
        if self.keeper is not None:
            await self.keeper.start()

    async def teardown(self) -> None:
        if self.keeper is not None:
            await self.keeper.stop()
        await self.chores.stop()
        await self.adapters.stop()
        await self.samples.stop()
        await self.dispatcher.stop()
        await self.guard.stop()

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        return (await self.process_messages([message], session))[0]

    async def process_messages(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        return await self.caller.handle(messages, session, self.hearing.of(messages))

    async def after_exhausted(
        self, message: PipelineMessage, error: Exception, session: AsyncSession
    ) -> list[Emission]:
        """The step failed for good: so says its call, in the transaction of the dead letter."""
        known = await rows.of_requests(session, [message.request_id])
        mine = [
            call
            for call in known[message.request_id]
            if call.stage == message.current_stage and call.state != CallState.COMPLETED.value
        ]
        said = {"code": getattr(error, "code", "stage_failed"), "message": str(error.args[0])}
        notes = []
        for call in mine:
            state = CallState(call.state)
            values: dict[str, Any] = {
                "state": CallState.FAILED.value,
                "error": said,
                "taken_by": None,
                "taken_until": None,
            }
            if state is not CallState.FAILED and await rows.change(session, call, state, **values):
                notes.append(telling.of_step(call, "failed", error=said))
        await events.record(session, notes)
        stage = await self.stage_of(message)
        return [(NEXT, message)] if options_of(stage).optional else []


assert f"q.{ServiceCallComponent.component_name}" == adopting.QUEUE


def keeper_of(settings: Settings, store: Store, name: str) -> Any:
    """Who keeps the keys in Redis; None: there is no Redis, and its library may be missing."""
    url = redis_address(settings)
    if url is None:
        return None
    keys = load("docproc.apps.orchestrator.redis_keys:RedisKeys")(url)
    return load("docproc.apps.orchestrator.keeping:Keeper")(store, keys, name)
