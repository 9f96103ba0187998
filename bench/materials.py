"""Materials: how good the offline author's questions are, on texts it was not tuned to; how fast the worker
is
beside a raw loop, and how much memory a long book takes.

python bench/materials.py --quick --json          a minute
python bench/materials.py --parts author --texts FOLDER   your own texts (.txt or .pdf)
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import materials_author, materials_worker

PARTS = ("author", "worker")


class Report:
    def __init__(self) -> None:
        self.results: list[dict[str, Any]] = []
        self.ratios: dict[str, float] = {}
        self.skipped: list[str] = []

    def add(self, system: str, metric: str, value: float, unit: str) -> float:
        self.results.append({"system": system, "metric": metric, "value": round(value, 4), "unit": unit})
        print(f"{system:44} {metric:36} {value:12.3f} {unit}", file=sys.stderr, flush=True)
        return value

    def ratio(self, name: str, value: float) -> None:
        self.ratios[name] = round(value, 3)
        print(f"{name:81} {value:12.3f}", file=sys.stderr, flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--json", action="store_true", help="one object on standard output")
    parser.add_argument("--quick", action="store_true", help="under a minute")
    parser.add_argument("--parts", default=",".join(PARTS), help=f"of {', '.join(PARTS)}")
    parser.add_argument(
        "--texts", type=Path, default=materials_author.TEXTS, help="a folder of .txt and .pdf"
    )
    options = parser.parse_args()
    report = Report()
    chosen = options.parts.split(",")
    if "author" in chosen:
        materials_author.measure(report, options.texts)
    if "worker" in chosen:
        materials_worker.measure(report, quick=options.quick)
    if options.json:
        print(json.dumps({"results": report.results, "ratios": report.ratios, "skipped": report.skipped}))


if __name__ == "__main__":
    main()
