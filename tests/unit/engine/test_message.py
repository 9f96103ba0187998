"""PipelineMessage: the wire format, what it refuses, and the keys of units."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from docproc.engine.message import SCHEMA_VERSION, Failure, PipelineMessage, child_key, utc_now
from docproc.errors import MessageError

REQUEST = UUID("00000000-0000-4000-8000-000000000001")

json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), inner, max_size=4)
    ),
    max_leaves=12,
)


def full() -> PipelineMessage:
    return PipelineMessage(
        request_id=REQUEST,
        tenant_id="acme",
        workflow_name="invoices",
        workflow_version="0123456789abcdef",
        current_stage="ocr",
        source_component="splitter",
        unit_key="page:3",
        generation=2,
        priority=9,
        deadline_utc=datetime(2030, 1, 31, 12, 0, tzinfo=UTC),
        attempt=3,
        replay_of=uuid4(),
        failure=Failure(stage="ocr", component="ocr", error="blank", message_id=uuid4()),
        page_index=3,
        page_count=25,
        document_id=uuid4(),
        document_count=2,
        file_index=0,
        payload={"text": "Añ €", "nested": {"list": [1, 2.5, None, True]}},
    )


def test_message_carries_every_specified_field() -> None:
    specified = {
        "request_id", "trace_id", "workflow_name", "current_stage", "source_component", "payload",
        "page_index", "document_id", "deadline_utc",
    }  # fmt: skip
    expected_by_users = {"page_count", "document_count", "file_index", "created_at"}
    assert specified | expected_by_users <= set(json.loads(full().encode()))


def test_message_needs_only_a_request() -> None:
    message = PipelineMessage(request_id=REQUEST)
    assert (message.tenant_id, message.workflow_name, message.priority) == ("default", "default", 5)
    assert (message.generation, message.attempt, message.schema_version) == (1, 1, SCHEMA_VERSION)
    assert (message.unit_key, message.current_stage, message.payload) == ("", "", {})
    assert message.created_at.utcoffset() == timedelta(0)
    other = PipelineMessage(request_id=REQUEST)
    assert message.message_id != other.message_id
    assert message.trace_id != other.trace_id


def test_full_message_survives_the_wire() -> None:
    message = full()
    assert PipelineMessage.parse(message.encode()) == message
    assert PipelineMessage.parse(message.encode().decode()) == message


@settings(deadline=None)  # the machine may be busy
@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs"])), json_values, max_size=5))
def test_any_json_payload_survives_the_wire(payload: dict[str, Any]) -> None:
    message = PipelineMessage(request_id=REQUEST, payload=payload)
    assert PipelineMessage.parse(message.encode()).payload == payload


def test_unknown_fields_are_carried_for_newer_workers() -> None:
    body = json.dumps({"request_id": str(REQUEST), "invented_later": {"a": 1}})
    onward = PipelineMessage.parse(body).model_copy(update={"attempt": 2})
    assert json.loads(onward.encode())["invented_later"] == {"a": 1}


def test_deadline_keeps_its_instant_whatever_its_zone() -> None:
    deadline = datetime(2030, 1, 31, 12, 0, tzinfo=timezone(timedelta(hours=2)))
    message = PipelineMessage(request_id=REQUEST, deadline_utc=deadline)
    assert PipelineMessage.parse(message.encode()).deadline_utc == datetime(2030, 1, 31, 10, 0, tzinfo=UTC)


def test_message_cannot_be_changed_in_place() -> None:
    with pytest.raises(ValidationError):
        full().attempt = 9  # type: ignore[misc]  # that it is refused is the point


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "Invalid JSON"),
        (b"not json", "Invalid JSON"),
        (b'{"request_id": ', "Invalid JSON"),
        (b"\xff\xfe\x00", "Invalid JSON"),
        (b"[]", "not a PipelineMessage"),
        (b"null", "not a PipelineMessage"),
        (b"{}", "request_id: Field required"),
        (b'{"request_id": "abc"}', "request_id: Input should be a valid UUID"),
        (b'{"request_id": "%s", "priority": 10}' % str(REQUEST).encode(), "priority"),
        (b'{"request_id": "%s", "priority": -1}' % str(REQUEST).encode(), "priority"),
        (b'{"request_id": "%s", "attempt": 0}' % str(REQUEST).encode(), "attempt"),
        (b'{"request_id": "%s", "generation": 0}' % str(REQUEST).encode(), "generation"),
        (b'{"request_id": "%s", "payload": [1]}' % str(REQUEST).encode(), "payload"),
        (
            b'{"request_id": "%s", "deadline_utc": "2030-01-01T00:00:00"}' % str(REQUEST).encode(),
            "deadline_utc: Input should have timezone info",
        ),
        (b'{"request_id": "%s", "failure": {"stage": "a"}}' % str(REQUEST).encode(), "failure.component"),
    ],
)
def test_what_is_no_message_is_an_error_with_its_raw_bytes(body: bytes, said: str) -> None:
    with pytest.raises(MessageError, match="not a PipelineMessage") as caught:
        PipelineMessage.parse(body)
    assert said in str(caught.value)
    assert caught.value.raw == body
    assert caught.value.__cause__ is not None


def test_text_that_is_no_message_is_kept_as_bytes() -> None:
    with pytest.raises(MessageError) as caught:
        PipelineMessage.parse('{"request_id": "ñ"}')
    assert caught.value.raw == '{"request_id": "ñ"}'.encode()


def test_message_of_a_newer_schema_waits_for_an_upgraded_worker() -> None:
    body = json.dumps({"request_id": str(REQUEST), "schema_version": SCHEMA_VERSION + 1}).encode()
    with pytest.raises(MessageError, match="newer than this worker") as caught:
        PipelineMessage.parse(body)
    assert caught.value.raw == body
    assert "Upgrade this worker" in caught.value.remedy


@pytest.mark.parametrize(
    ("unit_key", "group_key"),
    [("", ""), ("page:3", ""), ("page:3/line:7", "page:3"), ("a/b/c", "a/b"), ("/x", "")],
)
def test_group_is_the_unit_it_is_part_of(unit_key: str, group_key: str) -> None:
    assert PipelineMessage(request_id=REQUEST, unit_key=unit_key).group_key == group_key


@pytest.mark.parametrize(
    ("parent", "local", "key"),
    [("", "page:3", "page:3"), ("page:3", "line:7", "page:3/line:7"), ("a/b", "c", "a/b/c")],
)
def test_child_key_puts_a_part_below_its_whole(parent: str, local: str, key: str) -> None:
    assert child_key(parent, local) == key
    assert PipelineMessage(request_id=REQUEST, unit_key=key).group_key == parent


def test_now_is_aware_and_utc() -> None:
    assert utc_now().tzinfo is UTC


def test_ids_are_read_as_uuids() -> None:
    parsed = PipelineMessage.parse(json.dumps({"request_id": str(REQUEST)}))
    assert isinstance(parsed.request_id, UUID) and parsed.request_id == REQUEST
