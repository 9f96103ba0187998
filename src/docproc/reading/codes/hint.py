"""What kind of document the codes of a page belong to, where they say."""

from __future__ import annotations

from collections.abc import Sequence

from docproc.reading import mrz
from docproc.reading.codes import aamva, einvoice, facturae, safe_xml, ticketbai, verifactu
from docproc.reading.folding import fold
from docproc.reading.page import Code

_SIMPLIFIED = ("factura simplificada", "simplified invoice", "faktura sinplifikatua", "ticket")


def type_hint(codes: Sequence[Code], text: str = "") -> str | None:
    """`invoice`, `receipt` or `id_card` where a code or the machine-readable zone in `text` tells, else None.

    Tickets carry the tax agency's QR code, too: a page that calls itself simplified is a receipt.
    """
    for code in codes:
        if code.kind in einvoice.KINDS:
            return _of_invoice(code)
        if code.kind == "pdf417" and aamva.read(code.text):
            return "id_card"
        if code.kind == "qr" and (verifactu.read(code.text) or ticketbai.read(code.text)):
            return "receipt" if any(word in fold(text) for word in _SIMPLIFIED) else "invoice"
    return "id_card" if "<<" in text and mrz.parse(text.splitlines()) else None


def _of_invoice(code: Code) -> str:
    root = safe_xml.parse(code.text) if code.kind == "facturae" else None
    return "receipt" if root is not None and facturae.is_simplified(root) else "invoice"
