"""From scores to a choice: the values compete with each other and with "it is not there"."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from docproc.apps.documents.understanding.extract.candidates import Candidate

NOTHING = 1.6  # the score that "not on the page" has before anything is trained
TEMPERATURE = 0.8
HOPELESS = 0.1  # below this, saying nothing helps more


@dataclass(frozen=True, slots=True)
class Scored:
    """A candidate, what the rules make of it, and what else is known that the trained scorer weighs."""

    candidate: Candidate
    score: float
    parts: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Choice:
    candidate: Candidate
    confidence: float


def choose(scored: Sequence[Scored], doc_type: str = "", name: str = "", kind: str = "text") -> Choice | None:
    """The best value and how likely it is, None when saying nothing helps more."""
    from docproc.apps.documents.understanding.extract import calibrate, scorer  # they know Scored

    ranking = scorer.rank(scored, doc_type, name, kind)
    if ranking is None:
        return None
    confidence = calibrate.confidence(ranking, doc_type, name, kind)
    return Choice(ranking.best, confidence) if confidence >= HOPELESS else None


def less_likely(each: Scored, doubtful: bool) -> Scored:
    """Unlikely: a person as the company of a payslip, a company as its employee, one of several bases."""
    return Scored(each.candidate, each.score - 2.5 * doubtful, each.parts)
