"""How telling each sentence is: by the words it shares with the whole text, and by where it stands."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from docproc.apps.materials.authors.extractive.grammar import GRAMMARS
from docproc.apps.materials.content.languages import stems, words
from docproc.apps.materials.content.sentences import Sentence

# "Listing 4-9", "en la figura 3": there is nothing of it beside the question.
_OF_THE_BOOK = re.compile(
    r"\b(?:listing|figure|table|chapter|section|appendix|page|exercise|figura|tabla|cuadro|capítulo|sección|anexo|"
    r"página|ejercicio)s? (?:\d|[A-Z]\b)",
    re.IGNORECASE,
)


class Ranking:
    """The sentences of a text, scored once; parts of it are picked from by chapter."""

    def __init__(self, sentences: Sequence[Sentence], language: str) -> None:
        self._language = language
        self._stems = {sentence.index: stems(sentence.text, language) for sentence in sentences}
        often = Counter(stem for found in self._stems.values() for stem in found)
        # What half the sentences say tells little of any of them.
        self._weight = {
            stem: math.log(1 + count) * math.log(1 + len(sentences) / count) for stem, count in often.items()
        }

    def score(self, sentence: Sentence) -> float:
        found = self._stems[sentence.index]
        if not found:
            return 0.0
        weight = sum(self._weight[stem] for stem in found) / (len(found) + 4)
        length = 1.0 if 9 <= sentence.word_count <= 32 else 0.6
        opening = 1.25 if sentence.opens_paragraph else 1.0
        return weight * length * opening * (1.0 if stands_alone(sentence.text, self._language) else 0.55)

    def best(self, sentences: Sequence[Sentence], count: int) -> list[Sentence]:
        """The most telling ones, no two of which say the same, in the order of the text."""
        chosen: list[Sentence] = []
        left = sorted(sentences, key=lambda sentence: (-self.score(sentence), sentence.index))
        for sentence in left:
            if len(chosen) == count:
                break
            if all(self._overlap(sentence, other) < 0.6 for other in chosen):
                chosen.append(sentence)
        return sorted(chosen, key=lambda sentence: sentence.index)

    def _overlap(self, one: Sentence, other: Sentence) -> float:
        first, second = self._stems[one.index], self._stems[other.index]
        return len(first & second) / max(1, min(len(first), len(second)))


def stands_alone(text: str, language: str) -> bool:
    """Whether it can be understood without the sentence before it, as far as its first word tells."""
    first = words(text)[:1]
    return bool(first) and first[0] not in GRAMMARS[language].pointing_back and not text.endswith("?")


def is_statement(text: str, language: str) -> bool:
    """Whether it says something of the subject: not to the reader, and not of the book itself."""
    return (
        stands_alone(text, language)
        and not GRAMMARS[language].to_the_reader & set(words(text))
        and not _OF_THE_BOOK.search(text)
    )
