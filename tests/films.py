"""Films for tests, drawn here, and what they decode to."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import av
import cv2
import numpy as np
import numpy.typing as npt

from docproc.apps.video.film.info import FrameTime
from docproc.apps.video.film.reading import probe, read_frames

TICK = Fraction(1, 90_000)
RATE = 44_100


@dataclass(frozen=True)
class Look:
    """How a film is drawn."""

    frames: int = 60
    width: int = 320
    height: int = 180
    fps: float = 30.0
    # Every third frame is shown three times as long.
    variable: bool = False
    sound: str | None = "aac"
    rotation: int = 0
    # Seconds by which the pictures begin later than the sound.
    late: float = 0.0


def draw(path: Path, look: Look | None = None, **changes: Any) -> list[float]:
    """Write a film; returns the seconds at which its frames are shown. A short click is heard once a second,
    in the frame that is white."""
    look = look or Look(**changes)
    container = av.open(str(path), "w")
    video: Any = container.add_stream("libx264", rate=Fraction(look.fps).limit_denominator(1001))
    video.width, video.height, video.pix_fmt = look.width, look.height, "yuv420p"
    video.codec_context.time_base = video.time_base = TICK
    if look.rotation:
        video.set_display_rotation(look.rotation)
    audio: Any = container.add_stream(look.sound, rate=RATE, layout="mono") if look.sound else None
    times = moments(look)
    for index, seconds in enumerate(times):
        frame = av.VideoFrame.from_ndarray(picture(index, look), format="bgr24")
        frame.pts, frame.time_base = round((seconds + look.late) / TICK), TICK
        container.mux(video.encode(frame))
    container.mux(video.encode(None))
    if audio is not None:
        _add_sound(container, audio, times[-1] + 1 / look.fps + look.late)
    container.close()
    return times


def moments(look: Look) -> list[float]:
    times, now = [], 0.0
    for index in range(look.frames):
        times.append(now)
        now += (3 if look.variable and index % 3 == 0 else 1) / look.fps
    return times


def picture(index: int, look: Look) -> npt.NDArray[np.uint8]:
    """A ball that crosses a coloured ground, and the frame's number in black and white blocks."""
    image = np.empty((look.height, look.width, 3), np.uint8)
    image[:] = (60 + index * 2 % 120, 120, 180 - index % 100)
    centre = (20 + index * 5 % (look.width - 40), look.height // 2)
    cv2.circle(image, centre, 18, (255, 255, 255), -1)
    for bit in range(14):  # survives every codec
        white = index >> bit & 1
        image[4:16, 4 + bit * 12 : 14 + bit * 12] = 255 if white else 0
    return image


def number_of(image: npt.NDArray[np.uint8]) -> int:
    """The number drawn into a frame."""
    middles = [image[7:13, 7 + bit * 12 : 11 + bit * 12].mean() > 127 for bit in range(14)]
    return sum(1 << bit for bit, white in enumerate(middles) if white)


def _add_sound(container: Any, audio: Any, seconds: float) -> None:
    samples = np.zeros(int(seconds * RATE), np.float32)
    for start in range(0, len(samples), RATE):
        click = np.arange(min(441, len(samples) - start))
        samples[start : start + len(click)] = 0.8 * np.sin(click * 2 * np.pi * 1000 / RATE)
    for at in range(0, len(samples), 1024):
        piece = av.AudioFrame.from_ndarray(samples[None, at : at + 1024], format="fltp", layout="mono")
        piece.rate, piece.pts, piece.time_base = RATE, at, Fraction(1, RATE)
        container.mux(audio.encode(piece))
    container.mux(audio.encode(None))


def decoded(path: Path) -> list[tuple[FrameTime, Any]]:
    info = probe(path)
    return list(read_frames(path, info))


def clicks(path: Path) -> list[float]:
    """The seconds, since the film's beginning, at which clicks are heard."""
    found: list[float] = []
    with av.open(str(path)) as container:
        start = (container.start_time or 0) / 1_000_000
        for frame in container.decode(audio=0):
            samples = np.abs(frame.to_ndarray().astype(np.float32)).max(axis=0)
            loud = np.flatnonzero(samples > 0.3 * (1 if samples.max() <= 1.5 else 32768))
            if len(loud):
                at = float(frame.time or 0) + float(loud[0]) / frame.sample_rate - start
                if not found or at - found[-1] > 0.5:
                    found.append(at)
    return found
