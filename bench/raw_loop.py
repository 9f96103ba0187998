"""What the machine can do without DocProc: two processes calling the same functions in a plain loop."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from multiprocessing.pool import Pool
from multiprocessing.synchronize import Barrier
from pathlib import Path
from typing import Any

from bench.documents import Paper, pages_of
from docproc.app import App
from docproc.apps.documents.schemas import schemas_of
from docproc.apps.documents.understanding import boundaries
from docproc.apps.documents.understanding.boundaries import PageKind, marks
from docproc.apps.documents.understanding.classify import classify
from docproc.apps.documents.understanding.extract.document import extract
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.engine.running.child import NICENESS
from docproc.reading import reading
from docproc.settings import Settings

PROCESSES = 2
SYSTEM = "raw loop"
_WARM_SECONDS = 120

Schemas = dict[str, list[FieldSpec]]


@dataclass(frozen=True)
class Outcome:
    """One timed loop, and how many documents (digital) or words (scans) it found."""

    pages_per_s: float
    found: int


class RawLoop:
    """A pool of two warm processes."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool

    def digital(self, papers: Sequence[Paper]) -> Outcome:
        """Text, type, documents and fields of whole files."""
        schemas = _schemas()
        return self._timed(_understand, [(paper, schemas) for paper in papers], pages_of([*papers]))

    def scans(self, papers: Sequence[Paper]) -> Outcome:
        """The words of single pages."""
        places = [(paper.path, index) for paper in papers for index in range(paper.pages)]
        return self._timed(_read, places, len(places))

    def _timed(self, function: Callable[[Any], int], given: Sequence[Any], pages: int) -> Outcome:
        started = time.perf_counter()
        found = sum(self._pool.imap_unordered(function, given))
        return Outcome(pages / (time.perf_counter() - started), found)


@contextmanager
def running(*, ocr: bool, warm: Paper) -> Iterator[RawLoop]:
    """Both processes have imported everything, read a page and loaded their engine if one is needed."""
    context = multiprocessing.get_context("spawn")
    together = context.Barrier(PROCESSES + 1)
    # Leaving the block terminates the two, by their ids.
    with context.Pool(PROCESSES, _warm_up, (together, ocr, warm)) as pool:
        together.wait(_WARM_SECONDS)
        yield RawLoop(pool)


def _warm_up(together: Barrier, ocr: bool, warm: Paper) -> None:
    os.nice(NICENESS)  # as our children are: else the machine's other work would count for one side alone
    if ocr:
        reading.warm_up()
        _read((warm.path, 0))
    else:
        _understand((warm, _schemas()))
    together.wait(_WARM_SECONDS)


def _schemas() -> Schemas:
    """The fields that the default workflow asks for."""
    workflow = App(Settings.load(_env_file=None)).loader.load("default")
    return {
        kind: [FieldSpec(field.name, field.type, field.required, field.labels) for field in schema.fields]
        for kind, schema in schemas_of(workflow).items()
    }


def _read(place: tuple[Path, int]) -> int:
    path, index = place
    return len(reading.read_page(path, index).words)


def _understand(given: tuple[Paper, Schemas]) -> int:
    paper, schemas = given
    read = [reading.read_page(paper.path, index) for index in range(paper.pages)]
    kinds = []
    for page in read:
        found = classify(page)
        kinds.append(PageKind(found.doc_type, found.confidence, marks(page), looks=found.scores))
    groups = boundaries.group(kinds)
    for group in groups:
        if asked := schemas.get(group.doc_type):
            extract(group.doc_type, asked, [read[place] for place in group.places])
    return len(groups)
