"""Fairness: what a tenant's work takes beside another's flood, and what fair order costs one that is alone.

    python bench/fairness.py [--seconds 20] [--quick] [--json] [--only COMBINATION …]

Tenant A sends ten times what the workers can do, with nearer deadlines than B's; tenant B sends an eighth of
what they can. The ratio is B's 95th percentile beside A over B's alone. The cost is the time of
bench/fanout.py's graph with one tenant, fair order on over off (with the former index), in turns.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import statistics
import sys
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from uuid import UUID

sys.path.insert(0, str(Path(__file__).parents[1]))

from sqlalchemy import select, text
from sqlalchemy.ext.asyncio import AsyncSession

from bench.fanout import Findings, percentile, say, timed
from bench.fleet import COMBINATIONS, Fleet, addresses, running
from bench.graph import FANOUT, PATHS
from docproc.engine.component import NEXT, BaseComponent, Emission
from docproc.engine.message import PipelineMessage
from docproc.engine.running.intake import Submission
from docproc.engine.store import tenants
from docproc.engine.store.tables import Request

PROCESSES, SLOTS, WORK_SECONDS = 2, 4, 0.1
CAPACITY = PROCESSES * SLOTS / WORK_SECONDS  # pages a second
A_PAGES, B_PAGES = 40, 2
A_DEADLINE, B_DEADLINE = 1, 2
# How long A's flood has gone on before B begins.
HEAD_START_SECONDS = 2.0

FLOW = """\
name: {name}
sla: {{deadline_seconds: {deadline}}}
stages:
  - {{name: split, component: bench_split}}
  - {{name: work, component: bench_wait}}
  - {{name: join, component: bench_join}}
"""
FLOWS = {
    "flood": FLOW.format(name="flood", deadline=A_DEADLINE),
    "few": FLOW.format(name="few", deadline=B_DEADLINE),
    "fanout": FANOUT,
}
# As in the release before fair order, which is what `off` stands for.
FORMER_INDEX = (
    "DROP INDEX ix_messages_turn",
    "CREATE INDEX ix_messages_ready ON messages (queue, band DESC, deadline_utc, created_at) "
    "WHERE state = 'ready'",
)


class Wait(BaseComponent):
    """A call to somebody else's service: it takes its time and no processor."""

    component_name = "bench_wait"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        await asyncio.sleep(WORK_SECONDS)
        return [(NEXT, message)]


COMPONENTS = {**PATHS, "bench_wait": "bench.fairness.Wait"}


def fleet_of(variables: dict[str, str], *, fair: bool) -> Fleet:
    settings = {
        "DOCPROC_PREFETCH_COUNT": str(SLOTS),
        "DOCPROC_FAIR_ORDER": "on" if fair else "off",
        "DOCPROC_DATABASE_CONNECTIONS": "4",
    }
    return Fleet({**variables, **settings}, COMPONENTS, FLOWS)


async def prepare(fleet: Fleet, *names: str, is_former: bool = False) -> None:
    async with fleet.app.store.writing() as session:
        for name in names:
            await tenants.add(session, name)
        for statement in FORMER_INDEX if is_former else ():
            await session.execute(text(statement))


# --- B beside A -------------------------------------------------------------------------------------


async def offer(
    fleet: Fleet, tenant: str, workflow: str, pages: int, rate: float, seconds: float
) -> list[UUID]:
    """Requests at a steady rate, in pages a second."""
    sent: list[UUID] = []
    begin = time.perf_counter()
    while (at := len(sent) * pages / rate) < seconds:
        await asyncio.sleep(max(0.0, begin + at - time.perf_counter()))
        submission = Submission(workflow, {"pages": pages}, tenant_id=tenant)
        sent.append(await fleet.app.intake.submit(submission))
    return sent


async def durations(
    fleet: Fleet, request_ids: Sequence[UUID], patience: float = 60.0
) -> tuple[list[float], int]:
    """How long requests took, and how many of them were late; one that is not done by then took all of it."""
    until = time.monotonic() + patience
    query = select(Request.id, Request.created_at, Request.completed_at, Request.deadline_utc)
    wanted = set(request_ids)
    while True:
        async with fleet.app.store.reading() as session:
            found = [
                row
                for row in await session.execute(query.where(Request.tenant_id == "b"))
                if row.id in wanted
            ]
        done = [row for row in found if row.completed_at is not None]
        if len(done) == len(wanted) or time.monotonic() > until:
            break
        await asyncio.sleep(0.1)
    took = [(row.completed_at - row.created_at).total_seconds() for row in done]
    late = sum(row.completed_at > row.deadline_utc for row in done) + len(wanted) - len(done)
    return took + [patience] * (len(wanted) - len(done)), late


