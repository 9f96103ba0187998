"""`docproc alerts`: what fires, by which rules, and what was measured."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from docproc.alerts import history, store
from docproc.alerts.evaluation import Fired
from docproc.alerts.rules import Above, Level, Rule
from docproc.alerts.samples import Sample
from docproc.app import open_database
from docproc.engine.message import utc_now
from docproc.settings import Settings
from tests.processes import Processes

DEEP = Rule("queue_deep", "queue.depth", ("queue",), Above(10), Level.MEDIUM, "watch_closely")
SAMPLE = Sample("queue.depth", 12, {"queue": "q.ocr"})


@pytest.fixture
def processes(embedded: Processes) -> Processes:
    asyncio.run(_fill(embedded.settings))
    return embedded


async def _fill(settings: Settings) -> None:
    async with open_database(settings) as app, app.store.writing() as session:
        await history.record(session, [SAMPLE], utc_now())
        assert await store.fire(session, Fired(DEEP, SAMPLE, 10), utc_now())


def test_alerts_and_metrics_are_shown(processes: Processes) -> None:
    listed, as_json, metrics, low, nothing = processes.run_all(
        "alerts list",
        "alerts list --level medium --json",
        "alerts metrics --json",
        "alerts list --level low",
        "alerts list --level grave",
    )
    assert "queue_deep" in listed.out and "queue q.ocr" in listed.out
    [alert] = json.loads(as_json.out)
    assert (alert["value"], alert["threshold"], alert["resolved_at"]) == (12, 10, None)
    [metric] = json.loads(metrics.out)
    assert (metric["metric"], metric["labels"], metric["value"]) == ("queue.depth", {"queue": "q.ocr"}, 12)
    assert low.out == "There are no alerts.\n"
    assert nothing.code == 2 and "critical, high, medium, low" in nothing.err


def test_rules_are_shown_as_a_file_changes_them(processes: Processes, tmp_path: Path) -> None:
    file = tmp_path / "rules.yaml"
    file.write_text("rules: {queue_deep: {threshold: 7}, errors: {enabled: false}}")
    found = json.loads(processes.run("alerts", "rules", "--json", ALERT_RULES=file).out)
    by_name = {one["name"]: one["threshold"] for one in found}
    assert by_name["queue_deep"] == 7
    assert "errors" not in by_name
    file.write_text("rules: {no_such_rule: {threshold: 7}}")
    wrong = processes.run("alerts", "rules", ALERT_RULES=file)
    assert wrong.code == 1 and "there is no rule 'no_such_rule'" in wrong.err
