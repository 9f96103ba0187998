"""A PDF to print: the summary, the quiz on pages of its own, and its answers on the last one."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import cache
from typing import Any
from xml.sax.saxutils import escape

from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.summary import Summary
from docproc.apps.materials.exports.words import Words, words_of

_FONT, _BOLD = "Vera", "VeraBd"


def write(summary: Summary, quiz: Quiz) -> bytes:
    from reportlab.lib.pagesizes import A4
    from reportlab.lib.units import mm
    from reportlab.platypus import SimpleDocTemplate

    file = io.BytesIO()
    document = SimpleDocTemplate(
        file,
        pagesize=A4,
        title=summary.title,
        lang=summary.language,
        leftMargin=22 * mm,
        rightMargin=22 * mm,
        topMargin=20 * mm,
        bottomMargin=20 * mm,
        invariant=True,  # no time of making: the same content gives the same bytes
    )
    words = words_of(summary.language)
    document.build(
        [*_summary(summary, words), *_quiz(quiz, words)], onFirstPage=_numbered, onLaterPages=_numbered
    )
    return file.getvalue()


def _summary(summary: Summary, words: Words) -> Iterator[Any]:
    yield _said(summary.title, "title")
    if summary.generator == "extractive":
        yield _said(words.extractive, "quiet")
    yield _said(words.summary, "heading")
    for section in summary.sections:
        time = words.minutes.format(minutes=section.estimated_time_minutes)
        facts = [words.difficulty[section.difficulty], time, words.on_pages(section.evidence)]
        yield _said(f"{section.order}. {section.title}", "section")
        yield _said(" · ".join(filter(None, facts)), "quiet")
        yield _said(section.content, "text")
    yield _said(words.glossary, "heading")
    for one in summary.glossary:
        yield _said(one.definition, "text", label=f"{one.term}: ")
    yield _said(words.reflection, "heading")
    for number, question in enumerate(summary.reflection_questions, start=1):
        yield _said(f"{number}. {question}", "text")


def _quiz(quiz: Quiz, words: Words) -> Iterator[Any]:
    from reportlab.platypus import KeepTogether, PageBreak

    yield PageBreak()
    yield _said(quiz.title, "heading")
    limits = {"minutes": quiz.time_limit_minutes, "score": quiz.passing_score, "total": quiz.total_points}
    yield _said(words.to_pass.format(**limits), "quiet")
    for question in quiz.questions:
        points = words.points.format(points=question.points)
        asked = _said(f"{question.order}. {question.text} ({points})", "text")
        options = [_said(f"{option.id}) {option.text}", "option") for option in question.options]
        yield KeepTogether([asked, *options])
    yield PageBreak()
    yield _said(words.answers, "heading")
    for question in quiz.questions:
        evidence = question.evidence[0]
        page = words.page.format(page=evidence.page)
        answer = f"{question.order}. {question.correct_answer}) {question.correct_option.text}. "
        yield _said(f"{evidence.quote} ({page})", "text", label=answer)


def _said(text: str, style: str, label: str = "") -> Any:
    from reportlab.platypus import Paragraph

    bold = f'<font name="{_BOLD}">{escape(label)}</font>' if label else ""
    return Paragraph(bold + escape(text), _styles()[style])


@cache
def _styles() -> dict[str, Any]:
    from reportlab.lib.styles import ParagraphStyle
    from reportlab.pdfbase import pdfmetrics
    from reportlab.pdfbase.ttfonts import TTFont

    # They come with ReportLab; a font inside the file shows every accent wherever it is opened.
    pdfmetrics.registerFont(TTFont(_FONT, "Vera.ttf"))
    pdfmetrics.registerFont(TTFont(_BOLD, "VeraBd.ttf"))
    text = ParagraphStyle("text", fontName=_FONT, fontSize=9.5, leading=14, spaceAfter=5)
    return {
        "text": text,
        "title": ParagraphStyle("title", text, fontName=_BOLD, fontSize=18, leading=23, spaceAfter=10),
        "heading": ParagraphStyle(
            "heading", text, fontName=_BOLD, fontSize=13, leading=18, spaceBefore=12, keepWithNext=True
        ),
        "section": ParagraphStyle("section", text, fontName=_BOLD, spaceBefore=8, keepWithNext=True),
        "quiet": ParagraphStyle(
            "quiet", text, fontSize=8, leading=11, textColor="#555566", keepWithNext=True
        ),
        "option": ParagraphStyle("option", text, leftIndent=16, spaceAfter=2),
    }


def _numbered(canvas: Any, document: Any) -> None:
    canvas.setFont(_FONT, 8)
    canvas.drawCentredString(document.pagesize[0] / 2, 28, str(canvas.getPageNumber()))
