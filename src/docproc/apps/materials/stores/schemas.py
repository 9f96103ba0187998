"""What MongoDB checks by itself: the `$jsonSchema` of each collection, and its indexes."""

from __future__ import annotations

from typing import Any

from docproc.apps.materials.content.quiz import OPTION_IDS, QUESTIONS
from docproc.apps.materials.content.summary import GLOSSARY_TERMS, REFLECTION_QUESTIONS, SECTIONS
from docproc.apps.materials.store import COLLECTIONS, Kind

VERSIONS = "material_versions"
EVENTS = "material_event"

_TEXT = {"bsonType": "string", "minLength": 1}
_WHOLE = {"bsonType": ["int", "long"], "minimum": 1}
_DIFFICULTY = {"enum": ["basic", "medium", "advanced"]}


def _object(required: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"bsonType": "object", "required": sorted(required), "properties": {**required, **more}}


def _array(items: dict[str, Any], bounds: tuple[int, int]) -> dict[str, Any]:
    return {"bsonType": "array", "minItems": bounds[0], "maxItems": bounds[1], "items": items}


_STORED = {
    "material_id": _TEXT,
    "version": _WHOLE,
    "processing_metadata": _object({"request_id": _TEXT, "generator": _TEXT}),
    "created_at": {"bsonType": "date"},
    "updated_at": {"bsonType": "date"},
}

SUMMARY = _object(
    {
        **_STORED,
        "title": _TEXT,
        "language": {"bsonType": "string", "pattern": "^[a-z]{2}$"},
        "sections": _array(
            _object(
                {
                    "title": _TEXT,
                    "content": {"bsonType": "string", "minLength": 50},
                    "difficulty": _DIFFICULTY,
                    "estimated_time_minutes": _WHOLE,
                    "order": _WHOLE,
                }
            ),
            SECTIONS,
        ),
        "glossary": _array(_object({"term": _TEXT, "definition": _TEXT, "order": _WHOLE}), GLOSSARY_TERMS),
        "reflection_questions": _array(_TEXT, REFLECTION_QUESTIONS),
    }
)

ASSESSMENT = _object(
    {
        **_STORED,
        "title": _TEXT,
        "questions": _array(
            _object(
                {
                    "id": _TEXT,
                    "text": _TEXT,
                    "type": {"enum": ["multiple_choice"]},
                    "difficulty": _DIFFICULTY,
                    "points": _WHOLE,
                    "order": _WHOLE,
                    "options": _array(_object({"id": {"enum": list(OPTION_IDS)}, "text": _TEXT}), (4, 4)),
                    "correct_answer": {"enum": list(OPTION_IDS)},
                    "feedback": _object({"correct": _TEXT, "incorrect": _TEXT}),
                }
            ),
            QUESTIONS,
        ),
        "total_questions": {**_WHOLE, "minimum": QUESTIONS[0], "maximum": QUESTIONS[1]},
        "total_points": {"enum": [100]},
        "passing_score": _WHOLE,
        "time_limit_minutes": _WHOLE,
    }
)

# Collection -> validator; None: any document.
VALIDATORS: dict[str, dict[str, Any] | None] = {
    COLLECTIONS[Kind.SUMMARY]: SUMMARY,
    COLLECTIONS[Kind.ASSESSMENT]: ASSESSMENT,
    VERSIONS: None,
    EVENTS: None,
}
