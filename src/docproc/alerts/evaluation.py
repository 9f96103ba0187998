"""Which alerts fire and which are over: a pure decision of rules, samples and what is open."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from docproc.alerts.past import Past
from docproc.alerts.rules import Rule
from docproc.alerts.samples import Sample

# Rule and series.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Fired:
    rule: Rule
    sample: Sample
    threshold: float | None


@dataclass(frozen=True, slots=True)
class Changes:
    fired: Sequence[Fired]
    # Open alerts that are over.
    resolved: Sequence[Key]
    # Open alerts that go on, with their latest value.
    going_on: Mapping[Key, float]


@dataclass(slots=True)
class Memory:
    """Since when conditions hold, or are gone. It may be lost: then `for_seconds` begin anew."""

    holding: dict[Key, float] = field(default_factory=dict)
    gone: dict[Key, float] = field(default_factory=dict)


def evaluate(
    rules: Sequence[Rule],
    samples: Sequence[Sample],
    pasts: Mapping[tuple[str, str], Past],
    is_open: Collection[Key],
    memory: Memory,
    now: float,
    *,
    is_complete: bool = True,
) -> Changes:
    """`pasts` by metric and series; `now` in seconds of any clock that only goes forward.

    Of the rules about one metric and one series the gravest counts: an error rate of 10 % is one alert, not
    one for every threshold below it. Where samples are not complete, nothing counts as over.
    """
    holding = _holding(rules, samples, pasts)
    fired, going_on = [], {}
    for key, (rule, sample) in holding.items():
        since = memory.holding.setdefault(key, now)
        memory.gone.pop(key, None)
        if key in is_open:
            going_on[key] = sample.value
        elif now - since >= rule.for_seconds:
            past = pasts.get((sample.metric, sample.series))
            fired.append(Fired(rule, sample, rule.condition.limit(past)))
    for key in [key for key in memory.holding if key not in holding]:
        del memory.holding[key]
    gone = [key for key in is_open if key not in holding] if is_complete else []
    return Changes(fired, _resolved(rules, gone, memory, now), going_on)


def _resolved(rules: Sequence[Rule], gone: Sequence[Key], memory: Memory, now: float) -> list[Key]:
    """Of the open alerts whose condition is gone, those for which that has lasted."""
    waits = {rule.name: rule.resolve_seconds for rule in rules}
    memory.gone = {key: memory.gone.get(key, now) for key in gone}
    # The alerts of a rule that was taken away are over.
    return [key for key, since in memory.gone.items() if now - since >= waits.get(key[0], 0.0)]


def _holding(
    rules: Sequence[Rule], samples: Sequence[Sample], pasts: Mapping[tuple[str, str], Past]
) -> dict[Key, tuple[Rule, Sample]]:
    gravest: dict[tuple[str, str], tuple[Rule, Sample]] = {}
    for sample in samples:
        for rule in rules:
            if not rule.concerns(sample) or sample.count < rule.least_count:
                continue
            place = (sample.metric, sample.series)
            if not rule.condition.holds(sample, pasts.get(place)):
                continue
            known = gravest.get(place)
            if known is None or rule.level.rank < known[0].level.rank:
                gravest[place] = (rule, sample)
    return {(rule.name, sample.series): (rule, sample) for rule, sample in gravest.values()}
