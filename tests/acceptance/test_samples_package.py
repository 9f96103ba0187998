"""The second distribution: the product's wheel draws and trains nothing, and is told to by another one."""

from __future__ import annotations

import ast
import json
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.clean_environment import ROOT, CleanEnvironment, build_wheel

SAMPLES = ROOT / "packages/docproc-samples"

pytestmark = [pytest.mark.xdist_group("samples package"), pytest.mark.timeout(180)]


@dataclass(frozen=True)
class Wheels:
    docproc: Path
    samples: Path


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    folder = tmp_path_factory.mktemp("wheels")
    return Wheels(build_wheel(ROOT, folder), build_wheel(SAMPLES, folder))


def test_the_products_wheel_neither_holds_nor_imports_what_draws_and_trains(wheels: Wheels) -> None:
    moved = {path.name for path in SAMPLES.rglob("*.py")} - {"__init__.py"}
    apart = {f"{folder}/" for folder in ("drawing", "training", "recipes", "prints", "docproc_samples")}
    with zipfile.ZipFile(wheels.docproc) as wheel:
        names = wheel.namelist()
        assert not [name for name in names if any(folder in name for folder in apart)]
        imported = {module for name in names if name.endswith(".py") for module in _imports(wheel.read(name))}
    assert not [module for module in imported if module.partition(".")[0] == "docproc_samples"]
    # The other way round, nothing of it is left out.
    with zipfile.ZipFile(wheels.samples) as wheel:
        assert moved <= {name.rpartition("/")[2] for name in wheel.namelist()}


def _imports(source: bytes) -> Iterator[str]:
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def test_its_wheel_adds_the_command(wheels: Wheels, tmp_path: Path) -> None:
    place = CleanEnvironment(tmp_path / "venv", [wheels.docproc, wheels.samples], ["documents"])
    done = place.run(
        "docproc", "samples", "made", "--kind", "receipt", "--form", "digital", "--json", home=tmp_path
    )
    files = [tmp_path / path for path in json.loads(done.stdout)["files"]]
    assert len(files) == 2 and all(path.read_bytes().startswith(b"%PDF") for path in files)
