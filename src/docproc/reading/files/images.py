"""Pictures: how many pages, how large, and whether the file is whole, without decoding what is not needed."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pillow_heif
from PIL import Image, TiffImagePlugin

from docproc.errors import UnreadableFileError
from docproc.reading.files.found import Pages
from docproc.reading.files.kinds import Kind
from docproc.reading.files.trouble import Code, damage_named, damaged, too_many_pages

_FORMATS = {
    Kind.TIFF: "TIFF",
    Kind.PNG: "PNG",
    Kind.JPEG: "JPEG",
    Kind.WEBP: "WEBP",
    Kind.HEIC: "HEIF",
    Kind.BMP: "BMP",
    Kind.GIF: "GIF",
}


def pages_of(path: Path, kind: Kind, page_pixels: int, most_pages: int) -> Pages:
    """Every frame of a TIFF is a page; of the other kinds the first frame is the only one."""
    if most_pages < 1:
        raise too_many_pages(most_pages)
    with _opened(path, kind) as image:
        _check_pixels(image, page_pixels)
        if kind is Kind.TIFF:
            return _tiff_pages(path, image, page_pixels, most_pages)
        if not _is_whole(path, kind, image):
            raise damaged("picture")
    return Pages(path, 1)


def shorter_side(path: Path, kind: Kind) -> int:
    with _opened(path, kind) as image:
        return min(image.size)


@contextmanager
def _opened(path: Path, kind: Kind) -> Iterator[Image.Image]:
    """The picture by its header. Pillow's own limit on pixels is lifted: ours is checked before decoding."""
    if kind is Kind.HEIC:
        pillow_heif.register_heif_opener()
    pillows_limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        with warnings.catch_warnings(), damage_named("picture", Image.DecompressionBombError):
            warnings.simplefilter("ignore")  # about odd metadata
            with Image.open(path, formats=[_FORMATS[kind]]) as image:
                yield image
    finally:
        Image.MAX_IMAGE_PIXELS = pillows_limit


def _check_pixels(image: Image.Image, page_pixels: int) -> None:
    width, height = image.size
    if width * height > page_pixels:
        raise UnreadableFileError(
            f"the picture has {width} x {height} pixels, more than the {page_pixels / 1e6:g} million allowed",
            code=Code.TOO_LARGE_IMAGE,
            remedy="Send it at a lower resolution; 300 dots per inch are plenty",
        )
    if not width or not height:
        raise damaged("picture", "without a single pixel")


def _is_whole(path: Path, kind: Kind, image: Image.Image) -> bool:
    """Whether the end was not cut off: by sums or sizes in the file, by decoding where only that tells."""
    size = path.stat().st_size
    match kind:
        case Kind.PNG:
            image.verify()
        case Kind.JPEG:
            image.draft("RGB", (1, 1))  # the smallest scale the decoder offers
            image.load()
        case Kind.GIF:
            image.load()
        case Kind.WEBP:
            with path.open("rb") as file:
                return size >= 8 + int.from_bytes(file.read(8)[4:], "little")
        case Kind.BMP:
            return size >= _bmp_end(image)
        case _:
            return _boxes_fit(path, size)
    return True


def _bmp_end(image: Image.Image) -> int:
    tile = image.tile[0]  # type: ignore[attr-defined] # opened from a file
    if tile[0] != "raw":  # run-length encoded: the end is not known beforehand
        image.load()
        return 0
    return int(tile[2] + tile[3][1] * image.height)


def _boxes_fit(path: Path, size: int) -> bool:
    """HEIC is a chain of boxes, each beginning with its size."""
    place = 0
    with path.open("rb") as file:
        while place < size:
            file.seek(place)
            head = file.read(16)
            length = int.from_bytes(head[:4], "big")
            if length == 0:  # up to the end
                return True
            if length == 1:
                length = int.from_bytes(head[8:16], "big")
            if length < 8:
                return False
            place += length
    return place == size


def _tiff_pages(path: Path, image: Image.Image, page_pixels: int, most_pages: int) -> Pages:
    size = path.stat().st_size
    count, lost, notes = 0, [], []
    while True:
        _check_pixels(image, page_pixels)
        count += 1
        if count > most_pages:
            raise too_many_pages(most_pages)
        if not _strips_fit(image, size):
            lost.append(count)
        try:
            with damage_named("picture"):
                image.seek(count)
        except UnreadableFileError as error:
            if not isinstance(error.__cause__, EOFError):
                notes.append(f"damaged: nothing after page {count} can be read")
            break
    if len(lost) == count:
        raise damaged("picture")
    if lost:
        notes.append(f"damaged: these pages are cut off: {', '.join(map(str, lost[:10]))}")
    return Pages(path, count, tuple(notes))


def _strips_fit(image: Image.Image, size: int) -> bool:
    tags = image.tag_v2  # type: ignore[attr-defined] # a TIFF
    for offsets, lengths in (
        (TiffImagePlugin.STRIPOFFSETS, TiffImagePlugin.STRIPBYTECOUNTS),
        (TiffImagePlugin.TILEOFFSETS, TiffImagePlugin.TILEBYTECOUNTS),
    ):
        if offsets in tags:
            starts, counts = tags[offsets], tags.get(lengths) or ()
            ends = [start + count for start, count in zip(starts, counts, strict=False)]
            return max(ends or starts, default=0) <= size
    return False
