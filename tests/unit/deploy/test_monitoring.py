"""Prometheus' rules and Grafana's dashboards can be read, and speak of metrics that there are."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import promql_parser
import pytest
import yaml

from docproc.alerts.metric_names import NAMES
from docproc.cli.main import app  # noqa: F401 # with it everything that measures is imported

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "deploy/monitoring"
REFERENCE = (ROOT / "docs/reference/metrics-and-logs.md").read_text(encoding="utf-8")
# Of Prometheus itself, of its client for Python, and of RabbitMQ's plugin.
OTHERS = re.compile(r"up|process_\w+|python_\w+|rabbitmq_\w+")


def expressions() -> Iterator[tuple[str, str]]:
    for path in sorted(FOLDER.glob("rules/*.yml")):
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]:
            for rule in group["rules"]:
                yield rule.get("alert") or rule["record"], rule["expr"]
    for path in sorted(FOLDER.glob("grafana/*.json")):
        for panel in json.loads(path.read_text(encoding="utf-8"))["panels"]:
            for target in panel["targets"]:
                yield panel["title"], target["expr"]


@pytest.mark.parametrize(("name", "expression"), list(expressions()))
def test_expression_can_be_read_and_its_metrics_exist(name: str, expression: str) -> None:
    promql_parser.parse(expression)
    without_labels = re.sub(r"\{[^}]*\}|\[[^\]]*\]|\b(?:by|on) \([^)]*\)", "", expression)
    documented = set(re.findall(r"`(docproc_\w+)`", REFERENCE)) | {one.prometheus for one in NAMES.values()}
    for metric in re.findall(r"\b(?:docproc|process|rabbitmq|up)\w*", without_labels):
        plain = re.sub(r"_(bucket|sum|count)$", "", metric)
        assert OTHERS.fullmatch(metric) or plain in documented, f"{name}: there is no metric {metric}"


def test_every_alert_says_what_to_do() -> None:
    for path in FOLDER.glob("rules/*.yml"):
        for group in yaml.safe_load(path.read_text(encoding="utf-8"))["groups"]:
            for rule in group["rules"]:
                assert "record" in rule or {"summary", "remedy"} <= rule["annotations"].keys(), rule


def test_dashboards_have_panels_that_do_not_lie_on_each_other() -> None:
    for path in FOLDER.glob("grafana/*.json"):
        dashboard = json.loads(path.read_text(encoding="utf-8"))
        assert dashboard["uid"] and dashboard["title"] and dashboard["schemaVersion"] >= 36
        places = [(one["gridPos"]["x"], one["gridPos"]["y"]) for one in dashboard["panels"]]
        assert len(set(places)) == len(places) == len({one["id"] for one in dashboard["panels"]})


def test_prometheus_asks_every_component_of_the_compose_file() -> None:
    from bench.compose import ComposeFile

    compose = ComposeFile(ROOT / "docker-compose.yml")
    asked = yaml.safe_load((FOLDER / "prometheus.yml").read_text())["scrape_configs"][0]["dns_sd_configs"][0][
        "names"
    ]
    running = [
        name for name in compose.started() if "DOCPROC_COMPONENT_NAME" in compose.service(name).environment
    ]
    assert sorted(asked) == sorted(running)
