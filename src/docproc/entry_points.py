"""Entry points of installed packages. `importlib.metadata` knows them, too, but takes longer to import than
`docproc --help` may take: their files are read here, and it is asked only where packages lie in no folder."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

_METADATA = (".dist-info", ".egg-info")


@dataclass(frozen=True, slots=True)
class Point:
    """A name under which a package offers something: `"package.module:name"`."""

    name: str
    value: str
    # The distribution that offers it.
    distribution: str

    def load(self) -> Any:
        """What it names; raises ImportError or AttributeError."""
        module, _, names = self.value.partition(":")
        found: Any = import_module(module.strip())
        for name in filter(None, names.strip().split(".")):
            found = getattr(found, name)
        return found


def find(group: str) -> Iterator[Point]:
    """Those of a group, in the order of `sys.path`; of two distributions with one name the first counts."""
    if not _all_in_folders():
        yield from _asked(group)
        return
    seen: set[str] = set()
    for folder in sys.path:
        for metadata in _metadata(folder or "."):
            name = _distribution(metadata)
            if name not in seen:
                seen.add(name)
                yield from _read(Path(folder, metadata, "entry_points.txt"), group, name)


def _all_in_folders() -> bool:
    """Not inside an archive, and not where only some finder knows."""
    finders = [finder for finder in sys.meta_path if hasattr(finder, "find_distributions")]
    return len(finders) <= 1 and not any(os.path.isfile(place) for place in sys.path)  # noqa: PTH113 # fast


def _metadata(folder: str) -> list[str]:
    try:
        return sorted(name for name in os.listdir(folder) if name.endswith(_METADATA))  # noqa: PTH208 # fast
    except OSError:
        return []


def _distribution(metadata: str) -> str:
    """`docproc-1.0.dist-info` is docproc's, however it spells its name."""
    return re.sub(r"[-_.]+", "-", metadata.rpartition(".")[0].partition("-")[0]).lower()


def _read(file: Path, group: str, distribution: str) -> Iterator[Point]:
    try:
        text = file.read_text(encoding="utf-8")
    except OSError:  # most packages offer nothing
        return
    section = ""
    for line in map(str.strip, text.splitlines()):
        if line.startswith("["):
            section = line.strip("[] ")
        elif section == group and line and not line.startswith(("#", ";")):
            name, _, value = line.partition("=")
            yield Point(name.strip(), value.partition("[")[0].strip(), distribution)


def _asked(group: str) -> Iterator[Point]:
    from importlib.metadata import entry_points

    for point in entry_points(group=group):
        value = point.value.partition("[")[0].strip()  # without extras
        yield Point(point.name, value, point.dist.name if point.dist else "")
