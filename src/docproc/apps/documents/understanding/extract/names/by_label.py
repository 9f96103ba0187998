"""Names by what stands beside them: a label, or the number of a person."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.hits import (
    BELOW,
    RIGHT,
    Hit,
    aligned,
    is_label,
    stands_alone,
)
from docproc.apps.documents.understanding.extract.layout import WIDE, Document, Line, Stretch
from docproc.apps.documents.understanding.extract.names.appearance import is_person, merit, traits
from docproc.apps.documents.understanding.extract.names.lines import (
    cell_of,
    cleaned,
    named,
    runs_on_from_above,
    wrapped,
)
from docproc.apps.documents.understanding.extract.score import Scored

_CODE_BEFORE = re.compile(r"[A-Z]?\d{2,}\s+[-–]?\s*(?=[^\W\d]{2})")


def labelled(
    name: str, document: Document, hits: Sequence[Sequence[Hit]], block: bool = False, any_text: bool = False
) -> list[Scored]:
    """Names by their label. With `any_text`, whatever stands there."""
    candidates: list[Scored] = []
    for hit in (hit for line in hits for hit in line if name in hit.worth and stands_alone(hit, document)):
        for place, worth in beside(hit, document, hits):
            at = place if any_text else cleaned(_without_code(place, hit, document), document)
            if at is None or (not any_text and runs_on_from_above(at, document)):
                continue
            if not any_text:
                at = wrapped(at, document, told=at.line == hit.at.line) or at
            looks = 0.0 if any_text else min(merit(at.text), 0.6 if not block else 1.0)
            where = "right" if at.line == hit.at.line else "below"
            parts = {"labelled": 1.0, "worth": hit.worth[name], where: 1.0} | (
                {} if any_text else traits(at.text)
            )
            candidate = Candidate(at.text, at) if any_text else named(at, document)
            less = 1.5 * (not any_text and _is_next_heading(at, hit, document))
            candidates.append(Scored(candidate, hit.worth[name] + worth + looks - less, parts))
    return candidates


def beside(
    hit: Hit, document: Document, hits: Sequence[Sequence[Hit]], lines_below: int = 3
) -> Iterator[tuple[Stretch, float]]:
    """The text a label points at, and what the place is worth: right of it, in the next column, or below."""
    line = document.lines[hit.at.line]
    right = _right(line, hit, hits[hit.at.line])
    if right is not None:
        yield right, RIGHT - (0.4 if WIDE in line.text[hit.at.end : right.start] else 0.0)
        if not any(map(str.isalpha, right.text)) and (column := _column_after(line, right)) is not None:
            yield column, RIGHT - 0.5  # a number, then the name
    given = 0
    for later in document.lines[line.index + 1 : line.index + 1 + lines_below]:
        if later.page != line.page or later.box[1] - line.box[3] > 4 * max(later.height, line.height):
            return
        for column in later.columns():
            if aligned(hit.at.box, column.box):
                if is_label(column, hits) or any(
                    other.worth and other.at.start == column.start and stands_alone(other, document)
                    for other in hits[later.index]
                ):
                    return
                yield column, BELOW - 0.5 * given - (0.6 if right is not None else 0.0)
                given += 1
                if not any(map(str.isalpha, column.text)):
                    return  # a code or an amount is what the label heads: below it stands something else


def _right(line: Line, hit: Hit, others: Sequence[Hit]) -> Stretch | None:
    rest = line.text[hit.at.end :]
    if rest.lstrip().startswith("/"):  # the label again in another language
        again = line.column_end(hit.at.end)
        rest, hit_end = line.text[again:], again
    else:
        hit_end = hit.at.end
    start = hit_end + len(rest) - len(rest.lstrip(" :.-#º°)/"))
    end = line.column_end(start)
    for other in others:
        if other.at.start >= start and (
            ":" in line.text[other.at.end : other.at.end + 3] or other.at.start == start
        ):
            end = min(end, other.at.start)
    text = line.text[start:end].rstrip(" :,;-|")
    return line.stretch(start, start + len(text)) if text else None


def _column_after(line: Line, at: Stretch) -> Stretch | None:
    return next((column for column in line.columns() if column.start > at.end), None)


def _is_next_heading(at: Stretch, hit: Hit, document: Document) -> bool:
    """`FACTURAR A   OBRA`: one word in the next column, while something stands under the label."""
    line = document.lines[hit.at.line]
    if at.line != hit.at.line or " " in at.text or WIDE not in line.text[hit.at.end : at.start]:
        return False
    below = document.lines[at.line + 1 : at.line + 2]
    return ":" not in line.text[hit.at.end : at.start] and any(
        abs(cell.box[0] - hit.at.box[0]) < 0.012 and merit(cell.text) >= 0
        for later in below
        for cell in later.columns()
    )


def _without_code(at: Stretch, hit: Hit, document: Document) -> Stretch:
    """`Cliente: 12034 Cafetería …`: a number before the name."""
    code = _CODE_BEFORE.match(at.text) if at.line == hit.at.line else None
    return document.lines[at.line].stretch(at.start + code.end(), at.end) if code else at


def over(document: Document, numbers: Sequence[Scored]) -> list[Scored]:
    """Names without a label of their own, by the number of a person that stands under them."""
    candidates = []
    for number in numbers:
        at = number.candidate.at
        if number.score < 2:
            continue
        for up, line in enumerate(reversed(document.lines[max(at.line - 4, 0) : at.line])):
            for column in line.columns():
                words = column.text.split()
                near = (
                    aligned(column.box, at.box)
                    or abs(column.box[0] - document.lines[at.line].stretch(*cell_of(document, at)).box[0])
                    < 0.012
                )
                if line.page == at.page and near and 2 <= len(words) <= 6 and is_person(column.text):
                    parts = {"block": 1.0, **traits(column.text)}
                    candidates.append(Scored(named(column, document), 3.0 - 0.35 * up, parts))
    return candidates
