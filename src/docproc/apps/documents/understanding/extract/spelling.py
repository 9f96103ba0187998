"""Undoes what readers of scans confuse: figures between letters, legal forms, a letter of a label."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_SHORTEST = 5  # letters of a word that one wrong letter leaves recognisable
_TOKEN = re.compile(rf"[a-z0-9]{{{_SHORTEST},}}")
_REPAIRS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), right)
    for pattern, right in (
        (r"(?<=[A-ZÁÉÍÓÚÑ])0(?=[A-ZÁÉÍÓÚÑ])", "O"),
        (r"(?<=[A-ZÁÉÍÓÚÑ])1(?=[A-ZÁÉÍÓÚÑ])", "I"),
        (r"(?<=[a-zñ])0(?=[a-zñ])", "o"),
        (r"(?<=[a-zñ])[1I](?=[a-zñ])", "l"),
        (r"(?<=\b[A-Z]\.)1(?=\.)", "I"),  # D.1.Y.
        (r"\bS[DOB0]N\.? ?[B83]HD\b", "SDN BHD"),
        (r"\b(?:5/[B8]|S/[8D])(?=\s|$)", "S/B"),
        (r"(?<=\bS\.)\s?[1I]\.?(?=\s|$|U\b)", "L."),  # S.1.
    )
)


def repaired(name: str) -> str:
    """`AMANO SON BHD` → `AMANO SDN BHD`, `WorId` → `World`."""
    for pattern, right in _REPAIRS:
        name = pattern.sub(right, name)
    return name


@dataclass(frozen=True)
class Words:
    """The words of labels, to be found with one letter misread."""

    known: frozenset[str]
    masked: Mapping[str, str]  # a word with one letter left open: the word

    @classmethod
    def of(cls, phrases: Iterable[str]) -> Words:
        known = {word for phrase in phrases for word in _TOKEN.findall(phrase) if word.isalpha()}
        masked = {mask: word for word in sorted(known) for mask in _masks(word)}
        return cls(frozenset(known), masked)

    def corrected(self, folded: str) -> str:
        """The line with such words spelt right; every character keeps its place."""
        return _TOKEN.sub(lambda match: self._corrected(match[0]), folded)

    def _corrected(self, word: str) -> str:
        if word in self.known or sum(map(str.isdigit, word)) > 1:
            return word
        return next((self.masked[mask] for mask in _masks(word) if mask in self.masked), word)


def _masks(word: str) -> list[str]:
    return [f"{word[:place]}?{word[place + 1 :]}" for place in range(len(word))]
