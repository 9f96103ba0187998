"""edges: outlines, white on black."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal

import cv2
from pydantic import Field, model_validator

from docproc.apps.video.filters.filter import Filter, Image, Parameters


class EdgesParameters(Parameters):
    kind: Literal["canny", "sobel", "laplacian"] = "canny"
    # Of Canny: edges below `low` are none, those above `high` are some, others where they touch one.
    low: int = Field(default=80, ge=0, le=1000)
    high: int = Field(default=160, ge=0, le=1000)

    @model_validator(mode="after")
    def _low_below_high(self) -> EdgesParameters:
        if self.low > self.high:
            raise ValueError("low must not be above high")
        return self


class Edges(Filter[EdgesParameters]):
    name: ClassVar[str] = "edges"
    parameters_model = EdgesParameters

    def apply(self, frames: Sequence[Image]) -> Image:
        gray = cv2.cvtColor(frames[-1], cv2.COLOR_BGR2GRAY)
        return cv2.cvtColor(self._edges(gray), cv2.COLOR_GRAY2BGR)

    def _edges(self, gray: Image) -> Image:
        match self.parameters.kind:
            case "canny":
                return cv2.Canny(gray, self.parameters.low, self.parameters.high)
            case "sobel":
                across = cv2.convertScaleAbs(cv2.Sobel(gray, cv2.CV_16S, 1, 0))
                down = cv2.convertScaleAbs(cv2.Sobel(gray, cv2.CV_16S, 0, 1))
                return cv2.addWeighted(across, 0.5, down, 0.5, 0)
            case "laplacian":
                return cv2.convertScaleAbs(cv2.Laplacian(gray, cv2.CV_16S, ksize=3))
