"""A mortgage packet is answered as soon as identity and payslip are there (issue 5: early answers)."""

from __future__ import annotations

from typing import Any

import pytest

from tests import papers
from tests.deployments import Deployment
from tests.papers import ID_CARD, LETTER, PAYSLIP
from tests.processes import until

# Its services are started once, so its tests stay in one process.
pytestmark = pytest.mark.xdist_group("deployment")

UNSURE = ("Recibo", "nómina o factura, quizá un contrato de alquiler")


def test_packet_is_answered_early_while_its_last_page_waits_for_a_person(deployment: Deployment) -> None:
    change = {
        "\nstages:\n": "\nearly_answer: {types: [id_card, payslip]}\n\nstages:\n",
        "confidence_threshold: 0.90 # a page": "confidence_threshold: 0.85 # a page",
        "confidence_threshold: 0.85\n": "confidence_threshold: 0.0\n",
    }
    deployment.workflow("soon", change, like="hipotecas")
    packet = ("packet.pdf", papers.pdf(ID_CARD, PAYSLIP, LETTER, UNSURE))
    request_id = deployment.submit(packet, workflow="soon")
    until(lambda: deployment.status(request_id)["result"], "the early answer", 90)
    status = deployment.status(request_id)
    assert status["status"] not in ("completed", "failed") and status["completed_at"] is None
    result: dict[str, Any] = status["result"]
    assert result["partial"] is True and result["total_pages"] == 4
    done = {d["doc_type"]: d for d in result["documents"] if d["status"] == "completed"}
    assert done["id_card"]["extracted_data"]["id_number"] == "39337243K"
    assert done["payslip"]["page_indices"] == [1] and done["payslip"]["needs_review"] == []
    missing = {entry["unit"]: entry["reason"] for entry in result["missing"]}
    # Of the letter nothing is certain before the page after it; whether that waits yet depends on the moment.
    assert missing.keys() == {"page:2", "page:3"}
    assert missing["page:3"] in ("queued", "waiting_for_operator")
    versions = deployment.query(f"SELECT version, reason FROM answers WHERE request_id = '{request_id}'")
    assert [(row[0], row[1]) for row in versions] == [(1, "early")]
