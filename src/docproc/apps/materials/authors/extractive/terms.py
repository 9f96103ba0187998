"""The terms a text is about, found by their articles and by coming back: no dictionary is needed.

A noun follows an article or a preposition ("la membrana plasmática", "of cell walls"); of the words that
follow one, those that recur together are a term. Verbs and adjectives that happen to follow are dropped
because they do not recur, by their endings, or because they also stand where only a verb can.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from docproc.apps.materials.authors.extractive.grammar import GRAMMARS, Grammar
from docproc.apps.materials.content.languages import SPANISH, STOPWORDS, stem
from docproc.apps.materials.content.sentences import Sentence

_LONGEST = 3
_TOKEN = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*|\d[\d.,]*|[^\w\s]")


@dataclass(frozen=True, slots=True)
class Term:
    text: str
    # The kind of noun, as its article tells; empty where articles do not tell.
    agreement: str = ""
    count: int = 1
    score: float = 1.0


@dataclass(slots=True)
class _Seen:
    """How often and where a run of words was seen."""

    count: int = 0
    announced: int = 0
    # How often nothing but a function word or a sign follows: "a different" never stands so.
    ended: int = 0
    as_verb: int = 0
    agreements: Counter[str] = field(default_factory=Counter)
    places: set[int] = field(default_factory=set)


def key_terms(sentences: Sequence[Sentence], language: str) -> list[Term]:
    """Nouns that recur, the most telling first."""
    grammar = GRAMMARS[language]
    seen: defaultdict[str, _Seen] = defaultdict(_Seen)
    for sentence in sentences:
        for run, before in _runs(sentence.text, STOPWORDS[language]):
            for start, phrase in _phrases(run):
                found = seen[phrase]
                found.count += 1
                found.ended += start + len(phrase.split()) == len(run)
                found.places.add(sentence.index // 12)
                if start:
                    continue
                found.as_verb += before in grammar.before_verbs
                if before in grammar.articles or before in grammar.before_nouns:
                    found.announced += 1
                    found.agreements[grammar.articles.get(before, "")] += 1
    terms = (_term(text, found) for text, found in seen.items() if _is_term(text, found, grammar, language))
    return sorted(_kept(terms), key=lambda term: (-term.score, term.text))


def _runs(text: str, stopwords: frozenset[str]) -> Iterator[tuple[list[str], str]]:
    """Content words in a row, in lower case, and the word before them; names end a row."""
    run: list[str] = []
    before, opens = "", True
    for match in [*_TOKEN.finditer(text), None]:
        token = match.group() if match else "."
        is_content = token[0].isalpha() and token.casefold() not in stopwords and len(token) > 2
        if is_content and (token.islower() or opens):
            run.append(token.casefold())
            opens = False
            continue
        if run:
            yield run, before
            run = []
        before = token.casefold() if token.isalpha() else ""
        opens = opens and not token[0].isalnum()


def _phrases(run: Sequence[str]) -> Iterator[tuple[int, str]]:
    for start in range(len(run)):
        for length in range(1, min(_LONGEST, len(run) - start) + 1):
            yield start, " ".join(run[start : start + length])


def _is_term(text: str, found: _Seen, grammar: Grammar, language: str) -> bool:
    length = len(text.split())
    words = text.split()
    noun = words[0] if language == SPANISH else words[-1]
    if found.as_verb or noun in grammar.generic or noun.endswith(grammar.not_nouns) or len(noun) < 3:
        return False
    if language != SPANISH and found.ended < 0.5 * found.count:
        return False
    if length == 1:
        return found.count >= 3 and found.announced >= max(2, 0.5 * found.count) and len(text) > 3
    return found.count >= 2 and found.announced >= 1


def _term(text: str, found: _Seen) -> Term:
    kinds = Counter({kind: count for kind, count in found.agreements.items() if kind})
    agreement = kinds.most_common(1)[0][0] if kinds else ""
    score = found.count * (1 + 0.7 * (len(text.split()) - 1)) * (1 + 0.2 * len(found.places))
    return Term(text, agreement, found.count, score)


def _kept(terms: Iterator[Term]) -> list[Term]:
    """Without the parts of longer terms that hardly occur elsewhere, and without plurals beside singulars."""
    everything = list(terms)
    texts = {term.text for term in everything}
    inside: Counter[str] = Counter()
    for term in everything:
        for _, part in _phrases(term.text.split()):
            if part != term.text and part in texts:
                inside[part] = max(inside[part], term.count)
    kept: dict[str, Term] = {}
    for term in everything:
        if inside[term.text] >= 0.7 * term.count:
            continue
        key = " ".join(stem(word, SPANISH) for word in term.text.split())
        if key not in kept or kept[key].count < term.count:
            kept[key] = term
    return list(kept.values())
