"""`docproc eval`, from a labelled folder to figures, tables and a report."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from docproc.cli.main import app
from docproc.errors import UsageError
from docproc.reading.page import PageText, Source, pack
from docproc_samples import drawing


def run(*arguments: str | Path) -> Result:
    done = CliRunner().invoke(app, ["eval", *map(str, arguments), "--jobs", "1"])
    if done.exception and not isinstance(done.exception, SystemExit):
        raise done.exception
    return done


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two folders; in the second a label is wrong on purpose, and a field that no schema has is asked for."""
    path = tmp_path_factory.mktemp("eval")
    drawing.write(path / "good", kinds=("receipt",), languages=("es",), forms=("digital",))
    drawing.write(path / "bad", kinds=("invoice",), languages=("es",), forms=("digital",))
    labels = path / "bad" / "labels.jsonl"
    line = json.loads(labels.read_text())
    line["documents"][0]["fields"] = {
        "total_amount": "999999.99",
        "favourite_colour": "",
        "invoice_number": None,
    }
    labels.write_text(json.dumps(line) + "\n")
    return path


@pytest.fixture(scope="module")
def answer(home: Path) -> dict[str, Any]:
    folders = (home / "good", home / "bad")
    done = run(*folders, "--json", "--errors", "--keep", home / "kept", "--report", home / "report.html")
    assert done.stdout.count("\n") == 1, "one line and nothing else"
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def test_json_has_the_shape_that_tools_rely_on(answer: dict[str, Any]) -> None:
    assert list(answer) == ["all", "good", "bad"]
    for one in answer.values():
        assert one["pages"].keys() >= {"n", "accuracy", "macro_f1"}
        assert one["documents"].keys() >= {"split_f1", "typed_split_f1"}
        assert one["fields"].keys() >= {"f1", "by_type"}
        assert one["calibration"].keys() == {"classification", "extraction"}
        assert all(stage.keys() >= {"ece", "auroc", "n"} for stage in one["calibration"].values())
        assert one["automation"].keys() >= {"at_99", "at_95", "at_99_ci", "fields_at_99", "note"}
        assert one["cpu_s_per_page"] > 0
    fields = answer["good"]["fields"]["by_type"]["receipt"]
    assert fields["total_amount"].keys() >= {"f1", "n"}


def test_right_answers_are_right(answer: dict[str, Any]) -> None:
    good = answer["good"]
    assert (good["pages"]["accuracy"], good["documents"]["split_f1"], good["fields"]["f1"]) == (1.0, 1.0, 1.0)
    assert (good["errors"], good["wrong"]) == ({}, [])
    assert answer["all"]["pages"]["n"] == good["pages"]["n"] + answer["bad"]["pages"]["n"]


def test_wrong_label_shows_as_an_error_with_its_cause(answer: dict[str, Any]) -> None:
    wrong = {one["field"]: one for one in answer["bad"]["wrong"]}
    assert wrong["total_amount"]["cause"] == "ocr", "the value is nowhere on the page"
    assert wrong["total_amount"]["labelled"] == "999999.99"
    assert wrong["invoice_number"]["cause"] == "invented"
    assert "favourite_colour" not in wrong
    assert answer["bad"]["errors"] == {"ocr": 1, "invented": 1}
    assert answer["bad"]["fields"]["f1"] == 0.0


def test_report_is_one_file_with_pictures_of_what_is_wrong(home: Path, answer: dict[str, Any]) -> None:
    text = (home / "report.html").read_text(encoding="utf-8")
    assert "999999.99" in text
    assert text.count("data:image/jpeg;base64,") == 2
    assert text.count("<svg") == 6
    assert not any(outside in text for outside in ("http://", "https://", "<script", "<link"))


def test_kept_readings_are_used_again(home: Path, answer: dict[str, Any]) -> None:
    kept = sorted((home / "kept").iterdir())
    assert sorted({path.suffix for path in kept}) == [".seconds", ".words"]
    again = json.loads(run(home / "good", home / "bad", "--json", "--keep", home / "kept").stdout)
    assert again["all"]["fields"] == answer["all"]["fields"]
    # Blank pages in their stead: the file is not read again.
    for path in kept:
        if path.suffix == ".words":
            path.write_bytes(pack(PageText((), Source.OCR)))
    shown = run(home / "good", "--keep", home / "kept", "--workflow", "default", "--limit", "1").stdout
    assert "receipt → other" in shown
    assert "total_amount" in shown


def test_folder_without_mistakes_shows_figures_and_no_list(home: Path) -> None:
    shown = run(home / "good", "--errors").stdout
    assert "typed split F1  1.000" in shown
    assert "all right       100.0 %" in shown
    assert "labelled" not in shown


def test_broken_labels_are_named(tmp_path: Path) -> None:
    (tmp_path / "labels.jsonl").write_text("{}\n")
    with pytest.raises(UsageError, match=r"labels\.jsonl:1: file: Field required"):
        run(tmp_path)


def test_report_needs_a_folder(home: Path) -> None:
    with pytest.raises(UsageError, match="there is no folder"):
        run(home / "good", "--report", home / "nowhere" / "report.html")