async def measure_share(
    combination: str, fleet: Fleet, given: argparse.Namespace, findings: Findings, name: str
) -> None:
    async with running(fleet, PROCESSES):
        await prepare(fleet, "a", "b")
        await asyncio.sleep(2.5)  # until every process knows that there are several
        await durations(fleet, await offer(fleet, "b", "few", B_PAGES, CAPACITY / 8, 2))  # warm
        say(f"{name}: B alone")
        alone, late_alone = await durations(
            fleet, await offer(fleet, "b", "few", B_PAGES, CAPACITY / 8, given.seconds)
        )
        say(f"{name}: B beside A")
        spans = given.seconds + HEAD_START_SECONDS
        flood = asyncio.create_task(offer(fleet, "a", "flood", A_PAGES, CAPACITY * 10, spans))
        await asyncio.sleep(HEAD_START_SECONDS)
        sent = await offer(fleet, "b", "few", B_PAGES, CAPACITY / 8, given.seconds)
        beside, late_beside = await durations(fleet, sent, 30)
        offered = A_PAGES * len(await flood) / spans / CAPACITY
    findings.add(name, "a_load", offered, "× capacity")
    for label, took, late in (("alone", alone, late_alone), ("beside", beside, late_beside)):
        findings.add(name, f"b_p50_{label}_ms", 1000 * percentile(took, 0.5), "ms")
        findings.add(name, f"b_p95_{label}_ms", 1000 * percentile(took, 0.95), "ms")
        findings.add(name, f"b_late_{label}", late, f"of {len(took)}")
    ratio = percentile(beside, 0.95) / percentile(alone, 0.95)
    findings.ratios[f"{name} B's p95 beside A vs alone"] = round(ratio, 2)


# --- the cost ---------------------------------------------------------------------------------------


async def measure_cost(
    combination: str, on: Fleet, off: Fleet, given: argparse.Namespace, findings: Findings, *, others: bool
) -> None:
    """One tenant, the same graph, fair order on and off in turns; the median of the pairs."""
    label = f"{combination}{' beside an idle tenant' if others else ''}"
    async with AsyncExitStack() as stack:
        for fleet in (on, off):
            await fleet.open()
            stack.push_async_callback(fleet.close)
        await prepare(on, *(("other",) if others else ()))
        await prepare(off, is_former=True)
        for fleet in (on, off):
            await fleet.start(PROCESSES)
            await timed(fleet, given.pages)
        pairs = []
        for turn in range(given.pairs):
            say(f"{label}: cost, pair {turn + 1} of {given.pairs}")
            first, second = (on, off) if turn % 2 else (off, on)
            seconds = {
                id(first): await timed(first, given.pages),
                id(second): await timed(second, given.pages),
            }
            pairs.append((seconds[id(on)], seconds[id(off)]))
    findings.add(label, "fanout_on_s", statistics.median(one for one, _ in pairs), "s")
    findings.add(label, "fanout_off_s", statistics.median(other for _, other in pairs), "s")
    middle = statistics.median(one / other for one, other in pairs)
    findings.ratios[f"{label} time of a fan-out, fair order on vs off"] = round(middle, 3)
    # On a machine that does other things as well, the quickest runs are the ones that were left alone.
    quickest = min(one for one, _ in pairs) / min(other for _, other in pairs)
    findings.ratios[f"{label} quickest fan-out, fair order on vs off"] = round(quickest, 3)


def measure(combination: str, given: argparse.Namespace, findings: Findings) -> None:
    if "share" in given.parts:
        with addresses(combination) as variables:
            fleet = fleet_of(variables, fair=True)
            asyncio.run(measure_share(combination, fleet, given, findings, f"docproc {combination}"))
    if "unfair" in given.parts:
        with addresses(combination) as variables:
            fleet = fleet_of(variables, fair=False)
            asyncio.run(measure_share(combination, fleet, given, findings, f"docproc {combination}, off"))
    for part, others in (("cost", False), ("idle", True)):
        if part in given.parts:
            with addresses(combination) as ours, addresses(combination) as theirs:
                on, off = fleet_of(ours, fair=True), fleet_of(theirs, fair=False)
                asyncio.run(measure_cost(combination, on, off, given, findings, others=others))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=20, help="how long B sends")
    parser.add_argument("--pages", type=int, default=1000, help="of a fan-out, for the cost")
    parser.add_argument("--pairs", type=int, default=15, help="of fan-outs, for the cost")
    parser.add_argument(
        "--quick", action="store_true", help="shorter; without fair order switched off beside it"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", action="append", choices=COMBINATIONS)
    parser.add_argument("--part", action="append", dest="parts", choices=("share", "cost", "unfair", "idle"))
    given = parser.parse_args()
    if given.quick:
        given.seconds, given.pages, given.pairs = (
            min(given.seconds, 4),
            min(given.pages, 300),
            min(given.pairs, 5),
        )
    given.parts = given.parts or (["share", "cost"] if given.quick else ["share", "unfair", "cost", "idle"])
    findings = Findings()
    for combination in COMBINATIONS:
        if not given.only or combination in given.only:
            measure(combination, given, findings)
    if given.json:
        print(json.dumps({k: getattr(findings, k) for k in ("results", "ratios", "skipped")}))
    else:
        for name, ratio in findings.ratios.items():
            print(f"{name}: {ratio}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
