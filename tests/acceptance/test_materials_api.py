"""Materials over HTTP, embedded: a PDF in by POST /materials, a summary and a quiz out; bad ones are told
why."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any
from uuid import UUID

import httpx
import pytest

from docproc.apps.materials.application import application as manifest
from docproc.apps.materials.content.stored import AssessmentDocument, SummaryDocument
from tests import textbooks
from tests.acceptance.conftest import client_of
from tests.harness import Harness, opened, settings_for

STAGES = [component.name for component in manifest.components]


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Harness]:
    settings = settings_for(tmp_path, warm_up=False, prefetch_count=2, materials_max_mb=1)
    async with opened(settings) as harness:
        yield harness


@pytest.fixture
async def client(engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    async with client_of(engine) as client:
        yield client


@pytest.fixture
async def working(engine: Harness) -> Harness:
    await engine.start("workflow_router", *STAGES)
    return engine


def book(path: Path) -> bytes:
    textbooks.draw(path / "book.pdf")
    return (path / "book.pdf").read_bytes()


async def post(client: httpx.AsyncClient, content: bytes, **fields: str) -> httpx.Response:
    return await client.post("/materials", files={"file": ("book.pdf", content)}, data=fields)


async def test_pdf_becomes_a_summary_and_a_quiz(
    working: Harness, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    answer = await post(
        client, book(tmp_path), material_id="mat-1", preferred_language="es-CL", title="Biología"
    )
    assert answer.status_code == 200, answer.text
    request = await working.finished(_id(answer), 60)
    assert request.status == "completed", request.error
    told = (await client.get("/materials/mat-1")).json()
    summary = SummaryDocument.model_validate(told["summary"])
    quiz = AssessmentDocument.model_validate(told["assessment"])
    assert (summary.version, summary.language, summary.generator) == (1, "es", "extractive")
    assert 5 <= len(summary.sections) <= 7 and 10 <= len(summary.glossary) <= 15
    assert 5 <= quiz.total_questions == len(quiz.questions) <= 10 and quiz.total_points == 100
    assert len({question.correct_answer for question in quiz.questions}) > 1
    assert told["versions"] == [1]
    # As stored: the answer of the request says the same.
    assert request.result_payload is not None
    assert request.result_payload["assessment"]["questions"] == told["assessment"]["questions"]
    assert await working.query("SELECT material_id, status FROM material_summary_link") == [
        ("mat-1", "completed")
    ]
    assert await working.query("SELECT material_id, total_questions FROM assessment") == [
        ("mat-1", quiz.total_questions)
    ]
    logged = await working.query("SELECT event_type FROM material_event ORDER BY created_at")
    assert [row[0] for row in logged] == [
        "processing_started",
        "summary_generated",
        "assessment_generated",
        "processing_completed",
    ]


async def test_same_material_again_is_the_same_request_and_another_file_the_next_version(
    working: Harness, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    first = await post(client, book(tmp_path), material_id="mat-1")
    again = await post(client, book(tmp_path), material_id="mat-1")
    assert _id(again) != _id(first)  # ReportLab writes the time into a PDF: it is another file
    for answer in (first, again):
        assert (await working.finished(_id(answer), 60)).status == "completed"
    told = (await client.get("/materials/mat-1")).json()
    assert told["versions"] == [1, 2]
    assert told["summary"]["version"] == told["assessment"]["version"] == 2
    assert told["assessment"]["created_at"] < told["assessment"]["updated_at"]
    for table in ("material_summary", "material_assessment", "material_summary_link", "assessment"):
        assert await working.query(f"SELECT count(*) FROM {table}") == [(1,)]
    repeated = await client.post(
        "/materials", files={"file": ("b.pdf", book(tmp_path))}, headers={"Idempotency-Key": "k"}
    )
    twice = await client.post(
        "/materials",
        files={"file": ("b.pdf", (tmp_path / "book.pdf").read_bytes())},
        headers={"Idempotency-Key": "k"},
    )
    assert _id(twice) == _id(repeated) and twice.headers["Idempotent-Replay"] == "true"


async def test_erased_request_takes_its_material_with_it(
    working: Harness, client: httpx.AsyncClient, tmp_path: Path
) -> None:
    request_id = _id(await post(client, book(tmp_path), material_id="mat-1"))
    await working.finished(request_id, 60)
    answer = await client.delete(f"/requests/{request_id}")
    assert answer.is_success, answer.text
    assert (await client.get("/materials/mat-1")).status_code == 404
    for table in ("material_summary", "material_assessment", "material_summary_link", "assessment"):
        assert await working.query(f"SELECT count(*) FROM {table}") == [(0,)], table
    assert await working.query("SELECT count(*) FROM material_event") == [(0,)]


@pytest.mark.parametrize(
    ("count", "content", "code"),
    [(499, None, "too_short"), (None, b"%PDF-1.7\nbroken", "damaged"), (None, b"GIF89a", "no_pdf")],
)
async def test_material_of_no_use_fails_at_once_and_says_why(
    working: Harness,
    client: httpx.AsyncClient,
    tmp_path: Path,
    count: int | None,
    content: bytes | None,
    code: str,
) -> None:
    body = content or textbooks.draw_words(tmp_path / "words.pdf", count or 0).read_bytes()
    request = await working.finished(_id(await post(client, body, material_id="mat-1")), 60)
    assert request.status == "failed" and request.error is not None
    assert request.error["code"] == code, request.error
    assert await working.query("SELECT status FROM material_summary_link") == [("failed",)]
    failed = await working.query("SELECT code, attempts, body FROM material_failures")
    assert failed == [(code, 1, None)]
    assert (await client.get("/materials/mat-1")).status_code == 404


@pytest.mark.parametrize(
    ("send", "status", "code"),
    [
        ({"content": b"{}"}, 415, "unsupported_type"),
        ({"json": {}}, 422, "invalid_field"),
        ({"json": {"material_id": "m", "file_url": "http://169.254.169.254/x"}}, 422, "invalid_field"),
        ({"json": {"material_id": "m", "s3_key": "a.pdf"}}, 422, "invalid_field"),
        ({"json": [1]}, 400, "invalid_body"),
        ({"data": {"material_id": "m"}, "files": {"other": ("a.txt", b"x")}}, 422, "missing_file"),
        ({"files": {"file": ("a.pdf", b"")}}, 400, "empty_file"),
        ({"files": {"file": ("a.pdf", b"x" * (2 << 20))}}, 413, "too_large"),
        (
            {"data": {"preferred_language": "klingon"}, "files": {"file": ("a.pdf", b"%PDF-")}},
            422,
            "invalid_field",
        ),
    ],
)
async def test_bad_submission_is_told_at_once(
    client: httpx.AsyncClient, engine: Harness, send: dict[str, Any], status: int, code: str
) -> None:
    answer = await client.post("/materials", **send)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code), answer.text
    assert answer.json()["error"]["remedy"]
    assert await engine.query("SELECT count(*) FROM requests") == [(0,)]


def _id(answer: httpx.Response) -> UUID:
    assert answer.status_code == 200, answer.text
    return UUID(json.loads(answer.text)["request_id"])
