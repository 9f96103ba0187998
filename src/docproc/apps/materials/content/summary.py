"""The summary of a material, in the shape it is stored in."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, model_validator

from docproc.apps.materials.content.difficulty import Difficulty
from docproc.apps.materials.content.evidence import Evidence

Line = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=500)]
# ISO 639-1: the language that was asked for.
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2}$")]

SECTIONS = (5, 7)
GLOSSARY_TERMS = (10, 15)
REFLECTION_QUESTIONS = (5, 7)


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid")

    title: Line
    content: Annotated[str, StringConstraints(strip_whitespace=True, min_length=50, max_length=8000)]
    difficulty: Difficulty
    estimated_time_minutes: int = Field(ge=1, le=240)
    order: int = Field(ge=1)
    # Where the section's statements stand in the source; the page for readers shows these pages beside it.
    evidence: list[Evidence] = []


class GlossaryTerm(BaseModel):
    model_config = ConfigDict(extra="forbid")

    term: Line
    definition: Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=1000)]
    order: int = Field(ge=1)
    evidence: list[Evidence] = []


class Summary(BaseModel):
    """What is stored in `material_summary`, without the keys of the store (`content.stored`)."""

    model_config = ConfigDict(extra="forbid")

    title: Line
    language: Language
    sections: list[Section] = Field(min_length=SECTIONS[0], max_length=SECTIONS[1])
    glossary: list[GlossaryTerm] = Field(min_length=GLOSSARY_TERMS[0], max_length=GLOSSARY_TERMS[1])
    reflection_questions: list[Line] = Field(
        min_length=REFLECTION_QUESTIONS[0], max_length=REFLECTION_QUESTIONS[1]
    )
    # Who wrote it: "extractive", or the name of the author that asks a model.
    generator: Line

    @model_validator(mode="after")
    def _are_numbered(self) -> Summary:
        for name, numbered in (("sections", self.sections), ("glossary", self.glossary)):
            orders = [one.order for one in numbered]
            if orders != list(range(1, len(orders) + 1)):
                raise ValueError(f"{name} must be ordered 1 to {len(orders)}, not {orders}")
        return self
