"""Forecast: when work will be done, from the backlog, how long stages took lately, and who is there."""

from __future__ import annotations

import asyncio
import time
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy.engine import Row

from docproc.engine.component_spec import REQUEST_UNIT
from docproc.engine.deadlines.planning import Job, out_of_shares
from docproc.engine.message import PipelineMessage
from docproc.engine.store import backlog
from docproc.engine.store.columns import as_moment, as_uuid
from docproc.engine.store.session import Store
from docproc.engine.store.tables import RequestStatus
from docproc.engine.workflow.plan import Plan, Step
from docproc.engine.workflow.versions import Versions
from docproc.errors import PermanentError

# A view of the backlog is used this long, and longer where looking takes long.
FRESH_SECONDS = 1.0
LEAST_RATIO = 20.0
# So many requests are looked at before others get a turn: answers due now come from the same process.
SLICE = 50

# Components served by the same workers compete for them: their workers' ids stand for what they share.
Resource = frozenset[str]
Work = dict[Resource, float]


@dataclass(frozen=True, slots=True)
class StageTime:
    """Seconds of work for a message, and how many messages a request has there."""

    seconds: float
    visits: float


# (workflow, stage) -> over all requests, and by class of size (`backlog.size_class`).
Times = Mapping[tuple[str, str], StageTime]
TimesBySize = Mapping[tuple[str, str], Mapping[int, StageTime]]
# What a class of size, four times the one before, makes of the number of units, where only another class was
# seen. Larger contents are also larger pages: rather too few units than a risk that is none.
MORE_UNITS, FEWER_UNITS = 2.0, 4.0


@dataclass(frozen=True, slots=True)
class Waiting:
    """A request with work ahead of it."""

    request_id: UUID
    status: str
    priority: int
    band: int
    is_escalated: bool
    deadline_utc: datetime
    work: Work
    tenant_id: str = "default"
    weight: float = 1.0

    @property
    def is_late(self) -> bool:
        return self.status == RequestStatus.SLA_BREACHED


@dataclass(frozen=True, slots=True)
class View:
    """The backlog as it was a moment ago."""

    waiting: Sequence[Waiting] = ()
    slots: Mapping[Resource, int] = field(default_factory=dict)
    resources: Mapping[str, Resource] = field(default_factory=dict)
    times: Times = field(default_factory=dict)
    by_size: TimesBySize = field(default_factory=dict)

    def out_of_reach(self, now: datetime) -> set[UUID]:
        """Requests that would only keep others from their deadlines."""
        found: set[UUID] = set()
        for resource, slots in self.slots.items():
            jobs = [
                Job(
                    one.request_id,
                    one.deadline_utc,
                    one.work[resource],
                    one.priority,
                    one.band < one.priority,
                    one.tenant_id,
                    one.weight,
                )
                for one in self.waiting
                if not one.is_late and one.work.get(resource, 0.0) > 0.0
            ]
            found |= out_of_shares(jobs, now, slots)
        return found

    def expected_seconds(
        self, plan: Plan, priority: int, deadline: datetime, size: int | None = None
    ) -> float | None:
        """How long a new request with contents of this class of size would take; None while nothing like it
        was measured."""
        own = self.work(plan, {"": 1}, size)
        if not own:
            return None
        ahead: Work = defaultdict(float)
        for one in self.waiting:
            if (-one.band, one.deadline_utc) <= (-priority, deadline):
                for resource, seconds in one.work.items():
                    ahead[resource] += seconds
        queued = max((ahead[r] + own[r]) / self.slots.get(r, 1) for r in own)
        return max(queued, self._one_after_the_other(plan, size))

    def _one_after_the_other(self, plan: Plan, size: int | None) -> float:
        """However many workers are free, the stages of a request follow each other."""
        return sum(self._time(plan, step, size).seconds for step in plan.steps.values())

    def _time(self, plan: Plan, step: Step, size: int | None) -> StageTime:
        """What requests of this size took, else what the nearest size did, else what all did."""
        key = (plan.workflow.name, step.name)
        seen = self.by_size.get(key) or {}
        if size is None or not seen:
            return self.times.get(key, StageTime(0.0, 1.0))
        nearest = min(seen, key=lambda known: (abs(known - size), known))
        time_ = seen[nearest]
        if nearest == size or step.unit == REQUEST_UNIT:
            return time_
        factor = (MORE_UNITS if size > nearest else FEWER_UNITS) ** (size - nearest)
        return replace(time_, visits=max(1.0, time_.visits * factor))

    def work(self, plan: Plan, waiting: Mapping[str, int], size: int | None = None) -> Work:
        """What messages waiting at these stages still cost: their way to the join, and what follows it."""
        seconds: Work = defaultdict(float)
        later: dict[str, float] = {}
        for stage, number in waiting.items():
            for step, is_same in _onward(plan, stage):
                time_ = self._time(plan, step, size)
                if is_same:
                    seconds[self._resource(step)] += number * time_.seconds
                else:
                    later[step.name] = time_.visits * time_.seconds
        for name, amount in later.items():
            if name not in waiting:
                seconds[self._resource(plan.steps[name])] += amount
        return {resource: amount for resource, amount in seconds.items() if amount > 0.0}

    def _resource(self, step: Step) -> Resource:
        return self.resources.get(step.stage.component, frozenset())


