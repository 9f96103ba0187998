"""Proper names in a text, told by their capital letters, and whether each is a person, a place or a thing.

In both languages a person's name has no article and a place stands after "in" or "en"; what has an article
("the Senate", "la Bastilla") is a thing. That is enough to give a person's name other persons as wrong
options.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from docproc.apps.materials.authors.extractive.grammar import GRAMMARS
from docproc.apps.materials.content.languages import STOPWORDS
from docproc.apps.materials.content.sentences import Sentence

_CAPITAL = r"[A-ZÁÉÍÓÚÜÑ][\w-]*"
_LINK = r"(?:de|del|de la|de los|of|of the|von|van)"
_RUN = re.compile(rf"(?<![\w'’:./-]){_CAPITAL}(?: (?:{_LINK} )?{_CAPITAL})*(?!['’:(]\w|\w)")
# What a capital letter opens although no sentence ends before it, and parts of a book that have a number.
_OPENS = re.compile(r"[:“«\"(—–-]\s*$")
_OF_THE_BOOK = re.compile(
    r"^(?:Listing|Figure|Table|Chapter|Section|Appendix|Page|Step|Part|Figura|Tabla|Capítulo|Sección|Página|"
    r"Anexo)\b"
)
_PLACED = frozenset(
    ("in", "at", "near", "from", "to", "en", "desde", "hacia", "hasta", "a", "across", "through")
)


class NameKind(StrEnum):
    PERSON = "person"
    PLACE = "place"
    THING = "thing"
    ACRONYM = "acronym"
    # One word without an article inside a sentence: it may be anything, so nothing is asked about it.
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Name:
    text: str
    kind: NameKind
    count: int


def names_of(sentences: Sequence[Sentence], language: str) -> list[Name]:
    """The names, the most frequent first."""
    inside: Counter[str] = Counter()
    opening: Counter[str] = Counter()
    before: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for sentence in sentences:
        for match in _RUN.finditer(sentence.text):
            text, word_before = _without_opening(sentence.text, match, language)
            before_it = sentence.text[: match.start()]
            if not text or _OF_THE_BOOK.match(text):
                continue
            is_first = (not re.search(r"\w", before_it) or bool(_OPENS.search(before_it))) and not word_before
            (opening if is_first else inside)[text] += 1
            before[text][word_before] += 1
    known = {
        text: inside[text] + opening[text]
        for text in [*inside, *opening]
        # One word that opens a sentence is capital for that reason only.
        if inside[text] or " " in text
    }
    return [
        Name(text, _kind(text, before[text], opening[text], language), count)
        for text, count in sorted(known.items(), key=lambda item: (-item[1], item[0]))
    ]


def _without_opening(text: str, match: re.Match[str], language: str) -> tuple[str, str]:
    """The run without an article or another common word that opens the sentence, and the word before it."""
    parts = match.group().split()
    word_before = (re.findall(r"[\w]+(?=[ ]$)", text[: match.start()]) or [""])[-1].casefold()
    common = STOPWORDS[language] | GRAMMARS[language].months
    while parts and parts[0].casefold() in common:
        word_before = parts.pop(0).casefold()
    name = " ".join(parts)
    return (name if len(name) > 2 else ""), word_before


def _kind(text: str, before: Counter[str], opened: int, language: str) -> NameKind:
    total = sum(before.values())
    articles = sum(count for word, count in before.items() if word in GRAMMARS[language].articles)
    places = sum(count for word, count in before.items() if word in _PLACED)
    if text.isupper():
        return NameKind.ACRONYM
    if articles * 2 > total:
        return NameKind.THING
    if places * 2 >= total:
        return NameKind.PLACE
    return NameKind.PERSON if " " in text or opened else NameKind.UNKNOWN
