"""What on the page could be a value: amounts, dates, numbers, tax ids and accounts, each with its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from docproc.apps.documents.understanding import validate
from docproc.apps.documents.understanding.extract import normalise
from docproc.apps.documents.understanding.extract.layout import Document, Line, Stretch
from docproc.apps.documents.understanding.extract.normalise import Conventions
from docproc.reading.folding import fold


@dataclass(frozen=True, slots=True)
class Candidate:
    """A possible value. `merit` is what its looks are worth: check digits, cents, a currency sign."""

    value: str
    at: Stretch
    merit: float = 0.0


def amounts(line: Line, how: Conventions) -> Iterator[Candidate]:
    taken = normalise.dates(line.folded, how.day_first)
    for match in normalise.AMOUNT.finditer(line.folded):
        start, end = match.span("number")
        if any(start < stop and end > begin for begin, stop, _ in taken):
            continue
        number = match["number"]
        value = normalise.decimal((match["sign"] or "") + number + (match["close"] or ""), how.decimal_comma)
        if value is None:
            continue
        sign = match["before"] or match["before2"] or match["after"]
        cents = bool(re.search(r"[.,]\s?\d{2}$", number))
        merit = 0.3 * cents + 0.4 * bool(sign) - (0.0 if cents or sign else 1.5) - 1.5 * (float(value) == 0)
        yield Candidate(value, line.stretch(match.start(), match.end()), merit)


_INTEGER = re.compile(
    r"(?<![\w.,/#+-])-?(?:\d{1,3}(?:[. ]\d{3})+|\d{1,3}(?:,\d{3})+|\d{1,9})(?![\w%]|[.,/:-]\d|\s?%)"
)


def integers(line: Line, how: Conventions) -> Iterator[Candidate]:
    """Whole numbers: `12`, `1.200`; not a part of an amount with cents, a date or a percentage."""
    taken = normalise.dates(line.folded, how.day_first)
    for match in _INTEGER.finditer(line.folded):
        start, end = match.span()
        if any(start < stop and end > begin for begin, stop, _ in taken):
            continue
        value = int(re.sub(r"[^\d-]", "", match[0]))
        yield Candidate(str(value), line.stretch(start, end))


def dates(line: Line, how: Conventions) -> Iterator[Candidate]:
    for start, end, value in normalise.dates(line.folded, how.day_first):
        yield Candidate(value, line.stretch(start, end), 0.0)


_TAX_IDS = re.compile(
    r"(?<![\w])(?:es[- ]?)?(?:[a-hjnp-suvwxyzklm][-. ]?\d{2}\.?\d{3}\.?\d{2}[-. ]?[0-9a-z]"
    r"|\d{1,2}\.?\d{3}\.?\d{3}[-. ]?[a-z])(?![\w])"
    r"|(?<![\w])(?:at|be|bg|cy|cz|de|dk|ee|el|fi|fr|hr|hu|ie|it|lt|lu|lv|mt|nl|pl|pt|ro|se|si"
    r"|sk)[ -]?[0-9a-z]{8,12}(?![\w])"
)
# British VAT and insurance numbers, American employer and social security numbers: no check digit is known.
_OTHER_TAX_IDS = re.compile(
    r"(?<![\w/-])(?:gb ?\d{3} ?\d{4} ?\d{2}|\d{2}-\d{7}|\d{3}-\d{2}-\d{4}"
    r"|[a-z]{2} ?\d{2} ?\d{2} ?\d{2} ?[a-d])(?![\w/-])"
)


def tax_ids(line: Line, how: Conventions) -> Iterator[Candidate]:
    for match in _TAX_IDS.finditer(line.folded):
        at = line.stretch(*match.span())
        if sum(map(str.isdigit, at.text)) < 7:
            continue
        yield Candidate(at.text, at, 1.6 if validate.holds("tax_id", at.text) else -0.8)
    for match in _OTHER_TAX_IDS.finditer(line.folded):
        at = line.stretch(*match.span())
        yield Candidate(at.text, at, 0.0)


_IBAN = re.compile(
    r"(?<![a-z0-9])[a-z]{2}\d{2}(?:[ -]?[a-z0-9*]{4}){3,7}(?:[ -]?[a-z0-9*]{1,3})?(?![a-z0-9])"
)


def ibans(line: Line, how: Conventions) -> Iterator[Candidate]:
    for match in _IBAN.finditer(line.folded):
        text = match[0]
        while len(text) > 15 and not validate.holds("iban", text) and re.search(r"[ -]\S+$", text):
            text = re.sub(r"[ -]\S+$", "", text)
        good = validate.holds("iban", text)
        text = text if good else match[0]
        at = line.stretch(match.start(), match.start() + len(text))
        yield Candidate(at.text, at, 1.5 if good else -1.0)


_NUMBER = re.compile(
    r"(?<![a-z0-9])(?:[a-z]{1,6}[-./ ]?)?[a-z0-9]*\d[a-z0-9]*(?:[-/._][a-z0-9]+)*(?![a-z0-9])"
)
# A series, perhaps with the year, then the number: `A/24 003412`, `A/ 2401946`, `1 - 000518`; not a street.
_SERIES_NUMBER = re.compile(
    r"(?<![a-z0-9/.-])(?!c/)(?:[a-z]{1,4}[/-]\d{2,4} \d{3,7}|[a-z]{1,3}/ \d{3,8}|\d{1,2} - \d{4,8})"
    r"(?![a-z0-9/]|[.,]\d)"
)
_SPACED_NUMBER = re.compile(r"(?<![a-z0-9.,])\d{1,3}(?: \d{3}){2,}(?![a-z0-9.,])")


_PLACE = re.compile(r"(?<![a-z0-9/.-])\d{5},? \(?[a-z]{3}")  # a postcode and its town
_STATE = re.compile(r"[a-z]{2} \d{5}")  # "NC 27601"


def numbers(line: Line, how: Conventions) -> Iterator[Candidate]:
    taken = [(start, end) for start, end, _ in normalise.dates(line.folded, how.day_first)]
    for pattern in (_SPACED_NUMBER, _SERIES_NUMBER, _NUMBER):
        for match in pattern.finditer(line.folded):
            start, end = match.span()
            if pattern is _NUMBER and (prefix := re.match(r"[a-z]+ ", match[0])):
                # "INV 2026" is one number, "de 2026" and "page 2" are not.
                keep = line.text[start : start + prefix.end() - 1].isupper() and prefix.end() <= 5
                start += 0 if keep and not _is_label_word(prefix[0]) else prefix.end()
            if any(start < stop and end > begin for begin, stop in taken):
                continue
            taken.append((start, end))
            at = line.stretch(start, end)
            digits = sum(map(str.isdigit, at.text))
            place = 1.0 * bool(_PLACE.match(line.folded, max(end - 5, 0)) or _STATE.fullmatch(fold(at.text)))
            yield Candidate(at.text, at, min(digits, 6) * 0.1 - 0.6 * (digits < 3) - place)


def _is_label_word(word: str) -> bool:
    return word.strip() in {
        "no",
        "nr",
        "num",
        "n",
        "de",
        "del",
        "fra",
        "page",
        "pag",
        "dni",
        "nif",
        "nie",
        "cif",
        "id",
        "lic",
        "date",
    }


FINDERS: dict[str, Callable[[Line, Conventions], Iterator[Candidate]]] = {
    "amount": amounts,
    "integer": integers,
    "date": dates,
    "number": numbers,
    "tax_id": tax_ids,
    "iban": ibans,
}


def find(kind: str, document: Document, how: Conventions) -> list[Candidate]:
    finder = FINDERS[kind]
    return [candidate for line in document.lines for candidate in finder(line, how)]
