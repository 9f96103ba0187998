"""Chooses a quiz from many drafts: those that pass every check, from every chapter, of every kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from docproc.apps.materials.authors.extractive.questions import Candidate
from docproc.apps.materials.checks.check import Grounds
from docproc.apps.materials.checks.examine import examine_question
from docproc.apps.materials.content.drafts import QuestionDraft, assemble
from docproc.apps.materials.content.quiz import QUESTIONS
from docproc.apps.materials.content.wording import normal

# Of each kind of question in a chapter, only so many of the best drafts are looked at.
_MOST_OF_A_KIND = 6


@dataclass(slots=True)
class _Chosen:
    """What has been chosen, and what may not be asked again."""

    drafts: list[Candidate]
    sentences: set[int]
    answers: set[str]
    kinds: Counter[str]
    chapters: Counter[int | None]

    def allows(self, candidate: Candidate) -> bool:
        return (
            candidate.sentence.index not in self.sentences
            and normal(candidate.draft.correct) not in self.answers
        )

    def take(self, candidate: Candidate) -> None:
        self.drafts.append(candidate)
        self.sentences.add(candidate.sentence.index)
        self.answers.add(normal(candidate.draft.correct))
        self.kinds[candidate.asks] += 1
        self.chapters[candidate.sentence.chapter] += 1

    def worth(self, candidate: Candidate) -> float:
        """Less, the more of its chapter and its kind there are already."""
        return (
            candidate.score
            / (1 + 0.8 * self.kinds[candidate.asks])
            / (1 + 2.0 * self.chapters[candidate.sentence.chapter])
        )


def choose(candidates: Iterable[Candidate], grounds: Grounds, count: int) -> list[QuestionDraft]:
    """At most `count` drafts, in the order of the text; fewer than five where the text yields no more.

    Drafts that fail a check serve only where there are not five without: a person sees those.
    """
    chosen = _Chosen([], set(), set(), Counter(), Counter())
    failing: list[Candidate] = []

    def is_good(candidate: Candidate) -> bool:
        good = passes(candidate.draft, grounds)
        if not good:
            failing.append(candidate)
        return good

    # Checked when it would be taken: checking all drafts of a book takes a minute, of a quiz a second.
    _fill(chosen, _best_of_each_chapter(candidates), count, is_good)
    if len(chosen.drafts) < QUESTIONS[0]:
        _fill(chosen, failing, QUESTIONS[0], lambda candidate: True)
    in_order = sorted(chosen.drafts, key=lambda taken: taken.sentence.index)
    return [candidate.draft for candidate in in_order]


def _best_of_each_chapter(candidates: Iterable[Candidate]) -> list[Candidate]:
    kept: list[Candidate] = []
    taken: Counter[tuple[int | None, str]] = Counter()
    for candidate in sorted(candidates, key=lambda candidate: -candidate.score):
        # By kind, too: a chapter full of names has a definition worth asking.
        key = (candidate.sentence.chapter, candidate.asks)
        taken[key] += 1
        if taken[key] <= _MOST_OF_A_KIND:
            kept.append(candidate)
    return kept


def passes(draft: QuestionDraft, grounds: Grounds) -> bool:
    """Whether the question passes the checks of one question, whatever place its answer gets."""
    try:
        quiz = assemble("–", [draft] * QUESTIONS[0], language=grounds.language, generator="–")
    except ValueError:  # two options are the same
        return False
    return not examine_question(quiz.questions[0], grounds)


def _fill(
    chosen: _Chosen, candidates: Sequence[Candidate], count: int, is_good: Callable[[Candidate], bool]
) -> None:
    left = list(candidates)
    while left and len(chosen.drafts) < count:
        best = max(left, key=chosen.worth)
        left.remove(best)
        if chosen.allows(best) and is_good(best):
            chosen.take(best)
