"""Pictures of pages: what a reader of the file would see, from PDFs and images alike.

Blocking and native: call it in a killable child process.
"""

from __future__ import annotations

import atexit
import io
import math
import warnings
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pypdfium2
import pypdfium2.raw as pdfium
from PIL import Image, ImageOps

from docproc.errors import PermanentError

MAX_PIXELS = 25_000_000
POINTS_PER_INCH = 72
_OPEN_DOCUMENTS = 4
_SMALLEST_LONG_SIDE = 1000  # a full-page picture smaller than this gains from the renderer's smoothing
_SCREEN_DPI = 144
_WHITE = (255, 255, 255, 255)
_TURNS = {
    90: Image.Transpose.ROTATE_270,  # Pillow counts anticlockwise
    180: Image.Transpose.ROTATE_180,
    270: Image.Transpose.ROTATE_90,
}

_DocumentKey = tuple[str, int, int]
_documents: OrderedDict[_DocumentKey, pypdfium2.PdfDocument] = OrderedDict()


def page_image(path: Path, index: int, *, dpi: float = 200, max_pixels: int = MAX_PIXELS) -> Image.Image:
    """The page as RGB or L, standing as viewers show it (/Rotate and EXIF applied), white where it is clear.

    A PDF page that is one picture comes at the picture's own resolution instead of `dpi`. Raises
    PermanentError when the file or the page cannot be drawn.
    """
    if not is_pdf(path):
        return _image_file(path, index, max_pixels)
    with open_page(path, index) as page:
        return draw(page, _own_scale(page) or dpi / POINTS_PER_INCH, max_pixels)


def png(path: Path, index: int, *, rotation: int = 0, width: int | None = None) -> bytes:
    """The page for a screen, turned clockwise by `rotation` to stand upright, `width` pixels wide.

    Narrower, where that width would come with more than MAX_PIXELS.
    """
    image = turned(_screen_image(path, index, rotation, width), rotation)
    if width is not None and image.width != width:
        size = (width, max(1, round(image.height * width / image.width)))
        size = size if size[0] * size[1] <= MAX_PIXELS else _fitting(size, MAX_PIXELS)
        image = image.resize(size, reducing_gap=2.0)
    buffer = io.BytesIO()
    image.save(buffer, "PNG", compress_level=4)
    return buffer.getvalue()


def turned(image: Image.Image, clockwise: int) -> Image.Image:
    """The image turned by whole quarters."""
    turn = _TURNS.get(clockwise % 360)
    return image if turn is None else image.transpose(turn)


def is_pdf(path: Path) -> bool:
    try:
        with path.open("rb") as file:
            return b"%PDF-" in file.read(1024)
    except OSError as error:
        raise PermanentError(f"{path.name} cannot be read: {error.strerror}") from error


@contextmanager
def open_page(path: Path, index: int) -> Iterator[pypdfium2.PdfPage]:
    """A PDF's page, closed afterwards; the document stays open for the next one."""
    document = open_document(path)
    if not 0 <= index < len(document):
        raise PermanentError(f"{path.name} has {len(document)} pages, there is no page {index + 1}")
    try:
        page = document[index]
    except pypdfium2.PdfiumError as error:
        raise PermanentError(f"page {index + 1} of {path.name} is damaged and cannot be opened") from error
    try:
        yield page
    finally:
        page.close()


@atexit.register
def close_documents() -> None:
    """Close what is kept open, for instance before a file is removed."""
    while _documents:
        _documents.popitem()[1].close()


def open_document(path: Path) -> pypdfium2.PdfDocument:
    """A PDF, kept open for the next call."""
    stat = path.stat()
    key = (str(path), stat.st_mtime_ns, stat.st_size)
    if key in _documents:
        _documents.move_to_end(key)
        return _documents[key]
    try:
        document = pypdfium2.PdfDocument(path)
        document.init_forms()  # otherwise filled-in fields stay empty in the picture
    except pypdfium2.PdfiumError as error:
        if "assword" in str(error):
            raise PermanentError(
                f"{path.name} is protected by a password", remedy="Send it without one"
            ) from error
        raise PermanentError(f"{path.name} is damaged and cannot be opened as a PDF") from error
    _documents[key] = document
    if len(_documents) > _OPEN_DOCUMENTS:
        _documents.popitem(last=False)[1].close()
    return document


def draw(page: pypdfium2.PdfPage, scale: float, max_pixels: int = MAX_PIXELS) -> Image.Image:
    """An open page at `scale` pixels per point, or fewer when that would be too many."""
    scale = _bounded(page.get_size(), scale, max_pixels)
    try:
        bitmap = page.render(scale=scale, fill_color=_WHITE, rev_byteorder=True, prefer_bgrx=False)
    except (pypdfium2.PdfiumError, MemoryError, ValueError) as error:
        raise PermanentError("the page cannot be drawn: its content is damaged or too large") from error
    try:
        image: Image.Image = bitmap.to_pil()
        # A copy, for the bitmap's memory goes with it.
        return image.convert("RGB") if image.mode not in ("RGB", "L") else image.copy()
    finally:
        bitmap.close()


