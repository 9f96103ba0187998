"""The extractive summary: telling sentences of every chapter, the terms they define, questions to think."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from docproc.apps.materials.authors.extractive.material import Material
from docproc.apps.materials.authors.extractive.phrases import Phrases
from docproc.apps.materials.authors.extractive.ranking import stands_alone
from docproc.apps.materials.content.difficulty import Difficulty
from docproc.apps.materials.content.evidence import Evidence
from docproc.apps.materials.content.sentences import Sentence
from docproc.apps.materials.content.summary import (
    GLOSSARY_TERMS,
    REFLECTION_QUESTIONS,
    SECTIONS,
    GlossaryTerm,
    Section,
    Summary,
)
from docproc.apps.materials.content.wording import in_dictionary, normal
from docproc.errors import PermanentError

_SENTENCES_OF_A_SECTION = 5
_WORDS_READ_PER_MINUTE = 180
_LONGEST_TITLE = 160


@dataclass(frozen=True, slots=True)
class _Part:
    """What one section is about: a chapter, several of them, or a piece of one."""

    title: str
    chapters: list[list[Sentence]]

    @property
    def sentences(self) -> list[Sentence]:
        return [sentence for chapter in self.chapters for sentence in chapter]

    @property
    def word_count(self) -> int:
        return sum(sentence.word_count for sentence in self.sentences)


def write_summary(material: Material, phrases: Phrases, *, language: str, generator: str) -> Summary:
    parts = _parts(material, phrases)
    glossary = _glossary(material)
    if len(parts) < SECTIONS[0] or len(glossary) < GLOSSARY_TERMS[0]:
        raise PermanentError(
            f"the text yields {len(parts)} sections and {len(glossary)} terms, and a summary has "
            f"{SECTIONS[0]} and {GLOSSARY_TERMS[0]}",
            remedy="Send a text with more prose, or let a model write: DOCPROC_MATERIALS_AUTHOR=openai",
        )
    return Summary(
        title=_title(material),
        language=language,
        sections=[_section(order, part, material) for order, part in enumerate(parts, start=1)],
        glossary=[
            GlossaryTerm(term=term, definition=sentence.text, order=order, evidence=[_evidence(sentence)])
            for order, (term, sentence) in enumerate(glossary, start=1)
        ],
        reflection_questions=_reflection(material, phrases, glossary),
        generator=generator,
    )


def _parts(material: Material, phrases: Phrases) -> list[_Part]:
    """Five to seven parts of about equal length that together are all chapters."""
    parts = [_Part(title, [sentences]) for title, sentences in _chapters(material) if sentences]
    while len(parts) > SECTIONS[1]:
        parts = _joined(parts)
    while len(parts) < SECTIONS[0]:
        halved = _halved(parts)
        if halved is None:
            break
        parts = halved
    return _numbered(parts, phrases)


def _chapters(material: Material) -> Iterator[tuple[str, list[Sentence]]]:
    for index, chapter in enumerate(material.source.chapters):
        # What stands before the first heading belongs to what it introduces.
        yield chapter.title, [sentence for sentence in material.sentences if (sentence.chapter or 0) == index]


def _joined(parts: list[_Part]) -> list[_Part]:
    """The two neighbours that are shortest together become one."""
    at = min(range(len(parts) - 1), key=lambda index: parts[index].word_count + parts[index + 1].word_count)
    one, other = parts[at], parts[at + 1]
    both = _Part(f"{one.title}; {other.title}", [*one.chapters, *other.chapters])
    return [*parts[:at], both, *parts[at + 2 :]]


def _halved(parts: list[_Part]) -> list[_Part] | None:
    """The longest part becomes two; None where no part has sentences enough for two."""
    at = max(range(len(parts)), key=lambda index: parts[index].word_count, default=0)
    if not parts or len(parts[at].sentences) < 4:
        return None
    sentences, half = parts[at].sentences, parts[at].word_count / 2
    cut, counted = 1, sentences[0].word_count
    while counted < half and cut < len(sentences) - 2:
        counted += sentences[cut].word_count
        cut += 1
    # At a paragraph near the middle, if there is one.
    near = [
        i for i in range(max(2, cut - 3), min(len(sentences) - 1, cut + 4)) if sentences[i].opens_paragraph
    ]
    cut = min(near, key=lambda index: abs(index - cut), default=cut)
    title = parts[at].title
    return [*parts[:at], _Part(title, [sentences[:cut]]), _Part(title, [sentences[cut:]]), *parts[at + 1 :]]


def _numbered(parts: list[_Part], phrases: Phrases) -> list[_Part]:
    """Pieces of one chapter are told apart by a number."""
    titles = [part.title for part in parts]
    numbered, seen = [], dict.fromkeys(titles, 0)
    for part in parts:
        seen[part.title] += 1
        title = part.title
        if titles.count(title) > 1:
            title = phrases.continued.format(title=title, number=seen[part.title])
        numbered.append(_Part(title, part.chapters))
    return numbered


def _section(order: int, part: _Part, material: Material) -> Section:
    per_chapter = max(1, -(-_SENTENCES_OF_A_SECTION // len(part.chapters)))
    chosen = [
        sentence for chapter in part.chapters for sentence in material.ranking.best(chapter, per_chapter)
    ]
    title = (
        part.title if len(part.title) <= _LONGEST_TITLE else part.title[: _LONGEST_TITLE - 1].rstrip() + "…"
    )
    return Section(
        title=title,
        content=" ".join(sentence.text for sentence in chosen),
        difficulty=_difficulty(part.sentences),
        estimated_time_minutes=min(240, max(1, round(part.word_count / _WORDS_READ_PER_MINUTE))),
        order=order,
        evidence=[_evidence(sentence) for sentence in chosen],
    )


def _difficulty(sentences: Sequence[Sentence]) -> Difficulty:
    """By the length of sentences and words, as the usual formulas of readability do (LIX)."""
    everything = [word for sentence in sentences for word in sentence.text.split()]
    long_words = sum(len(word.strip('.,;:()«»"')) > 6 for word in everything)
    index = len(everything) / max(1, len(sentences)) + 100 * long_words / max(1, len(everything))
    if index < 42:
        return Difficulty.BASIC
    return Difficulty.MEDIUM if index < 56 else Difficulty.ADVANCED


def _glossary(material: Material) -> list[tuple[str, Sentence]]:
    """What the text defines first; then its terms, each with the sentence that tells most of it."""
    found: dict[str, tuple[str, Sentence]] = {}
    ranked = sorted(material.definitions, key=lambda one: -material.ranking.score(one.sentence))
    for definition in ranked[: GLOSSARY_TERMS[1]]:
        found[normal(definition.term)] = (definition.term, definition.sentence)
    for term in material.terms:
        if len(found) >= GLOSSARY_TERMS[1]:
            break
        sentence = _telling(term.text, material)
        if normal(term.text) not in found and sentence:
            found[normal(term.text)] = (term.text, sentence)
    for name in material.names:
        if len(found) >= GLOSSARY_TERMS[0]:
            break
        sentence = _telling(name.text, material)
        if sentence:
            found.setdefault(normal(name.text), (name.text, sentence))
    return sorted(found.values(), key=lambda one: in_dictionary(one[0]))


def _telling(term: str, material: Material) -> Sentence | None:
    """The sentence that begins with the term, or else the most telling one that has it."""
    pattern = re.compile(rf"(?<![\w-]){re.escape(term)}(?![\w-])", re.IGNORECASE)
    having = [
        (sentence, found) for sentence in material.sentences if (found := pattern.search(sentence.text))
    ]
    alone = [one for one in having if stands_alone(one[0].text, material.language)] or having
    best = max(alone, key=lambda one: (one[1].start() < 6, material.ranking.score(one[0])), default=None)
    return best[0] if best else None


def _reflection(material: Material, phrases: Phrases, glossary: Sequence[tuple[str, Sentence]]) -> list[str]:
    """About the glossary's terms, each with the chapter it is explained in; the chapters take turns. What a
    chapter is called after says nothing more about it, so it is asked about
    only where there is little else."""
    others = [one for one in glossary if normal(one[0]) not in normal(material.chapter_title(one[1]))]
    wanted = others if len(others) >= REFLECTION_QUESTIONS[0] else glossary
    by_chapter = sorted(wanted, key=lambda one: one[1].index)
    step = max(1, len(by_chapter) // REFLECTION_QUESTIONS[1])
    chosen = by_chapter[::step]
    questions = []
    for index, question in enumerate(phrases.reflection[: REFLECTION_QUESTIONS[1]]):
        (term, sentence), (other, _) = chosen[index % len(chosen)], chosen[(index + 1) % len(chosen)]
        questions.append(question.format(term=term, other=other, chapter=material.chapter_title(sentence)))
    return questions


def _title(material: Material) -> str:
    first = next((line.strip() for line in material.source.text.splitlines() if line.strip()), "")
    title = material.source.title or " ".join(first.split()[:14]) or material.source.chapters[0].title
    return title[:_LONGEST_TITLE]


def _evidence(sentence: Sentence) -> Evidence:
    return Evidence(quote=sentence.text, page=sentence.page)
