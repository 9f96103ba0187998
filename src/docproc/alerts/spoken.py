"""Values as people write them: `3.412`, `91,2 %` and `2,3 s` in Spanish, `3,412` and `2.3 s` in English."""

from __future__ import annotations

from collections.abc import Callable

DASH = "–"
_SWAPPED = str.maketrans(",.", ".,")


class Spoken:
    """How one language writes numbers; None is a dash."""

    def __init__(self, language: str) -> None:
        self.language = language

    def number(self, value: float | None, digits: int = 0) -> str:
        if value is None:
            return DASH
        written = f"{value:,.{digits}f}"
        return written.translate(_SWAPPED) if self.language == "es" else written

    def share(self, value: float | None, digits: int = 1) -> str:
        """Of 1; none and all are written without decimals."""
        if value is None:
            return DASH
        return f"{self.number(100 * value, 0 if value in (0, 1) else digits)}\u00a0%"

    def seconds(self, value: float | None) -> str:
        if value is None:
            return DASH
        if not value:
            return "0\u00a0s"
        if value < 0.001:
            return f"{self.number(value * 1000, 1)}\u00a0ms"
        if value < 1:
            return f"{self.number(value * 1000)}\u00a0ms"
        if value < 60:
            return f"{self.number(value, 1)}\u00a0s"
        if value < 3600:
            return f"{value // 60:.0f}\u00a0min {value % 60:.0f}\u00a0s"
        if value < 48 * 3600:
            return f"{value // 3600:.0f}\u00a0h {value % 3600 // 60:.0f}\u00a0min"
        return f"{self.number(value / 86_400)}\u00a0d"

    def bytes(self, value: float | None) -> str:
        if value is None:
            return DASH
        if value < 2**30:
            return f"{self.number(value / 2**20)}\u00a0MB"
        return f"{self.number(value / 2**30, 1)}\u00a0GB"

    def per(self, value: float | None, unit: str) -> str:
        """A rate: few a minute are written with a decimal."""
        if value is None:
            return DASH
        return f"{self.number(value, 1 if value < 10 and value != round(value) else 0)}/{unit}"

    def of_unit(self, value: float | None, unit: str) -> str:
        """As the unit of a metric says (docproc.alerts.metric_names)."""
        ways: dict[str, Callable[[float | None], str]] = {
            "seconds": self.seconds,
            "share": self.share,
            "bytes": self.bytes,
            "per_second": lambda one: self.per(one, "s"),
            "per_minute": lambda one: self.per(one, "min"),
            "per_hour": lambda one: self.per(one, "h"),
            "cores": lambda one: self.number(one, 1),
        }
        return ways.get(unit, self.number)(value)
