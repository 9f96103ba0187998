"""Finds labels on the lines of a document, and says how a value stands to a label."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from docproc.apps.documents.understanding.extract import spelling
from docproc.apps.documents.understanding.extract.candidates import Candidate
from docproc.apps.documents.understanding.extract.labels import DECOYS, Kind, Rule, rules_of
from docproc.apps.documents.understanding.extract.layout import WIDE, Document, Line, Stretch
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.apps.documents.understanding.types import loader
from docproc.reading.folding import fold
from docproc.reading.page import Box, Source

_NUMBER_WORD = r"(?:numero|number|num|nro|nr|no|n|#)[.:]?\s?[o.#]{0,2}"
_WORD_START = re.compile(r"(?<![a-z0-9])[a-z0-9#%][a-z0-9]?")
_BETWEEN = r"(?:\s?[.:/'-]{1,2}\s?|\s)?"  # never the gap between two columns
RIGHT, BELOW = 2.0, 1.5  # what a label is worth beside and above a value
_LABEL_WORTH = 3.0  # of a label that a workflow gives
_TABLE = 45
_TOTALS = re.compile(r"\W*(?:totales|sumas|suma)\W*(?:\s{3}|$)")
_LINES_ABOVE = 14  # a label further up heads nothing here


@dataclass(frozen=True, slots=True)
class Hit:
    """A label on the page. `worth` by field: a word can label several; an empty one is a decoy."""

    at: Stretch
    worth: Mapping[str, float]


@dataclass(frozen=True)
class Vocabulary:
    """All labels of a document type, by the two letters they begin with; of each the longest comes first."""

    patterns: Mapping[str, re.Pattern[str]]
    worth: Mapping[str, Mapping[str, float]]
    words: spelling.Words

    def hits(self, document: Document) -> list[list[Hit]]:
        """The labels of each line; where a scan was read, also those with a letter misread."""
        return [list(self._on(line, self._spelt(line, document))) for line in document.lines]

    def _spelt(self, line: Line, document: Document) -> str:
        scanned = document.pages[line.page].source == Source.OCR
        return self.words.corrected(line.folded) if scanned else line.folded

    def _on(self, line: Line, folded: str) -> Iterator[Hit]:
        end = 0
        for word in _WORD_START.finditer(folded):
            pattern = self.patterns.get(word[0]) or self.patterns.get(word[0][0])
            if word.start() < end or pattern is None:
                continue
            if match := pattern.match(folded, word.start()):
                end = match.end()
                yield Hit(line.stretch(match.start(), end), self.worth[match.lastgroup or ""])


def vocabulary(doc_type: str, fields: tuple[FieldSpec, ...]) -> Vocabulary:
    """The labels of the type's known fields, of the fields asked for, and the decoys."""
    return _vocabulary(doc_type, fields, loader.version_of(doc_type))


@lru_cache(maxsize=64)
def _vocabulary(doc_type: str, fields: tuple[FieldSpec, ...], _version: str) -> Vocabulary:
    worth: dict[str, dict[str, float]] = {fold(phrase): {} for phrase in DECOYS}
    for name, rule in rules(doc_type, fields).items():
        for value, phrases in rule.labels:
            for phrase in phrases:
                known = worth.setdefault(fold(phrase), {})
                known[name] = max(value, known.get(name, 0.0))
    names = {phrase: f"p{index}" for index, phrase in enumerate(sorted(worth, key=len, reverse=True))}
    beginnings: dict[str, list[str]] = {}
    for phrase in names:
        for beginning in _beginnings(phrase):
            beginnings.setdefault(beginning, []).append(phrase)
    patterns = {
        start: _alternatives(set(phrases) | set(beginnings.get(start[0], ())), names)
        for start, phrases in beginnings.items()
    }
    return Vocabulary(
        patterns, {names[phrase]: told for phrase, told in worth.items()}, spelling.Words.of(worth)
    )


def _beginnings(phrase: str) -> tuple[str, ...]:
    """Under which letters a label is kept: two, or one where its second may be anything."""
    if phrase.startswith("#"):
        return ("n", "#")
    first = re.split(r"[\s#%.]", phrase)[0]
    return (first[:2],) if len(first) > 1 else (phrase[0],)


def _alternatives(phrases: set[str], names: Mapping[str, str]) -> re.Pattern[str]:
    ordered = sorted(phrases, key=lambda phrase: (-len(phrase), phrase))
    return re.compile(
        "(?:"
        + "|".join(f"(?P<{names[phrase]}>{_pattern(phrase)})" for phrase in ordered)
        + r")(?:(?<![a-z])|(?![a-z]))"
    )


