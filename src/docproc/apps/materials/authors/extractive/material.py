"""Everything the offline author found in a text, found once for the summary and the quiz."""

from __future__ import annotations

from dataclasses import dataclass

from docproc.apps.materials.authors.extractive.definitions import Definition, definitions_of
from docproc.apps.materials.authors.extractive.names import Name, names_of
from docproc.apps.materials.authors.extractive.numbers import Number, numbers_of
from docproc.apps.materials.authors.extractive.ranking import Ranking
from docproc.apps.materials.authors.extractive.relations import Relation, relations_of
from docproc.apps.materials.authors.extractive.terms import Term, key_terms
from docproc.apps.materials.content.chapters import with_chapters
from docproc.apps.materials.content.languages import recognise
from docproc.apps.materials.content.sentences import Sentence, sentences_of
from docproc.apps.materials.content.source import SourceText
from docproc.errors import PermanentError


@dataclass(frozen=True, slots=True)
class Material:
    source: SourceText
    # Of the text, which may not be the one that was asked for.
    language: str
    sentences: list[Sentence]
    ranking: Ranking
    terms: list[Term]
    names: list[Name]
    definitions: list[Definition]
    numbers: list[Number]
    relations: list[Relation]

    def chapter_title(self, sentence: Sentence) -> str:
        chapters = self.source.chapters
        return chapters[sentence.chapter].title if sentence.chapter is not None else chapters[0].title


def study(source: SourceText) -> Material:
    """Reads the text for the summary and the quiz. Raises a PermanentError where its language is unknown."""
    source = with_chapters(source)
    language = recognise(source.text)
    if not language:
        raise PermanentError(
            "the offline author reads Spanish and English, and this text is neither",
            remedy="Set DOCPROC_MATERIALS_AUTHOR=openai and a model that knows the language",
        )
    sentences = sentences_of(source)
    return Material(
        source=source,
        language=language,
        sentences=sentences,
        ranking=Ranking(sentences, language),
        terms=key_terms(sentences, language),
        names=names_of(sentences, language),
        definitions=definitions_of(sentences, language),
        numbers=numbers_of(sentences, language),
        relations=relations_of(sentences, language),
    )
