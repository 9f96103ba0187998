"""Pictures for browsers: small copies of frames, frames of the original film, and a moving summary."""

from __future__ import annotations

import io
import os
from concurrent.futures import TimeoutError as TooLate
from functools import lru_cache, partial
from pathlib import Path

import cv2
from PIL import Image as Pillow

from docproc.apps.video.film.opening import opened, picture_track
from docproc.apps.video.film.reading import picture_of, upright
from docproc.apps.video.filters.filter import Image
from docproc.apps.video.frames.files import FrameFiles, Originals
from docproc.apps.video.sessions import Session
from docproc.engine.running.child import Limits, prepare
from docproc.engine.running.children import Children
from docproc.errors import DocProcError

QUALITY = 82
GIF_FRAMES = 24
GIF_WIDTH = 320
GIF_MS = 120
CHILD_MB = 4096
CPU_SECONDS = 60.0
DECODE_SECONDS = 20.0


def jpeg(image: Image, width: int | None = None) -> bytes:
    if width is not None and width < image.shape[1]:
        height = max(1, round(image.shape[0] * width / image.shape[1]))
        image = cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA)
    written, content = cv2.imencode(".jpg", image, (cv2.IMWRITE_JPEG_QUALITY, QUALITY))
    assert written  # it always can be
    return content.tobytes()


def filtered(session: Session, index: int, width: int | None) -> bytes | None:
    """A filtered frame as JPEG; None while it is not there."""
    try:
        image, _ = FrameFiles(session.frames).read(index)
    except (FileNotFoundError, ValueError):
        return None
    return jpeg(image, width)


def summary(session: Session, count: int) -> bytes | None:
    """A GIF of frames evenly spread over what is done; None before the first."""
    files, pictures = FrameFiles(session.frames), []
    for index in spread(count, GIF_FRAMES):
        picture = filtered(session, index, GIF_WIDTH)
        if picture is not None:
            pictures.append(Pillow.open(io.BytesIO(picture)).convert("P", palette=Pillow.Palette.ADAPTIVE))
    if not pictures or not files.folder.is_dir():
        return None
    out = io.BytesIO()
    pictures[0].save(out, "GIF", save_all=True, append_images=pictures[1:], duration=GIF_MS, loop=0)
    return out.getvalue()


def spread(count: int, most: int) -> list[int]:
    """At most so many of the first `count` frames, the first and the last among them."""
    if count <= most:
        return list(range(count))
    return sorted({round(place * (count - 1) / (most - 1)) for place in range(most)})


class OriginalFrames:
    """Frames as the film has them: strangers' films are decoded in a child that can be killed."""

    def __init__(self) -> None:
        self._children = Children(1, partial(prepare, Limits(CHILD_MB, CPU_SECONDS), []))
        self._kept = lru_cache(128)(self._jpeg)

    def jpeg(self, session: Session, index: int, width: int | None) -> bytes | None:
        """None while it is not there; that is asked again, whereas pictures are kept."""
        try:
            return self._kept(session, index, width)
        except FileNotFoundError:
            return None

    def _jpeg(self, session: Session, index: int, width: int | None) -> bytes:
        """Raises FileNotFoundError."""
        try:
            return jpeg(Originals(session.originals).read(index), width)
        except FileNotFoundError:
            pass  # no worker needs it any more: the film has it
        call = self._children.submit(decode_at, (str(session.film), shown_at(session, index), width))
        try:
            found: bytes | None = call.future.result(DECODE_SECONDS)
        except (DocProcError, TooLate):
            self._children.cancel(call)
            found = None
        if found is None:
            raise FileNotFoundError(f"frame {index} cannot be decoded")
        return found

    def close(self) -> None:
        self._children.close()


def shown_at(session: Session, index: int) -> float:
    """When the frame is shown, as its worker was told. Raises FileNotFoundError while nobody knows."""
    files = FrameFiles(session.frames)
    try:
        facts = files.read_failure(index) if files.failure(index).exists() else files.read_facts(index)
        return float(facts["seconds"])
    except (KeyError, ValueError) as error:
        raise FileNotFoundError(f"nobody knows when frame {index} is shown") from error


def decode_at(film: str, seconds: float, width: int | None) -> bytes | None:
    """The frame that is shown at a moment; in the child."""
    os.environ.setdefault("AV_LOG_FORCE_NOCOLOR", "1")
    with opened(Path(film)) as container:
        track = picture_track(container)
        tick = track.time_base
        start = (container.start_time or 0) / 1_000_000
        if tick is None:
            return None
        wanted = round((seconds + start) / tick)
        container.seek(wanted, stream=track)
        for frame in container.decode(track):
            if frame.pts is not None and frame.pts >= wanted:
                turned = round(frame.rotation / 90) * 90 % 360
                return jpeg(upright(picture_of(frame), turned), width)
    return None
