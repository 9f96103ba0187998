"""How good the offline author is, on texts that it was not tuned to.

The texts in `bench/texts` were written for this measurement and are used by no test; a folder of other ones
(`.txt`, pages parted by form feeds, or PDF) is measured the same way.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from docproc.apps.materials.authors.extractive.author import examine, summarise
from docproc.apps.materials.authors.extractive.material import study
from docproc.apps.materials.authors.extractive.phrases import PHRASES
from docproc.apps.materials.authors.extractive.questions import candidates
from docproc.apps.materials.authors.extractive.selection import passes
from docproc.apps.materials.checks.answerable import answerable
from docproc.apps.materials.checks.check import Grounds
from docproc.apps.materials.checks.examine import examine as check
from docproc.apps.materials.content.chapters import with_chapters
from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.source import SourceText
from docproc.apps.materials.content.summary import Summary
from docproc.errors import PermanentError

TEXTS = Path(__file__).parent / "texts"
LINES_PER_PAGE = 40
QUESTIONS = 10


@dataclass
class Figures:
    """Of one text, or of several added up."""

    texts: int = 0
    refused: int = 0
    questions: int = 0
    passing: int = 0
    answerable: int = 0
    drafts: int = 0
    drafts_passing: int = 0
    chapters: int = 0
    chapters_asked: int = 0
    chapters_possible: int = 0
    chapters_summarised: int = 0
    seconds: float = 0.0
    words: int = 0
    failed_checks: Counter[str] = field(default_factory=Counter)

    def shares(self) -> dict[str, float]:
        return {
            "questions_passing_all_checks": self.passing / max(1, self.questions),
            "questions_answerable_from_evidence": self.answerable / max(1, self.questions),
            "questions_per_text": self.questions / max(1, self.texts - self.refused),
            "drafts_passing_all_checks": self.drafts_passing / max(1, self.drafts),
            "chapters_in_quiz": self.chapters_asked / max(1, self.chapters),
            # Ten questions cannot be about thirty chapters.
            "chapters_in_quiz_of_possible": self.chapters_asked / max(1, self.chapters_possible),
            "chapters_in_summary": self.chapters_summarised / max(1, self.chapters),
            "texts_refused": self.refused / max(1, self.texts),
        }

    def add(self, other: Figures) -> None:
        for name, value in vars(other).items():
            if name == "failed_checks":
                self.failed_checks.update(value)
            else:
                setattr(self, name, getattr(self, name) + value)


def measure(report: Any, folder: Path = TEXTS) -> Figures:
    """Adds the figures of a folder's texts, each and all together, to a bench report."""
    everything = Figures()
    for path, source in read(folder):
        figures = figures_of(source)
        _report(report, f"offline author, {path.name}", figures)
        everything.add(figures)
    _report(report, "offline author", everything)
    report.add("offline author", "words_per_s", everything.words / max(everything.seconds, 1e-9), "1/s")
    return everything


def read(folder: Path) -> Iterable[tuple[Path, SourceText]]:
    for path in sorted(folder.iterdir()):
        if path.suffix == ".txt":
            yield path, SourceText.of_pages(_pages(path.read_text(encoding="utf-8")), title=path.stem)
        elif path.suffix == ".pdf":
            from docproc.apps.materials.source.reading import layer_pages, open_pdf

            opened = open_pdf(path, path.with_suffix(".mended.pdf"), 5000)
            yield path, SourceText.of_pages(layer_pages(opened.path, opened.pages)[0], title=path.stem)


def _pages(text: str) -> list[str]:
    if "\f" in text:
        return text.split("\f")
    lines = text.splitlines()
    return ["\n".join(lines[at : at + LINES_PER_PAGE]) for at in range(0, len(lines), LINES_PER_PAGE)]


def figures_of(source: SourceText) -> Figures:
    figures = Figures(texts=1, words=source.word_count)
    started = time.perf_counter()
    try:
        material = study(source)
        summary = summarise(source, material.language)
        quiz = examine(source, summary, material.language, QUESTIONS)
    except PermanentError as error:
        print(f"refused: {error}", file=sys.stderr)
        figures.refused = 1
        return figures
    figures.seconds = time.perf_counter() - started
    grounds = Grounds.of(source, material.language)
    _judge(figures, quiz, source, grounds)
    _cover(figures, with_chapters(source), summary, quiz)
    for candidate in candidates(material, PHRASES[material.language]):
        figures.drafts += 1
        figures.drafts_passing += passes(candidate.draft, grounds)
    return figures


def _judge(figures: Figures, quiz: Quiz, source: SourceText, grounds: Grounds) -> None:
    findings = check(quiz, source)
    failed = {found.question_id for found in findings}
    figures.questions = len(quiz.questions)
    figures.passing = sum(question.id not in failed for question in quiz.questions)
    figures.answerable = sum(answerable(question, grounds) is None for question in quiz.questions)
    figures.failed_checks.update(found.check for found in findings)


def _cover(figures: Figures, source: SourceText, summary: Summary, quiz: Quiz) -> None:
    texts = [" ".join(source.text_of(chapter).split()) for chapter in source.chapters]
    asked = [evidence.quote for question in quiz.questions for evidence in question.evidence]
    said = [evidence.quote for section in summary.sections for evidence in section.evidence]
    figures.chapters = len(texts)
    figures.chapters_possible = min(len(texts), len(quiz.questions))
    figures.chapters_asked = sum(any(quote in text for quote in asked) for text in texts)
    figures.chapters_summarised = sum(any(quote in text for quote in said) for text in texts)


def _report(report: Any, system: str, figures: Figures) -> None:
    for metric, value in figures.shares().items():
        report.add(system, metric, value, "1" if metric == "questions_per_text" else "share")
