"""Where on the pages a value stands that somebody claims to have read there."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from decimal import Decimal, InvalidOperation

from docproc.apps.documents.understanding.extract import normalise
from docproc.apps.documents.understanding.extract.layout import Document, Line, Stretch
from docproc.apps.documents.understanding.extract.normalise import Conventions
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.reading.folding import fold
from docproc.reading.page import union

_MOST_LINES = 3  # that one value may run over


def places(field: FieldSpec, said: str, document: Document, how: Conventions) -> list[tuple[str, Stretch]]:
    """The value as it is printed, written as field values are, wherever it stands; none: nowhere."""
    if field.type == "decimal":
        return list(_amounts(said, document, how))
    if field.type == "integer":
        found = ((f"{Decimal(value):.0f}", at) for value, at in _amounts(said, document, how))
        return [(value, at) for value, at in found if value == said.strip()]
    if field.type == "date":
        return list(_dates(said, document, how))
    return list(_texts(said, document))


def _amounts(said: str, document: Document, how: Conventions) -> Iterator[tuple[str, Stretch]]:
    meant = {number for number in (normalise.decimal(said, how.decimal_comma), _plain(said)) if number}
    wanted = {Decimal(number) for number in meant}
    for line in document.lines:
        for match in normalise.AMOUNT.finditer(line.folded):
            written = (match["sign"] or "") + match["number"] + (match["close"] or "")
            number = normalise.decimal(written, how.decimal_comma)
            if number is not None and Decimal(number) in wanted:
                yield number, line.stretch(match.start(), match.end())


def _plain(said: str) -> str | None:
    """A number as programs write it, whatever the page's custom."""
    try:
        number = Decimal(said)
    except InvalidOperation:
        return None
    return str(number) if number.is_finite() else None


def _dates(said: str, document: Document, how: Conventions) -> Iterator[tuple[str, Stretch]]:
    wanted = {value for *_, value in normalise.dates(fold(said), how.day_first)}
    for line in document.lines:
        for start, end, value in normalise.dates(line.folded, how.day_first):
            if value in wanted:
                yield value, line.stretch(start, end)


def _texts(said: str, document: Document) -> Iterator[tuple[str, Stretch]]:
    """Where the same letters and digits stand as whole words, on one line or running over a few."""
    wanted = letters(said)
    if not wanted:
        return
    for first in document.lines:
        lines = [first]
        while len(lines) <= _MOST_LINES:
            yield from _within(wanted, lines)
            after = first.index + len(lines)
            if after >= len(document.lines) or document.lines[after].page != first.page:
                break
            lines.append(document.lines[after])


def _within(wanted: str, lines: Sequence[Line]) -> Iterator[tuple[str, Stretch]]:
    """Matches that use all of these lines."""
    places = [
        (n, at) for n, line in enumerate(lines) for at, char in enumerate(line.folded) if char.isalnum()
    ]
    text = "".join(lines[n].folded[at] for n, at in places)
    start = text.find(wanted)
    while start >= 0:
        chosen = places[start : start + len(wanted)]
        if {n for n, _ in chosen} == set(range(len(lines))) and _is_whole(lines, chosen[0], chosen[-1]):
            parts = [
                line.stretch(min(at for m, at in chosen if m == n), max(at for m, at in chosen if m == n) + 1)
                for n, line in enumerate(lines)
            ]
            yield " ".join(part.text for part in parts), _joined(parts)
        start = text.find(wanted, start + 1)


def _is_whole(lines: Sequence[Line], first: tuple[int, int], last: tuple[int, int]) -> bool:
    before = lines[first[0]].folded[: first[1]][-1:]
    after = lines[last[0]].folded[last[1] + 1 :][:1]
    return not (before.isalnum() or after.isalnum())


def _joined(parts: Sequence[Stretch]) -> Stretch:
    return replace(
        parts[0],
        box=union([part.box for part in parts]),
        confidence=min(part.confidence for part in parts),
    )


def letters(text: str) -> str:
    return "".join(char for char in fold(text) if char.isalnum())
