"""grayscale and denoise: what is done to every pixel alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import cv2
from pydantic import Field

from docproc.apps.video.filters.filter import Filter, Image, Parameters


class GrayscaleParameters(Parameters):
    # 1 is all gray, 0 as it was.
    strength: float = Field(default=1.0, ge=0, le=1)


class Grayscale(Filter[GrayscaleParameters]):
    name: ClassVar[str] = "grayscale"
    parameters_model = GrayscaleParameters

    def apply(self, frames: Sequence[Image]) -> Image:
        gray = cv2.cvtColor(cv2.cvtColor(frames[-1], cv2.COLOR_BGR2GRAY), cv2.COLOR_GRAY2BGR)
        strength = self.parameters.strength
        return gray if strength == 1 else cv2.addWeighted(gray, strength, frames[-1], 1 - strength, 0)


class DenoiseParameters(Parameters):
    # More removes more noise, and more of the picture.
    strength: float = Field(default=5.0, gt=0, le=30)


class Denoise(Filter[DenoiseParameters]):
    """Non-local means: slow, and worth it for dark films."""

    name: ClassVar[str] = "denoise"
    parameters_model = DenoiseParameters

    def apply(self, frames: Sequence[Image]) -> Image:
        strength = self.parameters.strength
        return cv2.fastNlMeansDenoisingColored(frames[-1], None, strength, strength, 5, 15)
