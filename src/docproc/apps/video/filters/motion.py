"""motion: what moved since the frame before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import cv2
import numpy as np
from pydantic import Field

from docproc.apps.video.filters.filter import Filter, Image, Parameters

RED = (0, 0, 255)


class MotionParameters(Parameters):
    # `diff`: which pixels changed; `flow`: where to (Farnebäck's dense optical flow), as colours.
    kind: Literal["diff", "flow"] = "diff"
    # Of 255: what changed less stood still.
    threshold: int = Field(default=25, ge=1, le=254)
    # Over the film itself, or alone on black.
    show: Literal["overlay", "alone"] = "overlay"


class Motion(Filter[MotionParameters]):
    name: ClassVar[str] = "motion"
    parameters_model = MotionParameters
    history = 1

    def apply(self, frames: Sequence[Image]) -> Image:
        before, now = frames
        drawn = self._diff(before, now) if self.parameters.kind == "diff" else _flow(before, now)
        if self.parameters.show == "alone":
            return drawn
        return cv2.addWeighted(now, 0.6, drawn, 0.4, 0)

    def _diff(self, before: Image, now: Image) -> Image:
        difference = cv2.absdiff(_gray(before), _gray(now))
        _, moved = cv2.threshold(difference, self.parameters.threshold, 255, cv2.THRESH_BINARY)
        moved = cv2.dilate(moved, np.ones((3, 3), np.uint8))
        drawn = np.zeros_like(now)
        drawn[moved > 0] = RED
        return drawn


def _flow(before: Image, now: Image) -> Image:
    """The direction as hue, the speed as brightness: 16 pixels a frame and more are full."""
    flow = cv2.calcOpticalFlowFarneback(
        _gray(before), _gray(now), np.empty((0, 0), np.float32), 0.5, 3, 15, 3, 5, 1.2, 0
    )
    speed, angle = cv2.cartToPolar(flow[..., 0], flow[..., 1], angleInDegrees=True)
    hsv = np.empty_like(now)
    hsv[..., 0] = (angle / 2).astype(np.uint8)
    hsv[..., 1] = 255
    hsv[..., 2] = np.clip(speed * 16, 0, 255).astype(np.uint8)
    return cv2.cvtColor(hsv, cv2.COLOR_HSV2BGR)


def _gray(image: Image) -> Image:
    return cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)
