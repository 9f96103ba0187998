"""The changelog's part of a release: `release_notes.py v0.2.0` prints it, or says what does not agree."""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def notes(tag: str, changelog: str, source: str) -> str:
    """The text under the version's heading. Raises ValueError where tag, version and changelog differ."""
    version = tag.removeprefix("v")
    found = re.search(r'^__version__ = "([^"]+)"', source, re.MULTILINE)
    if found is None or found[1] != version:
        said = found[1] if found else "nothing"
        raise ValueError(f"the tag is {tag}, and __version__ in src/docproc/__init__.py says {said}")
    part = re.search(
        rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.MULTILINE | re.DOTALL
    )
    if part is None or not part[1].strip():
        raise ValueError(f"CHANGELOG.md has no part `## {version}`: give Unreleased the version and its date")
    return part[1].strip() + "\n"


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit("Usage: release_notes.py v1.2.3")
    changelog = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    source = (ROOT / "src/docproc/__init__.py").read_text(encoding="utf-8")
    try:
        print(notes(sys.argv[1], changelog, source), end="")
    except ValueError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
