"""The words a PDF page carries as text, with what must be known to decide whether to believe them.

Blocking and native: call it in a killable child process.
"""

from __future__ import annotations

import ctypes
import re
from dataclasses import dataclass, replace
from pathlib import Path

import numpy
import numpy.typing
import pypdfium2
import pypdfium2.raw as pdfium

from docproc.reading import page_marks, rendering
from docproc.reading.codes import places
from docproc.reading.lines import Fragment, in_lines
from docproc.reading.page import PageText, Source, turned
from docproc.reading.page_marks import Frame, Ink

LARGE_PICTURE = 0.5  # of the page: from here on it may be a scan, whatever text lies on it
FEW_LETTERS = 100
_HIDDEN_CONFIDENCE = 0.9  # an earlier OCR's layer: believed, but not like the author's own text
_UNSEEN_MODES = (pdfium.FPDF_TEXTRENDERMODE_INVISIBLE, pdfium.FPDF_TEXTRENDERMODE_CLIP)
_WORD = re.compile(r"\S+")
# How PDFium marks a hyphen at the end of a line, and a glyph nobody gave a meaning.
_CHARACTERS = str.maketrans({"\x02": "-", "\ufffe": "-", "\xad": "-", "\0": "\ufffd"})

Floats = numpy.typing.NDArray[numpy.float64]
Integers = numpy.typing.NDArray[numpy.int64]
Flags = numpy.typing.NDArray[numpy.bool_]


@dataclass(frozen=True)
class TextLayer:
    """A page's text layer and its surroundings. `is_hidden`: the words are there to be searched, not seen."""

    page: PageText
    is_hidden: bool = False
    is_blank: bool = False  # nothing to see on the page at all
    image_share: float = 0.0  # of the page's area, covered by pictures
    ink: Ink | None = None  # measured only where the words need a second witness
    code_places: places.Places = places.NOWHERE  # where a barcode may be

    @property
    def letters(self) -> int:
        return sum(len(word.text) for word in self.page.words)


def read(path: Path, index: int) -> PageText | None:
    """The words of the text layer, believable or not; None when there are none."""
    layer = inspect(path, index)
    return layer.page if layer is not None and layer.page.words else None


def inspect(path: Path, index: int) -> TextLayer | None:
    """The text layer with the facts to judge it; None for files that cannot have one."""
    if not rendering.is_pdf(path):
        return None
    with rendering.open_page(path, index) as page:
        if not _has_notes(page):
            return _inspected(page)
        # Filled-in fields and stamps are text like any other once they are part of the page.
        pdfium.FPDFPage_Flatten(page.raw, pdfium.FLAT_NORMALDISPLAY)
    with rendering.open_page(path, index) as page:
        return _inspected(page)


def _inspected(page: pypdfium2.PdfPage) -> TextLayer:
    frame = Frame.of(page)
    words = _Words.of(page, frame)
    is_hidden = words.letters(words.unseen) > words.letters(~words.unseen)
    text = _page_text(words, words.unseen == is_hidden, page.get_size(), is_hidden)
    marks = page_marks.marks(page, frame)
    is_blank = not text.words and not marks.image_share
    layer = TextLayer(text, is_hidden, is_blank, marks.image_share, code_places=places.find(page))
    if not _needs_ink(layer, marks.drawings):
        return layer
    mask = page_marks.ink_mask(page)
    return replace(layer, is_blank=layer.is_blank and not mask.any(), ink=page_marks.ink(mask, text))


def _needs_ink(layer: TextLayer, drawings: int) -> bool:
    """Whether to look at the page: text that may not be what is seen, or letters drawn as shapes."""
    if not layer.page.words:
        return layer.is_blank and drawings > 0
    is_short = layer.letters < FEW_LETTERS and (drawings > 0 or layer.image_share > 0)
    return layer.is_hidden or layer.image_share >= LARGE_PICTURE or is_short


def _has_notes(page: pypdfium2.PdfPage) -> bool:
    for number in range(pdfium.FPDFPage_GetAnnotCount(page.raw)):
        note = pdfium.FPDFPage_GetAnnot(page.raw, number)
        subtype = pdfium.FPDFAnnot_GetSubtype(note)
        pdfium.FPDFPage_CloseAnnot(note)
        if subtype not in (pdfium.FPDF_ANNOT_LINK, pdfium.FPDF_ANNOT_POPUP):
            return True
    return False


