"""Taking a film apart, in a process of its own: decoders are native code, and strangers send the films.

The child writes each frame to disk and says when it is shown, as many as its parent has room for.
"""

from __future__ import annotations

import ctypes
import json
import multiprocessing
import os
import resource
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from docproc.apps.video.errors import Code, VideoError
from docproc.apps.video.film.info import FilmInfo, FrameTime, Limits

_SPAWN = multiprocessing.get_context("spawn")
_KILLED_WITH_PARENT = 1  # PR_SET_PDEATHSIG


class TakenApart:
    """A film being taken apart, as the parent sees it. Its methods block: they are for a thread."""

    def __init__(self, film: Path, originals: Path, limits: Limits, memory_mb: int) -> None:
        self._pipe, theirs = _SPAWN.Pipe()
        arguments = (theirs, str(film), str(originals), limits.seconds, limits.pixels, memory_mb, os.getpid())
        self._process = _SPAWN.Process(target=_live, args=arguments, name="docproc-film", daemon=True)
        try:
            self._process.start()
        finally:
            theirs.close()

    def info(self) -> FilmInfo:
        """Comes first. Raises VideoError."""
        return FilmInfo.of_json(self._heard("film"))

    def begin(self, needless: Sequence[int]) -> None:
        """`needless`: frames that nobody has to see any more."""
        with suppress(OSError):  # it has ended; what it said last is still to be heard
            self._pipe.send_bytes(json.dumps(sorted(needless)).encode())

    def allow(self, frames: int) -> None:
        """There is room for so many more. Does not block."""
        with suppress(OSError):  # as above
            self._pipe.send_bytes(str(frames).encode())

    def next(self) -> FrameTime | None:
        """The next frame, its original on disk; None after the last one. Raises VideoError."""
        said = self._heard("frame", "end")
        return FrameTime(**said) if said else None

    def _heard(self, *kinds: str) -> dict[str, Any]:
        try:
            said: dict[str, Any] = json.loads(self._pipe.recv_bytes())
        except (EOFError, OSError) as error:
            self._process.join(5)
            raise VideoError(
                f"the film cannot be decoded: its reader died (exit code {self._process.exitcode})",
                code=Code.CORRUPT_VIDEO,
            ) from error
        if "error" in said:
            raise VideoError(said["error"]["message"], code=Code(said["error"]["code"]))
        return dict(said[next(kind for kind in kinds if kind in said)])

    def close(self) -> None:
        self._process.kill()
        self._process.join(5)
        self._pipe.close()


# --- in the child ---------------------------------------------------------------------------------------


def _live(
    pipe: Connection, film: str, originals: str, seconds: float, pixels: int, memory_mb: int, parent: int
) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is meant for the parent, which ends its children
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_KILLED_WITH_PARENT, signal.SIGKILL)
        if os.getppid() != parent:
            return
    resource.setrlimit(resource.RLIMIT_AS, (memory_mb << 20, memory_mb << 20))
    with suppress(EOFError, OSError):  # the parent is gone, or wants no more
        try:
            _take_apart(pipe, Path(film), Path(originals), Limits(seconds, pixels))
        except VideoError as error:
            _tell(pipe, error={"code": error.code, "message": str(error)})
        except MemoryError:
            _tell(pipe, error={"code": Code.CORRUPT_VIDEO, "message": "the film needs too much memory"})
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            _tell(
                pipe, error={"code": _code(error), "message": f"frames cannot be written: {error.strerror}"}
            )


def _take_apart(pipe: Connection, film: Path, folder: Path, limits: Limits) -> None:
    from docproc.apps.video.film.reading import probe, read_frames  # the parent imports no decoder
    from docproc.apps.video.frames.files import Originals
    from docproc.apps.video.frames.job import pin_threads

    pin_threads()
    info = probe(film)
    info.check(limits)
    _tell(pipe, film=info.as_json())
    originals, needless = Originals(folder), set(json.loads(pipe.recv_bytes()))
    count = room = 0
    for when, image in read_frames(film, info):
        while count >= room:
            room += int(pipe.recv_bytes())
        if when.index not in needless:
            originals.write(when.index, image)
        _tell(pipe, frame={"index": when.index, "ticks": when.ticks, "duration": when.duration,
                           "seconds": when.seconds})  # fmt: skip
        count += 1
    if count == 0:
        raise VideoError("no frame of the film can be decoded", code=Code.CORRUPT_VIDEO)
    _tell(pipe, end={})


def _tell(pipe: Connection, **said: Any) -> None:
    pipe.send_bytes(json.dumps(said).encode())


def _code(error: OSError) -> Code:
    from docproc.engine.disk import FULL

    return Code.DISK_FULL if error.errno in FULL else Code.INTERNAL
