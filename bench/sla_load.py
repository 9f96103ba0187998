"""The load of bench/sla.py: who arrives when, with how many pages and how much time. The seed is fixed."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

SEED = 20_240_501
MOST_PAGES = 25
# Class -> its share of requests, and of these the share that needs a person: a tenth of all.
SHARES = {"short": 0.4, "medium": 0.4, "long": 0.2}
ASKING = {"short": 0.25, "medium": 0.0, "long": 0.0}


@dataclass(frozen=True)
class Scale:
    """How long everything takes. `windows`: seconds of arrivals, by load in percent."""

    page_seconds: float
    deadlines: Mapping[str, float]
    windows: Mapping[int, float]
    other_window: float
    fault_window: float
    calibration_seconds: float
    # The spread of near deadlines when 10 000 requests are open.
    precision_seconds: float

    def window(self, load: int) -> float:
        return self.windows.get(load, self.other_window)


FULL = Scale(
    page_seconds=0.4,
    deadlines={"short": 30, "medium": 60, "long": 600},
    windows={50: 45, 100: 60},
    other_window=120,
    fault_window=75,
    calibration_seconds=8,
    precision_seconds=20,
)
QUICK = Scale(
    page_seconds=0.04,
    deadlines={"short": 3, "medium": 6, "long": 60},
    windows={50: 1, 100: 1.5},
    other_window=10,
    fault_window=10,
    calibration_seconds=1.5,
    precision_seconds=8,
)


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request to come, `at` seconds after the beginning. The id makes sending it again harmless."""

    request_id: UUID
    at: float
    workflow: str
    pages: int
    asks: bool


def arrivals(
    load: int, pages_per_s: float, window: float, asking: Mapping[str, float] = ASKING
) -> list[Arrival]:
    """A Poisson stream of pages, `load` percent of `pages_per_s`, for the window; always the same one.

    The number of pages is given and not left to chance, so that 200 % is 200 %: given their number, the
    moments of a Poisson stream are uniform.
    """
    chance = random.Random(SEED + load)
    sizes: list[int] = []
    while sum(sizes) < load / 100 * pages_per_s * window:
        sizes.append(_pages(chance))
    moments = sorted(chance.uniform(0, window) for _ in sizes)
    return [_arrival(chance, at, pages, asking) for at, pages in zip(moments, sizes, strict=True)]


def _pages(chance: random.Random) -> int:
    """1 to 25, half of them one or two, the mean between four and five."""
    return int((MOST_PAGES + 1) ** (chance.random() ** 2))


def _arrival(chance: random.Random, at: float, pages: int, asking: Mapping[str, float]) -> Arrival:
    (workflow,) = chance.choices(list(SHARES), list(SHARES.values()))
    asks = chance.random() < asking[workflow]
    return Arrival(UUID(int=chance.getrandbits(128), version=4), at, workflow, pages, asks)
