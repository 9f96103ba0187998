"""The PDF417 barcode of driving licences of the United States and Canada (AAMVA card design standard)."""

from __future__ import annotations

import re

from docproc.reading.codes.amounts import day, told

_ELEMENT = re.compile(r"^(?:DL|ID)?(D[A-Z]{2}|Z[A-Z]{2})(.*)$")
_SUBFILE = re.compile(r"^.*?(?:DL|ID)(?=D[A-Z]{2})")
_SEXES = {"1": "M", "2": "F", "9": "X", "M": "M", "F": "F", "X": "X"}
_EMPTY = frozenset({"NONE", "UNAVL", "UNAVAIL", "N", ""})


def read(text: str) -> dict[str, str] | None:
    """What the barcode says of its bearer; None when it is another barcode."""
    if not re.match(r"\s*@.{0,4}(?:ANSI |AAMVA)", text, re.DOTALL):
        return None
    said = _elements(text)
    given, surname = _names(said)
    return told(
        {
            "full_name": " ".join(part for part in (given, surname) if part),
            "given_name": given,
            "surname": surname,
            "id_number": said.get("DAQ", ""),
            "date_of_birth": _day(said.get("DBB", "")),
            "expiry_date": _day(said.get("DBA", "")),
            "sex": _SEXES.get(said.get("DBC", ""), ""),
        }
    )


def _elements(text: str) -> dict[str, str]:
    said: dict[str, str] = {}
    for line in re.split(r"[\n\r\x1e\x1c]+", text):
        # The first element follows the header and the subfile's name on one line.
        line = _SUBFILE.sub("", line) if "ANSI" in line or "AAMVA" in line else line
        if match := _ELEMENT.match(line.strip()):
            said.setdefault(match[1], match[2].strip().rstrip(","))
    return {name: value for name, value in said.items() if value.upper() not in _EMPTY or name == "DBC"}


def _names(said: dict[str, str]) -> tuple[str, str]:
    """The first versions wrote `LAST,FIRST,MIDDLE` in one element, the second had one for all given names."""
    if "DCS" in said:
        parts = [said.get("DAC") or said.get("DCT", ""), said.get("DAD", "")]
        return _spaced(" ".join(filter(None, parts))), _spaced(said["DCS"])
    last, _, given = said.get("DAA", "").partition(",")
    return _spaced(given), _spaced(last)


def _spaced(name: str) -> str:
    return " ".join(re.split(r"[\s,$@]+", name.strip(" ,$@")))


def _day(text: str) -> str:
    """American barcodes begin with the month, Canadian ones with the year."""
    if not re.fullmatch(r"\d{8}", text):
        return ""
    return day(text[4:], text[:2], text[2:4]) or day(text[:4], text[4:6], text[6:])
