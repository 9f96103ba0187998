"""A film's frames on disk: PNG first, then JSON, both by rename. A frame is there when both are."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import cv2

from docproc.apps.video.filters.filter import Image
from docproc.apps.video.sessions import replace_file

# Measured (bench/video.py, 1280 × 720): stored without compression and without filters, a PNG costs 2 ms to
# write and 1.5 ms to read; OpenCV's own default costs 17 and 10 for two thirds of the size.
CHEAPEST = (cv2.IMWRITE_PNG_COMPRESSION, 0, cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_NONE)
SMALLER = (
    cv2.IMWRITE_PNG_COMPRESSION, 1, cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_RLE,
    cv2.IMWRITE_PNG_FILTER, cv2.IMWRITE_PNG_FILTER_SUB,
)  # fmt: skip

Facts = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Listing:
    """What lies in the folder at one moment."""

    ready: frozenset[int]
    failed: frozenset[int]


def frame_name(index: int) -> str:
    return f"frame_{index:06}"


class FrameFiles:
    """The filtered frames of one film."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def png(self, index: int) -> Path:
        return self.folder / f"{frame_name(index)}.png"

    def facts(self, index: int) -> Path:
        return self.folder / f"{frame_name(index)}.json"

    def failure(self, index: int) -> Path:
        """There when it is decided that the original takes the frame's place."""
        return self.folder / f"{frame_name(index)}.failed"

    def write(self, index: int, image: Image, facts: Facts, *, small: bool = False) -> None:
        """May be called by two workers at once: each rename puts a whole file in place."""
        replace_file(self.png(index), encode_png(image, small=small))
        replace_file(self.facts(index), json.dumps(facts).encode())

    def write_failure(self, index: int, facts: Facts) -> None:
        replace_file(self.failure(index), json.dumps(facts).encode())

    def is_settled(self, index: int) -> bool:
        """Nothing is left to do for it."""
        return (self.facts(index).exists() and self.png(index).exists()) or self.failure(index).exists()

    def read(self, index: int) -> tuple[Image, Facts]:
        image = cv2.imread(str(self.png(index)), cv2.IMREAD_COLOR)
        if image is None:
            raise FileNotFoundError(f"{self.png(index)} cannot be read")
        return image, self.read_facts(index)

    def read_facts(self, index: int) -> Facts:
        found: Facts = json.loads(self.facts(index).read_bytes())
        return found

    def read_failure(self, index: int) -> Facts:
        found: Facts = json.loads(self.failure(index).read_bytes())
        return found

    def note_try(self, index: int) -> int:
        """How often its filtering was begun, this time included: also by workers that died of it."""
        tries = self.folder / f"{frame_name(index)}.tries"
        with tries.open("ab") as file:
            file.write(b"x")
            return file.tell()

    def listing(self) -> Listing:
        """One look at the folder, however many frames are waited for."""
        pngs: set[int] = set()
        facts: set[int] = set()
        failed: set[int] = set()
        kinds = {"png": pngs, "json": facts, "failed": failed}
        for name in os.listdir(self.folder):  # noqa: PTH208 # names only, ten times a second
            stem, _, ending = name.partition(".")
            kind = kinds.get(ending)
            if kind is not None and stem.startswith("frame_"):
                kind.add(int(stem[6:]))
        return Listing(frozenset(pngs & facts), frozenset(failed))

    def remove(self, index: int) -> None:
        for ending in ("png", "json", "tries"):
            (self.folder / f"{frame_name(index)}.{ending}").unlink(missing_ok=True)

    def tidy(self) -> None:
        """What workers left behind that died while they wrote, and the counts of tries."""
        for pattern in (".*.tmp", "*.tries"):
            for path in self.folder.glob(pattern):
                path.unlink(missing_ok=True)


class Originals:
    """The frames as the film has them, while somebody may need them. BMP costs next to nothing."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, index: int) -> Path:
        return self.folder / f"{frame_name(index)}.bmp"

    def write(self, index: int, image: Image) -> None:
        written, content = cv2.imencode(".bmp", image)
        assert written  # it always can be
        replace_file(self.path(index), content.data)

    def read(self, index: int) -> Image:
        """Raises FileNotFoundError when nobody needs it any more."""
        image = cv2.imread(str(self.path(index)), cv2.IMREAD_COLOR)
        if image is None:
            raise FileNotFoundError(f"{self.path(index)} is gone")
        return image

    def remove(self, index: int) -> None:
        with suppress(OSError):
            self.path(index).unlink(missing_ok=True)


def encode_png(image: Image, *, small: bool = False) -> memoryview:
    written, content = cv2.imencode(".png", image, SMALLER if small else CHEAPEST)
    assert written  # it always can be
    return content.data