def _bounded(size: tuple[float, float], scale: float, max_pixels: int) -> float:
    """The scale lowered until the picture has at most `max_pixels`, each side counted as one at least."""
    width, height = (max(side, 1e-3) for side in size)

    def pixels(scale: float) -> int:
        return max(1, math.ceil(width * scale)) * max(1, math.ceil(height * scale))

    if pixels(scale) > max_pixels:
        scale = min(scale, math.sqrt(max_pixels / (width * height)))
    while pixels(scale) > max_pixels:  # rounding up, or one side as thin as a pixel
        scale *= 0.9
    return scale


def _own_scale(page: pypdfium2.PdfPage) -> float | None:
    """Pixels per point of the page's picture when there is nothing else on it."""
    raw = page.raw
    if pdfium.FPDFPage_CountObjects(raw) != 1:
        return None
    pageobject = pdfium.FPDFPage_GetObject(raw, 0)
    if pdfium.FPDFPageObj_GetType(pageobject) != pdfium.FPDF_PAGEOBJ_IMAGE:
        return None
    picture = pypdfium2.PdfImage(pageobject, page=page)
    left, bottom, right, top = picture.get_bounds()
    (pixels_wide, pixels_high), (page_width, page_height) = picture.get_px_size(), page.get_size()
    if (right - left) * (top - bottom) < 0.5 * page_width * page_height or not pixels_wide * pixels_high:
        return None
    # The picture may lie turned on its page: compare areas, not sides.
    own = math.sqrt(pixels_wide * pixels_high / ((right - left) * (top - bottom)))
    return float(max(own, _SMALLEST_LONG_SIDE / max(page_width, page_height)))


def _screen_image(path: Path, index: int, rotation: int, width: int | None) -> Image.Image:
    if width is None or not is_pdf(path):
        return page_image(path, index, dpi=_SCREEN_DPI)
    with open_page(path, index) as page:
        across = page.get_size()[1 if rotation % 180 else 0]
        return draw(page, width / max(across, 1e-3))


def _image_file(path: Path, index: int, max_pixels: int) -> Image.Image:
    _learn_heif()
    try:
        with warnings.catch_warnings():
            # Large scans are welcome: the error above twice Pillow's limit stays.
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(path) as file:
                if index:
                    file.seek(index)
                if file.width * file.height > max_pixels:
                    file.draft(None, _fitting(file.size, max_pixels))  # JPEG decodes smaller at no cost
                return _plain(_shrunk(ImageOps.exif_transpose(file), max_pixels))
    except EOFError as error:
        raise PermanentError(f"{path.name} has no page {index + 1}") from error
    except Image.DecompressionBombError as error:
        raise PermanentError(f"{path.name} is too large a picture to be opened safely") from error
    except (OSError, SyntaxError, ValueError, TypeError) as error:  # what Pillow's decoders raise on damage
        raise PermanentError(f"{path.name} is damaged or not a picture: {error}") from error


def _learn_heif() -> None:
    if "HEIF" not in Image.OPEN:
        import pillow_heif

        pillow_heif.register_heif_opener(thumbnails=False)


def _fitting(size: tuple[int, int], max_pixels: int) -> tuple[int, int]:
    ratio = math.sqrt(max_pixels / (size[0] * size[1]))
    width = min(max(1, int(size[0] * ratio)), max_pixels)
    # A side as thin as a pixel gives nothing more away: the other one must.
    return width, min(max(1, int(size[1] * ratio)), max_pixels // width)


def _shrunk(image: Image.Image, max_pixels: int) -> Image.Image:
    if image.width * image.height <= max_pixels:
        return image
    size = _fitting(image.size, max_pixels)
    if image.mode in ("1", "P", "PA") or image.mode.startswith(("I", "F")):
        return _plain(image).resize(size, reducing_gap=2.0)
    return image.resize(size, reducing_gap=2.0)


def _plain(image: Image.Image) -> Image.Image:
    """RGB or L: deep greys scaled to 8 bits, transparency laid on white."""
    if image.mode in ("RGB", "L"):
        return image.copy()
    if image.mode.startswith(("I", "F")):
        return _eight_bits(image)
    if image.mode == "1":
        return image.convert("L")
    if image.has_transparency_data:
        clear = image.convert("RGBA")
        paper = Image.new("RGBA", clear.size, _WHITE)
        paper.alpha_composite(clear)
        return paper.convert("RGB")
    return image.convert("RGB")


def _eight_bits(image: Image.Image) -> Image.Image:
    import numpy

    grey = numpy.asarray(image, dtype=numpy.float32)
    brightest = float(grey.max(initial=0.0))
    scales = (65535.0,) if image.mode.startswith("I;16") else (1.0, 255.0, 65535.0)
    full = next((full for full in scales if brightest <= full), brightest)
    return Image.fromarray((grey.clip(0) * (255.0 / full)).astype(numpy.uint8))
