"""AlertSet: what an application adds to the alerts; its manifest's `alerts` names one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from docproc.alerts.rules import Rule
from docproc.alerts.samples import Source

if TYPE_CHECKING:
    from docproc.alerts.store import Alert
    from docproc.app import App


class Action(Protocol):
    """Something done while an alert is open.

    Both are called after the alert's transaction, by the one process that watches, and again if that process
    dies in between: doing them twice must come to the same. What they return is kept with the alert.
    """

    async def begin(self, app: App, alert: Alert) -> dict[str, Any]: ...

    async def end(self, app: App, alert: Alert) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True)
class AlertSet:
    sources: tuple[Source, ...] = ()
    rules: tuple[Rule, ...] = ()
    actions: Mapping[str, Action] = field(default_factory=dict)
