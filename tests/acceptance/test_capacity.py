"""`docproc capacity`: a machine is measured with documents, and a volume is planned from that."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from tests import papers

STAGES = {
    "split",
    "ocr",
    "classify",
    "classification_aggregation",
    "extract",
    "extraction_aggregation",
    "consolidate",
}


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One that was calibrated with two digital documents."""
    home = tmp_path_factory.mktemp("home")
    for number, paper in enumerate((papers.INVOICE, papers.ID_CARD)):
        (home / f"{number}.pdf").write_bytes(papers.pdf(paper))
    done = docproc(home, "capacity", "calibrate", str(home / "0.pdf"), str(home / "1.pdf"), "--json")
    assert done.returncode == 0, done.stderr
    digital = json.loads(done.stdout)["kinds"]["digital"]
    assert {stage["stage"] for stage in digital["stages"]} == STAGES
    assert digital["requests"] == 2 and digital["units"] == {"page": 1.0, "document": 1.0}
    assert all(stage["time"]["seconds"] > 0 for stage in digital["stages"])
    return home


def docproc(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DOCPROC_")}
    return subprocess.run(
        [sys.executable, "-m", "docproc", *arguments],
        env={**environment, "DOCPROC_HOME": str(home), "DOCPROC_PROCESSES": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_volume_becomes_replicas_a_patch_and_a_picture(home: Path) -> None:
    patch, picture = home / "replicas.yaml", home / "plan.svg"
    done = docproc(
        home, "capacity", "--volume", "2000/h", "--pages", "4", "--deadline", "60", "--asked", "0.1",
        "--patch", str(patch), "--picture", str(picture), "--json",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["enough"] and found["simulation"]["p95_seconds"] <= 60
    assert found["workers"]["extractor"]["replicas"] >= 1
    assert found["people"]["operators_per_shift"] >= 1
    counts = {one["name"]: one["count"] for one in yaml.safe_load(patch.read_text())["replicas"]}
    assert counts["ocr"] == found["workers"]["ocr"]["replicas"] and "classification-aggregator" in counts
    assert picture.read_text().startswith("<svg")


def test_together_is_a_number_of_processes(home: Path) -> None:
    done = docproc(home, "capacity", "--volume", "10/s", "--together", "--deadline", "60", "--json")
    assert list(json.loads(done.stdout)["workers"]) == ["worker processes"]


def test_what_was_not_measured_cannot_be_planned(home: Path, tmp_path: Path) -> None:
    for where, arguments, remedy in (
        (home, ("--volume", "10/s", "--scanned", "50%"), "--scanned SCAN"),
        (home, (), "--volume 2000/h"),
        (tmp_path, ("--volume", "10/s"), "docproc capacity calibrate"),
    ):
        done = docproc(where, "capacity", *arguments)
        assert done.returncode == 2 and remedy in done.stderr
