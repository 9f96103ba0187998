"""AlertSet: what an application adds to the alerts; its manifest's `alerts` names one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
class Figure:
    """A number that the monitor shows among its first: what was counted in an hour."""

    # The key of its text in the application's catalogue.
    text: str
    # A metric that counts (docproc.alerts.metric_names), and the label of the series that are added up:
    # `component=ocr`.
    metric: str
    label: str


def _no_names(_language: str) -> Mapping[str, str]:
    return {}


@dataclass(frozen=True, slots=True)
class AlertSet:
    sources: tuple[Source, ...] = ()
    rules: tuple[Rule, ...] = ()
    actions: Mapping[str, Action] = field(default_factory=dict)
    figures: tuple[Figure, ...] = ()
    # language -> what its types are called there, by the names that its log fields give (`resultado.tipo`).
    type_names: Callable[[str], Mapping[str, str]] = _no_names
