"""blur: softer pictures."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import cv2
from pydantic import Field, field_validator

from docproc.apps.video.filters.filter import Filter, Image, Parameters


class BlurParameters(Parameters):
    kind: Literal["gaussian", "median", "bilateral"] = "gaussian"
    # Of the neighbourhood, in pixels; odd, because it has a middle.
    size: int = Field(default=9, ge=3, le=99)

    @field_validator("size")
    @classmethod
    def _is_odd(cls, value: int) -> int:
        if value % 2 == 0:
            raise ValueError(f"must be odd: {value - 1} or {value + 1}")
        return value


class Blur(Filter[BlurParameters]):
    name: ClassVar[str] = "blur"
    parameters_model = BlurParameters

    def apply(self, frames: Sequence[Image]) -> Image:
        size = self.parameters.size
        match self.parameters.kind:
            case "gaussian":
                return cv2.GaussianBlur(frames[-1], (size, size), 0)
            case "median":
                return cv2.medianBlur(frames[-1], size)
            case "bilateral":
                return cv2.bilateralFilter(frames[-1], size, size * 4.0, size / 2.0)
