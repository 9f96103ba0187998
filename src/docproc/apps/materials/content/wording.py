"""The same words in different printings: what a comparison of two texts must not see."""

from __future__ import annotations

import re
import unicodedata

# The hyphen at the end of a line, where the word goes on in the next one.
_BROKEN_WORD = re.compile(r"(?<=\w)[-\u00ad\u2010]\s*\n\s*(?=[a-záéíóúüñç])")
_TILDE = "\u0303"
_SAME_SIGNS = str.maketrans(
    {
        "\u2018": "'", "\u2019": "'", "\u201c": '"', "\u201d": '"', "«": '"', "»": '"',
        "\u2013": "-", "\u2014": "-", "\u2010": "-", "\u2011": "-", "\u00ad": None,
    }
)  # fmt: skip


def mend(text: str) -> str:
    """The text in one line: broken words joined, white space single."""
    return " ".join(_BROKEN_WORD.sub("", text).split())


def normal(text: str) -> str:
    """What two printings of the same words have in common: no breaks, case or typographic signs."""
    return mend(unicodedata.normalize("NFKC", mend(text)).translate(_SAME_SIGNS)).casefold()


def in_dictionary(text: str) -> str:
    """What words are sorted by: accents do not count, but ñ is a letter of its own, after n."""
    parts = unicodedata.normalize("NFD", normal(text))
    return "".join(sign for sign in parts if sign == _TILDE or not unicodedata.combining(sign))
