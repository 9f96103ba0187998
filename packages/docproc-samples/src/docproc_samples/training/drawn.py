"""Documents drawn for training, as their text layers give them."""

from __future__ import annotations

from pathlib import Path
from random import Random

from docproc.apps.documents.quality.fitting.labelled import LabelledPage
from docproc.reading import text_layer
from docproc.reading.page import PageText
from docproc_samples.drawing import layouts
from docproc_samples.drawing.cast import Cast
from docproc_samples.drawing.layout import Choice, Layout
from docproc_samples.drawing.sheet import Sheet

_LANGUAGES = ("es", "en")


def drawn(work: Path, choice: Choice, count: int, random: Random) -> list[LabelledPage]:
    """`count` documents of every layout and language, page by page."""
    return [
        LabelledPage(page, kind, f"{kind} {layout.name}")
        for kind in layouts.LAYOUTS
        for language in _LANGUAGES
        for layout in layouts.of(kind, language, choice)
        for _ in range(count)
        for page in document(work, layout, Cast(random, language))
    ]


def document(work: Path, layout: Layout, cast: Cast) -> list[PageText]:
    """The pages of one document."""
    sheet = Sheet()
    layout.draw(sheet, cast)
    path = work / "drawn.pdf"
    path.write_bytes(sheet.finish())
    layers = [text_layer.inspect(path, index) for index in range(sheet.page_count)]
    return [layer.page for layer in layers if layer is not None]
