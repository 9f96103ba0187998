"""A deck for Anki, as the csv it imports: a card for each question and for each term of the glossary."""

from __future__ import annotations

import csv
import io
from html import escape

from docproc.apps.materials.content.quiz import Question, Quiz
from docproc.apps.materials.content.summary import GlossaryTerm, Summary
from docproc.apps.materials.exports.words import words_of

# Read by Anki before the rows; nothing needs to be set by hand.
_HEAD = (
    "#separator:Comma\n#html:true\n#notetype:Basic\n#deck:{deck}\n#tags column:3\n#columns:Front,Back,Tags\n"
)


def write(summary: Summary, quiz: Quiz) -> bytes:
    file = io.StringIO()
    # A double colon would make a deck inside a deck.
    file.write(_HEAD.format(deck=" ".join(summary.title.replace("::", ":").split())))
    rows = csv.writer(file, lineterminator="\n")
    for question in quiz.questions:
        rows.writerow([_front(question), _back(question, quiz.language), "quiz " + question.difficulty])
    for term in summary.glossary:
        rows.writerow([escape(term.term), _explained(term, summary.language), "glossary"])
    return file.getvalue().encode()


def _front(question: Question) -> str:
    options = "".join(f"<li>{escape(option.text)}</li>" for option in question.options)
    return f'{escape(question.text)}<ol type="a">{options}</ol>'


def _back(question: Question, language: str) -> str:
    evidence = question.evidence[0]
    page = words_of(language).page.format(page=evidence.page)
    answer = f"<b>{question.correct_answer}) {escape(question.correct_option.text)}</b>"
    return f"{answer}<br>{escape(evidence.quote)} ({escape(page)})"


def _explained(term: GlossaryTerm, language: str) -> str:
    pages = [words_of(language).page.format(page=evidence.page) for evidence in term.evidence[:1]]
    return escape(" ".join([term.definition, *(f"({page})" for page in pages)]))
