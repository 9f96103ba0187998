"""Cleans what a PDF gives as text, and counts its words."""

from __future__ import annotations

import re
import unicodedata

# All control and format characters that mean nothing in a text; line feeds and tabs do.
_CONTROLS = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufffe\ufffd]"
)
_NUMBER_OF_PAGE = re.compile(
    r"^[\s\-–—|.·]*(?:(?:p[áa]gina|p[áa]g\.?|page)\s*)?\d{1,4}(?:\s*(?:de|of|/)\s*\d{1,4})?[\s\-–—|.·]*$",
    re.IGNORECASE,
)
_MANY_BLANK_LINES = re.compile(r"\n{3,}")


def clean(page: str) -> str:
    """The page's text without control characters, its number and empty space; lines stay lines."""
    text = _CONTROLS.sub(
        "", unicodedata.normalize("NFC", page).replace("\r\n", "\n").replace("\r", "\n").replace("\xa0", " ")
    )
    lines = [line.rstrip() for line in text.replace("\t", "    ").split("\n")]
    filled = [index for index, line in enumerate(lines) if line.strip()]
    # Only at the edges of a page: elsewhere a number alone may be part of a table.
    for edge in {filled[0], filled[-1]} if len(filled) > 1 else ():
        if _NUMBER_OF_PAGE.match(lines[edge]):
            lines[edge] = ""
    return _MANY_BLANK_LINES.sub("\n\n", "\n".join(lines)).strip("\n")


def count_words(text: str) -> int:
    """Whatever stands between white space and has a letter or a digit in it."""
    return sum(1 for word in text.split() if any(sign.isalnum() for sign in word))
