"""The table of waits, exactly: what the workflow file says of each kind of failure (C14)."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from docproc.apps.materials import application
from docproc.apps.materials.errors import (
    DocumentsDownError,
    MaterialError,
    ModelDownError,
    RateLimitedError,
    SourceDownError,
)
from docproc.engine.running.retry import RetryDecision, decide
from docproc.engine.workflow.definition import Retry, Workflow

FILE = Path(application.__file__).parent / "workflows/materials.yaml"


def policy(stage: str) -> Retry:
    return Workflow.model_validate(yaml.safe_load(FILE.read_text(encoding="utf-8"))).stage(stage).retry


@pytest.mark.parametrize(
    ("stage", "error", "waits"),
    [
        ("summary", ModelDownError("away"), [60, 120, 240, 480, 960]),
        ("quiz", ModelDownError("away"), [60, 120, 240, 480, 960]),
        ("store", DocumentsDownError("away"), [10, 30, 60, 300, 900]),
        ("fetch", SourceDownError("away"), [5, 15, 30]),
    ],
)
def test_waits_are_the_specified_ones_and_then_no_more(
    stage: str, error: Exception, waits: list[int]
) -> None:
    decisions = [decide(error, attempt, policy(stage)) for attempt in range(1, len(waits) + 2)]
    assert [decision.delay for decision in decisions] == [*waits, None]
    assert all(decision.counts_attempt for decision in decisions)


@pytest.mark.parametrize("stage", ["summary", "quiz"])
@pytest.mark.parametrize("attempt", [1, 5, 6, 1000])
def test_rate_limits_never_exhaust_the_tries(stage: str, attempt: int) -> None:
    asked = decide(RateLimitedError("wait", delay=7.5), attempt, policy(stage))
    assert asked == RetryDecision(7.5, counts_attempt=False)
    assert decide(RateLimitedError("wait"), attempt, policy(stage)) == RetryDecision(60, counts_attempt=False)


@pytest.mark.parametrize("stage", ["fetch", "text", "summary", "quiz", "check", "store"])
def test_what_will_never_work_is_tried_once(stage: str) -> None:
    assert decide(MaterialError("no", code="no"), 1, policy(stage)).gives_up
