"""Draws and makes up what `docproc learn` adds to an installation's own documents, and packs it there
(`docproc.apps.documents.quality.fitting.packed`)."""

from __future__ import annotations

import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from random import Random

from docproc.apps.documents.quality.fitting import fields, packed, page_set, scoring
from docproc.apps.documents.quality.fitting.classifier import SEED, spoiled
from docproc.apps.documents.quality.fitting.labelled import LabelledPage
from docproc.apps.documents.quality.fitting.packed import PackedPages
from docproc.apps.documents.quality.fitting.page_set import Spread
from docproc.apps.documents.quality.fitting.scoring import FieldExample, KnownDocument
from docproc.apps.documents.understanding import page_evidence
from docproc_samples import drawing
from docproc_samples.training import made_up
from docproc_samples.training.drawn import drawn
from docproc_samples.training.extraction import with_noise

NAME = "packed"
_MADE_UP = 320  # pages from recipes for each type; `other`, which is many kinds of papers, gets a multiple
_OTHER_TIMES = 3
_DRAWN = 10  # documents of each layout and language
_FIELDS = 3  # documents of each kind and language
_GOLDEN = 2  # documents of each kind and language
_EPOCH = (1980, 1, 1, 0, 0, 0)  # date of all files in the archive, so that its bytes are reproducible


def pack() -> str:
    """Write all three files into the product's sources; returns a line that says what is in them."""
    pages = draw_pages()
    packed.write_pages(pages)
    examples = draw_fields()
    packed.write_fields(examples)
    count = _write_golden(packed.GOLDEN)
    return (
        f"{len(pages.learnt)} pages and {len(pages.held_back)} held back, "
        f"{len(examples)} fields, {count} golden files"
    )


def draw_pages() -> PackedPages:
    """Pages clean and spoiled, of recipes and of layouts for training; held-out layouts are held back."""
    random = Random(SEED)
    learnt = [*_made_up(random)]
    with tempfile.TemporaryDirectory() as work:
        learnt += drawn(Path(work), "training", _DRAWN, random)
        held_back = drawn(Path(work), "held_out", _DRAWN // 2, random)
    learnt, held_back = [*spoiled(learnt, random)], [*spoiled(held_back, random)]
    return PackedPages(page_set.of(learnt), page_set.of(held_back), Spread().add(learnt))


def _made_up(random: Random) -> Iterator[LabelledPage]:
    for kind, pool in made_up.POOLS.items():
        for number in range(_MADE_UP * (_OTHER_TIMES if kind == page_evidence.OTHER else 1)):
            recipe = number % len(pool)
            yield LabelledPage(made_up.page(pool[recipe], kind, random), kind, f"made up {kind} {recipe}")


def draw_fields() -> list[FieldExample]:
    with tempfile.TemporaryDirectory() as work:
        folder = Path(work)
        drawing.write(folder, seed=9, count=_FIELDS, forms=("digital",), layouts="training")
        documents = [
            KnownDocument(each.doc_type, each.fields, each.pages, each.group, real=False)
            for each in fields.documents([folder], None)
        ]
        return [*scoring.examples(with_noise(documents))]


def _write_golden(path: Path) -> int:
    with tempfile.TemporaryDirectory() as work, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        folder = Path(work)
        written = drawing.write(folder, seed=4, count=_GOLDEN, forms=("digital",), layouts="held_out")
        for file in sorted(folder.iterdir()):
            archive.writestr(zipfile.ZipInfo(file.name, _EPOCH), file.read_bytes(), zipfile.ZIP_DEFLATED)
    return len(written)
