"""The threat model names tests that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_test_of_the_threat_model_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", (ROOT / "docs/design/security.md").read_text(encoding="utf-8")))
    sources = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    there = set(re.findall(r"def (test_\w+)", sources))
    assert len(named) > 20 and named <= there, sorted(named - there)


def test_every_module_of_the_threat_model_exists() -> None:
    text = (ROOT / "docs/design/security.md").read_text(encoding="utf-8")
    modules = re.findall(r"`([\w/]+\.py)`", text)
    tops = (ROOT, ROOT / "src/docproc")
    assert modules
    assert [name for name in modules if not any((top / name).exists() for top in tops)] == []
