"""How many pages fit into a deadline: files of more and more pages, each alone, on `docproc up` (A28).

    python bench/sla_pages.py [--quick] [--json] [--seconds 30] [--pages 10 20 40]

Scanned pages (pictures, read by OCR) and digital ones (a text layer) of invented documents. For each number
of pages: how long the complete answer took, and whether it came before the deadline. Cores and load stand
beside the figures: on a busy machine fewer pages fit.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import pikepdf
from PIL import Image

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench import ocr_pages
from bench.fanout import Findings, say
from docproc_samples import drawing
from tests.deployments import Deployment, embedded

WHOLE, QUICK = (10, 20, 40, 60), (4,)
PATIENCE = 8.0


def scanned(folder: Path, pages: int) -> Path:
    pictures = [Image.open(one.path).convert("L") for one in ocr_pages.invented(folder / "scans", pages)]
    target = folder / f"scanned-{pages}.pdf"
    pictures[0].save(target, save_all=True, append_images=pictures[1:], resolution=200)
    return target


def digital(folder: Path, pages: int) -> Path:
    target, whole, seed = folder / f"digital-{pages}.pdf", pikepdf.new(), 1
    while len(whole.pages) < pages:
        for sample in drawing.write(
            folder / f"digital-{seed}", seed=seed, forms=("digital",), kinds=("packet",)
        ):
            whole.pages.extend(pikepdf.open(io.BytesIO(sample.path.read_bytes())).pages)
        seed += 1
    del whole.pages[pages:]
    whole.save(target)
    return target


def measure(deployment: Deployment, file: Path, seconds: float) -> dict[str, Any]:
    begun = time.monotonic()
    request_id = deployment.submit(file, workflow="timed", metadata={}, review="flag")
    while True:
        status = deployment.status(request_id)
        result = status["result"] or {}
        if status["completed_at"] and not result.get("partial"):
            return {"seconds": time.monotonic() - begun, "in_time": status["status"] == "completed"}
        if time.monotonic() - begun > PATIENCE * seconds or status["status"] == "failed":
            return {"seconds": None, "in_time": False}
        time.sleep(0.05)


def _made(folder: Path) -> Path:
    folder.mkdir()
    return folder


def main() -> None:
    parser = argparse.ArgumentParser(description="How many pages fit into a deadline")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--pages", type=int, nargs="+")
    told = parser.parse_args()
    findings = Findings()
    with tempfile.TemporaryDirectory() as name, embedded(_made(Path(name) / "home")) as deployment:
        deployment.workflow("timed", {"deadline_seconds: 60": f"deadline_seconds: {told.seconds:g}"})
        for kind, draw in (("digital", digital), ("scanned", scanned)):
            for pages in told.pages or (QUICK if told.quick else WHOLE):
                file = draw(Path(name), pages)
                load = os.getloadavg()[0]
                found = measure(deployment, file, told.seconds)
                say(f"{pages} {kind} pages: {found}, load {load:.1f}")
                if found["seconds"] is not None:
                    findings.add("docproc up", f"{kind}_{pages}_pages", found["seconds"], "s")
                findings.add("docproc up", f"{kind}_{pages}_in_time", float(found["in_time"]), "")
                findings.add("machine", f"load_before_{kind}_{pages}", load, "")
    findings.add("machine", "cores", float(os.cpu_count() or 1), "")
    if told.json:
        print(
            json.dumps({"results": findings.results, "ratios": findings.ratios, "skipped": findings.skipped})
        )


if __name__ == "__main__":
    main()
