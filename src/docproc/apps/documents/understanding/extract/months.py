"""The months as papers of Europe write them: CLDR's names in each language, and what people write besides."""

from __future__ import annotations

from babel import Locale

from docproc.reading.folding import fold

# Of two languages that mean different months by one word, the first counts.
LANGUAGES = ("es", "en", "ca", "gl", "eu", "fr", "pt", "it", "de", "nl", "ms")
# Short forms that CLDR does not have, by month.
_BESIDES = (
    "genn jän",
    "fev febr",
    "marz mrz mär mac marco",
    "",
    "mag",
    "giu",
    "juil julai",
    "agos aou ogos",
    "sep sept set setiembre",
    "okt out",
    "",
    "dis disember",
)


def _months() -> dict[str, int]:
    found: dict[str, int] = {}
    for language in LANGUAGES:
        forms = Locale.parse(language).months["stand-alone"]
        for width in ("wide", "abbreviated"):
            for number, name in forms[width].items():
                word = fold(name).strip(". ")
                if word.isalpha():
                    found.setdefault(word, number)
                    if language == "eu":  # "otsailaren 12a": of the month
                        found.setdefault(f"{word}ren", number)
    for number, words in enumerate(_BESIDES, start=1):
        for word in words.split():
            found.setdefault(word, number)
    return found


# By name, folded.
MONTHS = _months()
