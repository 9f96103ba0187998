"""OCR: CPU, memory and word F1 of each engine and mode, on scans whose words are known.

    python bench/ocr.py [--quick] [--json] [--pages 48] [--data DIR …] [--only SYSTEM …]

Each system runs in a process of its own, and the pages go round: one page, every system, the next page; only
one process works at a time. CPU is user and system time of all its threads, memory its peak resident set.

Words are counted as printed, with case, accents and punctuation: on invented scans against the text they were
drawn from; with `--data`, on the pictures of a labelled folder, against RapidOCR untuned (`agreement`), and
beside it the share of labelled values that can be found in the text (`values_found`).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rapidfuzz.distance import Levenshtein

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import ocr_pages
from bench.fanout import Findings, say
from bench.ocr_pages import Picture

UNTUNED = "rapidocr untuned"
OURS = "docproc rapidocr"
CHILD = Path(__file__).with_name("ocr_child.py")
# What a system needs beside the project's own packages.
NEEDS = {
    UNTUNED: "openvino",
    OURS: "openvino",
    f"{OURS}/onnxruntime": "onnxruntime",
    "docproc tesseract": "tesserocr",
}
WHOLE, QUICK = 48, 8


@dataclass
class System:
    """A child process and what it has read so far."""

    name: str
    process: subprocess.Popen[str]
    cpu: list[float] = field(default_factory=list)
    readings: list[list[str]] = field(default_factory=list)
    peak_mb: float = 0.0

    def ask(self, picture: Picture) -> None:
        assert self.process.stdin is not None
        print(picture.path, file=self.process.stdin, flush=True)
        told = self.answer()
        self.readings.append(told["words"])
        self.cpu.append(told["cpu"])
        self.peak_mb = told["peak_mb"]

    def answer(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        if not line:
            raise SystemExit(f"{self.name} ended with code {self.process.wait()}")
        told: dict[str, Any] = json.loads(line)
        return told


def main() -> None:
    parser = argparse.ArgumentParser(description="CPU, memory and word F1 of OCR engines")
    parser.add_argument("--quick", action="store_true", help=f"{QUICK} pages instead of {WHOLE}")
    parser.add_argument("--json", action="store_true", help="print one object on standard output")
    parser.add_argument("--pages", type=int, help="how many invented pages, and of each labelled folder")
    parser.add_argument("--data", type=Path, action="append", default=[], help="a folder with labels.jsonl")
    parser.add_argument("--only", action="append", choices=NEEDS, help="measure only this system")
    given = parser.parse_args()
    findings = Findings()
    with tempfile.TemporaryDirectory() as folder:
        measure(Path(folder), given, findings)
    compare(findings)
    if given.json:
        print(
            json.dumps({"results": findings.results, "ratios": findings.ratios, "skipped": findings.skipped})
        )


def measure(folder: Path, given: argparse.Namespace, findings: Findings) -> None:
    wanted = given.pages or (QUICK if given.quick else WHOLE)
    groups = {"": ocr_pages.invented(folder, wanted)}
    groups |= {f" {data.name}": ocr_pages.labelled(data, folder, wanted) for data in given.data}
    systems = started([name for name in NEEDS if name in (given.only or NEEDS)], groups[""][0].path, findings)
    try:
        for suffix, pictures in groups.items():
            for number, picture in enumerate(pictures, 1):
                say(f"page {number} of {len(pictures)}{suffix}")
                for system in systems:
                    system.ask(picture)
            report(suffix, pictures, systems, findings)
    finally:
        for system in systems:
            system.process.terminate()
            system.process.wait()
    for system in systems:
        findings.add(system.name, "peak_memory", system.peak_mb, "MB")


def started(names: Sequence[str], warm_up: Path, findings: Findings) -> list[System]:
    """The systems that can be measured here, each warm before the next one starts."""
    systems = []
    for name in names:
        if find_spec(NEEDS[name]) is None:
            findings.skipped[name] = f"package not installed: {NEEDS[name]}"
            continue
        say(f"{name}: starting")
        process = subprocess.Popen(
            [sys.executable, str(CHILD), name, str(warm_up)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        systems.append(System(name, process))
        systems[-1].answer()
    return systems


def report(suffix: str, pictures: Sequence[Picture], systems: Sequence[System], findings: Findings) -> None:
    reference = next((system.readings[:] for system in systems if system.name == UNTUNED), None)
    for system in systems:
        findings.add(system.name, f"cpu_per_page{suffix}", sum(system.cpu) / len(system.cpu), "s")
        if pictures[0].words:
            score = word_f1(system.readings, [picture.words for picture in pictures])
            findings.add(system.name, f"word_f1{suffix}", score, "")
            for name, rate in error_rates(system.readings, [picture.words for picture in pictures]).items():
                findings.add(system.name, f"{name}{suffix}", rate, "")
        elif reference and system.name != UNTUNED:
            findings.add(system.name, f"agreement{suffix}", word_f1(system.readings, reference), "")
        found = [
            ocr_pages.holds(" ".join(words), value)
            for words, picture in zip(system.readings, pictures, strict=True)
            for value in picture.values
        ]
        if found:
            findings.add(system.name, f"values_found{suffix}", sum(found) / len(found), "")
    for system in systems:
        system.cpu.clear()
        system.readings.clear()


def error_rates(read: Sequence[Sequence[str]], printed: Sequence[Sequence[str]]) -> dict[str, float]:
    """Edits that make what was read of what is printed, for each character (CER) and each word (WER) printed.

    Words are put in one order first: a page has no order of its own that reader and drawer must share, and
    both rates would measure that instead of reading.
    """
    edits = {"cer": 0, "wer": 0}
    length = {"cer": 0, "wer": 0}
    for found, truth in zip(read, printed, strict=True):
        left, right = matched(found, truth)
        edits["wer"] += sum(one != other for one, other in zip(left, right, strict=True))
        edits["cer"] += sum(Levenshtein.distance(one, other) for one, other in zip(left, right, strict=True))
        length["wer"] += len(truth)
        length["cer"] += sum(map(len, truth))
    return {name: edits[name] / length[name] for name in edits}


def matched(found: Sequence[str], truth: Sequence[str]) -> tuple[list[str], list[str]]:
    """Words in pairs: the same ones first, then what is left with the most similar; "" where none is left."""
    both = list((Counter(found) & Counter(truth)).elements())
    left = list((Counter(found) - Counter(truth)).elements())
    right = list((Counter(truth) - Counter(found)).elements())
    pairs = [(word, word) for word in both]
    for word in sorted(left, key=len, reverse=True):
        best = min(right, key=lambda one: Levenshtein.distance(word, one), default="")
        if best and Levenshtein.distance(word, best) < max(len(word), len(best)):
            right.remove(best)
            pairs.append((word, best))
        else:
            pairs.append((word, ""))
    pairs += [("", word) for word in right]
    return [one for one, _ in pairs], [other for _, other in pairs]


def word_f1(read: Sequence[Sequence[str]], printed: Sequence[Sequence[str]]) -> float:
    """Over all pages together; each word counts as often as it stands on its page."""
    shared = sum((Counter(one) & Counter(other)).total() for one, other in zip(read, printed, strict=True))
    return 2 * shared / max(1, sum(map(len, read)) + sum(map(len, printed)))


def compare(findings: Findings) -> None:
    """Every measurement of ours beside the same one of RapidOCR untuned."""
    for result in findings.results:
        peer = findings.value(UNTUNED, result["metric"])
        if result["system"] != UNTUNED and peer:
            name = f"{result['metric']}: {result['system']} vs {UNTUNED}"
            findings.ratios[name] = round(result["value"] / peer, 3)


if __name__ == "__main__":
    main()
