"""Writing reduced to what matching needs: lower case, no accents, one character for each of the original."""

from __future__ import annotations

import re
import unicodedata

_ODD = str.maketrans(
    {
        "º": "o", "°": "o", "ª": "a", "ß": "s", "æ": "a", "œ": "o", "ø": "o", "ł": "l", "đ": "d", "ı": "i",
        "’": "'", "‘": "'", "´": "'", "`": "'", "“": '"', "”": '"', "–": "-", "—": "-", "−": "-", "‐": "-",
        "：": ":", "，": ",", "．": ".", "（": "(", "）": ")", "＃": "#",
        "\u00a0": " ", "\u202f": " ", "\u2009": " ",
    }
)  # fmt: skip
_NOT_WORD = re.compile(r"[^a-z0-9€$£<#%\n]+")


class _Plain(dict[int, str]):
    """Each character's plain form, found when it is first met."""

    def __missing__(self, code: int) -> str:
        char = chr(code)
        base = unicodedata.normalize("NFD", char)[0].lower().translate(_ODD)
        self[code] = base if len(base) == 1 else char
        return self[code]


_PLAIN = _Plain()


def fold(text: str) -> str:
    """Lower case without accents, character for character: places found in it are places in `text`."""
    return text.lower() if text.isascii() else text.translate(_PLAIN)


def phrases(text: str) -> str:
    """Folded words between single spaces, padded: `" net pay " in phrases(text)` matches whole words."""
    return " " + _NOT_WORD.sub(" ", fold(text)).replace("\n", " \n ") + " "
