"""Electronic invoices attached to a PDF: Factur-X and ZUGFeRD, Facturae, UBL."""

from __future__ import annotations

import pypdfium2
import pypdfium2.raw as pdfium

from docproc.reading.codes import einvoice, safe_xml
from docproc.reading.page import Code

_MOST_FILES = 20
_SUFFIXES = (".xml", ".xsig")


def to(document: pypdfium2.PdfDocument) -> tuple[Code, ...]:
    """The invoices attached to the file; what else may be attached to it says nothing."""
    count = min(pdfium.FPDFDoc_GetAttachmentCount(document.raw), _MOST_FILES)
    codes = [code for number in range(count) if (code := _code(document, number))]
    return tuple(codes)


def _code(document: pypdfium2.PdfDocument, number: int) -> Code | None:
    try:
        file = document.get_attachment(number)
        if not file.get_name().lower().endswith(_SUFFIXES):
            return None
        content = bytes(file.get_data())
    except (pypdfium2.PdfiumError, MemoryError, ValueError, UnicodeDecodeError):  # damaged: as good as none
        return None
    return as_code(content)


def as_code(content: bytes) -> Code | None:
    """The invoice as it is kept with its page; None when it is not one."""
    root = safe_xml.parse(content)
    kind = einvoice.kind(root) if root is not None else None
    if root is None or kind is None:
        return None
    text = safe_xml.light(root)
    return Code(kind, text) if text is not None else None
