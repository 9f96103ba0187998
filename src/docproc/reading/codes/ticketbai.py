"""TicketBAI, the QR code of Basque invoices: an address with an identifier, both with a check sum."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlsplit

from docproc.reading.codes.amounts import amount, day, told

IDENTIFIER = re.compile(r"TBAI-([A-Z0-9]{9})-(\d\d)(\d\d)(\d\d)-([!-~]{13})-(\d{3})")
_HOSTS = ("batuz.eus", "gipuzkoa.eus", "araba.eus", "bizkaia.eus")


def read(text: str) -> dict[str, str] | None:
    """What the code says of the invoice; None when it is another code, or damaged."""
    text = text.strip()
    try:
        address = urlsplit(text)
        said = {name: values[0].strip() for name, values in parse_qs(address.query).items()}
    except ValueError:
        return None
    if not (address.hostname or "").endswith(_HOSTS) or not _holds(text, said.get("cr", "")):
        return None
    fields = {
        "invoice_number": said.get("s", "") + said.get("nf", ""),
        "total_amount": amount(said.get("i", "")),
    }
    return told((identifier(said.get("id", "")) or {}) | fields)


def identifier(text: str) -> dict[str, str] | None:
    """The issuer and the day in `TBAI-NIF-ddmmyy-signature-crc`; None when its check sum fails."""
    match = IDENTIFIER.fullmatch(text)
    if match is None or crc8(text[:-3]) != int(match[6]):
        return None
    return told({"vendor_tax_id": match[1], "date": day(2000 + int(match[4]), match[3], match[2])})


def crc8(text: str) -> int:
    """CRC-8 with polynomial 0x07, as the specification of TicketBAI has it."""
    value = 0
    for byte in text.encode():
        value ^= byte
        for _ in range(8):
            value = (value << 1 ^ 0x07 if value & 0x80 else value << 1) & 0xFF
    return value


def _holds(address: str, digits: str) -> bool:
    return digits.isdigit() and crc8(address.rpartition("&cr=")[0]) == int(digits)
