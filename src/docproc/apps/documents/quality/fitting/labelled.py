"""Pages with their types, to learn from: labelled folders, read once."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from docproc.apps.documents.quality import labels
from docproc.reading import page as page_text
from docproc.reading.page import PageText
from docproc.reading.reading import read_page


@dataclass(frozen=True)
class LabelledPage:
    """A page and its type. `source` names the layout, recipe or file that it came from."""

    page: PageText
    doc_type: str
    source: str
    is_real: bool = False


def labelled(folders: Sequence[Path], readings: Path | None = None) -> list[LabelledPage]:
    """The pages of labelled folders; `readings` keeps what was read, so that it is not read again."""
    if not folders:
        return []
    return [page for folder in labels.read(folders) for page in _of_folder(folder, readings)]


def _of_folder(folder: labels.Folder, readings: Path | None) -> Iterator[LabelledPage]:
    for file in folder.files:
        path = folder.path_of(file)
        for document in file.documents:
            for index in document.page_indices:
                page = reading(path, index, readings)
                if page.words:  # a blank page teaches nothing
                    source = f"{folder.name}/{file.file}"
                    yield LabelledPage(page, document.doc_type, source, is_real=True)


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
