"""Node: what the engine's own services need of the process they run in."""

from __future__ import annotations

from typing import Protocol

from docproc.engine.component import BaseComponent
from docproc.engine.deadlines.forecast import Forecaster
from docproc.engine.running.relay import Relay
from docproc.engine.store.session import Store
from docproc.engine.transport import Transport
from docproc.engine.workflow.versions import Versions


class Node(Protocol):
    """A process with its database and its way to the others; `docproc.app.App` is one."""

    @property
    def store(self) -> Store: ...

    @property
    def transport(self) -> Transport: ...

    @property
    def relay(self) -> Relay: ...

    @property
    def versions(self) -> Versions: ...

    @property
    def forecaster(self) -> Forecaster: ...

    def component(self, name: str) -> BaseComponent:
        """A component by its name; raises ConfigurationError when it is not to be had here."""
