"""Electronic invoices, whatever their standard: which one it is, and what its invoices say."""

from __future__ import annotations

from xml.etree.ElementTree import Element

from docproc.reading.codes import cii, facturae, safe_xml, ubl

_READERS = {"factur-x": cii.invoices, "facturae": facturae.invoices, "ubl": ubl.invoices}
KINDS = frozenset(_READERS)
_ROOTS = {
    "CrossIndustryInvoice": "factur-x",
    "CrossIndustryDocument": "factur-x",  # ZUGFeRD 1
    "Facturae": "facturae",
    "Invoice": "ubl",
    "CreditNote": "ubl",
}


def kind(root: Element) -> str | None:
    """Which standard it follows, None: another kind of XML."""
    found = _ROOTS.get(safe_xml.name(root))
    if found == "ubl" and "oasis" not in root.tag:
        return None
    return found


def invoices(kind: str, root: Element) -> list[dict[str, str]]:
    """What each invoice in it says, by the names of our fields; a batch may hold several."""
    return _READERS[kind](root)


def read(kind: str, text: str) -> list[dict[str, str]]:
    """The same, of the text of a code."""
    root = safe_xml.parse(text)
    return invoices(kind, root) if root is not None else []
