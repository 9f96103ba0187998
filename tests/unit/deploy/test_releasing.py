"""Workflows of GitHub are valid, and a release says what the changelog says."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from deploy.release_notes import notes

ROOT = Path(__file__).parents[3]
SOURCE = '__version__ = "1.2.0"\n'
CHANGELOG = "## Unreleased\n\n## 1.2.0 (2026-12-01)\n\n### Added\n\n- A thing.\n\n## 1.1.0\n\n- Older.\n"


def test_workflows_are_valid() -> None:
    files = [str(path) for path in sorted((ROOT / ".github/workflows").glob("*.yml"))]
    assert {Path(file).stem for file in files} >= {"test", "image", "release"}
    told = ["--builtin-schema", "vendor.github-workflows", *files]
    done = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *told], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_notes_are_the_changelogs_part() -> None:
    assert notes("v1.2.0", CHANGELOG, SOURCE) == "### Added\n\n- A thing.\n"


@pytest.mark.parametrize(
    ("tag", "changelog", "told"),
    [("v1.3.0", CHANGELOG, "says 1.2.0"), ("v1.2.0", "## Unreleased\n", "no part")],
)
def test_release_that_does_not_agree_is_refused(tag: str, changelog: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        notes(tag, changelog, SOURCE)
