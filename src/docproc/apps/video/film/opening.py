"""Opening films: what strangers send is read from its own file only, by formats that hold films."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import av
from av.container import InputContainer
from av.video.stream import VideoStream

from docproc.apps.video.errors import Code, VideoError

# By FFmpeg's names. Playlists and scripts are left out: they make the reader open other files and addresses.
FORMATS = (
    "mov", "mp4", "m4a", "3gp", "3g2", "mj2", "matroska", "webm", "avi", "mpegts", "mpeg", "mpegvideo", "flv",
    "ogg", "asf", "gif", "mxf", "h264", "hevc", "m4v", "nut", "ivf", "dv",
)  # fmt: skip
OPTIONS = {"protocol_whitelist": "file", "format_whitelist": ",".join(FORMATS)}


@contextmanager
def opened(path: Path) -> Iterator[InputContainer]:
    """Raises VideoError for what is no film."""
    try:
        container = av.open(str(path), options=OPTIONS)
    except (av.FFmpegError, ValueError) as error:
        raise VideoError(
            f"the film cannot be opened: {_said(error)}",
            code=Code.CORRUPT_VIDEO,
            remedy="Send a whole MP4, MOV, MKV, WebM or AVI file",
        ) from error
    with container:
        yield container


def picture_track(container: InputContainer) -> VideoStream:
    """The first one that moves: the cover of a song is a picture track, too."""
    for stream in container.streams.video:
        if not stream.disposition & stream.disposition.attached_pic:
            return stream
    raise VideoError("the film has no pictures", code=Code.NO_FRAMES, remedy="Send a film with a video track")


def _said(error: Any) -> str:
    return str(getattr(error, "strerror", None) or error)