def _onward(plan: Plan, stage: str) -> Iterable[tuple[Step, bool]]:
    """The stage and all after it; True for those the same unit goes through, False for what comes of it."""
    if not stage:  # not in the flow yet
        yield from ((step, False) for step in plan.steps.values())
        return
    here = plan.steps.get(stage)
    queue = [here] if here else []
    seen = set()
    while queue:
        step = queue.pop()
        if step.name in seen:
            continue
        seen.add(step.name)
        yield step, here is not None and step.collected_by == here.collected_by and step.unit == here.unit
        queue += [plan.steps[name] for name in step.following]


class Forecaster:
    """One view of the backlog per process, renewed when it is asked for and has grown old."""

    def __init__(self, store: Store, versions: Versions) -> None:
        self.store = store
        self.versions = versions
        self._view = View()
        # Taken in since, by this process: a burst must not be promised what its first one will get.
        self._accepted: list[Waiting] = []
        self._good_until = 0.0
        self._lock = asyncio.Lock()

    async def view(self) -> View:
        async with self._lock:
            if time.monotonic() >= self._good_until:
                began = time.monotonic()
                self._accepted = []
                self._view = await self._look()
                took = time.monotonic() - began
                self._good_until = time.monotonic() + max(FRESH_SECONDS, LEAST_RATIO * took)
            return self._view

    async def expect(
        self,
        plan: Plan,
        priority: int,
        received: datetime,
        deadline: datetime,
        content_bytes: int | None = None,
    ) -> datetime | None:
        """When a request received now would be done."""
        view = await self.view()
        seconds = replace(view, waiting=[*view.waiting, *self._accepted]).expected_seconds(
            plan, priority, deadline, backlog.size_class(content_bytes)
        )
        return None if seconds is None else received + timedelta(seconds=seconds)

    def accepted(
        self,
        request_id: UUID,
        plan: Plan,
        priority: int,
        deadline: datetime,
        content_bytes: int | None = None,
    ) -> None:
        """One more waits, though the view does not show it yet."""
        work = self._view.work(plan, {"": 1}, backlog.size_class(content_bytes))
        received = RequestStatus.RECEIVED.value
        self._accepted.append(Waiting(request_id, received, priority, priority, False, deadline, work))

    async def _look(self) -> View:
        async with self.store.reading() as session:
            pending = await backlog.pending(session)
            times = await backlog.stage_times(session)
            workers = await backlog.workers(session)
        resources = _resources(workers)
        slots = {resource: _slots(workers, resource) for resource in set(resources.values())}
        empty = View((), slots, resources, *_times(times))
        return replace(empty, waiting=await self._waiting(empty, pending))

    async def _waiting(self, view: View, pending: Sequence[Row[Any]]) -> list[Waiting]:
        counts: dict[UUID, dict[str, int]] = defaultdict(dict)
        first: dict[UUID, Row[Any]] = {}
        for row in pending:
            key = as_uuid(row.id)
            counts[key][row.stage] = row.messages
            first[key] = row
        plans: dict[tuple[str, str | None], Plan | None] = {}
        # Requests that wait alike cost alike: where many are open, most of them were counted before.
        known: dict[tuple[Any, ...], Work] = {}
        found = []
        for number, (key, row) in enumerate(first.items()):
            if number % SLICE == 0:
                await asyncio.sleep(0)
            flow = (row.workflow_name, row.workflow_version)
            if flow not in plans:
                plans[flow] = await self._plan(key, *flow)
            plan = plans[flow]
            if plan is not None and row.deadline_utc is not None:
                size = backlog.size_class(row.content_bytes)
                alike = (*flow, size, *sorted(counts[key].items()))
                if alike not in known:
                    known[alike] = view.work(plan, counts[key], size)
                found.append(_waiting(key, row, known[alike]))
        return found

    async def _plan(self, request_id: UUID, name: str, version: str | None) -> Plan | None:
        message = PipelineMessage(request_id=request_id, workflow_name=name, workflow_version=version)
        try:
            return (await self.versions.router(message)).plan
        except PermanentError:  # a flow this process cannot read: others do its work
            return None


def _times(measured: Sequence[Row[Any]]) -> tuple[Times, TimesBySize]:
    """Of all requests together, and of those whose size is known by class."""
    sums: dict[tuple[str, str], list[float]] = defaultdict(lambda: [0.0, 0.0, 0.0])
    by_size: dict[tuple[str, str], dict[int, StageTime]] = defaultdict(dict)
    for row in measured:
        key = (row.workflow_name, row.stage)
        seconds, messages, requests = float(row.seconds), float(row.messages), float(row.requests)
        sums[key] = [a + b for a, b in zip(sums[key], (seconds, messages, requests), strict=True)]
        if row.size_class is not None:
            by_size[key][int(row.size_class)] = StageTime(seconds / messages, messages / requests)
    return {key: StageTime(s / m, m / r) for key, (s, m, r) in sums.items()}, by_size


def _waiting(request_id: UUID, row: Row[Any], work: Work) -> Waiting:
    return Waiting(
        request_id,
        row.status,
        row.priority,
        row.band,
        row.escalated_at is not None,
        as_moment(row.deadline_utc),
        work,
        row.tenant_id,
        row.weight,
    )


def _resources(workers: Sequence[Row[Any]]) -> dict[str, Resource]:
    """Component -> the workers that run it."""
    serving: dict[str, set[str]] = defaultdict(set)
    for worker in workers:
        for component in worker.components.split(","):
            serving[component].add(worker.id)
    return {component: frozenset(ids) for component, ids in serving.items()}


def _slots(workers: Sequence[Row[Any]], resource: Resource) -> int:
    return sum(worker.slots for worker in workers if worker.id in resource) or 1
