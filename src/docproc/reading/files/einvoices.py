"""Electronic invoices sent as XML: drawn as pages that people can read, with the XML attached."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from xml.etree.ElementTree import Element

import pikepdf
from reportlab.pdfgen.canvas import Canvas

from docproc.errors import UnreadableFileError
from docproc.reading.codes import einvoice, safe_xml
from docproc.reading.codes.amounts import amount
from docproc.reading.files.trouble import Code, damaged

_SIZE = (595.0, 842.0)
_LEFT, _RIGHT, _TOP, _STEP = 56.0, 539.0, 780.0, 18.0
_MOST_LINES = 28  # of an invoice, on its page
_SPANISH = {
    "title": "FACTURA", "invoice_number": "Número de factura", "date": "Fecha de factura",
    "due_date": "Fecha de vencimiento", "vendor_name": "Emisor", "vendor_tax_id": "NIF emisor",
    "customer_name": "Cliente", "customer_tax_id": "NIF cliente", "iban": "IBAN", "currency": "Moneda",
    "net_amount": "Base imponible", "tax_amount": "Total IVA", "total_amount": "Total factura",
    "line": "Concepto", "quantity": "Cantidad", "amount": "Importe", "more": "… y {} líneas más",
}  # fmt: skip
_ENGLISH = {
    "title": "INVOICE", "invoice_number": "Invoice number", "date": "Invoice date", "due_date": "Due date",
    "vendor_name": "Seller", "vendor_tax_id": "Seller VAT ID", "customer_name": "Bill to",
    "customer_tax_id": "Customer VAT ID", "iban": "IBAN", "currency": "Currency",
    "net_amount": "Net amount", "tax_amount": "Total tax", "total_amount": "Invoice total",
    "line": "Description", "quantity": "Quantity", "amount": "Amount", "more": "… and {} more lines",
}  # fmt: skip
_HEAD = ("vendor_name", "vendor_tax_id", "customer_name", "customer_tax_id", "invoice_number", "date",
         "due_date", "iban", "currency")  # fmt: skip
_FOOT = ("net_amount", "tax_amount", "total_amount")

# Where an invoice's lines are, and in each of them its text, quantity and amount.
_Paths = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]
_LINES: dict[str, tuple[_Paths, ...]] = {
    "factur-x": ((
        ("SupplyChainTradeTransaction", "IncludedSupplyChainTradeLineItem"),
        ("SpecifiedTradeProduct", "Name"),
        ("SpecifiedLineTradeDelivery", "BilledQuantity"),
        ("SpecifiedLineTradeSettlement", "SpecifiedTradeSettlementLineMonetarySummation", "LineTotalAmount"),
    ),),
    "facturae": ((("Items", "InvoiceLine"), ("ItemDescription",), ("Quantity",), ("GrossAmount",)),),
    "ubl": (
        (("InvoiceLine",), ("Item", "Name"), ("InvoicedQuantity",), ("LineExtensionAmount",)),
        (("CreditNoteLine",), ("Item", "Name"), ("CreditedQuantity",), ("LineExtensionAmount",)),
    ),
}  # fmt: skip


def draw(source: Path, target: Path) -> None:
    """Write the invoice as PDF to `target`, a page for each invoice of a batch."""
    if source.stat().st_size > safe_xml.MOST_BYTES:
        raise UnreadableFileError(
            f"the XML invoice is larger than {safe_xml.MOST_BYTES // 1_000_000} MB",
            code=Code.TOO_LARGE,
            remedy="Send it without the files attached to it",
        )
    content = source.read_bytes()
    root = safe_xml.parse(content)
    kind = einvoice.kind(root) if root is not None else None
    invoices = einvoice.invoices(kind, root) if root is not None and kind else []
    if root is None or kind is None or not invoices:
        raise damaged("XML invoice")
    words = _SPANISH if kind == "facturae" else _ENGLISH
    sheet = BytesIO()
    canvas = Canvas(sheet, pagesize=_SIZE, invariant=1)
    for fields, part in zip(invoices, _parts(kind, root), strict=True):
        _page(canvas, words, fields, list(_lines(kind, part)))
    canvas.save()
    _attach(sheet, content, target)


def _attach(sheet: BytesIO, content: bytes, target: Path) -> None:
    with pikepdf.open(sheet) as pdf:
        pdf.attachments["invoice.xml"] = pikepdf.AttachedFileSpec(
            pdf,
            content,
            description="",
            filename="invoice.xml",
            mime_type="application/xml",
            creation_date="",
            mod_date="",
        )
        pdf.save(target, deterministic_id=True)


def _parts(kind: str, root: Element) -> list[Element]:
    return list(safe_xml.all_of(root, "Invoices", "Invoice")) if kind == "facturae" else [root]


def _lines(kind: str, invoice: Element) -> Iterator[tuple[str, str, str]]:
    for where, *parts in _LINES[kind]:
        for line in safe_xml.all_of(invoice, *where):
            text, quantity, price = (safe_xml.text(line, *part) for part in parts)
            yield text, quantity, price


def _page(
    canvas: Canvas, words: dict[str, str], fields: dict[str, str], lines: Sequence[tuple[str, str, str]]
) -> None:
    y = _write(canvas, _TOP, [(_LEFT, words["title"])], 16)
    for name in _HEAD:
        if value := fields.get(name):
            y = _write(canvas, y, [(_LEFT, f"{words[name]}:"), (_LEFT + 130, value)])
    if lines:
        y = _row(canvas, y - _STEP, words["line"], words["quantity"], words["amount"])
    for text, quantity, price in lines[:_MOST_LINES]:
        y = _row(canvas, y, text[:70], quantity, amount(price) or price)
    if len(lines) > _MOST_LINES:
        y = _write(canvas, y, [(_LEFT, words["more"].format(len(lines) - _MOST_LINES))])
    y -= _STEP
    for name in _FOOT:
        if value := fields.get(name):
            y = _row(canvas, y, words[name], "", f"{value} {fields.get('currency', '')}".strip())
    canvas.showPage()


def _row(canvas: Canvas, y: float, text: str, quantity: str, price: str) -> float:
    canvas.setFont("Helvetica", 10)
    canvas.drawRightString(_RIGHT - 110, y, _latin(quantity))
    canvas.drawRightString(_RIGHT, y, _latin(price))
    return _write(canvas, y, [(_LEFT, text)])


def _write(canvas: Canvas, y: float, parts: Sequence[tuple[float, str]], size: float = 10) -> float:
    canvas.setFont("Helvetica", size)
    for x, text in parts:
        canvas.drawString(x, y, _latin(text)[:100])
    return y - max(_STEP, 1.6 * size)


def _latin(text: str) -> str:
    """The fonts every reader has know no other writing; the XML keeps the name as it is."""
    return text.encode("cp1252", "replace").decode("cp1252")
