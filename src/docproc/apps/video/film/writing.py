"""Writing a film: frames with their own times, as browsers play them."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import av
import cv2
from av.video.frame import VideoFrame
from av.video.stream import VideoStream

from docproc.apps.video.errors import Code, VideoError
from docproc.apps.video.film.info import FilmInfo, FrameTime
from docproc.apps.video.filters.filter import Image

DEFAULT_CODEC = "h264"
# Good enough that nobody sees a difference, and quick enough not to hold the workers up.
QUALITY = "20"
# Browsers jump to key frames: every two seconds one.
KEY_SECONDS = 2
BT709, SMPTE170M, UNSPECIFIED = 1, 6, 2
# From this height on, films that do not say it mean the colours of high definition.
HD_HEIGHT = 720
# For encoders that keep to no quality.
BITS_PER_PIXEL = 0.2
# MPEG-4 counts no finer.
FINEST_MPEG4 = 60_000


@dataclass(frozen=True, slots=True)
class Codec:
    """How FFmpeg knows it, and what it is told."""

    encoder: str
    options: dict[str, str]
    tag: str | None = None


CODECS = {
    "h264": Codec("libx264", {"preset": "veryfast", "crf": QUALITY}),
    "hevc": Codec(
        "libx265", {"preset": "veryfast", "crf": QUALITY, "x265-params": "log-level=error"}, "hvc1"
    ),
    "mp4v": Codec("mpeg4", {"qmin": "2", "qmax": "6"}),
}
_ALSO = {"avc1": "h264", "h265": "hevc", "x264": "h264", "mpeg4": "mp4v"}


def codec_named(name: str) -> str:
    """As `CODECS` has it; raises VideoError."""
    known = _ALSO.get(name.lower(), name.lower())
    if known not in CODECS:
        raise VideoError(
            f"there is no codec {name!r}",
            code=Code.UNSUPPORTED_CODEC,
            remedy=f"Use one of: {', '.join(CODECS)}",
        )
    return known


class FilmWriter:
    """An MP4 file with pictures only. Used by one thread."""

    def __init__(self, path: Path, info: FilmInfo, size: tuple[int, int], codec: str = DEFAULT_CODEC) -> None:
        self.path = path
        # Colours are kept for every second pixel: an odd edge is repeated.
        self.size = (size[0] + size[0] % 2, size[1] + size[1] % 2)
        self.frames = 0
        self._durations: dict[int, int] = {}
        self._tick = info.tick_seconds
        if codec == "mp4v" and self._tick.denominator > FINEST_MPEG4:
            self._tick = Fraction(1, FINEST_MPEG4)
        self._from = info.tick_seconds
        self._space = _colours(info)
        self._container = av.open(str(path), "w", format="mp4")
        self._stream = self._add_stream(CODECS[codec], info)

    def _add_stream(self, codec: Codec, info: FilmInfo) -> VideoStream:
        rate = Fraction(info.fps).limit_denominator(1001)
        stream: VideoStream = self._container.add_stream(
            codec.encoder, rate=rate, options=dict(codec.options)
        )  # type: ignore[assignment] # by its name
        context = stream.codec_context
        context.width, context.height = self.size
        context.pix_fmt = "yuv420p"
        context.sample_aspect_ratio = Fraction(*info.pixel_aspect)
        context.time_base = stream.time_base = self._tick
        context.gop_size = max(1, round(float(rate) * KEY_SECONDS))
        context.colorspace = self._space
        context.color_primaries = context.color_trc = self._space
        context.color_range = 1  # as television has it
        context.bit_rate = round(self.size[0] * self.size[1] * float(rate) * BITS_PER_PIXEL)
        if "crf" in codec.options:
            context.bit_rate = 0  # the quality decides
        if codec.tag:
            context.codec_tag = codec.tag
        return stream

    def write(self, image: Image, when: FrameTime) -> None:
        """The next frame, in the order of the film."""
        frame = self._converted(image)
        frame.time_base = self._tick
        frame.pts = round(when.ticks * self._from / self._tick)
        frame.duration = max(1, round(when.duration * self._from / self._tick))
        self._durations[frame.pts] = frame.duration
        self._mux(frame)
        self.frames += 1

    def _mux(self, frame: VideoFrame | None) -> None:
        for packet in self._stream.encode(frame):
            # Encoders forget it, and the last frame would last as long as the one before.
            packet.duration = self._durations.pop(packet.pts or 0, 0) or packet.duration
            self._container.mux(packet)

    def _converted(self, image: Image) -> VideoFrame:
        height, width = image.shape[:2]
        if (width, height) != self.size:
            right, below = self.size[0] - width, self.size[1] - height
            image = cv2.copyMakeBorder(image, 0, below, 0, right, cv2.BORDER_REPLICATE)
        frame = VideoFrame.from_ndarray(image, format="bgr24")  # type: ignore[arg-type] # 8 bits, as promised
        converted = frame.reformat(format="yuv420p", dst_colorspace=self._space, dst_color_range=1)
        converted.colorspace = self._space
        return converted

    def close(self) -> None:
        """The film is whole after this."""
        self._mux(None)
        self._container.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.abandon()

    def abandon(self) -> None:
        """Without an end; what was written is of no use."""
        container: Any = self._container
        try:
            container.close()
        except (av.FFmpegError, OSError, ValueError):
            pass
        self.path.unlink(missing_ok=True)


def _colours(info: FilmInfo) -> int:
    if info.colorspace in (BT709, SMPTE170M):
        return info.colorspace
    return BT709 if info.height >= HD_HEIGHT else SMPTE170M
