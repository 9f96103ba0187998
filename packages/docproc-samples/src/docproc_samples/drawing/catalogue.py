"""Writes a folder of samples and its labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from docproc_samples.drawing import layouts as all_layouts
from docproc_samples.drawing import scan
from docproc_samples.drawing.cast import COUNTRIES, Cast
from docproc_samples.drawing.labels import Sample, write_labels
from docproc_samples.drawing.layout import Choice
from docproc_samples.drawing.packets import draw_document, packet
from docproc_samples.drawing.sheet import Sheet

PACKET = "packet"
KINDS = (*all_layouts.LAYOUTS, PACKET)
PHOTO_SHARE = 0.35  # of scanned single pages: a JPG instead of a PDF

Progress = Callable[[int, int, str], None]


def write(
    directory: Path,
    *,
    seed: int = 1,
    count: int = 1,
    languages: Sequence[str] = ("es", "en"),
    forms: Sequence[str] = ("digital", "scan"),
    kinds: Sequence[str] | None = None,
    layouts: Choice = "all",
    progress: Progress | None = None,
) -> list[Sample]:
    """Write `count` files of each kind, language and form, and `labels.jsonl` beside them.

    With `layouts` only those for training are used, or only those held out, to test what was learnt on the
    others. The same arguments give the same files. `progress` is told how many are written, of how many, and
    the last one's name.
    """
    directory.mkdir(parents=True, exist_ok=True)
    wanted = [one for one in _wanted(kinds or KINDS, languages, forms, count) if _is_drawn(one[0], one[1])]
    samples: list[Sample] = []
    for kind, language, form, number in wanted:
        if kind == PACKET:
            sample = packet(directory, seed, form, language, number=number, layouts=layouts)
        else:
            sample = _single(directory, seed, kind, language, form, number, layouts)
        samples.append(sample)
        if progress:
            progress(len(samples), len(wanted), sample.path.name)
    write_labels(directory, samples)
    return samples


def _is_drawn(kind: str, language: str) -> bool:
    """Spanish and English have all kinds; other languages those that somebody drew."""
    return language in COUNTRIES or (kind != PACKET and bool(all_layouts.of(kind, language)))


def _wanted(
    kinds: Sequence[str], languages: Sequence[str], forms: Sequence[str], count: int
) -> list[tuple[str, str, str, int]]:
    """Kind, language, form and number of every file; packets also come mixed when both forms are wanted."""
    packet_forms = [*forms, "mixed"] if {"digital", "scan"} <= set(forms) else list(forms)
    return [
        (kind, language, form, number)
        for kind in kinds
        for language in languages
        for form in (packet_forms if kind == PACKET else forms)
        for number in range(1, count + 1)
    ]


def _single(
    directory: Path, seed: int, kind: str, language: str, form: str, number: int, choice: Choice
) -> Sample:
    random = Random(f"{seed}/{kind}/{language}/{form}/{number}")
    # Neighbours differ in layout, whatever chance says.
    variant = seed + number + (form == "scan") * 2 + (language == "en")
    possible = all_layouts.of(kind, language, choice)
    sheet = Sheet()
    document = draw_document(
        sheet,
        kind,
        Cast(random, language),
        possible[variant % len(possible)],
    )
    content, suffix = sheet.finish(), ".pdf"
    if form == "scan":
        pages = list(scan.scan(content, random).values())
        if len(pages) == 1 and random.random() < PHOTO_SHARE:
            content, suffix = pages[0][0], ".jpg"
        else:
            content = scan.image_pdf(pages)
    path = directory / f"{kind}-{language}-{form}-{number:02d}{suffix}"
    path.write_bytes(content)
    return Sample(path, [document])
