"""The same rules for Prometheus, whose alert manager may watch instead of DocProc, or beside it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import yaml

from docproc.alerts.metric_names import name_of
from docproc.alerts.rules import Above, AboveSameHour, Below, Deviates, Rule, TimesUsual

# As `history.past` looks back: the last day without the last ten minutes, and four weeks.
_DAY = "[1d:1m] offset 10m"
_WEEKS = (1, 2, 3, 4)


def as_yaml(rules: Iterable[Rule]) -> str:
    """A file for `rule_files:`. How many calls or messages a share must be of cannot be said there."""
    groups = [{"name": "docproc", "rules": [_alert(rule) for rule in rules]}]
    return yaml.safe_dump({"groups": groups}, sort_keys=False, allow_unicode=True, width=1000)


def _alert(rule: Rule) -> dict[str, Any]:
    found: dict[str, Any] = {"alert": f"DocProc_{rule.name}", "expr": expression(rule)}
    if rule.for_seconds:
        found["for"] = f"{rule.for_seconds:g}s"
    found["keep_firing_for"] = f"{rule.resolve_seconds:g}s"
    found["labels"] = {"severity": str(rule.level), "rule": rule.name}
    found["annotations"] = {"summary": f"{rule.name}: {rule.metric} is {{{{ $value }}}}"}
    return found


def expression(rule: Rule) -> str:
    """The condition in PromQL."""
    series = _series(rule)
    match rule.condition:
        case Above(threshold):
            return f"{series} > {threshold:g}"
        case Below(threshold):
            return f"{series} < {threshold:g}"
        case TimesUsual(factor):
            return f"{series} > {factor:g} * avg_over_time({series}{_DAY})"
        case AboveSameHour(share):
            usual = " + ".join(f"avg_over_time({series}[1h] offset {week}w)" for week in _WEEKS)
            return f"{series} > {1 + share:g} * ({usual}) / {len(_WEEKS)}"
        case Deviates(deviations):
            mean = f"avg_over_time({series}{_DAY})"
            return f"abs({series} - {mean}) > {deviations:g} * stddev_over_time({series}{_DAY})"
    raise TypeError(f"nobody knows how to write {type(rule.condition).__name__} for Prometheus")


def _series(rule: Rule) -> str:
    """Its own series: of a metric's others one of these labels is empty. An application may be empty, too:
    the engine's own queues are nobody's."""
    told = [
        f'{name}="{rule.only[name]}"' if name in rule.only else f'{name}!=""'
        for name in sorted(rule.by)
        if name in rule.only or name != "application"
    ]
    name = name_of(rule.metric).prometheus
    return f"{name}{{{','.join(told)}}}" if told else name
