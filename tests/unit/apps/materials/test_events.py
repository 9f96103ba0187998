"""Events of other systems: both shapes are read, and what cannot be used says why."""

from __future__ import annotations

import json
from typing import Any

import pytest

from docproc.apps.materials import events
from docproc.apps.materials.errors import MaterialError
from docproc.apps.materials.source import address

ENVELOPE: dict[str, Any] = {
    "event_id": "e-1",
    "event_type": "material_uploaded",
    "event_version": "1.0",
    "timestamp": "2026-11-18T08:00:00Z",
    "payload": {
        "material_id": "mat-1",
        "school_id": "s-1",
        "teacher_id": "t-1",
        "file_url": "s3://school/materials/mat-1.pdf",
    },
}
FLAT: dict[str, Any] = {
    "event_type": "material_uploaded",
    "material_id": 17,
    "s3_key": "materials/17.pdf",
    "author_id": "t-2",
    "preferred_language": "es-CL",
}


def read(said: Any, bucket: str | None = "school") -> events.Uploaded:
    return events.read(said if isinstance(said, bytes) else json.dumps(said).encode(), bucket=bucket)


def test_envelope_is_read() -> None:
    order = read(ENVELOPE).order
    assert (order.material_id, order.school_id, order.teacher_id) == ("mat-1", "s-1", "t-1")
    assert (order.source, order.language) == ("s3://school/materials/mat-1.pdf", None)


def test_flat_event_is_read() -> None:
    order = read(FLAT).order
    assert (order.material_id, order.teacher_id, order.language) == ("17", "t-2", "es")
    assert order.source == "s3://school/materials/17.pdf"


def test_copies_of_an_event_have_one_id_however_they_are_written() -> None:
    again = json.dumps(dict(reversed(ENVELOPE.items())), indent=2).encode()
    assert read(again) == read(ENVELOPE)
    assert read({**FLAT}).event_id == read(FLAT).event_id


def test_other_event_id_is_another_event() -> None:
    assert read({**ENVELOPE, "event_id": "e-2"}).event_id != read(ENVELOPE).event_id
    assert read({**FLAT, "s3_key": "materials/18.pdf"}).event_id != read(FLAT).event_id


@pytest.mark.parametrize(
    ("said", "problem"),
    [
        (b"{", "no JSON"),
        (b"\xff\xfe", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[1]", "no JSON object"),
        (b" " * (events.LARGEST_BYTES + 1), "at most"),
        ({**ENVELOPE, "event_type": "material_deleted"}, "material_deleted"),
        ({**ENVELOPE, "payload": "mat-1"}, "`payload`"),
        ({**ENVELOPE, "payload": {"file_url": "s3://school/a.pdf"}}, "`material_id`"),
        ({**FLAT, "material_id": {"$gt": ""}}, "`material_id`"),
        ({**FLAT, "material_id": "a\nb"}, "material_id"),
        ({**FLAT, "preferred_language": "spanish"}, "language"),
        ({"material_id": "m"}, "neither"),
    ],
)
def test_event_that_cannot_be_used_says_why(said: Any, problem: str) -> None:
    with pytest.raises(MaterialError) as caught:
        read(said)
    assert caught.value.code == "bad_event" and caught.value.remedy
    assert problem in str(caught.value)


def test_key_without_a_bucket_names_the_setting() -> None:
    with pytest.raises(MaterialError, match="DOCPROC_MATERIALS_BUCKET"):
        read(FLAT, bucket=None)


# --- addresses --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("s3://school/a/b.pdf", "s3://school/a/b.pdf"),
        ("s3://school/a%20b.pdf", "s3://school/a b.pdf"),
        ("https://school.s3.eu-west-1.amazonaws.com/a/b.pdf?x=1", "s3://school/a/b.pdf"),
        ("https://school.s3.amazonaws.com/b.pdf", "s3://school/b.pdf"),
        ("https://s3.us-east-1.amazonaws.com/school/a/b.pdf", "s3://school/a/b.pdf"),
        ("http://127.0.0.1:9000/school/a/b.pdf", "s3://school/a/b.pdf"),
    ],
)
def test_address_is_read(said: str, found: str) -> None:
    assert str(address.parse(said, endpoint="http://127.0.0.1:9000")) == found


@pytest.mark.parametrize(
    "said",
    [
        "file:///etc/passwd",
        "http://169.254.169.254/latest/meta-data",
        "https://evil.example/school/a.pdf",
        "https://school.s3.amazonaws.com.evil.example/a.pdf",
        "s3://school/../other/a.pdf",
        "s3://school/a/%2e%2e/b.pdf",
        "s3://school/a\\b.pdf",
        "s3://school/",
        "s3:///a.pdf",
        "s3://School_1/a.pdf",
        "s3://school/" + "a" * 1025,
        "s3://school/a%00b.pdf",
        "mat-1.pdf",
    ],
)
def test_address_that_leads_elsewhere_is_refused(said: str) -> None:
    with pytest.raises(MaterialError) as caught:
        address.parse(said, endpoint="http://127.0.0.1:9000")
    assert caught.value.code == "bad_address"
