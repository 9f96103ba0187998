"""Load: which requests come how often, and the stages that each of them runs through."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from docproc.capacity.calibration import Calibration, RequestKind, ServiceTime
from docproc.engine.component_spec import REQUEST_UNIT
from docproc.errors import UsageError


@dataclass(frozen=True, slots=True)
class Visit:
    """A stage of a flow: `number` messages of it for each request, done by the workers of `pool`."""

    stage: str
    pool: str
    unit: str
    number: int
    time: ServiceTime


@dataclass(frozen=True, slots=True)
class Flow:
    """The stages of one kind of request, in order, and the share of requests that are of this kind."""

    kind: str
    share: float
    visits: tuple[Visit, ...]
    overhead_seconds: float = 0.0

    def work(self, pool: str) -> float:
        """Seconds that one request keeps the workers of a pool busy."""
        return sum(one.number * one.time.seconds for one in self.visits if one.pool == pool)


@dataclass(frozen=True, slots=True)
class Load:
    """Requests a second, of several kinds, each to be answered by a deadline."""

    per_second: float
    deadline_seconds: float
    flows: tuple[Flow, ...]

    @property
    def pools(self) -> tuple[str, ...]:
        """In the order in which requests meet them."""
        return tuple(dict.fromkeys(one.pool for flow in self.flows for one in flow.visits))

    def work(self, pool: str) -> float:
        """Seconds of work in a pool that a request brings on average."""
        return sum(flow.share * flow.work(pool) for flow in self.flows)

    def at(self, per_second: float) -> Load:
        """The same requests, more or fewer of them."""
        return Load(per_second, self.deadline_seconds, self.flows)


def load_of(
    calibration: Calibration,
    *,
    per_second: float,
    deadline_seconds: float,
    units: Mapping[str, float],
    shares: Mapping[str, float],
    one_pool: str | None = None,
) -> Load:
    """The load that a calibration says requests of this size and these kinds are.

    `units` is how many of which unit a request has (`{"page": 4}`); units that are not named grow with the
    first that is, as they were measured. With `one_pool` every worker does everything, as `docproc up` has
    it; without it each component has workers of its own. Raises UsageError for kinds that were not measured.
    """
    unknown = [kind for kind, part in shares.items() if part > 0 and kind not in calibration.kinds]
    if unknown:
        raise UsageError(
            f"no {unknown[0]} files were measured",
            remedy="Measure some: docproc capacity calibrate DIGITAL… --scanned SCAN…",
        )
    flows = []
    for kind, part in shares.items():
        if part > 0:
            measured = calibration.kinds[kind]
            visits = tuple(
                Visit(
                    stage=one.stage,
                    pool=one_pool or one.component,
                    unit=one.unit,
                    number=_number(measured, one.unit, units),
                    time=one.time,
                )
                for one in measured.stages
            )
            flows.append(Flow(kind, part, visits, measured.overhead_seconds))
    return Load(per_second, deadline_seconds, tuple(flows))


def _number(kind: RequestKind, unit: str, wanted: Mapping[str, float]) -> int:
    if unit == REQUEST_UNIT:
        return 1
    if unit in wanted:
        return max(1, round(wanted[unit]))
    scale = next((n / kind.units[name] for name, n in wanted.items() if kind.units.get(name)), 1.0)
    return max(1, round(kind.units.get(unit, 1.0) * scale))
