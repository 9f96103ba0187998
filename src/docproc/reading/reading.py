"""Reads a page: from its text layer where that can be believed, else by OCR.

Blocking and native: call it in a killable child process.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
from PIL import Image

from docproc.reading import rendering, text_layer, text_trust
from docproc.reading.codes import on_page
from docproc.reading.ocr import engine as ocr
from docproc.reading.ocr import upright
from docproc.reading.page import PageText, Source
from docproc.reading.text_layer import TextLayer

Mode = Literal["auto", "ocr", "text"]

_SQUARE = 4
_FAINT = 12  # of 255
_AS_MUCH = 0.9  # a visible text layer with this share of what OCR reads is the better of the two


def read_page(path: Path, index: int, *, engine: str = "rapidocr", mode: Mode = "auto") -> PageText:
    """The page's words on the upright page, with where they came from.

    `auto` believes the text layer when `text_trust` has no doubt, else runs OCR; `text` and `ocr` insist
    on one of them (an image has no text layer: `text` gives it no words). Raises PermanentError when the page
    cannot be opened or drawn, ConfigurationError when the engine is not installed.
    """
    if mode == "ocr":
        return _recognized(path, index, engine)
    layer = text_layer.inspect(path, index)
    if mode == "text":
        return _with_codes(layer, path, index) if layer is not None else _without_text(path, index)
    if layer is not None and text_trust.is_trustworthy(layer):
        return _with_codes(layer, path, index)
    found = _recognized(path, index, engine)
    return _with_codes(layer, path, index) if layer is not None and _is_better(layer, found) else found


def trusted_layer(path: Path, index: int) -> PageText | None:
    """The quick half of `read_page`: the text layer, or None where recognition is needed."""
    layer = text_layer.inspect(path, index)
    return _with_codes(layer, path, index) if layer is not None and text_trust.is_trustworthy(layer) else None


def warm_up(engine: str = "rapidocr") -> None:
    """Load the models and run them once, so that the first page does not wait for it."""
    loaded = ocr.load(engine)
    picture = Image.new("L", (900, 1280), 255)
    picture.paste(0, (100, 100, 400, 130))
    loaded.read(picture)


def _with_codes(layer: TextLayer, path: Path, index: int) -> PageText:
    return on_page.of_digital(layer.page, path, index, layer.code_places)


def _recognized(path: Path, index: int, engine: str) -> PageText:
    image = rendering.page_image(path, index)
    if _is_blank(image):
        return on_page.of_blank(PageText((), Source.OCR, image.width, image.height), path, index)
    loaded = ocr.load(engine)
    found = upright.read(image, loaded)
    page = PageText(found.words, Source.OCR, found.width, found.height, found.rotation, loaded.name)
    return on_page.of_scan(page, path, index, image)


def _is_blank(image: Image.Image) -> bool:
    """Whether there is nothing on it to read. Averaged over small squares, the grain of paper vanishes and
    the thinnest stroke does not."""
    squares = np.asarray(image.convert("L").reduce(_SQUARE))
    return int(squares.max()) - int(squares.min()) < _FAINT


def _is_better(layer: TextLayer, found: PageText) -> bool:
    """Whether the doubted layer is kept after all: it reads like language and OCR saw no more."""
    if not layer.page.words or text_trust.garbled(layer.page.text):
        return False
    letters = sum(len(word.text) for word in found.words)
    return not letters or (not layer.is_hidden and layer.letters >= _AS_MUCH * letters)


def _without_text(path: Path, index: int) -> PageText:
    image = rendering.page_image(path, index)
    return on_page.of_scan(PageText((), Source.TEXT_LAYER, image.width, image.height), path, index, image)
