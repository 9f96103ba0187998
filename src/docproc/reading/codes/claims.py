"""What the codes of a document claim its fields to be, strongest source first."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from docproc.reading.codes import aamva, einvoice, epc, ticketbai, verifactu
from docproc.reading.page import Box, Code, PageText, Source

_READERS: tuple[tuple[str, Callable[[str], dict[str, str] | None]], ...] = (
    ("qr", verifactu.read),
    ("qr", ticketbai.read),
    ("qr", epc.read),
    ("pdf417", aamva.read),
)
_OF_PERSONS = ("pdf417",)
# Types that no code known here speaks of: an invoice stapled to a contract says nothing of the contract.
_SILENT = frozenset({"payslip", "contract", "bank_statement", "other"})


@dataclass(frozen=True, slots=True)
class Claim:
    """What one code says: values by field name, and for some how sure they are, or that they may be wrong."""

    what: str  # which source this is, as a key that applications translate: "qr_code"
    source: Source
    values: Mapping[str, str]
    page: int
    box: Box | None = None
    confidence: Mapping[str, float] = field(default_factory=dict)
    failed: frozenset[str] = frozenset()  # fields whose own check digits do not match
    short_years: bool = False  # its dates have no century: the print may know better


def claims(doc_type: str, pages: Sequence[PageText]) -> list[Claim]:
    """The claims on a document of this type: data attached to its file first, then codes as they come."""
    if doc_type in _SILENT:
        return []
    found = [claim for number, page in enumerate(pages) for claim in _of_page(doc_type, number, page, pages)]
    return sorted(found, key=lambda claim: claim.source != Source.EMBEDDED)


def _printed_identifier(number: int, page: PageText) -> Iterator[Claim]:
    """TicketBAI prints its identifier beside the code, and its check sum tells whether it was read well."""
    for match in ticketbai.IDENTIFIER.finditer(page.text):
        if values := ticketbai.identifier(match[0]):
            words = [word.box for word in page.words if match[0] in word.text]
            yield Claim("ticketbai", Source.CODE, values, number, words[0] if words else None)


def _of_page(doc_type: str, number: int, page: PageText, pages: Sequence[PageText]) -> Iterator[Claim]:
    for code in page.codes:
        if code.kind in einvoice.KINDS and doc_type != "id_card":
            if values := _invoice(code, pages):
                yield Claim("attached_invoice", Source.EMBEDDED, values, number)
        elif _speaks_of(doc_type, code) and (values := _values(code)):
            what = "qr_code" if code.kind == "qr" else "barcode"
            yield Claim(what, Source.CODE, values, number, code.box)
    if doc_type != "id_card":
        yield from _printed_identifier(number, page)


def _speaks_of(doc_type: str, code: Code) -> bool:
    of_person = code.kind in _OF_PERSONS
    return of_person if doc_type == "id_card" else not of_person or doc_type not in ("invoice", "receipt")


def _values(code: Code) -> dict[str, str] | None:
    for kind, read in _READERS:
        if code.kind == kind and (values := read(code.text)) is not None:
            return values
    return None


def _invoice(code: Code, pages: Sequence[PageText]) -> dict[str, str] | None:
    """The attached invoice; of a batch, the one whose number is on these pages."""
    invoices = einvoice.read(code.kind, code.text)
    if len(invoices) <= 1:
        return invoices[0] if invoices else None
    print_ = _signs(" ".join(page.text for page in pages))
    named = [
        each for each in invoices if (number := _signs(each.get("invoice_number", ""))) and number in print_
    ]
    return named[0] if len(named) == 1 else None


def _signs(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).lower()
