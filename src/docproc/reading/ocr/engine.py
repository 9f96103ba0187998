"""The contract of OCR engines, and how one is chosen by name."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Protocol

from PIL import Image

from docproc.errors import ConfigurationError
from docproc.reading.page import Word

# An engine is a module with a `make()`; its packages are imported there, not before.
_MODULES = {
    "rapidocr": "docproc.reading.ocr.rapid",
    "tesseract": "docproc.reading.ocr.tesseract",
}


class OcrEngine(Protocol):
    """Reads the text of one picture. Made once per process, used by one thread at a time.

    `read` blocks for about a second a page and returns the words in reading order, their boxes as fractions
    of the picture as given (not turned, not straightened) and their lines numbered from the top. A picture
    without text gives an empty list. It never touches the network.
    """

    name: str

    def read(self, image: Image.Image) -> list[Word]: ...


def names() -> list[str]:
    return sorted(_MODULES)


@cache
def load(name: str) -> OcrEngine:
    """The engine of that name, with its models loaded; the same object in later calls.

    Raises ConfigurationError when there is none or its packages are missing.
    """
    if name not in _MODULES:
        raise ConfigurationError(
            f"there is no OCR engine named {name!r}", remedy=f"Choose one of: {', '.join(names())}"
        )
    engine: OcrEngine = import_module(_MODULES[name]).make()
    return engine
