"""The walk of one PDF through the files: every module and function it names is there."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/design/one-pdf.md").read_text(encoding="utf-8")
# `path/of/module.py: Class.method`, or a module or folder by itself.
NAMED = sorted(set(re.findall(r"`([\w/]+\.py): ([\w.]+)`", PAGE)))
PLACES = sorted(set(re.findall(r"`([\w/]+(?:\.py|/))[`:]", PAGE)))


def defined(tree: ast.AST) -> set[str]:
    """Classes, functions and methods (`Class.method`) of a module."""
    found = set()
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ClassDef):
            found |= {node.name, *(f"{node.name}.{inner}" for inner in defined(node))}
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found.add(node.name)
    return found


@pytest.mark.parametrize(("module", "name"), NAMED)
def test_function_of_the_walk_exists(module: str, name: str) -> None:
    tree = ast.parse((ROOT / "src/docproc" / module).read_text(encoding="utf-8"))
    assert name in defined(tree), f"docs/design/one-pdf.md names {module}: {name}"


@pytest.mark.parametrize("place", PLACES)
def test_file_of_the_walk_exists(place: str) -> None:
    assert (ROOT / "src/docproc" / place).exists(), f"docs/design/one-pdf.md names {place}"


def test_walk_passes_every_stage_of_the_default_flow() -> None:
    flow = (ROOT / "config/workflows/default.yaml").read_text(encoding="utf-8")
    stages = re.findall(r"^  - name: (\w+)", flow, re.MULTILINE)
    assert re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE) == stages
    assert len(NAMED) > 50
