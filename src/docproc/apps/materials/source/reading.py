"""Reads the text of a PDF: `pdftotext -layout` where poppler is installed, else the built-in text layer;
pages
whose text is missing or garbled are read by OCR.

Blocking and native: call it in a killable child process.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from docproc.apps.materials.source.cleaning import clean, count_words
from docproc.apps.materials.source.columns import in_reading_order
from docproc.errors import ConfigurationError
from docproc.reading import text_trust
from docproc.reading.files.pdf import pages_of
from docproc.reading.ocr import engine as ocr
from docproc.reading.page import PageText, Word
from docproc.reading.reading import read_page, trusted_layer

_PDFTOTEXT = "pdftotext"
_PDFTOTEXT_SECONDS = 120.0
_AUTO = "auto"
# How far below the body of a line the next one must be to have blank lines in between, in line heights.
_GAP = 1.6
# Between the words of a line, in widths of the page: wider than any space, as between two columns.
_WIDE_GAP = 0.022
# Where a line that begins this far to the right can only be of a second column.
_RIGHT_HALF = 0.4
# How many characters a line of the page is laid out on: more than are ever printed on one.
_LINE_WIDTH = 140


@dataclass(frozen=True, slots=True)
class Opened:
    """A file that can be read page by page; `path` is a mended copy where the file needed one."""

    path: Path
    pages: int


def open_pdf(path: Path, copy: Path, max_pages: int) -> Opened:
    """Raises UnreadableFileError for what is damaged, protected, too long or no PDF."""
    found = pages_of(path, copy, None, max_pages)
    return Opened(found.path, found.count)


@dataclass(frozen=True, slots=True)
class Layer:
    """What a PDF says of itself: each page's text, what read it, and which pages OCR should look at."""

    path: Path
    pages: tuple[str, ...]
    reader: str
    doubtful: tuple[int, ...]


def read_layer(path: Path, copy: Path, max_pages: int, least_words: int) -> Layer:
    """All that can be done without OCR; raises UnreadableFileError."""
    opened = open_pdf(path, copy, max_pages)
    pages, reader = layer_pages(opened.path, opened.pages)
    return Layer(opened.path, tuple(pages), reader, tuple(doubtful_pages(pages, least_words)))


def layer_pages(path: Path, count: int) -> tuple[list[str], str]:
    """Each page's text as the PDF has it, believable or not, and what read it."""
    pages = _by_pdftotext(path)
    if pages is not None and len(pages) >= count:
        return [clean(in_reading_order(page)) for page in pages[:count]], _PDFTOTEXT
    built_in = [read_page(path, index, mode="text") for index in range(count)]
    return [clean(in_reading_order(layout(page))) for page in built_in], "text_layer"


def doubtful_pages(pages: list[str], least_words: int) -> list[int]:
    """The indices of pages that OCR should read: no text or garbled; all of them where the whole is too
    short."""
    if sum(map(count_words, pages)) < least_words:
        return list(range(len(pages)))
    return [index for index, page in enumerate(pages) if not page or text_trust.garbled(page)]


def recognised(path: Path, index: int, engine: str, known: str) -> str:
    """The page as it is best read: what is known of it where its text layer can be believed, else by OCR,
    unless
    that finds less."""
    is_good = bool(known) and not text_trust.garbled(known)
    layer = trusted_layer(path, index)
    if layer is not None:  # all that is on the page is text, or nothing is
        return known if is_good else clean(layout(layer))
    found = clean(layout(read_page(path, index, engine=engine_named(engine), mode="ocr")))
    return known if is_good and count_words(known) >= count_words(found) else found


@cache
def engine_named(name: str) -> str:
    """`auto` is Tesseract where it can be loaded, else the engine that comes along."""
    if name != _AUTO:
        return name
    try:
        ocr.load("tesseract")
    except ConfigurationError:
        return "rapidocr"
    return "tesseract"


def layout(page: PageText) -> str:
    """The page's lines, with a blank line where there is room between them, as pdftotext writes it."""
    lines: list[str] = []
    bottom: float | None = None
    for words in page.lines:
        top = min(word.box[1] for word in words)
        height = max(word.box[3] for word in words) - top
        if bottom is not None and top - bottom > (_GAP - 1) * height:
            lines.append("")
        lines.append(_line(words))
        bottom = max(word.box[3] for word in words)
    return "\n".join(lines)


def _line(words: Sequence[Word]) -> str:
    """Words with a space between them; after a wide gap the next one stands where it stands on the page, so
    that columns can be told apart."""
    text, right = "", 0.0
    for word in words:
        if text and word.box[0] - right > _WIDE_GAP:
            text = text.ljust(max(len(text) + 3, int(word.box[0] * _LINE_WIDTH)))
        elif text:
            text += " "
        elif word.box[0] > _RIGHT_HALF:
            text = " " * int(word.box[0] * _LINE_WIDTH)
        text += word.text
        right = word.box[2]
    return text


def _by_pdftotext(path: Path) -> list[str] | None:
    """None where poppler is missing or cannot read the file."""
    command = shutil.which(_PDFTOTEXT)
    if command is None:
        return None
    try:
        done = subprocess.run(
            [command, "-layout", "-enc", "UTF-8", str(path), "-"],
            capture_output=True,
            timeout=_PDFTOTEXT_SECONDS,
            check=True,
        )
    except (subprocess.SubprocessError, OSError):
        return None
    pages = done.stdout.decode("utf-8", errors="replace").split("\f")
    return pages[:-1] if len(pages) > 1 else pages  # it ends each page, the last one too
