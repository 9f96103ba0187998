"""What a quiz is asked about: the most telling sentences of every chapter. Reading a long text twice would be
what costs most."""

from __future__ import annotations

from collections import defaultdict

from docproc.apps.materials.authors.extractive.grammar import GRAMMARS
from docproc.apps.materials.authors.extractive.ranking import Ranking
from docproc.apps.materials.content.sentences import Sentence, sentences_of
from docproc.apps.materials.content.source import SourceText

_OTHERS = "en"


def passages(source: SourceText, language: str, most_characters: int) -> str:
    """The text where it fits; else sentences of it, in its words and order: of each chapter its share, and
    at least one."""
    if len(source.text) <= most_characters:
        return source.text
    sentences = sentences_of(source)
    ranking = Ranking(sentences, language if language in GRAMMARS else _OTHERS)
    by_chapter: dict[int | None, list[Sentence]] = defaultdict(list)
    for sentence in sentences:
        by_chapter[sentence.chapter].append(sentence)
    whole = sum(len(sentence.text) for sentence in sentences)
    told = []
    for chapter, found in by_chapter.items():
        share = most_characters * sum(len(sentence.text) for sentence in found) // whole
        title = "" if chapter is None else source.chapters[chapter].title + "\n"
        told.append(title + " ".join(sentence.text for sentence in _best(ranking, found, share)))
    return "\n\n".join(told) or source.text[:most_characters]


def _best(ranking: Ranking, sentences: list[Sentence], most_characters: int) -> list[Sentence]:
    """In the order of the text; at least one."""
    chosen: list[Sentence] = []
    size = 0
    for sentence in sorted(sentences, key=lambda one: (-ranking.score(one), one.index)):
        size += len(sentence.text)
        if chosen and size > most_characters:
            break
        chosen.append(sentence)
    return sorted(chosen, key=lambda one: one.index)
