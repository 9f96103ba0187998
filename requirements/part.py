"""The part of the lock that some extras need: `part.py documents,postgresql` prints it, hashes included.

Images are built with it, before anything is installed: it needs nothing but Python. `build` stands for what
builds the wheel. Which package asked for which is read from the comments that pip-compile leaves in the lock.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BUILD = "build"
NAME = re.compile(r"^([A-Za-z0-9._-]+)(?:\[([^\]]*)\])?")


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def asked(project: dict[str, Any], extras: Iterable[str]) -> set[str]:
    """The names that pyproject.toml asks for with these extras. Raises KeyError for an unknown extra."""
    if list(extras) == [BUILD]:
        return {
            plain(match[1]) for text in project["build-system"]["requires"] if (match := NAME.match(text))
        }
    own = plain(project["project"]["name"])
    by_extra = {plain(name): needed for name, needed in project["project"]["optional-dependencies"].items()}
    found: set[str] = set()
    done: set[str] = set()

    def take(requirements: Iterable[str]) -> None:
        for text in requirements:
            match = NAME.match(text)
            assert match, text
            if plain(match[1]) != own:
                found.add(plain(match[1]))
                continue
            for extra in filter(None, map(str.strip, (match[2] or "").split(","))):
                if extra not in done:  # extras may name each other
                    done.add(extra)
                    take(by_extra[plain(extra)])

    take([*project["project"]["dependencies"], f"{own}[{','.join(extras)}]"])
    return found


def blocks(lock: str) -> Iterator[tuple[str, list[str], str]]:
    """Of each pin: its name, who asked for it, and its lines without comments."""
    for block in re.split(r"\n(?=[A-Za-z0-9])", lock):
        if not (match := NAME.match(block)):
            continue  # the head of the file
        comments = [line.strip("# \t") for line in block.splitlines() if line.lstrip().startswith("#")]
        asking = [plain(text.removeprefix("via").strip()) for text in comments]
        lines = [line for line in block.splitlines() if line.strip() and not line.lstrip().startswith("#")]
        yield plain(match[1]), [name for name in asking if name], "\n".join(lines)


def part(lock: str, wanted: set[str]) -> list[str]:
    """The pins of what is wanted and of all that it needs in turn. Markers are not looked at: too much is
    installed rather than too little, and pip refuses what a hash is missing for."""
    pins = {name: (asking, lines) for name, asking, lines in blocks(lock)}
    if missing := wanted - pins.keys():
        raise SystemExit(f"The lock does not have {', '.join(sorted(missing))}: run `make lock`")
    found = set(wanted)
    while more := {
        name for name, (asking, _) in pins.items() if name not in found and found.intersection(asking)
    }:
        found |= more
    return [pins[name][1] for name in sorted(found)]


def main() -> None:
    extras = [name.strip() for name in ",".join(sys.argv[1:]).split(",") if name.strip()]
    if not extras:
        sys.exit("Name extras of pyproject.toml, separated by commas, such as documents,postgresql; or build")
    project = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    try:
        wanted = asked(project, extras)
    except KeyError as error:
        known = ", ".join(sorted(project["project"]["optional-dependencies"]))
        sys.exit(f"pyproject.toml has no extra {error}; there are {known}")
    # What redis asks for on Python before 3.11.3 alone; the lock says that it was asked for by name.
    wanted |= {"async-timeout"} if "redis" in wanted else set()
    print("\n".join(part((HERE / "dev.txt").read_text(encoding="utf-8"), wanted)))


if __name__ == "__main__":
    main()
