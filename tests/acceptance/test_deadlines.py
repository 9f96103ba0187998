"""A28 from outside: where people never answer, the deadline is answered, and says what is missing."""

from __future__ import annotations

from typing import Any

import pytest

from tests import papers
from tests.deployments import Deployment
from tests.papers import ID_CARD, INVOICE
from tests.processes import until

# The deployments are started once, so their tests stay in one process.
pytestmark = pytest.mark.xdist_group("deployment")

# Every field is doubtful, and the flow waits for somebody who never comes.
HURRIED = {
    "deadline_seconds: 60": "deadline_seconds: 8",
    "warn_threshold_pct: 70": "warn_threshold_pct: 40",
    "escalation_threshold_pct: 90": "escalation_threshold_pct: 60",
    "confidence_threshold: 0.80": "confidence_threshold: 0.0",
    "confidence_threshold: 0.75": "confidence_threshold: 1.0\n    when_no_time: wait",
}


def test_deadline_is_answered_with_what_there_is(deployment: Deployment) -> None:
    deployment.workflow("hurried", HURRIED)
    request_id = deployment.submit(("two.pdf", papers.pdf(INVOICE, ID_CARD)), workflow="hurried")
    until(lambda: deployment.status(request_id)["status"] == "sla_breached", "the deadline passes", 60)
    status = deployment.status(request_id)
    assert status["answer_version"] == 1 and status["breached_at"] and status["completed_at"] is None
    result = status["result"]
    assert result["partial"] is True
    _check_content(result)

    def kinds() -> list[tuple[str, str]]:
        return [(event["kind"], event["outcome"]) for event in _timeline(deployment, request_id)]

    # The newest events are held back while older transactions go on, anybody's on the server.
    until(lambda: kinds()[-1] == ("status", "sla_breached"), "the timeline ends with the breach")
    assert [kind for kind in kinds() if kind[0] == "sla"] == [("sla", "at_risk"), ("sla", "escalated")]
    tasks = deployment.query(
        "SELECT t.priority FROM backoffice_tasks t JOIN answers a ON a.request_id = t.request_id "
        f"WHERE t.request_id = '{request_id}' AND a.version = 1 AND t.created_at < a.created_at"
    )
    assert {row[0] for row in tasks} <= {9}


def _check_content(result: dict[str, Any]) -> None:
    """As far as a slow machine has come: what is there is typed, what is not is named with its reason."""
    asked = {item["unit"] for item in result["missing"] if item["reason"] == "waiting_for_operator"}
    waiting = [document for document in result["documents"] if document["status"] == "in_review"]
    assert len(asked) == len(waiting)
    for document in waiting:
        assert document["fields"], document
        fields = [item["field"] for item in result["missing"] if item["unit"] in asked and "field" in item]
        assert set(document["needs_review"]) <= set(fields)
    assert result["missing"]


def _timeline(deployment: Deployment, request_id: str) -> list[dict[str, Any]]:
    answer = deployment.http.get(f"/requests/{request_id}/events", params={"limit": 1000})
    found: list[dict[str, Any]] = answer.json()["events"]
    return found
