"""Documents: the whole pipeline beside a raw loop of the same functions, and beside other readers.

    python bench/pipeline.py [--quick] [--json] [--runs 3] [--only PART …]

digital  pages with a text layer: pages/s of all stages, against two processes calling the functions directly
scan     scanned pages, against two processes that only run OCR
latency  a one-page PDF, from POST /process of a real `docproc up` to completed, and without HTTP
growth   one file of 1 to 1 000 pages: does time per page and memory stay flat?
peers    other document readers on the same files, in the turns of digital and scan

Ours, the raw loop and the peers are measured in turns, because machines are noisy: compare the ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import signal
import statistics
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import httpx

from bench import document_fleet, documents, http_latency, raw_loop
from bench.document_fleet import EMBEDDED, DocumentFleet
from bench.documents import Paper
from bench.fanout import Findings, percentile, say
from bench.fleet import COMBINATIONS, addresses
from bench.peers import readers, servers
from bench.raw_loop import RawLoop

PARTS = ("digital", "scan", "latency", "growth", "peers")
NEEDS = {EMBEDDED: (), "sql/postgresql": ("postgresql",), "rabbitmq/postgresql": ("postgresql", "rabbitmq")}
NEEDS["redis/postgresql"] = ("postgresql", "redis")


@dataclass(frozen=True)
class Sizes:
    """How much is measured."""

    packets: int
    scanned_pages: int
    singles: int
    growth: tuple[tuple[int, int], ...]  # pages and how often
    combinations: tuple[str, ...]


WHOLE = Sizes(40, 24, 100, ((1, 9), (10, 7), (100, 3), (1_000, 1)), COMBINATIONS)
QUICK = Sizes(8, 6, 20, ((1, 5), (10, 5), (100, 1)), (EMBEDDED,))


class Bench:
    """One run: its documents, its sizes and what it found."""

    def __init__(self, folder: Path, sizes: Sizes, runs: int, parts: tuple[str, ...]) -> None:
        self.folder = folder
        self.sizes = sizes
        self.runs = runs
        self.parts = parts
        self.findings = Findings()
        self.readers = self.available_readers() if "peers" in parts else []
        self.peer_rates: dict[tuple[str, str], list[float]] = {}
        self.digital = documents.digital(folder, sizes.packets, say)
        self.scans = (
            documents.scans(folder, sizes.scanned_pages, say) if {"scan", "peers"} & set(parts) else []
        )

    def run(self) -> None:
        if "digital" in self.parts:
            self.throughput("digital", self.digital, ocr=False)
        if "scan" in self.parts:
            self.throughput("scan", self.scans, ocr=True)
        if "latency" in self.parts:
            self.latency()
        if "growth" in self.parts:
            asyncio.run(self.growth())
        if "peers" in self.parts:
            self.compare_peers()

    # --- against the raw loop ---------------------------------------------------------------------

    def throughput(self, form: str, papers: list[Paper], *, ocr: bool) -> None:
        raw_rates: list[float] = []
        with raw_loop.running(ocr=ocr, warm=papers[0]) as raw:
            for combination in self.combinations():
                with addresses(combination) as variables:
                    turns = asyncio.run(self._turns(form, papers, combination, variables, raw, ocr=ocr))
                raw_rates += [raw_rate for raw_rate, _ in turns]
                system = f"docproc {combination}"
                rate = statistics.median([our_rate for _, our_rate in turns])
                self.findings.add(system, f"{form}_pages_per_s", rate, "1/s")
                ratio = statistics.median([our_rate / raw_rate for raw_rate, our_rate in turns])
                self.ratio(f"{form} vs raw" + ("" if combination == EMBEDDED else f" {combination}"), ratio)
        self.findings.add(raw_loop.SYSTEM, f"{form}_pages_per_s", statistics.median(raw_rates), "1/s")

    async def _turns(
        self,
        form: str,
        papers: list[Paper],
        combination: str,
        variables: dict[str, str],
        raw: RawLoop,
        *,
        ocr: bool,
    ) -> list[tuple[float, float]]:
        """Pages a second of the raw loop and of ours, turn by turn."""
        turns = []
        say(f"{form} on {combination}: starting")
        async with document_fleet.opened(combination, variables, ocr=ocr) as fleet:
            await fleet.process(papers[: 1 if ocr else 4])  # warm: every child has read a page
            for turn in range(self.runs):
                say(f"{form}: raw loop, run {turn + 1} of {self.runs}")
                plain = await asyncio.to_thread(raw.scans if ocr else raw.digital, papers)
                say(f"{form}: docproc {combination}, run {turn + 1} of {self.runs}")
                ours = await fleet.process(papers)
                if not ocr and ours.found != plain.found:
                    raise SystemExit(f"the raw loop found {plain.found} documents, we {ours.found}")
                turns.append((plain.pages_per_s, ours.pages_per_s))
                if combination == EMBEDDED:  # in the same turns, as the machine changes by the minute
                    await asyncio.to_thread(self.measure_peers, form, papers)
        return turns

    def combinations(self) -> list[str]:
        """Those measured here; the others are named with the reason."""
        for combination in COMBINATIONS:
            reason = servers.missing(NEEDS[combination])
            if combination not in self.sizes.combinations:
                reason = "left out by --quick"
            if reason:
                self.findings.skipped[f"docproc {combination}"] = reason
        return [name for name in COMBINATIONS if f"docproc {name}" not in self.findings.skipped]

    # --- latency ----------------------------------------------------------------------------------

    def latency(self) -> None:
        papers = documents.singles(self.folder, self.sizes.singles, say)
        try:
            say("latency: starting docproc up")
            with http_latency.server() as client:
                self._add_latencies("http", self._over_http(client, papers))
        except RuntimeError as error:
            self.findings.skipped["docproc up"] = str(error).splitlines()[0]
            say(f"docproc up: skipped, {error}", end="\n")
        self._add_latencies("reception", asyncio.run(self._without_http(papers)))

    def _over_http(self, client: httpx.Client, papers: list[Paper]) -> list[float]:
        list(http_latency.latencies(client, papers[:5]))  # warm
        seconds = []
        for value in http_latency.latencies(client, papers):
            seconds.append(value)
            say(f"latency over HTTP: {len(seconds)} of {len(papers)}")
        return seconds

    async def _without_http(self, papers: list[Paper]) -> list[float]:
        seconds = []
        say("latency at the reception: starting")
        async with document_fleet.opened(EMBEDDED, {}, ocr=False) as fleet:
            await fleet.process(papers[:5])
            for paper in papers:
                outcome = await fleet.process([paper], look_seconds=http_latency.LOOK_SECONDS)
                seconds.append(outcome.seconds)
                say(f"latency at the reception: {len(seconds)} of {len(papers)}")
        return seconds

    def _add_latencies(self, way: str, seconds: list[float]) -> None:
        for share in (50, 99):
            value = 1000 * percentile(seconds, share / 100)
            self.findings.add(f"docproc {EMBEDDED}", f"{way}_p{share}_ms", value, "ms")

    # --- growth -----------------------------------------------------------------------------------

    async def growth(self) -> None:
        """1 → 1 000 pages in one file: time per page and memory should stay flat."""
        per_page: dict[int, float] = {}
        memory: dict[int, float] = {}
        say("growth: starting")
        async with document_fleet.opened(EMBEDDED, {}, ocr=False) as fleet:
            await fleet.process(self.digital[:4])
            for pages, turns in self.sizes.growth:
                say(f"growth: {pages} pages")
                paper = documents.long(self.folder, pages, self.digital)
                per_page[pages], memory[pages] = await _grown(fleet, paper, turns)
                self.findings.add(f"docproc {EMBEDDED}", f"ms_per_page_{pages}", 1000 * per_page[pages], "ms")
                self.findings.add(f"docproc {EMBEDDED}", f"peak_mb_{pages}", memory[pages], "MB")
        most = max(per_page)
        self.ratio(f"time per page {most} vs 10", per_page[most] / per_page[10])
        self.ratio(f"memory {most} vs 10", memory[most] / memory[10])

    # --- peers ------------------------------------------------------------------------------------

    def available_readers(self) -> list[readers.Reader]:
        """Those installed here; the others are named with the reason."""
        for reader in readers.READERS:
            if reason := readers.available(reader):
                self.findings.skipped[reader.name] = reason
                say(f"{reader.name}: skipped, {reason}", end="\n")
        return [reader for reader in readers.READERS if reader.name not in self.findings.skipped]

    def measure_peers(self, form: str, papers: list[Paper]) -> None:
        for reader in self.readers:
            if form in reader.does:
                say(f"{form}: {reader.name}")
                rates = self.peer_rates.setdefault((reader.name, form), [])
                rates.append(readers.measure(reader, form, papers))

    def compare_peers(self) -> None:
        """They only read; ours also classifies, groups, extracts, and keeps every step on disk."""
        if not {"digital", "scan"} & set(self.parts):  # alone, without ours beside them
            for _ in range(self.runs):
                self.measure_peers(readers.DIGITAL, self.digital)
                self.measure_peers(readers.SCAN, self.scans)
        for (name, form), rates in self.peer_rates.items():
            rate = statistics.median(rates)
            self.findings.add(name, f"{form}_pages_per_s", rate, "1/s")
            if ours := self.findings.value(f"docproc {EMBEDDED}", f"{form}_pages_per_s"):
                self.ratio(f"{form} vs {name}", ours / rate)

    def ratio(self, name: str, value: float) -> None:
        self.findings.ratios[name] = round(value, 3)
        say(f"{name}: {value:.3f}", end="\n")


async def _grown(fleet: DocumentFleet, paper: Paper, turns: int) -> tuple[float, float]:
    """Seconds per page, the median of the turns, and the most memory of any."""
    with fleet.watching_memory() as memory:
        seconds = [(await fleet.process([paper])).seconds for _ in range(turns)]
    return statistics.median(seconds) / paper.pages, memory.peak_mb


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3, help="turns of each system; the median counts")
    parser.add_argument(
        "--quick", action="store_true", help="about a minute: fewer pages, embedded only, one turn"
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument("--only", action="append", choices=PARTS, help="a part; may be repeated")
    given = parser.parse_args()
    # Without this a terminated bench would leave its workers running and its databases in place.
    signal.signal(signal.SIGTERM, lambda _signal, _frame: sys.exit("terminated"))
    parts = tuple(given.only or PARTS)
    with tempfile.TemporaryDirectory(prefix="docproc-bench-") as folder:
        bench = Bench(Path(folder), QUICK if given.quick else WHOLE, 1 if given.quick else given.runs, parts)
        bench.run()
    findings = bench.findings
    if given.json:
        print(json.dumps({k: getattr(findings, k) for k in ("results", "ratios", "skipped")}))
    else:
        for name, ratio in findings.ratios.items():
            print(f"{name}: {ratio}")
        for name, reason in findings.skipped.items():
            print(f"{name}: skipped, {reason}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
