"""The documentation becomes pages without a warning, a download or a link that leads nowhere."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    # Whatever would ask the network finds a proxy that is not there.
    nowhere = dict.fromkeys(("http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY"), "http://127.0.0.1:9")
    # And whatever tests before it have set is not what the docs are made for.
    plain = {name: value for name, value in os.environ.items() if not name.startswith("DOCPROC_")}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT, env={**plain, **nowhere}, capture_output=True, text=True, check=False, timeout=110,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


def test_every_page_is_there(site: Path) -> None:
    for path in (ROOT / "docs").rglob("*.md"):
        assert (site / path.relative_to(ROOT / "docs")).with_suffix(".html").is_file(), path
    assert (site / "index.html").is_file() and (site / "reference/components.html").is_file()


def test_generated_documents_are_those_of_the_code(site: Path) -> None:
    paths = json.loads((site / "reference/openapi.json").read_text())["paths"]
    assert {"/process", "/status/{request_id}", "/materials", "/health"} <= paths.keys()
    assert (
        "/tasks/{task_id}/claim"
        in json.loads((site / "reference/openapi-backoffice.json").read_text())["paths"]
    )
    schema = json.loads((site / "reference/workflow.schema.json").read_text())
    assert {"name", "sla", "stages", "extraction_schemas"} <= schema["properties"].keys()


def test_nothing_is_asked_from_elsewhere(site: Path) -> None:
    for page in ("index.html", "design/architecture.html", "how-to/runbook.html"):
        text = (site / page).read_text(encoding="utf-8")
        assert not re.findall(r'<(?:script|img|iframe)[^>]+src="https?://', text)
        assert not re.findall(r'<link[^>]+rel="(?:stylesheet|preconnect)"[^>]+href="https?://', text)


def test_links_out_of_the_docs_lead_to_the_repository(site: Path) -> None:
    text = (site / "how-to/deploy-with-compose.html").read_text(encoding="utf-8")
    assert re.search(r'href="https://github\.com/[^"]+/blob/main/docker-compose\.yml"', text)
