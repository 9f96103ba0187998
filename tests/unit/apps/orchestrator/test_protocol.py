"""The protocol's page says what the models say, and its worked examples are those that tests run."""

from __future__ import annotations

from pathlib import Path

from docproc.apps.orchestrator.protocol import PAGE, TABLES, filled

ROOT = Path(__file__).parents[4]


def test_tables_of_the_page_are_those_of_the_models() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    assert filled(text) == text, "run: python -m docproc.apps.orchestrator.protocol"
    assert all(f"<!-- {name} -->" in text for name in TABLES)


def test_examples_that_the_page_names_exist() -> None:
    text = (ROOT / PAGE).read_text(encoding="utf-8")
    for name in ("word_count.mjs", "word_count.py"):
        assert name in text and (ROOT / "examples" / "orchestrator" / name).is_file()
