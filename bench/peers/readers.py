"""Reads the pipeline bench's files with other document readers, each in a virtual environment of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bench.documents import Paper, pages_of

HERE = Path(__file__).parent
# `make bench` installs requirements-documents.txt there: their packages would disturb ours.
PYTHON = HERE.parents[1] / ".venv/peers/bin/python"
SCRIPT = HERE / "reader.py"
DIGITAL, SCAN = "digital", "scan"
_PATIENCE_SECONDS = 600


@dataclass(frozen=True)
class Reader:
    """A peer, what it is measured on, and the command it needs beside its package."""

    name: str
    does: tuple[str, ...]
    command: str | None = None


READERS = (
    Reader("kreuzberg", (DIGITAL, SCAN), "tesseract"),  # its engine is built in, the language data is not
    Reader("ocrmypdf", (SCAN,), "tesseract"),
)


def available(reader: Reader) -> str | None:
    """Return None when the peer can be measured here, else the reason why not."""
    if not PYTHON.exists():
        return f"package not installed: {reader.name} (make bench installs it)"
    found = subprocess.run([PYTHON, "-c", f"import {reader.name}"], capture_output=True, check=False)
    if found.returncode != 0:
        return f"package not installed: {reader.name}"
    if reader.command and shutil.which(reader.command) is None:
        return f"command not found: {reader.command} (apt-get install tesseract-ocr tesseract-ocr-spa)"
    return None


def measure(reader: Reader, form: str, papers: Sequence[Paper]) -> float:
    """Pages a second with two warm processes; raises when it found no text."""
    command = [str(PYTHON), str(SCRIPT), reader.name, form, *(str(paper.path) for paper in papers)]
    # One thread a process, as ours; Tesseract would take all cores in each.
    environment = {**os.environ, "OMP_THREAD_LIMIT": "1", "RAYON_NUM_THREADS": "1"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=_PATIENCE_SECONDS
    )
    if done.returncode != 0:
        raise RuntimeError(f"{reader.name} failed:\n{done.stderr[-2000:]}")
    told = json.loads(done.stdout.splitlines()[-1])
    pages = pages_of([*papers])
    if told["characters"] < 100 * pages:
        raise RuntimeError(f"{reader.name} read {told['characters']} characters on {pages} pages")
    return float(pages / told["seconds"])
