"""Pins what `.[dev]` needs: `make lock` writes dev.in and dev.txt, `--check` says whether they still fit.

Extras that name other extras (`docproc[rabbitmq]`) are laid out first, because a lock with hashes cannot hold
a requirement on the project's own folder.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

HERE = Path(__file__).parent
PYPROJECT = HERE.parent / "pyproject.toml"
ASKED = HERE / "dev.in"
PINNED = HERE / "dev.txt"
EXTRA = "dev"

# What hatchling asks for when it installs a project as editable, without saying so in pyproject.toml.
FOR_EDITABLE = ("editables",)
# What redis asks for on Python before 3.11.3 alone (Debian 12 has 3.11.2): a lock made with a later one would
# leave it out, and with hashes nothing can be installed there that is not in the lock.
FOR_EARLY_PYTHON = ("async-timeout",)

ASKED_HEAD = "# What `.[dev]` and the build ask for, from pyproject.toml by `make lock`. Not to be edited.\n"
PINNED_HEAD = "# What `make install` installs, pinned by `make lock`. Not to be edited.\n"
PIN = re.compile(r"^([A-Za-z0-9._-]+)==([^\s;\\]+)", re.MULTILINE)
REMEDY = "Run `make lock` with the oldest supported Python and commit requirements/"


def asked_for(project: dict[str, Any], extra: str = EXTRA) -> list[str]:
    """Every requirement of the project with an extra and of its build, sorted, each once."""
    own = canonicalize_name(project["project"]["name"])
    extras = project["project"].get("optional-dependencies", {})
    by_name = {canonicalize_name(name): needed for name, needed in extras.items()}
    seen: set[str] = set()

    def laid_out(requirements: list[str]) -> Iterator[str]:
        for text in requirements:
            requirement = Requirement(text)
            if canonicalize_name(requirement.name) != own:
                yield str(requirement)
                continue
            for name in sorted(canonicalize_name(name) for name in requirement.extras):
                if name not in seen:  # extras may name each other
                    seen.add(name)
                    yield from laid_out(by_name[name])

    direct = [*project["project"].get("dependencies", []), f"{own}[{extra}]"]
    return sorted({*laid_out(direct), *project["build-system"]["requires"], *FOR_EDITABLE, *FOR_EARLY_PYTHON})


def pins(lock: str) -> dict[str, Version]:
    return {canonicalize_name(name): Version(version) for name, version in PIN.findall(lock)}


def complaints(project: dict[str, Any], asked: str, lock: str) -> Iterator[str]:
    """What pyproject.toml says and the lock does not; nothing where they agree."""
    written = {line for line in asked.splitlines() if not line.startswith("#")}
    wanted = asked_for(project)
    for text in sorted(written.symmetric_difference(wanted)):
        where = "is in pyproject.toml only" if text in wanted else "is no longer in pyproject.toml"
        yield f"{text} {where}"
    pinned = pins(lock)
    for requirement in map(Requirement, wanted):
        version = pinned.get(canonicalize_name(requirement.name))
        if version is None or not requirement.specifier.contains(version, prereleases=True):
            yield f"{requirement} is pinned to {version or 'nothing'}"


def read_project() -> dict[str, Any]:
    return tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))


def check() -> None:
    found = list(complaints(read_project(), ASKED.read_text("utf-8"), PINNED.read_text("utf-8")))
    if found:
        sys.exit("\n".join(["The lock does not fit pyproject.toml:", *found, REMEDY]))


def compile_pins(options: list[str]) -> None:
    """Run pip-compile, which keeps the versions it finds in dev.txt unless told to --upgrade."""
    # Only the environment of `make lock` has pip-tools.
    from piptools.repositories import PyPIRepository
    from piptools.scripts.compile import cli

    compute = PyPIRepository._get_file_hash

    def hash_of(self: Any, link: Any) -> str:
        # pip-compile believes one registry's JSON pages only. Behind a mirror it would fetch every wheel of
        # every platform, gigabytes, to learn what the index page says beside the link.
        return f"sha256:{link.hash}" if link.hash_name == "sha256" else compute(self, link)

    PyPIRepository._get_file_hash = hash_of
    cli(
        [
            "--generate-hashes",
            "--allow-unsafe",  # a lock that leaves out setuptools cannot be installed with hashes
            "--strip-extras",
            "--no-header",  # says how this was called, paths included
            "--no-emit-index-url",
            "--no-emit-trusted-host",
            "--no-emit-find-links",
            "--no-emit-options",
            *options,
            f"--output-file={PINNED.relative_to(Path.cwd())}",
            str(ASKED.relative_to(Path.cwd())),
        ],
        standalone_mode=False,
    )
    PINNED.write_text(PINNED_HEAD + PINNED.read_text(encoding="utf-8"), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="change nothing; fail if a new lock is needed")
    arguments, options = parser.parse_known_args()
    if arguments.check:
        return check()
    project = read_project()
    oldest = re.search(r">=\s*([\d.]+)", project["project"]["requires-python"])
    if oldest and oldest[1] != "{}.{}".format(*sys.version_info[:2]):
        # A lock made with a newer Python may hold versions that the oldest cannot install.
        sys.exit(f"The lock is made with Python {oldest[1]}: make lock PYTHON=python{oldest[1]}")
    ASKED.write_text(ASKED_HEAD + "".join(f"{line}\n" for line in asked_for(project)), encoding="utf-8")
    compile_pins(options)


if __name__ == "__main__":
    main()
