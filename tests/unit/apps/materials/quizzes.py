"""Quizzes and texts small enough to read in a test."""

from __future__ import annotations

from docproc.apps.materials.content.difficulty import Difficulty
from docproc.apps.materials.content.drafts import QuestionDraft
from docproc.apps.materials.content.evidence import Evidence
from docproc.apps.materials.content.quiz import Feedback

PAGE = (
    "Marie Curie nació en Varsovia en 1867. Descubrió el polonio y el radio junto a Pierre Curie. "
    "Recibió el Premio Nobel de Física en 1903 y el de Química en 1911. Henri Becquerel descubrió la "
    "radiactividad en 1896. Isaac Newton nació en 1643 y Louis Pasteur en 1822."
)


def draft(
    text: str = "¿En qué año recibió Marie Curie el Nobel de Física?", **changes: object
) -> QuestionDraft:
    values: dict[str, object] = {
        "text": text,
        "difficulty": Difficulty.BASIC,
        "correct": "1903",
        "distractors": ["1896", "1911", "1867"],
        "feedback": Feedback(correct="Sí.", incorrect="No: mira la página 1."),
        "evidence": [
            Evidence(quote="Recibió el Premio Nobel de Física en 1903 y el de Química en 1911.", page=1)
        ],
    }
    return QuestionDraft.model_validate({**values, **changes})
