"""The envelope: checked, filled in, normalised, in two versions; every violation has a code and a remedy."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from docproc.apps.orchestrator.envelope import kinds, reading
from docproc.apps.orchestrator.envelope.errors import EnvelopeError
from docproc.apps.orchestrator.envelope.models import LARGEST_BYTES, Envelope
from docproc.apps.orchestrator.envelope.versions import ACCEPTED

NOW = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)

# The same in every process: it is part of a test's name.
OTHER_ID = "0b6ecb3e-9f1c-4f0a-8a55-6d1f3c5b7a10"


def whole(**changes: Any) -> dict[str, Any]:
    message = {
        "schema_version": "1.1",
        "message_id": str(uuid4()),
        "task_id": str(uuid4()),
        "tenant_id": "acme",
        "correlation_id": str(uuid4()),
        "created_at": NOW.isoformat(),
        "status": "pending",
        "type": {"domain": "agent", "action": "execute"},
        "priority": 3,
        "source_service": "client",
        "target_service": "agent-execution",
        "payload": {},
    }
    return {**message, **changes}


VIOLATIONS = [
    ({"message_id": "not-a-uuid"}, "VAL_UUID", "message_id"),
    ({"correlation_id": "7"}, "VAL_UUID", "correlation_id"),
    ({"priority": 10}, "VAL_PRIORITY", "priority"),
    ({"priority": -1}, "VAL_PRIORITY", "priority"),
    ({"priority": 2.5}, "VAL_PRIORITY", "priority"),
    ({"priority": "3"}, "VAL_PRIORITY", "priority"),
    ({"expires_at": NOW.isoformat()}, "VAL_EXPIRES", "expires_at"),
    ({"expires_at": (NOW - timedelta(seconds=1)).isoformat()}, "VAL_EXPIRES", "expires_at"),
    ({"created_at": "yesterday"}, "VAL_TIMESTAMP", "created_at"),
    ({"created_at": "2026-01-02T03:04:05"}, "VAL_TIMESTAMP", "created_at"),  # no zone
    ({"status": "error"}, "VAL_STATUS", "status"),
    ({"type": {"domain": "robot", "action": "execute"}}, "VAL_TYPE", "type.domain"),
    ({"type": {"domain": "agent", "action": "fly"}}, "VAL_TYPE", "type.action"),
    ({"type": {"domain": "agent", "action": "metric"}}, "VAL_TYPE", "type.action"),
    ({"type": "agent.execute"}, "VAL_TYPE", "type"),  # as version 1.0 wrote it
    ({"schema_version": "9.9"}, "VAL_SCHEMA_VERSION", "schema_version"),
    ({"piority": 1}, "VAL_UNKNOWN_FIELD", "piority"),
    ({"tenant_id": "../etc"}, "VAL_FORMAT", "tenant_id"),
    ({"payload": []}, "VAL_FORMAT", "payload"),
]


@pytest.mark.parametrize(("changes", "code", "path"), VIOLATIONS)
def test_every_violation_has_its_code_its_place_and_a_remedy(
    changes: dict[str, Any], code: str, path: str
) -> None:
    with pytest.raises(EnvelopeError) as refused:
        reading.parsed(json.dumps(whole(**changes)).encode())
    (violation,) = refused.value.violations
    assert (violation.code, violation.path) == (code, path)
    assert violation.message and violation.remedy


@pytest.mark.parametrize("name", [name for name in whole() if name != "schema_version"])
def test_every_required_field_is_missed(name: str) -> None:
    message = whole()
    del message[name]
    with pytest.raises(EnvelopeError) as refused:
        reading.parsed(json.dumps(message).encode())
    assert [(one.code, one.path) for one in refused.value.violations] == [("VAL_REQUIRED", name)]


def test_all_that_is_wrong_is_told_at_once() -> None:
    with pytest.raises(EnvelopeError) as refused:
        reading.checked(whole(priority=11, message_id="x", status="no"))
    assert {one.code for one in refused.value.violations} == {"VAL_PRIORITY", "VAL_UUID", "VAL_STATUS"}


def test_message_of_more_than_a_megabyte_is_refused_and_one_of_just_that_is_not() -> None:
    message = whole(payload={"text": ""})
    room = LARGEST_BYTES - len(json.dumps(message).encode())
    message["payload"]["text"] = "x" * room
    assert reading.parsed(json.dumps(message).encode()).payload["text"]
    message["payload"]["text"] += "x"
    with pytest.raises(EnvelopeError) as refused:
        reading.parsed(json.dumps(message).encode())
    assert refused.value.code == "VAL_TOO_LARGE"


@pytest.mark.parametrize("body", [b"", b"\xff", b"[1]", b"null", b"[" * 100_000])
def test_what_is_no_json_object_is_refused(body: bytes) -> None:
    with pytest.raises(EnvelopeError) as refused:
        reading.decoded(body)
    assert refused.value.code == "VAL_JSON"


# §3.2, as the specification has it.
TYPICAL = {
    "agent.execute": 3, "agent.status": 2, "workflow.start": 4, "workflow.step": 5, "tool.execute": 3,
    "tool.response": 2, "conversation.update": 6, "system.health": 1, "system.metric": 8,
}  # fmt: skip


@pytest.mark.parametrize(("name", "priority"), TYPICAL.items())
def test_what_is_left_out_is_filled_in(name: str, priority: int) -> None:
    domain, _, action = name.partition(".")
    envelope = reading.complete({"type": {"domain": domain, "action": action}}, tenant_id="acme")
    assert envelope.priority == priority
    assert (envelope.tenant_id, envelope.status, envelope.schema_version) == ("acme", "pending", "1.1")
    assert envelope.message_id != envelope.task_id != envelope.correlation_id
    assert envelope.session_id and envelope.created_at.tzinfo and envelope.metadata.source == "api"


def test_common_actions_are_known_in_every_domain() -> None:
    for domain in kinds.DOMAINS:
        for action in ("execute", "update", "query", "notify"):
            assert kinds.is_known(domain, action)


def test_forms_of_the_same_message_become_one() -> None:
    identifier = str(uuid4())
    said = whole(
        message_id=identifier.upper(),
        type={"domain": " Agent ", "action": "EXECUTE"},
        status="PENDING",
        target_service="Agent Execution",
        source_service="my_client",
        created_at="2026-01-02T05:04:05+02:00",
    )
    envelope = reading.checked(said)
    assert envelope.message_id == UUID(identifier) and envelope.type.name == "agent.execute"
    assert (envelope.target_service, envelope.source_service) == ("agent-execution", "my-client")
    assert envelope.created_at == NOW and envelope.as_dict()["created_at"].endswith("Z")


def test_two_versions_are_accepted_side_by_side() -> None:
    old = whole(schema_version="1.0", type="agent.execute", status="error", error="broken")
    old["timestamp"] = old.pop("created_at")
    upgraded = reading.parsed(json.dumps(old).encode())
    assert ACCEPTED == ("1.0", "1.1")
    assert upgraded.schema_version == "1.1" and upgraded.type.name == "agent.execute"
    assert upgraded.created_at == NOW and upgraded.status == "failed"
    assert upgraded.error == {"code": "SERVICE_ERROR", "message": "broken"}
    assert reading.parsed(json.dumps(whole()).encode()).schema_version == "1.1"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("task_id", OTHER_ID),
        ("tenant_id", "other"),
        ("correlation_id", OTHER_ID),
        ("session_id", "another"),
        ("conversation_id", OTHER_ID),
    ],
)
def test_nobody_changes_what_identifies_the_work(name: str, value: str) -> None:
    before = reading.checked(whole(session_id="s", conversation_id=str(uuid4())))
    after = reading.checked({**before.as_dict(), name: value})
    with pytest.raises(EnvelopeError) as refused:
        reading.check_unchanged(before.as_dict(), after)
    assert [(one.code, one.path) for one in refused.value.violations] == [("VAL_IMMUTABLE", name)]
    reading.check_unchanged(
        before.as_dict(), reading.checked({**before.as_dict(), "message_id": str(uuid4())})
    )


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inside: st.lists(inside, max_size=3),
)


@given(st.dictionaries(st.text(max_size=8), _JSON, max_size=4), st.integers(0, 9))
def test_a_message_survives_the_wire(payload: dict[str, Any], priority: int) -> None:
    envelope = reading.checked(whole(payload=payload, priority=priority))
    assert reading.parsed(envelope.encode()) == envelope


def test_published_schema_names_every_field() -> None:
    schema = Envelope.model_json_schema()
    assert set(schema["properties"]) == set(Envelope.model_fields)
    assert {"message_id", "task_id", "tenant_id", "correlation_id", "created_at", "status", "type"} <= set(
        schema["required"]
    )
