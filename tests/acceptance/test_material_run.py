"""`docproc material run`: one command, a PDF in, a summary and a quiz out, as people and programs want it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from docproc.apps.materials.content.stored import AssessmentDocument, SummaryDocument
from tests import textbooks


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("DOCPROC_")}
    environment = {**inherited, "DOCPROC_HOME": str(folder / "home"), "NO_COLOR": "1"}
    command = [str(Path(sys.executable).with_name("docproc")), "material", "run", *arguments]
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, timeout=90, check=False
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    textbooks.draw(tmp_path / "libro.pdf")
    return tmp_path


def test_people_read_it_in_the_terminal_and_get_files(folder: Path) -> None:
    done = run(folder, "libro.pdf", "--language", "es", "--title", "Biología [1]")
    assert done.returncode == 0, done.stderr
    assert "Biología [1]" in done.stdout and "Glosario" in done.stdout and "✓" in done.stdout
    assert sorted(path.name for path in (folder / "libro-material").iterdir()) == [
        "libro.anki.csv", "libro.gift.txt", "libro.html", "libro.md", "libro.moodle.xml", "libro.pdf",
        "libro.qti.zip",
    ]  # fmt: skip


def test_programs_get_what_is_stored_and_the_next_version_the_next_time(folder: Path) -> None:
    first = run(folder, "libro.pdf", "--json", "--questions", "6", "--material-id", "mat-1")
    assert first.returncode == 0, first.stderr
    told = json.loads(first.stdout)
    assert set(told) == {"summary", "assessment"}
    assert SummaryDocument.model_validate(told["summary"]).language == "es"
    quiz = AssessmentDocument.model_validate(told["assessment"])
    assert (quiz.material_id, quiz.version, quiz.total_questions) == ("mat-1", 1, 6)
    assert not (folder / "libro-material").exists()
    again = run(
        folder, "libro.pdf", "--json", "--material-id", "mat-1", "--out", "files", "--formats", "gift"
    )
    assert json.loads(again.stdout)["assessment"]["version"] == 2
    assert [path.name for path in (folder / "files").iterdir()] == ["libro.gift.txt"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["missing.pdf"], "there is no file missing.pdf"),
        (["libro.pdf", "--formats", "docx"], "there is no format 'docx'"),
        (["short.pdf"], "words"),
    ],
)
def test_what_cannot_be_is_said_with_what_to_do(folder: Path, arguments: list[str], said: str) -> None:
    textbooks.draw_words(folder / "short.pdf", 60)
    done = run(folder, *arguments)
    assert done.returncode != 0 and done.stdout == ""
    assert said in " ".join(done.stderr.split())
