"""The contract of a check: what it looks at, and what it says of a question that does not pass."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field

from docproc.apps.materials.content.languages import KNOWN, recognise, stems
from docproc.apps.materials.content.quiz import Question
from docproc.apps.materials.content.sentences import Sentence, sentences_of
from docproc.apps.materials.content.source import SourceText
from docproc.apps.materials.content.wording import normal


@dataclass(frozen=True, slots=True)
class Finding:
    """A check that a question did not pass."""

    question_id: str
    # Names the check; the page for people has a text for each.
    check: str
    # The words at fault, as they stand in the question; empty where there are none to point at.
    detail: str = ""


@dataclass(slots=True)
class Grounds:
    """The text that questions are checked against, prepared once for all of them."""

    source: SourceText
    # Of the quiz.
    language: str
    # Of the text: where it is another one than the quiz's, only numbers and names can be looked up.
    source_language: str = ""
    sentences: list[Sentence] = field(default_factory=list)
    # Each sentence as its words with single spaces around them: a whole word is found by plain search.
    _spaced: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, source: SourceText, language: str) -> Grounds:
        sentences = sentences_of(source)
        spaced = [_spaced(sentence.text) for sentence in sentences]
        return cls(source, language, recognise(source.text, otherwise=language), sentences, spaced)

    @property
    def words_compare(self) -> bool:
        """Whether the words of the quiz can be looked for in the text at all."""
        return self.language == self.source_language and self.language in KNOWN

    def stems(self, text: str) -> set[str]:
        return stems(text, self.source_language)

    def saying(self, text: str) -> list[Sentence]:
        """The sentences in which these words stand, as whole words: "era" is not in "general"."""
        wanted = _spaced(text)
        return [
            sentence for sentence, found in zip(self.sentences, self._spaced, strict=True) if wanted in found
        ]


def _spaced(text: str) -> str:
    words = re.findall(r"\w+", normal(text))
    return f" {' '.join(words)} "


# Looks at one question; says what is wrong with it, or None. A check never fails for a question it cannot
# judge.
Check = Callable[[Question, Grounds], str | None]
