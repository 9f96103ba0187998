"""Order: what is wanted of one material, however it came in. It travels in the payload of its request."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, StringConstraints, field_validator

WORKFLOW = "materials"
# What the process that takes events calls itself (`component_name`).
WORKER = "material_worker"
# The channel of requests that came by the queue; the others say `api` or `cli`.
CHANNEL = "materials"
# In a request's payload.
PAYLOAD_KEY = "material"

Short = Annotated[
    str, StringConstraints(strip_whitespace=True, max_length=200, pattern="^[^\\x00-\\x1f\\x7f]*$")
]


class Order(BaseModel):
    model_config = ConfigDict(extra="ignore", frozen=True)

    material_id: Annotated[Short, Field(min_length=1)]
    # ISO 639-1; None: as the settings say.
    language: str | None = None
    title: Short = ""
    school_id: Short = ""
    teacher_id: Short = ""
    # Whom to tell when it is done.
    teacher_email: Short = ""
    # s3://bucket/key; empty when the file came with the request.
    source: str = Field(default="", max_length=2048)

    @field_validator("language", mode="before")
    @classmethod
    def _two_letters(cls, value: object) -> object:
        """`es-CL` and `ES` mean `es`; what is no language code is refused, not guessed."""
        if value is None or value == "":
            return None
        code = str(value).strip().lower().replace("_", "-").partition("-")[0]
        if len(code) != 2 or not code.isascii() or not code.isalpha():
            raise ValueError("give the language as two letters, such as es or en")
        return code
