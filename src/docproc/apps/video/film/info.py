"""What is known of a film before its frames are read."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from fractions import Fraction
from typing import Any

from docproc.apps.video.errors import Code, VideoError


@dataclass(frozen=True, slots=True)
class Limits:
    """What films may be."""

    seconds: float
    pixels: int


@dataclass(frozen=True, slots=True)
class FilmInfo:
    """A film as it is seen: sizes are upright, times begin with its earliest track."""

    width: int
    height: int
    # As the packets say; damaged ones may give no picture.
    frames: int
    fps: float
    seconds: float
    codec: str
    # Degrees by which frames are turned, counterclockwise.
    rotation: int
    # Seconds of one tick of its timestamps, and the tick at which the film begins.
    tick: tuple[int, int]
    start: int
    # Width over height of a pixel.
    pixel_aspect: tuple[int, int]
    # As FFmpeg numbers them; 2 is "nobody said".
    colorspace: int
    audio_codec: str | None

    @property
    def tick_seconds(self) -> Fraction:
        return Fraction(*self.tick)

    def check(self, limits: Limits) -> None:
        """Raises VideoError for what is not taken."""
        if self.width * self.height > limits.pixels:
            raise VideoError(
                f"{self.width} × {self.height} pixels, at most {limits.pixels} in all are taken",
                code=Code.RESOLUTION_TOO_LARGE,
                remedy="Send a smaller copy, or set DOCPROC_VIDEO_MAX_PIXELS",
            )
        if self.seconds > limits.seconds:
            raise VideoError(
                f"{self.seconds:.0f} s long, at most {limits.seconds:.0f} s are taken",
                code=Code.FILM_TOO_LONG,
                remedy="Cut it, or set DOCPROC_VIDEO_MAX_SECONDS",
            )
        if self.frames == 0:
            raise VideoError("the film has no frames", code=Code.NO_FRAMES)

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def of_json(cls, said: dict[str, Any]) -> FilmInfo:
        pairs = {key: tuple(said[key]) for key in ("tick", "pixel_aspect")}
        return cls(**{**said, **pairs})


@dataclass(frozen=True, slots=True)
class FrameTime:
    """When a frame is shown, in ticks since the film's beginning."""

    index: int
    ticks: int
    duration: int
    # Widths and heights of frames may change inside a film; all are brought to that of the first.
    seconds: float = field(default=0.0)
