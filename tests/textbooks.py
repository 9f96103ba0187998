"""Materials for tests: PDFs of made-up school texts, drawn here, with text or as pictures of it."""

from __future__ import annotations

from pathlib import Path
from typing import BinaryIO

import pypdfium2
from reportlab.lib.pagesizes import A4
from reportlab.lib.styles import getSampleStyleSheet
from reportlab.pdfgen.canvas import Canvas
from reportlab.platypus import Paragraph, SimpleDocTemplate, Spacer

from docproc.apps.materials.content.difficulty import Difficulty
from docproc.apps.materials.content.drafts import QuestionDraft, assemble
from docproc.apps.materials.content.evidence import Evidence
from docproc.apps.materials.content.quiz import Feedback, Quiz
from docproc.apps.materials.content.summary import GlossaryTerm, Section, Summary

_TEXT = Path(__file__).with_name("textbook.txt")

Chapters = tuple[tuple[str, tuple[str, ...]], ...]


def _chapters(text: str) -> Chapters:
    """`# Title`, then paragraphs, a blank line between them."""
    chapters: list[tuple[str, list[str]]] = []
    for block in text.strip().split("\n\n"):
        if block.startswith("# "):
            chapters.append((block[2:], []))
        else:
            chapters[-1][1].append(block)
    return tuple((title, tuple(paragraphs)) for title, paragraphs in chapters)


CHAPTERS = _chapters(_TEXT.read_text(encoding="utf-8"))


def draw(path: Path | BinaryIO, chapters: Chapters = CHAPTERS, times: int = 1) -> None:
    """A textbook with a text layer; `times` repeats its chapters, each time on new pages."""
    styles = getSampleStyleSheet()
    story: list[object] = []
    for _ in range(times):
        for title, paragraphs in chapters:
            story += [Paragraph(title, styles["Heading1"]), Spacer(1, 12)]
            for paragraph in paragraphs:
                story += [Paragraph(paragraph, styles["BodyText"]), Spacer(1, 8)]
    SimpleDocTemplate(str(path) if isinstance(path, Path) else path, pagesize=A4).build(story)


def draw_words(path: Path, count: int) -> Path:
    """Exactly so many words, ten a line."""
    words = [f"palabra{'abcdefghij'[index % 10]}{'abcdefghij'[index // 10 % 10]}" for index in range(count)]
    canvas = Canvas(str(path), pagesize=A4)
    for start in range(0, count, 400):
        canvas.setFont("Helvetica", 8)
        for line in range(start, min(start + 400, count), 10):
            last = min(line + 10, start + 400, count)
            canvas.drawString(60, 780 - (line - start) // 10 * 18, " ".join(words[line:last]))
        canvas.showPage()
    canvas.save()
    return path


def scanned(path: Path, source: Path, dpi: int = 150) -> Path:
    """The same pages as pictures: nothing of their text is left."""
    with pypdfium2.PdfDocument(source) as pdf:
        images = [page.render(scale=dpi / 72).to_pil().convert("L") for page in pdf]
    images[0].save(path, "PDF", save_all=True, append_images=images[1:], resolution=dpi)
    return path


def summary(title: str = "La célula") -> Summary:
    """A valid one, with nothing in it that anybody would want to read."""
    sections = [
        Section(
            title=f"Parte {order}",
            content=f"Lo que dice la parte {order} del texto, con al menos cincuenta letras.",
            difficulty=Difficulty.BASIC,
            estimated_time_minutes=order,
            order=order,
        )
        for order in range(1, 6)
    ]
    glossary = [
        GlossaryTerm(term=f"término {order}", definition=f"lo que significa {order}", order=order)
        for order in range(1, 11)
    ]
    return Summary(
        title=title,
        language="es",
        sections=sections,
        glossary=glossary,
        reflection_questions=[f"¿Por qué {order}?" for order in range(1, 6)],
        generator="extractive",
    )


def quiz(title: str = "La célula", questions: int = 5) -> Quiz:
    """A valid one, likewise."""
    drafts = [
        QuestionDraft(
            text=f"¿Qué es {number}?",
            difficulty=Difficulty.MEDIUM,
            correct=f"la respuesta {number}",
            distractors=[f"un error {letter}{number}" for letter in "abc"],
            feedback=Feedback(correct="Así es.", incorrect="No es así."),
            evidence=[Evidence(quote="La célula es la unidad estructural", page=1)],
        )
        for number in range(1, questions + 1)
    ]
    return assemble(title, drafts, language="es", generator="extractive")