@dataclass(frozen=True)
class _Words:
    """The words as arrays, in the order of the file: a page has hundreds, and each step on one counts."""

    texts: list[str]
    boxes: Floats  # (n, 4), on the page as shown, not clipped
    directions: Integers  # where each word runs, in quarters clockwise from left to right
    breaks: Flags  # whether a word starts a new run
    unseen: Flags

    @classmethod
    def of(cls, page: pypdfium2.PdfPage, frame: Frame) -> _Words:
        textpage = page.get_textpage()
        try:
            raw = textpage.raw
            text = _text(raw)
            spans = [match.span() for match in _WORD.finditer(text)]
            firsts, lasts = _boxes(raw, spans, frame)
            unseen = numpy.array([_is_unseen(raw, start) for start, _ in spans], dtype=bool)
        finally:
            textpage.close()
        ends = [0, *(end for _, end in spans)]
        gaps = [text[end:start] for end, (start, _) in zip(ends, spans, strict=False)]
        return cls(
            [text[start:end] for start, end in spans],
            numpy.hstack([numpy.minimum(firsts, lasts)[:, :2], numpy.maximum(firsts, lasts)[:, 2:]]),
            _directions(firsts, lasts, page.get_size()),
            numpy.array(["\n" in gap or "\r" in gap for gap in gaps], dtype=bool),
            unseen,
        )

    def letters(self, chosen: Flags) -> int:
        return sum(len(text) for text, is_chosen in zip(self.texts, chosen, strict=True) if is_chosen)


def _page_text(words: _Words, chosen: Flags, size: tuple[float, float], is_hidden: bool) -> PageText:
    middles = (words.boxes[:, :2] + words.boxes[:, 2:]) / 2
    chosen = chosen & ((middles >= 0) & (middles <= 1)).all(axis=1)  # not what lies off the page
    clockwise = _turn_of_content(words, chosen)
    x0, y0, x1, y1 = words.boxes.T
    boxes = numpy.stack(turned((x0, y0, x1, y1), clockwise), axis=1).clip(0, 1).tolist()
    confidence = _HIDDEN_CONFIDENCE if is_hidden else 1.0
    runs: list[list[Fragment]] = []
    is_new = True
    for number, is_chosen in enumerate(chosen.tolist()):
        is_new = is_new or bool(words.breaks[number])
        if is_chosen:
            if is_new:
                runs.append([])
                is_new = False
            runs[-1].append((words.texts[number], tuple(boxes[number]), confidence))
    width, height = size[::-1] if clockwise % 180 else size
    return PageText(in_lines(runs), Source.TEXT_LAYER, width, height, clockwise)


def _turn_of_content(words: _Words, chosen: Flags) -> int:
    """How far to turn the page clockwise so that most of its text reads from left to right."""
    lengths = numpy.array([len(text) for text in words.texts], dtype=int)
    telling = chosen & (lengths > 2)
    votes = numpy.bincount(words.directions[telling], lengths[telling], minlength=4)
    return int(-votes.argmax() * 90 % 360)


def _text(raw: object) -> str:
    """The characters by index: one call where that is exact, else one by one."""
    count = pdfium.FPDFText_CountChars(raw)
    if count <= 0:
        return ""
    buffer = (ctypes.c_ushort * (count + 1))()
    pdfium.FPDFText_GetText(raw, 0, count, buffer)
    text = bytes(buffer)[:-2].decode("utf-16-le", "replace")
    if len(text) != count or "\0" in text:  # surrogates, or glyphs without meaning that were left out
        text = "".join(chr(pdfium.FPDFText_GetUnicode(raw, number)) for number in range(count))
    return text.translate(_CHARACTERS)


def _boxes(raw: object, spans: list[tuple[int, int]], frame: Frame) -> tuple[Floats, Floats]:
    """The boxes of each word's first and last character.

    Loose ones, as high as the font, so that the words of a line match. Two a word instead of one a
    character: the calls into PDFium are what reading a page costs.
    """
    rectangles = (pdfium.FS_RECTF * (2 * len(spans) or 1))()
    call, reference = pdfium.FPDFText_GetLooseCharBox, ctypes.byref
    for number, (start, end) in enumerate(spans):
        call(raw, start, reference(rectangles[2 * number]))
        call(raw, end - 1, reference(rectangles[2 * number + 1]))
    values = numpy.frombuffer(rectangles, dtype=numpy.float32).reshape(-1, 4)[: 2 * len(spans)].astype(float)
    left, top, right, bottom = values.T
    boxes = numpy.stack(frame.fractions(left, bottom, right, top), axis=1)
    return boxes[0::2], boxes[1::2]


def _directions(firsts: Floats, lasts: Floats, size: tuple[float, float]) -> Integers:
    steps = lasts[:, :2] + lasts[:, 2:] - firsts[:, :2] - firsts[:, 2:]
    across, down = steps[:, 0] * size[0], steps[:, 1] * size[1]
    level = numpy.where(across >= 0, 0, 2)
    return numpy.where(numpy.abs(across) >= numpy.abs(down), level, numpy.where(down > 0, 1, 3))


def _is_unseen(raw: object, index: int) -> bool:
    return pdfium.FPDFTextObj_GetTextRenderMode(pdfium.FPDFText_GetTextObject(raw, index)) in _UNSEEN_MODES
