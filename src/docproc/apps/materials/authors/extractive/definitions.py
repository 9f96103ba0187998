"""Sentences that define a term: "X is a …", "X se define como …", "… is called X"."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from docproc.apps.materials.authors.extractive.grammar import GRAMMARS
from docproc.apps.materials.content.languages import ENGLISH, SPANISH, STOPWORDS, word_list, words
from docproc.apps.materials.content.sentences import Sentence

_MOST_WORDS_OF_A_TERM = 5
_LEAST_WORDS_OF_A_BODY = 4
_MOST_WORDS_OF_A_BODY = 32

_TERM = r"(?P<term>[^\s,;:.()«»“”\"]+(?: [^\s,;:.()«»“”\"]+){0,5}?)"
_BODY = r"(?P<body>[^;]+?)[.!]?$"

_PATTERNS: dict[str, tuple[re.Pattern[str], ...]] = {
    SPANISH: tuple(
        re.compile(pattern)
        for pattern in (
            rf"^(?:El|La|Los|Las|Un|Una) {_TERM}(?: \([^)]*\))? (?:es|son|era|eran|fue) "
            rf"(?=(?:un|una|unos|unas|el|la|los|las|cualquier|aquel|aquella|aquello) ){_BODY}",
            rf"^(?=[A-ZÁÉÍÓÚÑ]){_TERM}(?: \([^)]*\))? (?:es|son) "
            rf"(?=(?:un|una|unos|unas|el|la|los|las) ){_BODY}",
            rf"^(?:El |La |Los |Las |Un |Una )?{_TERM} "
            rf"(?:se define como|se definen como|consiste en|consisten en) {_BODY}",
            rf"^(?:Se denomina|Se llama|Se conoce como|Llamamos|Denominamos) (?:el |la |los |las )?{_TERM} "
            rf"(?:a |al )(?P<article>la |las |los |una |un )?{_BODY}",
        )
    ),
    ENGLISH: tuple(
        re.compile(pattern)
        for pattern in (
            rf"^(?:The |A |An )?{_TERM}(?: \([^)]*\))? (?:is|are|was|were) "
            rf"(?=(?:a|an|the|any|one of|the name|those|a kind of|a type of) ){_BODY}",
            rf"^(?:The |A |An )?{_TERM}(?: \([^)]*\))? (?:is|are) defined as {_BODY}",
            rf"^(?:The |A |An )?{_TERM} (?:refers to|refer to|consists of|consist of|means) {_BODY}",
        )
    ),
}
# What follows the definition in the same sentence, and is not part of it.
_SECOND_CLAUSE = re.compile(
    r"\s+\([^)]*$|, (?:y|e|pero|mientras que|aunque|and|but|while|although|so) (?=\w+ )", re.IGNORECASE
)
# Nouns that stand for something said elsewhere: "the reason is …" defines nothing.
_EMPTY: dict[str, frozenset[str]] = {
    SPANISH: word_list(
        """
        resultado objetivo razón causa consecuencia problema idea siguiente caso hecho autor texto
        capítulo cosa primera primero segunda segundo tercera tercero última último principal principio
        función finalidad clave solución diferencia ventaja importancia ejemplo mayoría respuesta
        """
    ),
    ENGLISH: word_list(
        """
        result reason cause consequence problem idea following case fact author text chapter thing one
        first second third last main goal purpose aim key solution difference advantage importance example
        majority answer point question what who there function effect
        """
    ),
}


@dataclass(frozen=True, slots=True)
class Definition:
    term: str
    body: str
    sentence: Sentence


def definitions_of(sentences: Sequence[Sentence], language: str) -> list[Definition]:
    """The first definition of each term, in the order of the text."""
    found: dict[str, Definition] = {}
    # A capital letter that only opens a sentence is lost where the text writes the word without it elsewhere.
    lower = {word for sentence in sentences for word in sentence.text.split() if word.islower()}
    for sentence in sentences:
        for definition in _defined_by(sentence, language, lower):
            found.setdefault(definition.term.casefold(), definition)
    return list(found.values())


def _defined_by(sentence: Sentence, language: str, lower: Collection[str]) -> Iterator[Definition]:
    for pattern in _PATTERNS[language]:
        match = pattern.match(sentence.text)
        if match and _is_a_term(match["term"], language):
            body = f"{match.groupdict().get('article') or ''}{match['body']}".strip()
            body = _SECOND_CLAUSE.split(body)[0].rstrip(" .,:")
            if _LEAST_WORDS_OF_A_BODY <= len(body.split()) <= _MOST_WORDS_OF_A_BODY:
                yield Definition(_written(match["term"], sentence.text, lower), body, sentence)
                return


def _is_a_term(text: str, language: str) -> bool:
    parts = words(text)
    stopwords, grammar = STOPWORDS[language], GRAMMARS[language]
    return (
        0 < len(parts) <= _MOST_WORDS_OF_A_TERM
        and parts[0] not in stopwords
        and parts[-1] not in stopwords
        and parts[0] not in grammar.pointing_back
        and not _EMPTY[language] & set(parts)
        and not any(sign.isdigit() for sign in text)
        and not ({"que", "which", "that", "who", "where", "donde"} & set(parts))
        and len(text) > 2
        and (len(parts[-1]) > 1 or parts[-1].isupper())
    )


def _written(term: str, sentence: str, lower: Collection[str]) -> str:
    first = term.split()[0]
    if not sentence.startswith(term) or first.lower() not in lower:
        return term
    return term[0].lower() + term[1:]
