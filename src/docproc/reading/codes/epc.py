"""The European payment QR code (EPC069-12): the account an invoice wants to be paid to."""

from __future__ import annotations

from docproc.reading.codes.amounts import told


def read(text: str) -> dict[str, str] | None:
    """The account. Its amount may be a part payment and its beneficiary a factor: they are not claimed."""
    lines = [line.strip() for line in text.replace("\r\n", "\n").split("\n")]
    if len(lines) < 7 or lines[0] != "BCD" or lines[3] != "SCT":
        return None
    return told({"iban": lines[6].replace(" ", ""), "currency": "EUR"})
