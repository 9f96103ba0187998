"""Drafts questions from what a text defines, dates, counts and relates; far more than a quiz needs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from docproc.apps.materials.authors.extractive.distractors import is_plural, wrong_statements, wrong_terms
from docproc.apps.materials.authors.extractive.grammar import GRAMMARS
from docproc.apps.materials.authors.extractive.material import Material
from docproc.apps.materials.authors.extractive.names import NameKind
from docproc.apps.materials.authors.extractive.numbers import NumberKind, wrong_ones
from docproc.apps.materials.authors.extractive.phrases import GAP, Phrases
from docproc.apps.materials.authors.extractive.ranking import is_statement
from docproc.apps.materials.authors.extractive.terms import Term
from docproc.apps.materials.content.difficulty import Difficulty
from docproc.apps.materials.content.drafts import QuestionDraft
from docproc.apps.materials.content.evidence import Evidence
from docproc.apps.materials.content.languages import SPANISH, STOPWORDS, words
from docproc.apps.materials.content.quiz import Feedback
from docproc.apps.materials.content.sentences import Sentence

_MOST_WORDS_AROUND_A_GAP = 36
_LEAST_WORDS_AROUND_A_GAP = 7
# Looked for in every sentence: a book has thousands, and the rarest are the least worth asking.
_MOST_TERMS = 100


class Asks(StrEnum):
    """What a question asks for; a quiz should not be all of one kind."""

    TERM_DEFINED = "term_defined"
    DEFINITION = "definition"
    RELATION = "relation"
    DATE = "date"
    FIGURE = "figure"
    NAME = "name"
    TERM = "term"


@dataclass(frozen=True, slots=True)
class Candidate:
    draft: QuestionDraft
    asks: Asks
    sentence: Sentence
    # How much it is worth asking.
    score: float


_WORTH = {
    Asks.TERM_DEFINED: 1.5,
    Asks.DEFINITION: 1.4,
    Asks.RELATION: 1.4,
    Asks.DATE: 1.0,
    Asks.FIGURE: 0.95,
    Asks.NAME: 0.9,
    Asks.TERM: 0.8,
}
_DIFFICULTY = {
    Asks.TERM_DEFINED: Difficulty.BASIC,
    Asks.DEFINITION: Difficulty.MEDIUM,
    Asks.RELATION: Difficulty.ADVANCED,
    Asks.DATE: Difficulty.MEDIUM,
    Asks.FIGURE: Difficulty.ADVANCED,
    Asks.NAME: Difficulty.MEDIUM,
    Asks.TERM: Difficulty.MEDIUM,
}


def candidates(material: Material, phrases: Phrases) -> Iterator[Candidate]:
    """Every question that the text allows, unchecked."""
    draft = _Drafting(material, phrases)
    yield from draft.from_definitions()
    yield from draft.from_relations()
    yield from draft.from_numbers()
    yield from draft.from_terms()


@dataclass(frozen=True, slots=True)
class _Drafting:
    material: Material
    phrases: Phrases

    def from_definitions(self) -> Iterator[Candidate]:
        language, definitions = self.material.language, self.material.definitions
        # What the text defines is mixed up more easily than what it only mentions.
        defined = [Term(one.term, score=50.0) for one in definitions]
        for definition in definitions:
            sentence, chapter = definition.sentence, self.material.chapter_title(definition.sentence)
            is_name = definition.term[:1].isupper()
            pool = [term for term in [*defined, *self.material.terms] if term.text[:1].isupper() == is_name]
            terms = wrong_terms(
                definition.term,
                pool if len(pool) > 3 else [*defined, *self.material.terms],
                agreement="",
                context=sentence.text,
                language=language,
            )
            asked = self.phrases.which_term.format(chapter=chapter, definition=definition.body)
            if not set(words(definition.term)) & set(words(definition.body)):
                answer, *wrong = _capitalised(definition.term, *terms)
                yield from self._candidate(asked, answer, wrong, Asks.TERM_DEFINED, sentence)
            bodies = [other.body for other in definitions if other is not definition]
            statements = wrong_statements(definition.body, bodies, language)
            asked = self.phrases.what_is.format(chapter=chapter, term=definition.term)
            answer, *wrong = _capitalised(definition.body, *statements)
            yield from self._candidate(asked, answer, wrong, Asks.DEFINITION, sentence)

    def from_relations(self) -> Iterator[Candidate]:
        language = self.material.language
        people = [Term(name.text) for name in self.material.names if name.kind is NameKind.PERSON]
        subjects = [Term(relation.subject) for relation in self.material.relations]
        for relation in self.material.relations:
            frame = self.phrases.by_whom if relation.is_passive else self.phrases.who_or_what
            asked = frame.format(chapter=self.material.chapter_title(relation.sentence), rest=relation.rest)
            is_person = self._is_person(relation.subject)
            alike = [
                term
                for term in (people if is_person else subjects)
                if self._is_person(term.text) == is_person
                and is_plural(term.text) == is_plural(relation.subject)
            ]
            wrong = wrong_terms(
                relation.subject, alike, agreement="", context=relation.sentence.text, language=language
            )
            answer, *wrong = _capitalised(relation.subject, *wrong)
            yield from self._candidate(asked, answer, wrong, Asks.RELATION, relation.sentence)

    def _is_person(self, subject: str) -> bool:
        return any(name.text == subject and name.kind is NameKind.PERSON for name in self.material.names)

    def from_numbers(self) -> Iterator[Candidate]:
        for number in self.material.numbers:
            is_date = number.kind in (NumberKind.YEAR, NumberKind.CENTURY)
            frame = self.phrases.complete_year if is_date else self.phrases.complete_figure
            asked = self._with_gap(frame, number.sentence, number.start, number.end)
            wrong = wrong_ones(number, self.material.numbers, self.material.language)
            if asked:
                asks = Asks.DATE if is_date else Asks.FIGURE
                yield from self._candidate(asked, number.text, wrong, asks, number.sentence)

    def from_terms(self) -> Iterator[Candidate]:
        terms, names = self.material.terms[:_MOST_TERMS], self.material.names[:_MOST_TERMS]
        for term in terms:
            yield from self._gaps(term.text, terms, Asks.TERM, self.phrases.complete_term)
        for name in names:
            if name.kind is NameKind.UNKNOWN:
                continue
            alike = [Term(other.text, score=other.count) for other in names if other.kind is name.kind]
            yield from self._gaps(name.text, alike, Asks.NAME, self.phrases.complete_name)

    def _gaps(self, text: str, alike: list[Term], asks: Asks, frame: str) -> Iterator[Candidate]:
        """The sentences in which it stands once, but not first, with a gap in its place."""
        language = self.material.language
        pattern = re.compile(rf"(?<![\w-]){re.escape(text)}(?![\w-])")
        for sentence in self.material.sentences:
            found = list(pattern.finditer(sentence.text))
            if len(found) != 1 or not found[0].start() or _goes_on(sentence.text, found[0], asks, language):
                continue
            asked = self._with_gap(frame, sentence, *found[0].span())
            if asked:
                agreement = (
                    _agreement(sentence.text[: found[0].start()], language) if asks is Asks.TERM else ""
                )
                wrong = wrong_terms(
                    text, alike, agreement=agreement, context=sentence.text, language=language
                )
                yield from self._candidate(asked, text, wrong, asks, sentence)

    def _with_gap(self, frame: str, sentence: Sentence, start: int, end: int) -> str:
        text = sentence.text
        if not _LEAST_WORDS_AROUND_A_GAP <= sentence.word_count <= _MOST_WORDS_AROUND_A_GAP or re.search(
            '[«»“”"]', text
        ):
            return ""
        with_gap = f"{text[:start]}{GAP}{text[end:]}"
        return frame.format(chapter=self.material.chapter_title(sentence), sentence=with_gap)

    def _candidate(
        self, asked: str, answer: str, wrong: list[str], asks: Asks, sentence: Sentence
    ) -> Iterator[Candidate]:
        if len(wrong) < 3 or len(asked) > 480 or not is_statement(sentence.text, self.material.language):
            return
        feedback = Feedback(
            correct=self.phrases.correct.format(page=sentence.page, quote=sentence.text),
            incorrect=self.phrases.incorrect.format(page=sentence.page, answer=answer, quote=sentence.text),
        )
        draft = QuestionDraft(
            text=asked,
            difficulty=_DIFFICULTY[asks],
            correct=answer,
            distractors=wrong,
            feedback=feedback,
            evidence=[Evidence(quote=sentence.text, page=sentence.page)],
        )
        score = _WORTH[asks] * (0.4 + self.material.ranking.score(sentence))
        yield Candidate(draft, asks, sentence, score)


def _agreement(before: str, language: str) -> str:
    last = before.split()[-1:] or [""]
    return GRAMMARS[language].articles.get(last[0].casefold(), "")


def _goes_on(text: str, match: re.Match[str], asks: Asks, language: str) -> bool:
    """Whether it is a part of something longer: "Romulus" in "Romulus Augustulus", "cell" in "cell wall"."""
    after = text[match.end() :]
    if asks is Asks.TERM:
        word = re.match(r" ([^\W\d_]+)", after)
        return language != SPANISH and word is not None and word[1].casefold() not in STOPWORDS[language]
    return bool(
        re.match(r" [A-ZÁÉÍÓÚÑ]| (?:de|of|del) [A-ZÁÉÍÓÚÑ]|['’<:]", after)
        or re.search(r"[A-ZÁÉÍÓÚÑ][\w'’-]* $", text[: match.start()])
    )


def _capitalised(*options: str) -> list[str]:
    """All with a capital letter: one that had it from its sentence would stand out."""
    return [option[:1].upper() + option[1:] for option in options]
