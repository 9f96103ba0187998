"""Cut-outs of pages for the report: small pictures around the places that matter."""

from __future__ import annotations

import base64
import io
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from docproc.errors import ProcessingError
from docproc.reading import rendering
from docproc.reading.files.unfold import unfold
from docproc.reading.page import Box, union

_WIDTH = 720  # of the whole page, in pixels
_MARGIN = 0.06  # of the page, above and below what is shown
_LEAST = 0.25  # of the page's height is shown
_QUALITY = 55


@dataclass(frozen=True)
class Picture:
    """A JPEG as a data URI, and the boxes of the page as percentages of it: left, top, width, height."""

    uri: str
    boxes: tuple[tuple[float, float, float, float] | None, ...]


def cut_out(path: Path, place: int, rotation: int, boxes: Sequence[Box | None]) -> Picture | None:
    """In a child process: the part of a page that shows all boxes, the whole page without any."""
    try:
        with tempfile.TemporaryDirectory(prefix="docproc-eval-") as folder:
            files = unfold(path, path.name, Path(folder))
            places = [(file.path, index) for file in files for index in range(file.page_count)]
            image = rendering.turned(rendering.page_image(*places[place], dpi=100), rotation)
    except (ProcessingError, IndexError):
        return None
    top, bottom = _shown([box for box in boxes if box])
    image = image.crop((0, round(top * image.height), image.width, round(bottom * image.height)))
    if image.width > _WIDTH:
        image = image.resize((_WIDTH, max(1, round(image.height * _WIDTH / image.width))), reducing_gap=2.0)
    buffer = io.BytesIO()
    image.save(buffer, "JPEG", quality=_QUALITY)
    uri = f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"
    return Picture(uri, tuple(_within(box, top, bottom) if box else None for box in boxes))


def _shown(boxes: Sequence[Box]) -> tuple[float, float]:
    if not boxes:
        return 0.0, 1.0
    around = union(boxes)
    top, bottom = around[1] - _MARGIN, around[3] + _MARGIN
    more = max(0.0, _LEAST - (bottom - top)) / 2
    return max(0.0, top - more), min(1.0, bottom + more)


def _within(box: Box, top: float, bottom: float) -> tuple[float, float, float, float]:
    height = bottom - top
    x0, y0, x1, y1 = box
    shares = (x0, (y0 - top) / height, x1 - x0, (y1 - y0) / height)
    left, above, wide, high = (round(100 * share, 2) for share in shares)
    return left, above, wide, high
