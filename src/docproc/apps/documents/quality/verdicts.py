"""Whether newly learnt weights are better than those in use: a pure decision on two sets of figures."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_SAME = 0.0005  # smaller differences come from rounding and do not count
_WORSE = 0.02  # by how much a single type may get worse …
_PIECES = 1.5  # … or by more, if that is fewer pages or fields than this: one alone is chance
_CALIBRATED = 0.005  # by how much the calibration error must fall to decide when accuracy is equal


@dataclass(frozen=True, slots=True)
class Figure:
    """One number before and after. `lower`: it is an error, less is better."""

    name: str
    before: float | None
    after: float | None
    n: int = 0
    lower: bool = False

    @property
    def gain(self) -> float:
        if self.before is None or self.after is None:
            return 0.0
        return (self.before - self.after) if self.lower else (self.after - self.before)

    @property
    def is_regression(self) -> bool:
        return -self.gain > _WORSE and -self.gain * self.n >= _PIECES


@dataclass(frozen=True, slots=True)
class Decision:
    kept: bool
    why: str


def decide(
    main: Figure, beside: Sequence[Figure], by_type: Sequence[Figure], news: Sequence[str]
) -> Decision:
    """Keep what is better on the main figure, or as good and better beside, and worse for no type.

    `news` are types that only the new weights know.
    """
    worse = [figure for figure in (main, *by_type) if figure.is_regression]
    if worse:
        told = ", ".join(f"{each.name} {each.before:.3f} → {each.after:.3f}" for each in worse)
        return Decision(False, f"worse: {told}")
    if main.gain > _SAME:
        return Decision(True, f"{main.name} is better{_but(beside)}")
    if main.gain < -_SAME:
        return Decision(False, f"{main.name} is not better")
    if news:
        return Decision(True, f"it knows {', '.join(news)}{_but(beside)}")
    if any(each.gain > _CALIBRATED for each in beside) and not any(
        each.gain < -_CALIBRATED for each in beside
    ):
        return Decision(True, "as good, and its confidences mean more")
    return Decision(False, "no better")


def _but(beside: Sequence[Figure]) -> str:
    """What got worse meanwhile, though not enough to decide."""
    worse = [each for each in beside if each.gain < -_CALIBRATED]
    told = ", ".join(f"{each.name} {each.before:.3f} → {each.after:.3f}" for each in worse)
    return f", but worse: {told}" if told else ""


Summary = Mapping[str, Any]


def of_classifier(before: Summary, after: Summary) -> tuple[Figure, list[Figure], list[Figure]]:
    """Page accuracy, its calibration and the splits, and the accuracy by type."""
    n = int(before["pages"]["n"])
    look = _looking(before, after)
    main = look("page accuracy", "pages", "accuracy", n=n)
    beside = [
        look("classification ECE", "calibration", "classification", "ece", lower=True, n=n),
        look("split F1", "documents", "split_f1", n=int(before["documents"]["n"])),
    ]
    return main, beside, _by_type(before, after)


def _by_type(before: Summary, after: Summary) -> list[Figure]:
    old, new = before.get("by_type_pages", {}), after.get("by_type_pages", {})
    return [
        Figure(f"pages of {kind}", old[kind][0] / old[kind][1], new[kind][0] / new[kind][1], old[kind][1])
        for kind in sorted(old.keys() & new.keys())
    ]


def of_extraction(before: Summary, after: Summary) -> tuple[Figure, list[Figure], list[Figure]]:
    """Field F1, its calibration, and the F1 by type."""
    n = int(before["fields"]["n"])
    look = _looking(before, after)
    main = look("field F1", "fields", "f1", n=n)
    beside = [look("extraction ECE", "calibration", "extraction", "ece", lower=True, n=n)]
    kinds = before["fields"]["by_type"]
    sizes = {kind: sum(each["n"] for each in fields.values()) for kind, fields in kinds.items()}
    by_type = [
        look(f"fields of {kind}", "fields", "f1_by_type", kind, n=sizes[kind]) for kind in sorted(kinds)
    ]
    return main, beside, by_type


def _looking(before: Summary, after: Summary) -> Callable[..., Figure]:
    def figure(name: str, *path: str, n: int, lower: bool = False) -> Figure:
        return Figure(name, _at(before, path), _at(after, path), n, lower)

    return figure


def _at(summary: Summary, path: Sequence[str]) -> float | None:
    value: Any = summary
    for step in path:
        value = value.get(step) if isinstance(value, Mapping) else None
    return None if value is None else float(value)
