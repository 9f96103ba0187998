"""OCR with Tesseract through tesserocr: the optional extra `tesseract`, with the system's language data."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from docproc.errors import ConfigurationError
from docproc.reading.page import Word

_LANGUAGES = ("spa", "eng")
_FOLDERS = (
    "/usr/share/tesseract-ocr",
    "/usr/share/tessdata",
    "/usr/local/share/tessdata",
    "/opt/homebrew/share",
)


def make() -> TesseractEngine:
    return TesseractEngine()


class TesseractEngine:
    """Spanish and English, one thread."""

    name = "tesseract"

    def __init__(self) -> None:
        try:
            import tesserocr
        except ImportError as error:
            raise ConfigurationError(
                "the OCR engine tesseract needs the package tesserocr",
                remedy="pip install 'docproc[tesseract]'",
            ) from error
        data = _data_folder(tesserocr.get_languages()[0])
        languages = [language for language in _LANGUAGES if (data / f"{language}.traineddata").is_file()]
        os.environ.setdefault("OMP_THREAD_LIMIT", "1")  # several processes share the cores
        self._word_level = tesserocr.RIL.WORD
        self._line_level = tesserocr.RIL.TEXTLINE
        self._iterate = tesserocr.iterate_level
        self._api: Any = tesserocr.PyTessBaseAPI(
            path=str(data), lang="+".join(languages), psm=tesserocr.PSM.AUTO
        )

    def read(self, image: Image.Image) -> list[Word]:
        self._api.SetImage(image)
        self._api.Recognize()
        found = self._api.GetIterator()
        words: list[Word] = []
        line = -1
        for item in self._iterate(found, self._word_level) if found is not None else ():
            if item.IsAtBeginningOf(self._line_level):
                line += 1
            text = (item.GetUTF8Text(self._word_level) or "").strip()
            if text:
                box = item.BoundingBox(self._word_level)
                confidence = item.Confidence(self._word_level) / 100
                words.append(Word(text, _fractions(box, image.size), confidence, max(0, line)))
        self._api.Clear()
        return words


def _fractions(box: Sequence[int], size: tuple[int, int]) -> tuple[float, float, float, float]:
    return box[0] / size[0], box[1] / size[1], box[2] / size[0], box[3] / size[1]


def _data_folder(own: str) -> Path:
    """Where the system keeps its language data: tesserocr's own idea of it, then the usual places."""
    for folder in map(Path, (own, *_FOLDERS)):
        for found in sorted(folder.rglob("*.traineddata")) if folder.is_dir() else ():
            if found.stem in _LANGUAGES:
                return found.parent
    raise ConfigurationError(
        "the OCR engine tesseract found no language data for Spanish or English",
        remedy="apt-get install tesseract-ocr tesseract-ocr-spa",
    )
