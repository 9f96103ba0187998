"""resize and watermark: the picture's size, and words on it."""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from typing import ClassVar, Literal

import cv2
from pydantic import Field, field_validator, model_validator

from docproc.apps.video.filters.filter import Filter, Image, Parameters

LARGEST = 8192
WHITE, BLACK = (255, 255, 255), (0, 0, 0)
FONT = cv2.FONT_HERSHEY_SIMPLEX


class ResizeParameters(Parameters):
    """A width, a height (the other follows), both, or a scale."""

    width: int | None = Field(default=None, ge=16, le=LARGEST)
    height: int | None = Field(default=None, ge=16, le=LARGEST)
    scale: float | None = Field(default=None, gt=0, le=8)

    @model_validator(mode="after")
    def _says_how(self) -> ResizeParameters:
        if (self.scale is None) == (self.width is None and self.height is None):
            raise ValueError("give width, height or both, or a scale alone")
        return self


class Resize(Filter[ResizeParameters]):
    name: ClassVar[str] = "resize"
    parameters_model = ResizeParameters

    def apply(self, frames: Sequence[Image]) -> Image:
        height, width = frames[-1].shape[:2]
        to = self.size(width, height)
        shrinks = to[0] < width
        method = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
        return cv2.resize(frames[-1], to, interpolation=method)

    def size(self, width: int, height: int) -> tuple[int, int]:
        wanted = self.parameters
        if wanted.scale is not None:
            return _even(width * wanted.scale), _even(height * wanted.scale)
        across = wanted.width or width * (wanted.height or height) / height
        down = wanted.height or height * (wanted.width or width) / width
        return _even(across), _even(down)


def _even(length: float) -> int:
    """Films have colours for every second pixel only."""
    return max(2, round(length / 2) * 2)


class WatermarkParameters(Parameters):
    text: str = Field(default="DocProc", min_length=1, max_length=120)
    place: Literal["top-left", "top-right", "bottom-left", "bottom-right", "centre"] = "bottom-right"
    opacity: float = Field(default=0.6, gt=0, le=1)
    # Of the letters, as a share of the picture's height.
    height: float = Field(default=0.05, gt=0, le=0.5)

    @field_validator("text")
    @classmethod
    def _can_be_drawn(cls, value: str) -> str:
        """OpenCV's font would draw a question mark for everything else."""
        if value.isascii() and value.isprintable():
            return value
        plain = "".join(one for one in unicodedata.normalize("NFKD", value) if " " <= one <= "~")
        raise ValueError(f"the font has plain Latin letters only, as in {plain!r}")


class Watermark(Filter[WatermarkParameters]):
    """Words with a dark rim, to be read on any picture. The font has Latin letters without accents."""

    name: ClassVar[str] = "watermark"
    parameters_model = WatermarkParameters

    def apply(self, frames: Sequence[Image]) -> Image:
        image = frames[-1]
        scale = max(0.3, image.shape[0] * self.parameters.height / 22)
        thickness = max(1, round(scale * 1.5))
        where = self._where(image, scale, thickness)
        drawn = image.copy()
        for colour, width in ((BLACK, thickness * 3), (WHITE, thickness)):
            cv2.putText(drawn, self.parameters.text, where, FONT, scale, colour, width, cv2.LINE_AA)
        opacity = self.parameters.opacity
        return cv2.addWeighted(drawn, opacity, image, 1 - opacity, 0)

    def _where(self, image: Image, scale: float, thickness: int) -> tuple[int, int]:
        """Of the first letter's foot."""
        height, width = image.shape[:2]
        (across, up), below = cv2.getTextSize(self.parameters.text, FONT, scale, thickness)
        rim = round(height * 0.03)
        if self.parameters.place == "centre":
            return (width - across) // 2, (height + up) // 2
        down, _, side = self.parameters.place.partition("-")
        x = rim if side == "left" else width - across - rim
        return x, rim + up if down == "top" else height - below - rim
