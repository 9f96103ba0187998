"""A document's answer is vouched for, its workflow changed, promoted, refused: by the commands alone."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from docproc.apps.documents.application import application as documents
from tests import papers


class Office:
    """A home with workflows of its own, in production."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.workflow = folder / "workflows" / "invoices.yaml"
        self.workflow.parent.mkdir()
        assert documents.workflows is not None
        self.workflow.write_text((documents.workflows / "invoices.yaml").read_text())

    def docproc(self, *arguments: str, code: int = 0) -> Any:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("DOCPROC_")}
        done = subprocess.run(
            [sys.executable, "-m", "docproc", *arguments, "--json"],
            env={
                **environment,
                "DOCPROC_HOME": str(self.folder),
                "DOCPROC_WORKFLOWS_DIR": str(self.workflow.parent),
                "DOCPROC_ENVIRONMENT": "production",
                "DOCPROC_PROCESSES": "1",
                "DOCPROC_WARM_UP": "false",
            },
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)


def test_worse_workflow_is_refused_and_a_better_one_promoted(tmp_path: Path) -> None:
    office = Office(tmp_path)
    (tmp_path / "invoice.pdf").write_bytes(papers.pdf(papers.INVOICE))
    answer = office.docproc("run", str(tmp_path / "invoice.pdf"), "--workflow", "invoices")
    case = office.docproc("golden", "add", "--request", answer["request_id"], "--title", "an invoice")
    assert [one["title"] for one in office.docproc("golden", "list", "invoices")] == ["an invoice"]
    assert office.docproc("promote", "invoices", "--to", "production")["promoted"]

    good = office.workflow.read_text()
    field = "      - {name: total_amount, type: decimal, required: true}\n"
    sum_of_it = next(line for line in good.splitlines(keepends=True) if line.endswith("== total_amount\n"))
    assert field in good
    office.workflow.write_text(good.replace(field, "").replace(sum_of_it, ""))
    refused = office.docproc("promote", "invoices", "--to", "production", code=1)
    assert not refused["promoted"]
    assert "documents[0].extracted_data.total_amount" in refused["reasons"][1]

    office.workflow.write_text(good.replace("version: 1", "version: 7", 1))
    assert office.docproc("promote", "invoices", "--to", "production")["promoted"]
    assert len(office.docproc("promote", "invoices", "--to", "production", "--history")) == 2
    back = office.docproc("promote", "invoices", "--to", "production", "--roll-back")
    assert back["version"] == refused["live_version"]
    assert office.docproc("golden", "remove", case["case_id"])["status"] == "removed"
