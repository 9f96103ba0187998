"""Pages for the OCR bench: invented scans whose words are known, and labelled pictures whose fields are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from random import Random

from docproc.reading import rendering, text_layer
from docproc_samples import drawing
from docproc_samples.drawing import scan

_KINDS = ("invoice", "receipt", "payslip", "contract", "bank_statement", "id_card")
_DIGITS = re.compile(r"\d+")
_LETTERS = re.compile(r"[^\W_]+")


@dataclass(frozen=True)
class Picture:
    """A page to read, the words printed on it (if known) and the values that must be found on it."""

    path: Path
    words: tuple[str, ...] = ()
    values: tuple[str, ...] = ()


def invented(folder: Path, wanted: int) -> list[Picture]:
    """Scans of sample documents, one of each kind and language in turn; the words are the text layer's."""
    pictures: list[Picture] = []
    seed = 70_001  # far from what anything is trained on
    scan.TURNED_SHARE = 0  # this compares reading, not turning: plain RapidOCR reads no page on its side
    while len(pictures) < wanted:
        written = drawing.write(folder / str(seed), seed=seed, forms=("digital",), kinds=_KINDS)
        by_kind = [_scanned(sample.path, seed) for sample in written]
        pictures += [page for turn in zip_longest(*by_kind) for page in turn if page is not None]
        seed += 1
    return pictures[:wanted]


def _scanned(path: Path, seed: int) -> list[Picture]:
    pictures = []
    for index, (jpeg, _) in scan.scan(path.read_bytes(), Random(f"{seed}/{path.name}")).items():
        layer = text_layer.read(path, index)
        target = path.with_name(f"{path.stem}-{index}.jpg")
        target.write_bytes(jpeg)
        if layer is not None and layer.words:
            pictures.append(Picture(target, tuple(word.text for word in layer.words)))
    return pictures


def labelled(directory: Path, folder: Path, wanted: int) -> list[Picture]:
    """Evenly chosen pages of a labelled folder that have no text layer, with their documents' values."""
    pages = [
        page for line in (directory / "labels.jsonl").open() for page in _of_file(directory, line, folder)
    ]
    step = max(1, len(pages) // wanted)
    return pages[::step][:wanted]


def _of_file(directory: Path, line: str, folder: Path) -> Iterator[Picture]:
    entry = json.loads(line)
    path = directory / entry["file"]
    for document in entry["documents"]:
        values = tuple(str(value) for value in document.get("fields", {}).values() if isinstance(value, str))
        for index in document["page_indices"]:
            if not rendering.is_pdf(path):
                yield Picture(path, values=values)
            elif text_layer.read(path, index) is None:
                target = folder / f"{path.stem}-{index}.png"
                rendering.page_image(path, index).save(target)
                # The values may stand on any page of a document: only a single one must have them all.
                yield Picture(target, values=values if len(document["page_indices"]) == 1 else ())


def holds(text: str, value: str) -> bool:
    """Whether the text contains the value in some writing: numbers and dates by digits, names by letters."""
    plain = value.replace(",", "").strip()
    if re.fullmatch(r"\d{4}-\d\d-\d\d", plain):
        year, _, day = plain.split("-")
        found = {number.lstrip("0") for number in _DIGITS.findall(text)}
        return bool({year, year[2:]} & found) and day.lstrip("0") in found  # a month may be a word
    if re.fullmatch(r"-?\d+(\.\d+)?", plain):
        digits = plain.lstrip("-").replace(".", "")
        return digits in "".join(
            character for character in text if character.isdigit() or character.isspace()
        )
    return " ".join(_LETTERS.findall(value.lower())) in " ".join(_LETTERS.findall(text.lower()))
