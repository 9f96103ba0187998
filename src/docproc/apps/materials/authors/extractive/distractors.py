"""Wrong options made of the text's own terms and names.

The rule: of the same kind as the answer (name or term), fitting the same article, with a similar length;
not in the sentence asked about; those of the same part of the text first, because they are the ones that a
reader who did not understand mixes up.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from docproc.apps.materials.authors.extractive.terms import Term
from docproc.apps.materials.content.languages import stem, words

_WANTED = 3


def wrong_terms(
    answer: str, candidates: Iterable[Term], *, agreement: str, context: str, language: str
) -> list[str]:
    """Three terms that could stand where the answer does; fewer where the text has no more."""
    inside = context.casefold()
    fitting = [
        term
        for term in candidates
        if term.text.casefold() not in inside and (not agreement or term.agreement in ("", agreement))
    ]
    fitting.sort(key=lambda term: _distance(term, answer, agreement))
    return _different([term.text for term in fitting], answer, language)


def is_plural(text: str) -> bool:
    """By its article in Spanish ("los glóbulos rojos"), by its last word in English."""
    parts = [word for word in text.casefold().split() if word.isalpha()] or [text]
    first, last = parts[0], parts[-1]
    return first in ("los", "las", "unos", "unas") or (
        last.endswith("s") and not last.endswith(("ss", "us", "is"))
    )


def wrong_statements(answer: str, candidates: Iterable[str], language: str) -> list[str]:
    """Three statements of about the answer's length."""
    near = sorted(candidates, key=lambda text: abs(len(text) - len(answer)))
    fitting = [text for text in near if 0.5 <= len(text) / len(answer) <= 1.7]
    return _different(fitting, answer, language)


def _distance(term: Term, answer: str, agreement: str) -> tuple[bool, bool, int, float]:
    """First terms of the same number with as many words; of those, the telling ones of a similar length."""
    by_words = abs(len(term.text.split()) - len(answer.split()))
    by_length = abs(len(term.text) - len(answer)) / (1 + term.score**0.5)
    return term.agreement != agreement, is_plural(term.text) != is_plural(answer), by_words, by_length


def _different(texts: Iterable[str], answer: str, language: str) -> list[str]:
    """The first three that are about something else than the answer and than each other."""
    kept: list[str] = []
    for text in texts:
        if not any(_share_words(text, other, language) for other in (answer, *kept)):
            kept.append(text)
        if len(kept) == _WANTED:
            break
    return kept


def _share_words(one: str, other: str, language: str) -> bool:
    """Whether short options are about the same thing: one's words are all in the other."""
    first, second = _stems(one, language), _stems(other, language)
    return first <= second or second <= first


@lru_cache(maxsize=4096)
def _stems(text: str, language: str) -> frozenset[str]:
    """Kept, because the terms of a text are compared with each other for every gap."""
    return frozenset(stem(word, language) for word in words(text))
