"""The extractor with a language model: what it adds, and that nothing it does can hurt."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from docproc.apps.documents.components.extraction_jobs import Fields, Job, extract_all
from docproc.apps.documents.components.second_opinion import SecondOpinion
from docproc.apps.documents.language_model import LanguageModel
from docproc.apps.documents.settings import DocumentsSettings
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.reading.page import Source, pack
from tests.pages import page_of

PAGE = """
    RESUMEN
    Queda asegurado desde hoy el vehículo Seat León de su propiedad.
    Fecha de efecto: 01/03/2026
"""
CAR = FieldSpec("insured_car")
START = FieldSpec("start", "date", labels=("fecha de efecto",))
JOB = Job("policy", [CAR, START], [pack(page_of(PAGE))])


async def in_process(function: Callable[..., Any], *args: Any) -> Any:
    return function(*args)


async def asked(
    answer: object, threshold: float | None = 0.75, status: int = 200
) -> tuple[Fields, list[Any]]:
    """What comes out when the server answers so, and what it was asked."""
    seen: list[Any] = []

    def respond(request: httpx.Request) -> httpx.Response:
        seen.append(json.loads(request.content))
        text = answer if isinstance(answer, str) else json.dumps(answer)
        return httpx.Response(status, json={"choices": [{"message": {"content": text}}]})

    model = LanguageModel(
        DocumentsSettings(_env_file=None, llm_url="http://x.test"), httpx.MockTransport(respond)
    )
    opinion = SecondOpinion(model, in_process)
    (fields,) = await opinion.extract([JOB], [threshold])
    await opinion.close()
    return fields, seen


async def test_missing_field_is_asked_for_and_found_on_the_page() -> None:
    fields, (question,) = await asked(
        {"insured_car": {"value": "seat leon", "line": 1}, "start": {"value": "2020-01-01"}}
    )
    car, start = fields["insured_car"], fields["start"]
    assert car is not None and car.value == "Seat León" and car.source is Source.MODEL and car.box
    assert start is not None and start.value == "2026-03-01"  # sure already: not asked, not changed
    assert '"insured_car"' in question["messages"][1]["content"]
    assert '"start"' not in question["messages"][1]["content"].split("<document>")[0]


@pytest.mark.parametrize(
    ("answer", "status"),
    [
        ({"insured_car": "Seat Ibiza"}, 200),
        ('{"insured_car": ', 200),
        ("I am sorry", 200),
        ({"insured_car": "Seat León"}, 500),
    ],
    ids=["invented", "broken", "prose", "error"],
)
async def test_bad_answers_leave_what_the_rules_found(answer: object, status: int) -> None:
    fields, _ = await asked(answer, status=status)
    assert [fields] == extract_all([JOB])


async def test_stage_without_language_model_asks_nothing() -> None:
    fields, questions = await asked({"insured_car": "Seat León"}, threshold=None)
    assert not questions and [fields] == extract_all([JOB])