def rules(doc_type: str, fields: Sequence[FieldSpec]) -> dict[str, Rule]:
    """What is known of the type's fields, completed by what the workflow says of them."""
    known = dict(rules_of(doc_type))
    for field in fields:
        same = known.get(field.name) or known.get(field.name.removesuffix("_amount"))
        rule = same or Rule(_kind(field), ((_LABEL_WORTH, _own_labels(field.name)),))
        if field.labels:
            rule = Rule(
                rule.kind,
                (*rule.labels, (_LABEL_WORTH + 0.4, field.labels)),
                rule.bottom,
                rule.alone,
                rule.block,
            )
        known[field.name] = rule
    return known


_KINDS: dict[str, Kind] = {"decimal": "amount", "integer": "integer", "date": "date", "string": "text"}
_TAX_IDS = {"nif", "cif", "dni", "nie", "vat", "tax_id"}


def _kind(field: FieldSpec) -> Kind:
    """How to look for a field nobody knows: by its validators, its name, else its type."""
    if "iban" in field.validators:
        return "iban"
    if _TAX_IDS.intersection(field.validators):
        return "tax_id"
    is_number = re.search(r"(?:^|_)(?:number|no|num|numero)$|^(?:num|numero)_", field.name)
    return "number" if is_number and field.type == "string" and not field.pattern else _KINDS[field.type]


def _own_labels(name: str) -> tuple[str, ...]:
    words = name.replace("_", " ")
    return (words, *({words.removesuffix(" number") + " #"} if words.endswith(" number") else ()))


def _pattern(phrase: str) -> str:
    if phrase == "#":
        return _NUMBER_WORD + r"(?!\s*del?\s)"  # "Nº de póliza" is the number of something
    words = re.findall(r"#|%|[^\s#%]+", phrase)
    if words[-1] == "a":  # "Factura a", not "Factura A2503213"
        return _BETWEEN.join(map(re.escape, words)) + r"(?![0-9])"
    return _BETWEEN.join(_NUMBER_WORD if word == "#" else re.escape(word) for word in words)


@dataclass(frozen=True, slots=True)
class Told:
    """A candidate with the labels that point at it, and what each says for it by where it stands."""

    candidate: Candidate
    labels: Sequence[tuple[Hit, float]]

    def best(self, name: str) -> tuple[float, float, str]:
        """What the best label of the field says in all, what it is worth by itself, and where it stands."""
        labels = [(hit.worth[name] + worth, hit) for hit, worth in self.labels if name in hit.worth]
        if not labels:
            return -10.0, 0.0, ""
        told, hit = max(labels, key=lambda each: each[0])
        return told, hit.worth[name], "right" if hit.at.line == self.candidate.at.line else "below"

    def is_beside(self, name: str, document: Document) -> bool:
        """Whether a label of the field stands right before it, with nothing between them."""
        at = self.candidate.at
        return any(
            hit.at.line == at.line and not document.lines[at.line].text[hit.at.end : at.start].strip(" :.=")
            for hit, _ in self.labels
            if name in hit.worth and hit.at.end <= at.start
        )

    def pull(self, name: str) -> float:
        """How strongly a label of something else claims the candidate."""
        return max(
            (
                max(hit.worth.values(), default=3.0) + worth
                for hit, worth in self.labels
                if name not in hit.worth
            ),
            default=0.0,
        )


def pointing(
    candidate: Candidate, document: Document, hits: Sequence[Sequence[Hit]]
) -> list[tuple[Hit, float]]:
    """The labels on the candidate's line and on the few lines above it that have to do with it."""
    at = candidate.at
    labels = []
    reach = _TABLE if _TOTALS.match(document.lines[at.line].folded) else _LINES_ABOVE
    for index in range(at.line, max(at.line - reach, -1), -1):
        if document.lines[index].page != at.page:
            break
        for hit in hits[index]:
            worth = (
                _beside(hit, candidate, document, hits[index])
                if index == at.line
                else _under(hit, candidate, document, hits)
            )
            if worth is not None:
                labels.append((hit, worth))
    return labels


