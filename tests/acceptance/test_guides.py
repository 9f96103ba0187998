"""The tutorial and the how-to for components, followed to the letter in an empty folder."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"
BLOCK = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Reader:
    """Somebody who copies the files of a page and runs its commands."""

    def __init__(self, page: str, folder: Path, components: str) -> None:
        self.folder = folder
        for name, text in BLOCK.findall((DOCS / page).read_text(encoding="utf-8")):
            path = folder / name
            path.parent.mkdir(exist_ok=True)
            path.write_text(text, encoding="utf-8")
        inherited = {k: v for k, v in os.environ.items() if not k.startswith("DOCPROC_")}
        self.environment = {
            **inherited,
            "PYTHONPATH": ".",
            "DOCPROC_HOME": "./data",
            "DOCPROC_WORKFLOWS_DIR": "./workflows",
            "DOCPROC_COMPONENTS": components,
        }

    def docproc(self, *arguments: str, code: int = 0) -> Any:
        done = subprocess.run(
            [sys.executable, "-m", "docproc", *arguments, "--json"],
            cwd=self.folder,
            env=self.environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, done.stderr
        return json.loads(done.stdout)


@pytest.fixture
def tutorial(tmp_path: Path) -> Reader:
    return Reader("tutorial.md", tmp_path, "lines=words.Lines,count_words=words.CountWords")


@pytest.fixture
def how_to(tmp_path: Path) -> Reader:
    components = "thumbnails=thumbnails.Thumbnails,pieces=pieces.Pieces,total=pieces.Total"
    return Reader("how-to/write-a-component.md", tmp_path, components)


TEXT = json.dumps({"text": "to be\nor not to be\n¡that is the question!"})


def test_tutorial_counts_words(tutorial: Reader) -> None:
    checked = {w["workflow"]: w["ok"] for w in tutorial.docproc("workflow", "check")}
    assert checked["words"] and all(checked.values())
    request = tutorial.docproc("request", "run", "words", "--payload", TEXT)
    assert request["status"] == "completed"
    words = {unit: found["words"] for unit, found in request["result"]["units"].items()}
    assert words == {"line:0": 2, "line:1": 4, "line:2": 4}


def test_tutorial_breaks_and_is_repaired(tutorial: Reader) -> None:
    flow = tutorial.folder / "workflows/words.yaml"
    flow.write_text(flow.read_text().replace("attempts: 3", "attempts: 1"))
    request = tutorial.docproc("request", "run", "words", "--payload", TEXT, code=1)
    assert request["status"] == "failed"
    assert [unit["unit"] for unit in request["error"]["units"]] == ["line:2"]
    assert sorted(request["result"]["units"]) == ["line:0", "line:1"]
    (letter,) = tutorial.docproc("deadletters", "list")
    assert letter["unit_key"] == "line:2"
    words = tutorial.folder / "words.py"
    words.write_text(words.read_text().replace("message.attempt < 2", "False"))
    assert tutorial.docproc("deadletters", "replay", letter["id"])[0]["ok"]
    # Any run works off what waits; here a second request.
    assert tutorial.docproc("request", "run", "words", "--payload", TEXT)["status"] == "completed"
    assert tutorial.docproc("request", "status", request["request_id"])["status"] == "completed"


def test_component_written_by_the_how_to_alone_runs(how_to: Reader) -> None:
    payload = json.dumps({"text": "a long story"})
    request = how_to.docproc("request", "run", "small", "--payload", payload)
    assert request["status"] == "completed"
    assert request["result"]["thumbnail"].startswith("thumb-")
    request = how_to.docproc("request", "run", "small", code=1)
    assert "there is no text to shrink" in request["error"]["message"]


def test_fan_out_and_join_of_the_how_to_run(how_to: Reader) -> None:
    request = how_to.docproc("request", "run", "sum", "--payload", '{"number": 250}')
    assert request["result"] == {"total": sum(range(250))}


def test_example_in_the_repository_is_the_tutorials() -> None:
    blocks = dict(BLOCK.findall((DOCS / "tutorial.md").read_text(encoding="utf-8")))
    example = DOCS.parent / "examples/words"
    assert blocks == {name: (example / name).read_text(encoding="utf-8") for name in blocks}
