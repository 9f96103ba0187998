"""200 hostile files at once: each ends in a defined state, and a good job beside them is unaffected."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest

from tests import papers
from tests.deployments import TERMINAL, Deployment
from tests.hostile import write_hostile_files
from tests.papers import INVOICE
from tests.processes import until

# Its services are started once, so its tests stay in one process.
pytestmark = pytest.mark.xdist_group("deployment")


@pytest.mark.timeout(300)
def test_hostile_files_end_in_a_defined_state_beside_a_good_job(
    deployment: Deployment, tmp_path: Path
) -> None:
    deployment.workflow(
        "hostile",
        {
            "confidence_threshold: 0.80": "confidence_threshold: 0.0",
            "    backoffice_queue: task.extraction\n": "",
            "timeout_seconds: 30": "timeout_seconds: 10",
        },
    )
    files = write_hostile_files(tmp_path, count=200)
    good = papers.pdf(INVOICE)
    with ThreadPoolExecutor(8) as pool:
        answers = list(pool.map(lambda path: deployment.post(path, workflow="hostile"), files))
        first_good = deployment.submit(("good.pdf", good), workflow="hostile")
    refused = [answer for answer in answers if answer.status_code != 200]
    assert all(400 <= answer.status_code < 500 for answer in refused), Counter(a.status_code for a in refused)
    assert all(answer.json()["error"]["message"] for answer in refused)
    accepted = [answer.json()["request_id"] for answer in answers if answer.status_code == 200]

    def open_requests() -> int:
        named = ", ".join(f"'{status}'" for status in TERMINAL)
        return int(
            deployment.query(
                "SELECT count(*) FROM requests WHERE workflow_name = 'hostile' AND status NOT IN ("
                + named
                + ")"
            )[0][0]
        )

    until(lambda: open_requests() == 0, f"all end; {open_requests()} are open", 240)
    assert deployment.status(first_good)["status"] == "completed"
    ends = {request_id: deployment.status(request_id) for request_id in accepted}
    for path, answer in zip(files, answers, strict=True):
        if answer.status_code != 200:
            continue
        end = ends[answer.json()["request_id"]]
        if end["status"] == "failed":
            message = end["error"]["message"]
            assert 10 < len(message) < 2000, (path.name, message)
            assert "Traceback" not in message and "Error:" not in message, (path.name, message)
    assert any(end["status"] == "failed" for end in ends.values())
    # Still healthy, and still working.
    assert deployment.http.get("/health").json() == {"status": "ok"}
    assert all(service.is_alive for service in deployment.services)
    after = deployment.process(("good.pdf", good), workflow="hostile")
    assert after["status"] == "completed"
    with httpx.Client(base_url=deployment.url) as client:
        assert client.get(f"/requests/{first_good}/pages/0.png").status_code == 200
