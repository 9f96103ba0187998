"""faces: found by Haar cascades and framed, blurred or pixelated; anonymise: strangers made unknowable."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import ClassVar, Literal

import cv2
from pydantic import Field

from docproc.apps.video.filters.filter import Filter, Image, Parameters

# x, y, width, height
Box = tuple[int, int, int, int]

FRONTAL = "haarcascade_frontalface_default.xml"
PROFILE = "haarcascade_profileface.xml"
FRAME_COLOUR = (0, 200, 0)
# How many blocks a pixelated face is wide: too few to tell one person from another.
BLOCKS = 8


@cache
def _cascade(name: str) -> cv2.CascadeClassifier:
    """From OpenCV's own files, read once in a process."""
    return cv2.CascadeClassifier(str(Path(cv2.__file__).parent / "data" / name))


class FacesParameters(Parameters):
    action: Literal["draw", "blur", "pixelate"] = "draw"
    # How much larger the window becomes from one search to the next.
    scale: float = Field(default=1.1, gt=1.0, le=2.0)
    # How many neighbouring finds make a face: more of them, fewer mistakes.
    neighbours: int = Field(default=5, ge=0, le=20)
    # Of the smallest face, as a share of the picture's height.
    smallest: float = Field(default=0.06, gt=0, le=1)


class Faces(Filter[FacesParameters]):
    name: ClassVar[str] = "faces"
    parameters_model: ClassVar[type[Parameters]] = FacesParameters

    def apply(self, frames: Sequence[Image]) -> Image:
        image = frames[-1].copy()
        for box in self.find(image):
            self._treat(image, box)
        return image

    def find(self, image: Image) -> list[Box]:
        gray = cv2.equalizeHist(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
        return self._search(gray, FRONTAL)

    def _search(self, gray: Image, cascade: str) -> list[Box]:
        least = max(20, round(gray.shape[0] * self.parameters.smallest))
        found = _cascade(cascade).detectMultiScale(
            gray, self.parameters.scale, self.parameters.neighbours, minSize=(least, least)
        )
        return [(int(x), int(y), int(w), int(h)) for x, y, w, h in found]

    def _treat(self, image: Image, box: Box) -> None:
        x, y, width, height = box
        if self.parameters.action == "draw":
            cv2.rectangle(image, (x, y), (x + width, y + height), FRAME_COLOUR, 2)
            return
        part = image[y : y + height, x : x + width]
        blurs = self.parameters.action == "blur"
        image[y : y + height, x : x + width] = _blurred(part) if blurs else _pixelated(part)


class AnonymiseParameters(FacesParameters):
    action: Literal["draw", "blur", "pixelate"] = "pixelate"
    # A face too many does no harm here, one too few does.
    neighbours: int = Field(default=3, ge=0, le=20)
    smallest: float = Field(default=0.04, gt=0, le=1)
    # Around a face, as a share of its size: hair and ears tell, too.
    margin: float = Field(default=0.2, ge=0, le=1)


class Anonymise(Faces):
    """Also faces seen from either side."""

    name: ClassVar[str] = "anonymise"
    parameters_model: ClassVar[type[Parameters]] = AnonymiseParameters
    parameters: AnonymiseParameters

    def find(self, image: Image) -> list[Box]:
        gray = cv2.equalizeHist(cv2.cvtColor(image, cv2.COLOR_BGR2GRAY))
        width = gray.shape[1]
        mirrored = [
            (width - x - w, y, w, h) for x, y, w, h in self._search(cv2.flip(gray, 1), PROFILE)
        ]  # the cascade knows left profiles only
        found = [*self._search(gray, FRONTAL), *self._search(gray, PROFILE), *mirrored]
        return [self._wider(box, gray) for box in found]

    def _wider(self, box: Box, gray: Image) -> Box:
        x, y, width, height = box
        across, down = round(width * self.parameters.margin), round(height * self.parameters.margin)
        left, top = max(0, x - across), max(0, y - down)
        right, bottom = min(gray.shape[1], x + width + across), min(gray.shape[0], y + height + down)
        return left, top, right - left, bottom - top


def _blurred(part: Image) -> Image:
    size = max(3, (min(part.shape[:2]) // 2) | 1)
    return cv2.GaussianBlur(part, (size, size), 0)


def _pixelated(part: Image) -> Image:
    height, width = part.shape[:2]
    small = cv2.resize(part, (BLOCKS, BLOCKS), interpolation=cv2.INTER_AREA)
    return cv2.resize(small, (width, height), interpolation=cv2.INTER_NEAREST)
