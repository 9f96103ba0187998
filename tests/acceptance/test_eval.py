"""What `docproc eval` measures is what production answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from docproc.app import App
from docproc.apps.documents.quality.evaluation import how_of
from docproc.apps.documents.quality.understand import understand
from tests import papers
from tests.harness import settings_for


def answers(path: Path, home: Path) -> list[dict[str, Any]]:
    """The documents that `docproc run` finds."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("DOCPROC_")}
    done = subprocess.run(
        [sys.executable, "-m", "docproc", "run", str(path), "--workflow", "default", "--json"],
        env={**environment, "DOCPROC_HOME": str(home), "DOCPROC_WARM_UP": "false", "DOCPROC_PROCESSES": "1"},
        capture_output=True,
        text=True,
        timeout=100,
        check=True,
    )
    found: list[dict[str, Any]] = json.loads(done.stdout)["result"]["documents"]
    return found


def test_measured_answers_are_those_of_a_request(tmp_path: Path) -> None:
    path = tmp_path / "mixed.pdf"
    path.write_bytes(papers.pdf(papers.INVOICE, papers.ID_CARD))
    settings = settings_for(tmp_path)
    measured = understand(path, how_of(App(settings).loader.load("default"), settings))
    assert measured.problem is None
    assert [
        (
            document.doc_type,
            list(document.page_indices),
            {
                name: (
                    json.loads(value.value) if value.rows else value.value,
                    round(value.confidence, 4),
                    document.page_indices[value.page],
                )
                for name, value in document.fields.items()
                if value is not None
            },
        )
        for document in measured.documents
    ] == [
        (
            document["doc_type"],
            document["page_indices"],
            {
                name: (field["value"], field["confidence"], field["page"])
                for name, field in document["fields"].items()
            },
        )
        for document in answers(path, tmp_path / "home")
    ]
