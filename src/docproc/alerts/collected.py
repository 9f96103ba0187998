"""What the engine and the loaded applications watch, as one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from docproc.alerts import activity, engine_metrics
from docproc.alerts.actions import ACTIONS
from docproc.alerts.alert_set import Action, AlertSet, Figure
from docproc.alerts.configuration import AlertSettings, changed
from docproc.alerts.engine_rules import RULES
from docproc.alerts.rules import Rule
from docproc.alerts.samples import Source
from docproc.application import load
from docproc.errors import ConfigurationError

if TYPE_CHECKING:
    from docproc.app import App


@dataclass(frozen=True, slots=True)
class Collected:
    # By the name of who brings it.
    sources: Sequence[tuple[str, Source]]
    rules: Sequence[Rule]
    actions: Mapping[str, Action]
    figures: Sequence[Figure] = ()
    type_names: Sequence[Callable[[str], Mapping[str, str]]] = ()

    def types(self, language: str) -> dict[str, str]:
        """What the types of all applications are called."""
        return {name: told for names in self.type_names for name, told in names(language).items()}


def collect(app: App) -> Collected:
    """Raises ConfigurationError."""
    sets: dict[str, AlertSet] = {
        one.name: load(one.alerts) for one in app.applications.all if one.alerts is not None
    }
    actions = dict(ACTIONS)
    for one in sets.values():
        actions |= one.actions
    rules = [*RULES, *(rule for one in sets.values() for rule in one.rules)]
    _check(rules, actions)
    sources: list[tuple[str, Source]] = [("engine", engine_metrics.measure), ("activity", activity.measure)]
    sources += [(name, source) for name, one in sets.items() for source in one.sources]
    settings = app.settings.section(AlertSettings)
    figures = [figure for one in sets.values() for figure in one.figures]
    rules = changed(rules, settings.alert_rules, sorted(actions))
    return Collected(sources, rules, actions, figures, [one.type_names for one in sets.values()])


def _check(rules: Sequence[Rule], actions: Mapping[str, Action]) -> None:
    names = [rule.name for rule in rules]
    for rule in rules:
        if names.count(rule.name) > 1:
            raise ConfigurationError(
                f"two rules are called {rule.name!r}", remedy="Give one of them another name"
            )
        if rule.action and rule.action not in actions:
            raise ConfigurationError(
                f"the rule {rule.name!r} asks for the action {rule.action!r}, which nobody offers",
                remedy=f"Use one of: {', '.join(sorted(actions))}",
            )
