"""A clean environment: what `pip install` of a wheel brings, and nothing else of this machine.

Its packages are links to those of the environment that runs the tests: exactly what the wheels require, and
what that requires. So nothing is fetched, and nothing more is there to be imported. The wheels themselves are
installed by pip.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Sequence
from email import message_from_bytes
from importlib.metadata import distribution
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import NormalizedName, canonicalize_name

ROOT = Path(__file__).parents[1]


def build_wheel(project: Path, folder: Path) -> Path:
    """With the build tools that `make install` brings."""
    options = ("--quiet", "--no-deps", "--no-build-isolation", "--no-index", "--wheel-dir")
    _run(sys.executable, "-m", "pip", "wheel", *options, str(folder), str(project))
    return max(folder.glob("*.whl"), key=lambda wheel: wheel.stat().st_mtime_ns)


class CleanEnvironment:
    """A virtual environment with these wheels, each with those of the extras that it has."""

    def __init__(self, folder: Path, wheels: Sequence[Path], extras: Sequence[str] = ()) -> None:
        venv.create(folder, with_pip=False, symlinks=True)
        self.bin = folder / "bin"
        (self.packages,) = folder.glob("lib/python*/site-packages")
        for name in _required(wheels, extras):
            _link(name, self.packages)
        into = ("--python", str(self.bin / "python"))
        options = ("--quiet", "--no-deps", "--no-index", "--no-compile", "--disable-pip-version-check")
        _run(sys.executable, "-m", "pip", *into, "install", *options, *map(str, wheels))
        # Says so where a link is missing.
        _run(sys.executable, "-m", "pip", *into, "check")

    def run(
        self, program: str, *arguments: str, home: Path, code: int = 0, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        """A program of the environment, outside the checkout."""
        done = subprocess.run(
            [str(self.bin / program), *arguments],
            cwd=home,
            env=self.variables(home, **environment),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == code, done.stdout + done.stderr
        return done

    def variables(self, home: Path, **environment: str) -> dict[str, str]:
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("DOCPROC_", "PYTHON", "VIRTUAL_ENV"))
        }
        return {**kept, "DOCPROC_HOME": str(home), "COLUMNS": "120", **environment}


def _required(wheels: Sequence[Path], extras: Sequence[str]) -> set[NormalizedName]:
    """The distributions that the wheels need, and theirs."""
    given = {canonicalize_name(wheel.name.partition("-")[0]): _asked_by(wheel) for wheel in wheels}
    seen: set[tuple[NormalizedName, str]] = set()

    def visit(name: NormalizedName, extras: Sequence[str]) -> None:
        for extra in ("", *extras):
            if (name, extra) in seen:
                continue
            seen.add((name, extra))
            for text in given[name] if name in given else distribution(name).requires or ():
                needed = Requirement(text)
                if needed.marker is None or needed.marker.evaluate({"extra": extra}):
                    visit(canonicalize_name(needed.name), sorted(needed.extras))

    for name in given:
        visit(name, extras)
    return {name for name, _ in seen} - given.keys()


def _asked_by(wheel: Path) -> list[str]:
    """`Requires-Dist` of a wheel."""
    with zipfile.ZipFile(wheel) as file:
        (metadata,) = (name for name in file.namelist() if name.endswith(".dist-info/METADATA"))
        return message_from_bytes(file.read(metadata)).get_all("Requires-Dist") or []


def _link(name: str, packages: Path) -> None:
    found = distribution(name)
    tops = {file.parts[0] for file in found.files or ()} - {"..", "__pycache__"}
    for top in tops:
        place, source = packages / top, Path(str(found.locate_file(top)))
        if not place.exists():
            place.symlink_to(source)


def _run(*command: str, **options: Any) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, **options)
    assert done.returncode == 0, done.stdout + done.stderr
