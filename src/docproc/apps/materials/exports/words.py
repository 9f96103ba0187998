"""What exported files say around the content, in each language."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from docproc.apps.materials.content.difficulty import Difficulty
from docproc.apps.materials.content.evidence import Evidence
from docproc.apps.materials.content.languages import ENGLISH, SPANISH


@dataclass(frozen=True, slots=True)
class Words:
    summary: str
    glossary: str
    reflection: str
    quiz: str
    answers: str
    answer: str
    show_answer: str
    page: str
    pages: str
    minutes: str
    points: str
    to_pass: str
    extractive: str
    needs_review: str
    difficulty: dict[Difficulty, str]

    def on_pages(self, evidence: Sequence[Evidence]) -> str:
        """Where it was taken from; empty where nothing says so."""
        numbers = sorted({one.page for one in evidence})
        if len(numbers) == 1:
            return self.page.format(page=numbers[0])
        return self.pages.format(pages=", ".join(map(str, numbers))) if numbers else ""


_WORDS: dict[str, Words] = {
    SPANISH: Words(
        summary="Resumen",
        glossary="Glosario",
        reflection="Para reflexionar",
        quiz="Cuestionario",
        answers="Soluciones",
        answer="Respuesta",
        show_answer="Ver la respuesta",
        page="página {page}",
        pages="páginas {pages}",
        minutes="{minutes} min",
        points="{points} puntos",
        to_pass="Tiempo: {minutes} minutos. Se aprueba con {score} de {total} puntos.",
        extractive="Escrito sin modelo de lenguaje: las frases son del texto original.",
        needs_review="Pendiente de revisión",
        difficulty={
            Difficulty.BASIC: "básico",
            Difficulty.MEDIUM: "intermedio",
            Difficulty.ADVANCED: "avanzado",
        },
    ),
    ENGLISH: Words(
        summary="Summary",
        glossary="Glossary",
        reflection="To think about",
        quiz="Quiz",
        answers="Answers",
        answer="Answer",
        show_answer="Show the answer",
        page="page {page}",
        pages="pages {pages}",
        minutes="{minutes} min",
        points="{points} points",
        to_pass="Time: {minutes} minutes. {score} of {total} points are needed to pass.",
        extractive="Written without a language model: the sentences are those of the original text.",
        needs_review="Waiting for review",
        difficulty={
            Difficulty.BASIC: "basic",
            Difficulty.MEDIUM: "medium",
            Difficulty.ADVANCED: "advanced",
        },
    ),
}


def words_of(language: str) -> Words:
    """English where there are no words in that language."""
    return _WORDS.get(language, _WORDS[ENGLISH])
