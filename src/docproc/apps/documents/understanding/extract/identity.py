"""What identity cards and passports say: the machine-readable zone first, then the printed names."""

from __future__ import annotations

from collections.abc import Sequence

from docproc.apps.documents.understanding.extract import names
from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.hits import Hit
from docproc.apps.documents.understanding.extract.layout import Document, Line, Stretch
from docproc.apps.documents.understanding.extract.score import Choice, Scored, choose
from docproc.reading import mrz
from docproc.reading.codes import Claim
from docproc.reading.page import Source, union

# By whether the digit over the whole zone matches, was not read, or does not match.
_MATCHES, _UNREAD, _FAILS = 0.98, 0.97, 0.9
_NAMES = 0.93  # no digit covers them
_MISREAD = 0.5
_CLEAR = 0.9  # a digit that fails in a zone read worse than this was misread, not printed so
_ATTRIBUTES = {
    "full_name": "name",
    "surname": "surname",
    "given_name": "given",
    "id_number": "number",
    "date_of_birth": "birth",
    "expiry_date": "expiry",
    "nationality": "nationality",
    "sex": "sex",
}
_CHECKED = {"id_number": "number", "date_of_birth": "birth", "expiry_date": "expiry"}


def zone(document: Document) -> list[Claim]:
    """What the machine-readable zone claims, where a page has one."""
    for number in range(len(document.pages)):
        lines = [line for line in document.lines if line.page == number]
        holder = mrz.parse([line.text for line in lines])
        if holder is not None:
            return [_claim(holder, [lines[index] for index in holder.lines])]
    return []


def _claim(holder: mrz.Holder, at: Sequence[Line]) -> Claim:
    said = {name: getattr(holder, attribute) for name, attribute in _ATTRIBUTES.items()}
    whole = _UNREAD if not holder.is_complete else _FAILS if "composite" in holder.failed else _MATCHES
    failed = [name for name, part in _CHECKED.items() if part in holder.failed]
    sure = {name: whole if name in _CHECKED else _NAMES for name in said} | dict.fromkeys(failed, _MISREAD)
    is_clear = min(word.confidence for line in at for word in line.words) >= _CLEAR
    return Claim(
        "zone",
        Source.CODE,
        {name: value for name, value in said.items() if value},
        at[0].page,
        union([line.box for line in at]),
        sure,
        frozenset(failed if is_clear else ()),
        short_years=True,
    )


def surname(document: Document, hits: Sequence[Sequence[Hit]]) -> Choice | None:
    """Surnames may take two lines; what AAMVA and European licences number 1."""
    choice = choose([*names.labelled("surname", document, hits), *_numbered(document, "1")])
    return _and_second_line(choice, document, hits) if choice else None


def given(document: Document, hits: Sequence[Sequence[Hit]]) -> Choice | None:
    return choose([*names.labelled("given_name", document, hits), *_numbered(document, "2")])


def joined(given: Choice, surname: Choice) -> Choice:
    first, second = given.candidate.at, surname.candidate.at
    text = f"{first.text} {second.text}"
    box = union([first.box, second.box]) if first.page == second.page else first.box
    at = Stretch(
        text, box, min(first.confidence, second.confidence), first.page, first.line, first.start, first.end
    )
    return Choice(Candidate(text, at), min(given.confidence, surname.confidence))


def _numbered(document: Document, number: str) -> list[Scored]:
    """The names on a licence stand after the numbers 1 and 2, at the beginning of their column."""
    numbers = []
    for line in document.lines:
        cells = line.columns()
        for column, after in zip(cells, (*cells[1:], None), strict=True):
            mark, _, text = column.text.partition(" ")
            if not text and mark == f"{number}." and after is not None:
                column, text = after, after.text
            if mark.rstrip(".") == number and text.isupper() and not any(map(str.isdigit, text)):
                at = line.stretch(column.end - len(text), column.end)
                numbers.append(Scored(Candidate(text, at), 3.6))
    return numbers


def _and_second_line(choice: Choice, document: Document, hits: Sequence[Sequence[Hit]]) -> Choice:
    at = choice.candidate.at
    if (
        at.line + 1 >= len(document.lines)
        or hits[at.line + 1]
        or not any("surname" in hit.worth for hit in hits[at.line - 1])
    ):
        return choice
    line = document.lines[at.line + 1]
    for column in line.columns():
        near = column.box[1] - at.box[3] < 0.8 * line.height
        if (
            line.page == at.page
            and near
            and abs(column.box[0] - at.box[0]) < 0.015
            and column.text.replace(" ", "").isalpha()
        ):
            text = f"{at.text} {column.text}"
            both = Stretch(
                text,
                union([at.box, column.box]),
                min(at.confidence, column.confidence),
                at.page,
                at.line,
                at.start,
                at.end,
            )
            return Choice(Candidate(text, both), choice.confidence)
    return choice