def _beside(hit: Hit, candidate: Candidate, document: Document, others: Sequence[Hit]) -> float | None:
    if candidate.at.start < hit.at.end:
        return None
    between = document.lines[hit.at.line].folded[hit.at.end : candidate.at.start]
    letters = sum(map(str.isalpha, between))
    numbers = len(re.findall(r"\d[\d.,]*", re.sub(r"\d+\s?%|\(\d+\)", "", between)))
    labels = sum(hit.at.end <= other.at.start < candidate.at.start for other in others)
    return RIGHT - 0.04 * letters - 0.5 * numbers - 1.3 * labels - 0.1 * (between.count(WIDE) > 1)


def _under(hit: Hit, candidate: Candidate, document: Document, hits: Sequence[Sequence[Hit]]) -> float | None:
    box, below = hit.at.box, candidate.at.box
    if below[2] < box[0] - 0.012:
        return None  # neither under it nor in its column; most are so
    height = max(box[3] - box[1], below[3] - below[1], 1e-6)
    drop = (below[1] - box[3]) / height
    lines = candidate.at.line - hit.at.line
    # A row of totals is what the headings of its table are about, however long that is.
    totals = bool(_TOTALS.match(document.lines[candidate.at.line].folded)) and drop > 0
    drop = min(drop, 0.8) if totals else drop
    if lines < 1 or drop > 5.5 or drop < -0.6:
        return None
    over = aligned(hit.at.box, candidate.at.box)
    if not over and not _in_cell(hit, candidate, document):
        return None
    # A label of its own on its line speaks louder than one above it.
    own = max((_own(other, candidate, document) for other in hits[candidate.at.line]), default=0.0)
    between = any(
        aligned(other.at.box, candidate.at.box)
        for line in hits[hit.at.line + 1 : candidate.at.line]
        for other in line
    )
    if totals:
        return BELOW - 0.8 * (not over) - 0.01 * lines
    return (
        BELOW - 0.4 * (not over) - 0.35 * max(drop - 0.8, 0) - 0.3 * (lines - 1) - 1.8 * own - 1.2 * between
    )


def _own(label: Hit, candidate: Candidate, document: Document) -> float:
    """How much a label on the candidate's line is its own: less where a filled column stands between."""
    if label.at.end > candidate.at.start:
        return 0.0
    between = document.lines[label.at.line].text[label.at.end : candidate.at.start].strip(" :.")
    return 0.3 if any(map(str.isalnum, between)) else 1.0


def _in_cell(hit: Hit, candidate: Candidate, document: Document) -> bool:
    """Whether a value stands in the table column the label heads: up to where the next heading begins."""
    if hit.at.box[0] > candidate.at.box[0]:
        return False
    columns = document.lines[hit.at.line].columns()
    edge = next((column.box[0] for column in columns if column.start > hit.at.end), 1.0)
    return candidate.at.box[2] <= edge


def aligned(above: Box, below: Box) -> bool:
    """One stands over the other: they overlap, or begin or end at the same place."""
    overlap = min(above[2], below[2]) - max(above[0], below[0])
    narrow = min(above[2] - above[0], below[2] - below[0])
    return overlap > 0.25 * narrow or abs(above[0] - below[0]) < 0.012 or abs(above[2] - below[2]) < 0.012


def stands_alone(hit: Hit, document: Document) -> bool:
    """Whether a word is meant as a label: it begins its column or has a colon."""
    line = document.lines[hit.at.line]
    end = line.column_end(hit.at.start)
    rest = line.text[hit.at.end : end].strip()
    if rest.startswith((":", "/", ".:")):
        return True
    begins = not line.text[max(line.text.rfind(WIDE, 0, hit.at.start), 0) : hit.at.start].strip(
        " .-*·0123456789"
    )
    return begins and (len(hit.at.text) > 4 or not rest)


def is_label(at: Stretch, hits: Sequence[Sequence[Hit]]) -> bool:
    """The cell is a label and nothing more."""
    return any(
        hit.at.start <= at.start + 1 and hit.at.end >= at.end - 2
        for hit in hits[at.line]
        if hit.at.end > at.start
    )


def belongs(at: Stretch, owners: Sequence[Hit], lines: int = 6) -> bool:
    """Whether a text stands in the block that one of these labels opens."""
    return any(
        hit.at.page == at.page
        and 0 <= at.line - hit.at.line <= lines
        and (hit.at.line != at.line or hit.at.end <= at.start)
        and (hit.at.line == at.line or hit.at.box[0] - 0.03 <= at.box[0] <= hit.at.box[0] + 0.3)
        for hit in owners
    )
