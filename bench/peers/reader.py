"""Run by readers.py under the peers' own Python: NAME FORM FILES…; prints seconds and characters as JSON."""

import json
import multiprocessing
import os
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

PROCESSES = 2
_WARM_SECONDS = 120


def kreuzberg(path: str, form: str) -> int:
    from kreuzberg import ExtractionConfig, OcrConfig, extract_file_sync

    ocr = OcrConfig(backend="tesseract", language="spa+eng") if form == "scan" else None
    found = extract_file_sync(path, config=ExtractionConfig(use_cache=False, ocr=ocr))
    return len(found.content)


def ocrmypdf(path: str, form: str) -> int:
    import ocrmypdf

    # Nothing straightened or turned, nothing squeezed: its fastest.
    with tempfile.TemporaryDirectory(prefix="docproc-bench-") as folder:
        text = Path(folder, "text")
        ocrmypdf.ocr(
            path,
            Path(folder, "out.pdf"),
            sidecar=text,
            language=["spa", "eng"],
            jobs=1,
            output_type="pdf",
            optimize=0,
            progress_bar=False,
        )
        return len(text.read_text(encoding="utf-8"))


READERS: dict[str, Callable[[str, str], int]] = {"kreuzberg": kreuzberg, "ocrmypdf": ocrmypdf}


def read(given: tuple[str, str, str]) -> int:
    name, form, path = given
    return READERS[name](path, form)


def warm_up(together, given: tuple[str, str, str]) -> None:
    # What they say about themselves goes to the log: standard output carries our answer.
    os.dup2(2, 1)
    read(given)
    together.wait(_WARM_SECONDS)


def main() -> None:
    name, form, *paths = sys.argv[1:]
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(PROCESSES + 1)
    with context.Pool(PROCESSES, warm_up, (together, (name, form, paths[0]))) as pool:
        together.wait(_WARM_SECONDS)
        started = time.perf_counter()
        characters = sum(pool.imap_unordered(read, [(name, form, path) for path in paths]))
        seconds = time.perf_counter() - started
    print(json.dumps({"seconds": seconds, "characters": characters}))


if __name__ == "__main__":
    main()
