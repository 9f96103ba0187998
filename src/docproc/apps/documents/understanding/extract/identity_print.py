"""Cards whose print says by itself which field is which: numbered licences, names stacked under one label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import takewhile, zip_longest

from stdnum.es import nif

from docproc.apps.documents.understanding.extract import normalise
from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.layout import Document, Line, Stretch
from docproc.apps.documents.understanding.extract.score import Choice
from docproc.reading.folding import fold
from docproc.reading.page import union

_SURE = 0.95  # of a print read without doubt
# Fields of a European licence (directive 2006/126/EC) at the beginning of a column, or further in it with a
# point; those with a letter need none.
_MARK = re.compile(
    r"(?:^|(?<=   ))([1-9])(?:[.,:] ?| +)|(?<= )([1-9])\. |(?:^|(?<= ))(4[abcd])(?:[.,:] ?| +)"
)
_AMERICAN = re.compile(
    r"driver'?s? license|\bdob\b|\busa\b"
)  # numbered alike, but their dates begin with the month
# Their label is so short that it looks like a part of the number.
_AMERICAN_NUMBER = re.compile(
    r"(?:^|(?<= ))(?:4d )?DLN?(?: ?NO)?[.:#]? ?((?=[A-Z-]*\d)[A-Z0-9][A-Z0-9-]{4,}(?: \d{2,}(?![/\d-]))*)"
)
_TITLES = re.compile(r"(?:MR|MRS|MS|MISS|DR)\.? (?=\w)")
_SURNAME = "apellidos?|surnames?|cognoms?|abizenak|apelidos"
_GIVEN = "nombres?|given names?|names?|nom|izena|nome"
_BOTH = re.compile(
    rf"(?:{_SURNAME})(?: ?[/,]? ?(?:y|and|i|e|eta|{_SURNAME}))*[ /,]+(?:{_GIVEN})\b[a-z /,]*:?"
)
_LABEL = re.compile(
    r"\b(?:sexo|sex|sexe|nacionalidad|nationality|fecha|date|data|nacimiento|validez|valido|nie|dni|tipo|type"
    rf"|domicilio|soporte|num|permiso|{_SURNAME}|{_GIVEN})\b"
)
_ALIGNED = 0.03  # of the width: under each other
_SHORTEST_LIFE = 10  # years: nobody younger drives


def printed(name: str, document: Document) -> Choice | None:
    """A field's value where the card's layout leaves no doubt of it."""
    if _AMERICAN.search(fold(document.text)):
        return _american_number(document) if name == "id_number" else None
    if choices := _licence(document):
        return choices.get(name)
    return _stacked(document) if name == "full_name" else None


def _american_number(document: Document) -> Choice | None:
    for line in document.lines:
        if number := _AMERICAN_NUMBER.search(line.text):
            return _choice(number[1], line.stretch(*number.span(1)))
    return None


def _licence(document: Document) -> dict[str, Choice]:
    """What follows the numbers, when enough of them hold what they must."""
    parts = _numbered(document)
    surname, given = _names(parts.get("1")), _names(parts.get("2"))
    days = {mark: day for mark in ("3", "4a", "4b") if (day := _day(parts.get(mark)))}
    if surname is None or given is None or "3" not in days or len(days) < 2:
        return {}
    birth = _before(days["3"], [days[mark] for mark in ("4a", "4b") if mark in days])
    choices = {
        "full_name": _choice(
            f"{_TITLES.sub('', given.text, count=1)} {surname.text}".replace(",", ""), given, surname
        ),
        "surname": _choice(surname.text, surname),
        "given_name": _choice(given.text, given),
        "date_of_birth": birth,
        "issue_date": days.get("4a"),
        "expiry_date": days.get("4b"),
        "id_number": _number(parts.get("5")),
    }
    return {name: choice for name, choice in choices.items() if choice is not None}


def _numbered(document: Document) -> dict[str, list[Stretch]]:
    """The stretches after each number; what stands under one without a number of its own goes on from it."""
    marked_text: dict[str, list[Stretch]] = {}
    last: str | None = None
    for line in document.lines:
        marked = list(_marked(line))
        for mark, at in marked:
            marked_text.setdefault(mark, [at])
            last = mark
        if (
            not marked
            and last in ("1", "2")
            and len(marked_text[last]) == 1
            and _goes_on(marked_text[last][0], line)
        ):
            marked_text[last].append(line.columns()[0])
        last = None if not marked else last
    return marked_text


def _marked(line: Line) -> Iterator[tuple[str, Stretch]]:
    marks = list(_MARK.finditer(line.folded))
    for mark, after in zip_longest(marks, marks[1:]):
        end = after.start() if after else len(line.text)
        text = line.text[mark.end() : end].lstrip()
        start = end - len(text)
        if not text.strip():
            continue
        yield mark[1] or mark[2] or mark[3], line.stretch(start, min(end, line.column_end(start)))


def _goes_on(at: Stretch, line: Line) -> bool:
    column = line.columns()[0]
    near = column.box[1] - at.box[3] < 0.8 * line.height
    return (
        near
        and column.page == at.page
        and abs(column.box[0] - at.box[0]) < _ALIGNED
        and _is_name(column.text)
    )


def _is_name(text: str) -> bool:
    return len(text.strip()) > 1 and all(sign.isalpha() or sign in " -'’.,·" for sign in text)


def _names(parts: Sequence[Stretch] | None) -> Stretch | None:
    return _joined(parts) if parts and all(_is_name(part.text) for part in parts) else None


def _joined(parts: Sequence[Stretch]) -> Stretch:
    first = parts[0]
    text = " ".join(part.text.strip() for part in parts)
    box, sure = union([part.box for part in parts]), min(part.confidence for part in parts)
    return Stretch(text, box, sure, first.page, first.line, first.start, first.end)


def _day(parts: Sequence[Stretch] | None) -> Choice | None:
    if not parts:
        return None
    dates = normalise.dates(fold(parts[0].text), day_first=True)
    return _choice(dates[0][2], parts[0]) if dates and dates[0][0] == 0 else None


def _before(birth: Choice, others: Sequence[Choice]) -> Choice:
    """A year of two digits belongs to the century that makes its owner old enough to drive."""
    day = birth.candidate.value
    if int(day[:4]) + _SHORTEST_LIFE <= min(int(other.candidate.value[:4]) for other in others):
        return birth
    return _choice(f"{int(day[:4]) - 100}{day[4:]}", birth.candidate.at)


def _number(parts: Sequence[Stretch] | None) -> Choice | None:
    if not parts or not any(map(str.isdigit, parts[0].text)):
        return None
    text = parts[0].text.strip()
    whole = re.sub(r"[ .-]", "", text)
    return _choice(whole if " " in text and nif.is_valid(whole) else text.split()[0], parts[0])


def _choice(value: str, *at: Stretch) -> Choice:
    place = _joined(at)
    return Choice(Candidate(value, place), _SURE * min(place.confidence, 1.0))


def _stacked(document: Document) -> Choice | None:
    """`APELLIDOS NOMBRE` over the surnames, over the given names; or both in a line, with a comma between."""
    for line in document.lines:
        for column in line.columns():
            if _BOTH.fullmatch(fold(column.text)):
                under = list(takewhile(_is_value, _under(column, document)))
                if choice := _surnames_first(under[:3]):
                    return choice
    return None


def _under(label: Stretch, document: Document) -> Iterator[Stretch]:
    for line in document.below(label.line):
        columns = [each for each in line.columns() if abs(each.box[0] - label.box[0]) < _ALIGNED]
        if not columns:
            return
        yield columns[0]


def _is_value(at: Stretch) -> bool:
    return _is_name(at.text) and at.text.isupper() and not _LABEL.search(fold(at.text))


def _surnames_first(lines: Sequence[Stretch]) -> Choice | None:
    if not lines:
        return None
    before, comma, after = lines[0].text.partition(",")
    if comma and after.strip():
        return _choice(f"{after.strip()} {before.strip()}", lines[0])
    if len(lines) < 2:
        return None
    surname, given = _joined(lines[:-1]), lines[-1]
    return _choice(f"{given.text} {surname.text}".replace(",", ""), given, surname)
