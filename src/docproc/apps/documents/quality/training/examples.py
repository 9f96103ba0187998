"""Pages with their types, to learn from: drawn samples, and labelled folders read once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random

from docproc.apps.documents.quality import labels
from docproc.apps.documents.samples import layouts
from docproc.apps.documents.samples.cast import Cast
from docproc.apps.documents.samples.layout import Choice, Layout
from docproc.apps.documents.samples.sheet import Sheet
from docproc.reading import page as page_text
from docproc.reading import text_layer
from docproc.reading.page import PageText
from docproc.reading.reading import read_page

_LANGUAGES = ("es", "en")


@dataclass(frozen=True)
class Example:
    """A page and its type. `source` names the layout, recipe or file that it came from."""

    page: PageText
    doc_type: str
    source: str
    is_real: bool = False


def drawn(work: Path, choice: Choice, count: int, random: Random) -> list[Example]:
    """`count` documents of every layout and language, page by page."""
    return [
        Example(page, kind, f"{kind} {layout.name}")
        for kind in layouts.LAYOUTS
        for language in _LANGUAGES
        for layout in layouts.of(kind, language, choice)
        for _ in range(count)
        for page in document(work, layout, Cast(random, language))
    ]


def document(work: Path, layout: Layout, cast: Cast) -> list[PageText]:
    """The pages of one document, as its text layer gives them."""
    sheet = Sheet()
    layout.draw(sheet, cast)
    path = work / "drawn.pdf"
    path.write_bytes(sheet.finish())
    found = [text_layer.inspect(path, index) for index in range(sheet.page_count)]
    return [layer.page for layer in found if layer is not None]


def labelled(folders: Sequence[Path], readings: Path | None = None) -> list[Example]:
    """The pages of labelled folders; `readings` keeps what was read, so that it is not read again."""
    return (
        [example for folder in labels.read(folders) for example in _of_folder(folder, readings)]
        if folders
        else []
    )


def _of_folder(folder: labels.Folder, readings: Path | None) -> Iterator[Example]:
    for file in folder.files:
        path = folder.path_of(file)
        for document in file.documents:
            for index in document.page_indices:
                page = reading(path, index, readings)
                if page.words:  # a blank page teaches nothing
                    yield Example(page, document.doc_type, f"{folder.name}/{file.file}", is_real=True)


def reading(path: Path, index: int, readings: Path | None) -> PageText:
    """A page as read, from the folder of readings where it is there."""
    if readings is None:
        return read_page(path, index)
    kept = readings / f"{hashlib.sha256(path.read_bytes()).hexdigest()}-{index}.words"
    if kept.exists():
        return page_text.unpack(kept.read_bytes())
    page = read_page(path, index)
    readings.mkdir(parents=True, exist_ok=True)
    kept.write_bytes(page_text.pack(page))
    return page
