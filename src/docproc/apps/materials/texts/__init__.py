"""What teachers are told by mail, in their language."""

from __future__ import annotations

from typing import Any

_MAILS = {
    "es": {
        "material_completed": (
            "Listo: {title}",
            "El resumen y el cuestionario de «{title}» están listos ({total_questions} preguntas).",
        ),
        "material_failed": (
            "No se pudo procesar: {title}",
            "El material «{title}» no se pudo procesar.\n\nMotivo: {reason}",
        ),
    },
    "en": {
        "material_completed": (
            "Ready: {title}",
            "The summary and the quiz of “{title}” are ready ({total_questions} questions).",
        ),
        "material_failed": (
            "Could not be processed: {title}",
            "The material “{title}” could not be processed.\n\nReason: {reason}",
        ),
    },
}


def mail_text(content: dict[str, Any], language: str) -> tuple[str, str]:
    """Subject and text of a mail; a subject is one line, whatever the title says."""
    subject, text = _MAILS.get(language, _MAILS["en"])[content["event_type"]]
    said = {"title": content.get("title") or content["material_id"], "reason": "", "total_questions": ""}
    values = {**said, **{name: value for name, value in content.items() if value}}
    return " ".join(subject.format(**values).split())[:200], text.format(**values) + "\n"
