"""The formats there are: what each is called, and who writes it."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.summary import Summary

# The content as the bytes of a file; the same content gives the same bytes.
Write = Callable[[Summary, Quiz], bytes]

_PACKAGE = "docproc.apps.materials.exports"


@dataclass(frozen=True, slots=True)
class Format:
    """A kind of file; its module is imported when one is written."""

    name: str
    ending: str
    media_type: str
    module: str

    def write(self, summary: Summary, quiz: Quiz) -> bytes:
        write: Write = importlib.import_module(f"{_PACKAGE}.{self.module}").write
        return write(summary, quiz)


FORMATS: dict[str, Format] = {
    one.name: one
    for one in (
        Format("html", ".html", "text/html; charset=utf-8", "html"),
        Format("markdown", ".md", "text/markdown; charset=utf-8", "markdown"),
        Format("pdf", ".pdf", "application/pdf", "pdf"),
        Format("moodle", ".moodle.xml", "application/xml", "moodle"),
        Format("gift", ".gift.txt", "text/plain; charset=utf-8", "gift"),
        Format("qti", ".qti.zip", "application/zip", "qti"),
        Format("anki", ".anki.csv", "text/csv; charset=utf-8", "anki"),
    )
}


def write_all(summary: Summary, quiz: Quiz, folder: Path, stem: str, names: list[str]) -> list[Path]:
    """One file of each named format in the folder, which is made; returns where they are."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for name in names:
        path = folder / f"{stem}{FORMATS[name].ending}"
        path.write_bytes(FORMATS[name].write(summary, quiz))
        paths.append(path)
    return paths
