"""Why a person should look at a field: what the machine noted in English, in the person's language."""

from __future__ import annotations

import re

from docproc.apps.documents.review.checking import readable_rule
from docproc.apps.documents.texts import text

_RULE = re.compile(r"(?P<rule>.+) does not hold: ")
_DISAGREE = re.compile(r"(?P<first>.+?) says (?P<value>.+), (?P<second>.+?) says (?P<other>.+)")
_CHECK_DIGITS = re.compile(r"is (?:not|neither) a valid|check digit", re.IGNORECASE)

# What says something about a document, as the extraction names it.
SPEAKERS = {
    "the page": "la página",
    "the attached e-invoice": "la factura electrónica adjunta",
    "another attached e-invoice": "otra factura electrónica adjunta",
    "the barcode": "el código de barras",
    "another barcode": "otro código de barras",
    "the QR code": "el código QR",
    "another QR code": "otro código QR",
    "the TicketBAI identifier": "el identificador TicketBAI",
    "the machine-readable zone": "la zona de lectura mecánica",
}


def told(reason: str | None, language: str) -> str:
    """Nothing for no reason; what nobody translated becomes a general word in Spanish."""
    if not reason:
        return ""
    if rule := _RULE.match(reason):
        return text(language, "doubt_rule", rule=readable_rule(rule["rule"], language))
    if language == "en":
        return reason
    if said := _DISAGREE.fullmatch(reason):
        first, second = (SPEAKERS.get(said[name], "otra fuente") for name in ("first", "second"))
        return text(
            language, "doubt_sources", first=first, value=said["value"], second=second, other=said["other"]
        )
    return text(language, "doubt_check_digits" if _CHECK_DIGITS.search(reason) else "doubt_general")
