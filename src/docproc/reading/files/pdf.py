"""PDF files: how many pages can be read, after decrypting or repairing a copy where needed."""

from __future__ import annotations

import logging
import os
import warnings
from dataclasses import dataclass
from pathlib import Path

import pikepdf
import pypdfium2
import pypdfium2.raw as pdfium

from docproc.errors import UnreadableFileError
from docproc.reading.files.found import Pages
from docproc.reading.files.trouble import (
    Code,
    damage_named,
    damaged,
    encrypted,
    too_many_pages,
    wrong_password,
)

REPAIRED = "repaired: the cross-reference table was damaged"
CUT_OFF = "damaged: the end of the file is missing, and pages may be with it"
DECRYPTED = "decrypted with the password that was sent"

logging.getLogger("pikepdf").setLevel(logging.CRITICAL)  # it describes every flaw of a damaged file


@dataclass(frozen=True, slots=True)
class _Opened:
    """What PDFium makes of a file."""

    count: int = 0
    lost: tuple[int, ...] = ()  # pages that are counted but cannot be found
    error: int = pdfium.FPDF_ERR_SUCCESS

    @property
    def readable(self) -> int:
        return self.count - len(self.lost)


def pages_of(path: Path, copy: Path, password: str | None, most_pages: int) -> Pages:
    """Count the pages; `copy` is where a decrypted or repaired file may be written."""
    opened = _open(path, most_pages)
    if opened.error == pdfium.FPDF_ERR_PASSWORD:
        return _decrypted(path, copy, password, most_pages)
    if opened.error == pdfium.FPDF_ERR_SECURITY:
        raise encrypted("PDF", "Protection of its kind cannot be opened here; send it without")
    if opened.count and not opened.lost:
        return Pages(path, opened.count, _cut_note(path))
    return _repaired(path, copy, opened, password, most_pages)


def _open(path: Path, most_pages: int) -> _Opened:
    try:
        with pypdfium2.PdfDocument(path) as pdf:
            count = len(pdf)
            if count > most_pages:
                raise too_many_pages(most_pages)
            return _Opened(count, tuple(page for page in range(count) if not _is_there(pdf, page)))
    except pypdfium2.PdfiumError as error:
        return _Opened(error=error.err_code or pdfium.FPDF_ERR_UNKNOWN)


def _is_there(pdf: pypdfium2.PdfDocument, page: int) -> bool:
    return bool(pdfium.FPDF_GetPageSizeByIndexF(pdf, page, pdfium.FS_SIZEF()))


def _cut_note(path: Path) -> tuple[str, ...]:
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - 4096), os.SEEK_SET)
        return () if b"startxref" in file.read() else (CUT_OFF,)


def _decrypted(path: Path, copy: Path, password: str | None, most_pages: int) -> Pages:
    if not password:
        raise encrypted("PDF")
    try:
        with pypdfium2.PdfDocument(path, password=password.replace("\x00", "")) as pdf:
            if len(pdf) > most_pages:
                raise too_many_pages(most_pages)
            pdf.save(copy, flags=pdfium.FPDF_REMOVE_SECURITY)
    except pypdfium2.PdfiumError as error:
        if error.err_code == pdfium.FPDF_ERR_PASSWORD:
            raise wrong_password("PDF") from error
        raise damaged("PDF") from error
    opened = _open(copy, most_pages)
    if not opened.readable:
        raise damaged("PDF")
    return Pages(copy, opened.count, (DECRYPTED, *_lost_note(opened)))


def _repaired(path: Path, copy: Path, opened: _Opened, password: str | None, most_pages: int) -> Pages:
    """The better of the file as it is and what qpdf can rebuild of it."""
    try:
        _rebuild(path, copy, password)
        repaired = _open(copy, most_pages)
    except UnreadableFileError as error:
        copy.unlink(missing_ok=True)
        if error.code != Code.DAMAGED or not opened.readable:
            raise
        repaired = _Opened()
    if repaired.readable > opened.readable:
        return Pages(copy, repaired.count, (REPAIRED, *_cut_note(path), *_lost_note(repaired)))
    copy.unlink(missing_ok=True)
    if not opened.readable:
        raise damaged("PDF", "without pages, or they are lost")
    return Pages(path, opened.count, (*_cut_note(path), *_lost_note(opened)))


def _rebuild(path: Path, copy: Path, password: str | None) -> None:
    try:
        with warnings.catch_warnings(), damage_named("PDF", pikepdf.PdfError):
            warnings.simplefilter("ignore")  # that the password was not needed
            with pikepdf.open(path, password=password or "") as pdf:
                pdf.save(copy)
    except pikepdf.PasswordError as error:
        raise (wrong_password("PDF") if password else encrypted("PDF")) from error


def _lost_note(opened: _Opened) -> tuple[str, ...]:
    if not opened.lost:
        return ()
    named = ", ".join(str(page + 1) for page in opened.lost[:10])
    more = "" if len(opened.lost) <= 10 else f" and {len(opened.lost) - 10} more"
    return (f"damaged: of these pages nothing is left: {named}{more}",)
