"""Which wire carries envelopes here, and who stands in for services, by the settings; imported when used."""

from __future__ import annotations

from typing import Protocol

from docproc.application import load
from docproc.apps.orchestrator.services.catalogue import Catalogue
from docproc.apps.orchestrator.services.wire import ServiceWire, WireContext
from docproc.apps.orchestrator.settings import wire_name

WIRES = {
    "sql": "docproc.apps.orchestrator.services.wires.sql:SqlWire",
    "redis": "docproc.apps.orchestrator.services.wires.redis:RedisWire",
}
ADAPTERS = "docproc.apps.orchestrator.services.adapters:Adapters"
SAMPLES = "docproc.apps.orchestrator.services.samples:SampleServices"


class StandIns(Protocol):
    """Services that run beside the orchestrator, where a deployment has none of its own."""

    async def start(self) -> None: ...

    async def stop(self) -> None: ...

    def wake(self) -> None:
        """Calls were opened in this process."""


def wire_of(context: WireContext) -> ServiceWire:
    """Raises ConfigurationError where it cannot be imported."""
    wire: ServiceWire = load(WIRES[wire_name(context.settings)]).create(context)
    return wire


def adapters_of(context: WireContext, catalogue: Catalogue) -> StandIns:
    found: StandIns = load(ADAPTERS)(context.store, catalogue)
    return found


def stand_ins(context: WireContext, catalogue: Catalogue) -> StandIns:
    found: StandIns = load(SAMPLES)(context.settings, context.store, catalogue)
    return found
