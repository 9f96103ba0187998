"""The QR code of Spanish invoices (VeriFactu): an address at the tax agency that names the invoice."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from docproc.reading.codes.amounts import amount, day, told

_HOSTS = re.compile(r"(?:\w+\.)?(?:agenciatributaria\.gob\.es|aeat\.es)")
_PATH = re.compile(r"/wlpl/TIKE-CONT/ValidarQR(?:NoVerifactu)?/?", re.IGNORECASE)


def read(text: str) -> dict[str, str] | None:
    """What the code says of the invoice; None when it is another code."""
    try:
        address = urlsplit(text.strip())
        if not _HOSTS.fullmatch(address.hostname or "") or not _PATH.fullmatch(address.path):
            return None
        told_there = {name: values[0].strip() for name, values in parse_qs(address.query).items()}
    except ValueError:
        return None
    issued = re.fullmatch(r"(\d{1,2})-(\d{1,2})-(\d{4})", told_there.get("fecha", ""))
    return told(
        {
            "vendor_tax_id": told_there.get("nif", "").upper(),
            "invoice_number": told_there.get("numserie", ""),
            "date": day(issued[3], issued[2], issued[1]) if issued else "",
            "total_amount": amount(told_there.get("importe", "")),
        }
    )
