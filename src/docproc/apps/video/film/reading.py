"""Reading a film: what it is, then its frames one after another, upright, each with its own time."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import av
import cv2
import numpy as np
from av.container import InputContainer
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from docproc.apps.video.film.info import FilmInfo, FrameTime
from docproc.apps.video.film.opening import opened, picture_track
from docproc.apps.video.filters.filter import Image

# Films that do not say how fast they are.
USUAL_FPS = 25
_TURNS = {90: cv2.ROTATE_90_COUNTERCLOCKWISE, 180: cv2.ROTATE_180, 270: cv2.ROTATE_90_CLOCKWISE}


def probe(path: Path) -> FilmInfo:
    """Goes through the packets of a film without decoding them. Raises VideoError."""
    with opened(path) as container:
        track = picture_track(container)
        rotation = _rotation(path)
        frames, last = _count(container, track)
        width, height = track.codec_context.width, track.codec_context.height
        aspect = track.sample_aspect_ratio or Fraction(1)
        if rotation in (90, 270):
            width, height, aspect = height, width, 1 / aspect
        tick = track.time_base or Fraction(1, USUAL_FPS)
        start = _start(container, tick)
        fps = float(track.average_rate or track.guessed_rate or USUAL_FPS)
        sound = container.streams.audio[0] if container.streams.audio else None
        return FilmInfo(
            width=width,
            height=height,
            frames=frames,
            fps=fps,
            seconds=float((last - start) * tick) if last is not None else frames / fps,
            codec=track.codec_context.name,
            rotation=rotation,
            tick=(tick.numerator, tick.denominator),
            start=start,
            pixel_aspect=(aspect.numerator, aspect.denominator),
            colorspace=int(track.codec_context.colorspace),
            audio_codec=sound.codec_context.name if sound and sound.codec_context else None,
        )


def read_frames(path: Path, info: FilmInfo) -> Iterator[tuple[FrameTime, Image]]:
    """Every frame that can be decoded. Times increase, whatever the film says."""
    tick, last, index = info.tick_seconds, -1, 0
    step = max(1, round(1 / (info.fps * tick)))
    with opened(path) as container:
        track = picture_track(container)
        track.thread_type = "AUTO"
        for frame in _decoded(container, track):
            ticks = last + step if frame.pts is None else frame.pts - info.start
            ticks = max(ticks, last + 1)
            duration = int(frame.duration or step)
            yield FrameTime(index, ticks, duration, float(ticks * tick)), _upright(frame, info)
            last, index = ticks, index + 1


def picture_of(frame: VideoFrame) -> Image:
    """Blue, green and red as the film's own colour space has them."""
    converted = frame.reformat(
        format="bgr24", src_colorspace=frame.colorspace or None, src_color_range=frame.color_range or None
    )
    return converted.to_ndarray()


def _decoded(container: InputContainer, track: VideoStream) -> Iterator[VideoFrame]:
    """A damaged packet costs its own frames; where the file itself breaks off, the film ends."""
    packets = container.demux(track)
    while True:
        try:
            packet = next(packets, None)
        except av.FFmpegError:
            packet = None
        if packet is None:
            return
        try:
            frames = packet.decode()
        except av.FFmpegError:
            continue
        for frame in frames:
            assert isinstance(frame, VideoFrame)  # of a picture track
            yield frame


def upright(image: Image, rotation: int) -> Image:
    """Turned counterclockwise by so many degrees."""
    return cv2.rotate(image, _TURNS[rotation]) if rotation else image


def _upright(frame: VideoFrame, info: FilmInfo) -> Image:
    image = upright(picture_of(frame), info.rotation)
    if image.shape[:2] != (info.height, info.width):
        image = cv2.resize(image, (info.width, info.height), interpolation=cv2.INTER_AREA)
    return np.ascontiguousarray(image)


def _count(container: InputContainer, track: VideoStream) -> tuple[int, int | None]:
    """Packets with pictures, and the tick at which the last one ends."""
    count, last = 0, None
    try:
        for packet in container.demux(track):
            if packet.size and not packet.is_discard:
                count += 1
                if packet.pts is not None:
                    last = max(last or 0, packet.pts + (packet.duration or 0))
    except av.FFmpegError:
        pass  # what could be read counts; reading the frames will meet the same place
    return count, last


def _start(container: InputContainer, tick: Fraction) -> int:
    """The beginning of the earliest track, so that sound and pictures keep their distance."""
    if container.start_time is None:
        return 0
    return round(Fraction(container.start_time, av.time_base) / tick)


def _rotation(path: Path) -> int:
    """Told by the frames: the first one decides."""
    with opened(path) as container:
        try:
            for frame in container.decode(picture_track(container)):
                return round(frame.rotation / 90) * 90 % 360
        except av.FFmpegError:
            pass
    return 0
