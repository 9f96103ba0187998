"""Training: what is drawn, made up and packed is the same every time."""

from __future__ import annotations

import zipfile
from pathlib import Path
from random import Random

from docproc.apps.documents.quality.fitting import packed
from docproc_samples import drawing
from docproc_samples.training import made_up
from docproc_samples.training.packets import packets


def test_made_up_pages_are_the_same_every_time() -> None:
    one, other = (made_up.pages("invoice", 9, Random(3)) for _ in range(2))
    assert one == other
    assert len({page.text for page in one}) == 9


def test_packets_have_documents_of_one_and_more_pages(tmp_path: Path) -> None:
    made = [pages for packet in packets(tmp_path, 6, "training", Random(5)) for _, pages in packet]
    assert {1, 2} <= {len(pages) for pages in made}


def test_packed_golden_files_are_those_that_are_drawn_now(tmp_path: Path) -> None:
    """When this fails, drawing changed: `make train ARGS="--only packed"`."""
    drawing.write(tmp_path, seed=4, count=2, kinds=("receipt",), forms=("digital",), layouts="held_out")
    with zipfile.ZipFile(packed.GOLDEN) as archive:
        drawn = {path.name: path.read_bytes() for path in tmp_path.glob("*.pdf")}
        assert drawn == {name: archive.read(name) for name in drawn}
