"""A service: a name, its queue, and the functions that do its work."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import TypeVar

from docproc.apps.orchestrator.sdk.serving import Function, Serving
from docproc.apps.orchestrator.services.catalogue import catalogue_of
from docproc.apps.orchestrator.services.port import ServicePort
from docproc.apps.orchestrator.services.ports import port_of
from docproc.errors import ConfigurationError
from docproc.settings import Settings

F = TypeVar("F", bound=Function)


class Service:
    """Declare one in a module, decorate its functions, and call `run`, or `docproc orchestrator serve`.

    service = Service("query-service")

    @service.on("tool.execute")
    async def search(task):
        await task.progress(50)
        return {"found": [...]}
    """

    def __init__(self, name: str, *, queue: str | None = None, at_once: int = 10) -> None:
        """`queue`: where the catalogue does not know the service. `at_once`: how many tasks it works on."""
        self.name = name
        self.queue = queue
        self.at_once = at_once
        self.functions: dict[str, Function] = {}

    def on(self, *types: str) -> Callable[[F], F]:
        """Have a function called for these types (`agent.execute`), or domains; without any, for all."""

        def remember(function: F) -> F:
            for one in types or ("*",):
                self.functions[one] = function
            return function

        return remember

    def run(self) -> None:
        """Serve until the process is told to stop; over the wire that the settings name."""
        from docproc.terminal.output import run_async
        from docproc.terminal.signals import stop_on_signals

        async def main() -> None:
            await self.serve(Settings.load(), stop_on_signals(once=True))

        run_async(main())

    async def serve(self, settings: Settings, stopping: asyncio.Event) -> None:
        """The same inside a running loop."""
        async with port_of(settings, self.name) as port:
            serving = self.serving(settings, port)
            watching = asyncio.create_task(_stop_when(stopping, serving))
            try:
                await serving.run()
            finally:
                watching.cancel()

    def serving(self, settings: Settings, port: ServicePort) -> Serving:
        return Serving(port, [self._queue(settings)], self._checked(), at_once=self.at_once)

    def _queue(self, settings: Settings) -> str:
        if self.queue is not None:
            return self.queue
        known = catalogue_of(settings).find(self.name)
        if known is None:
            raise ConfigurationError(
                f"there is no service {self.name!r}",
                remedy="Add it to the file of DOCPROC_ORCHESTRATOR_SERVICES, or give Service a queue",
            )
        return known.queue

    def _checked(self) -> Mapping[str, Function]:
        if not self.functions:
            raise ConfigurationError(
                f"service {self.name!r} has no functions",
                remedy='Decorate one with @service.on("agent.execute")',
            )
        return self.functions


async def _stop_when(stopping: asyncio.Event, serving: Serving) -> None:
    await stopping.wait()
    serving.stop()
