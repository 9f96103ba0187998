"""Sample documents for the pipeline bench: packets with text, scans, single pages, files of any length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pypdfium2

from docproc_samples import drawing

PACKET_PAGES = 10
SCAN_PAGES = 3  # of a scanned file: short, so that two processes share the pages evenly
_SINGLE_KINDS = ("invoice", "payslip", "receipt")


@dataclass(frozen=True)
class Paper:
    """A file and how many pages it has."""

    path: Path
    pages: int


Progress = Callable[[str], None]


def pages_of(papers: list[Paper]) -> int:
    return sum(paper.pages for paper in papers)


def digital(folder: Path, files: int, say: Progress) -> list[Paper]:
    """Packets with a text layer, about ten pages each, Spanish and English in turns."""
    papers = []
    for number in range(1, files + 1):
        say(f"documents: packet {number} of {files}")
        language = ("es", "en")[number % 2]
        written = drawing.packet(folder / "digital", number, "digital", language, number=number)
        papers.append(_paper(written.path))
    return papers


def scans(folder: Path, pages: int, say: Progress) -> list[Paper]:
    """Files of a few scanned pages, cut from scanned packets."""
    papers: list[Paper] = []
    number = 0
    while pages_of(papers) < pages:
        number += 1
        say(f"documents: scans, {pages_of(papers)} of {pages} pages")
        written = drawing.packet(folder / "whole", number, "scan", ("es", "en")[number % 2], number=number)
        with pypdfium2.PdfDocument(written.path) as whole:
            for first in range(0, len(whole) - SCAN_PAGES + 1, SCAN_PAGES):
                if pages_of(papers) < pages:
                    wanted = list(range(first, first + SCAN_PAGES))
                    papers.append(_cut(whole, wanted, folder / "scans" / f"{number}-{first}.pdf"))
    return papers


def singles(folder: Path, files: int, say: Progress) -> list[Paper]:
    """One-page PDFs with a text layer."""
    papers: list[Paper] = []
    seed = 0
    while len(papers) < files:
        seed += 1
        say(f"documents: single pages, {len(papers)} of {files}")
        written = drawing.write(
            folder / f"single-{seed}",
            seed=seed,
            count=4,
            languages=("es", "en"),
            forms=("digital",),
            kinds=_SINGLE_KINDS,
        )
        papers += [paper for sample in written if (paper := _paper(sample.path)).pages == 1]
    return papers[:files]


def long(folder: Path, pages: int, packets: list[Paper]) -> Paper:
    """One file of so many pages, the packets' pages over and over."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"long-{pages}.pdf"
    with pypdfium2.PdfDocument.new() as result:
        while len(result) < pages:
            for packet in packets:
                left = pages - len(result)
                if left > 0:
                    with pypdfium2.PdfDocument(packet.path) as source:
                        result.import_pages(source, list(range(min(left, packet.pages))))
        result.save(path)
    return Paper(path, pages)


def _cut(whole: pypdfium2.PdfDocument, wanted: list[int], path: Path) -> Paper:
    path.parent.mkdir(parents=True, exist_ok=True)
    with pypdfium2.PdfDocument.new() as result:
        result.import_pages(whole, wanted)
        result.save(path)
    return Paper(path, len(wanted))


def _paper(path: Path) -> Paper:
    with pypdfium2.PdfDocument(path) as document:
        return Paper(path, len(document))
