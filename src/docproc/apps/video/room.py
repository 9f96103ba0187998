"""Whether a disk has room for the frames of a film."""

from __future__ import annotations

import shutil
from pathlib import Path

from docproc.apps.video.errors import Code, VideoError

MEGABYTE = 1024 * 1024
# What compressed frames come to, at least.
SMALL_SHARE = 0.25


def check_room(folder: Path, frames: int, size: tuple[int, int], *, small: bool = False) -> None:
    """Raises VideoError before hours of work end on a full disk."""
    each = size[0] * size[1] * 3 * (SMALL_SHARE if small else 1)
    needed, free = frames * each, shutil.disk_usage(folder).free
    if needed > free:
        raise VideoError(
            f"the disk has no room for the film's frames: {needed / MEGABYTE:.0f} MB are needed, "
            f"{free / MEGABYTE:.0f} MB are free",
            code=Code.DISK_FULL,
            remedy="Make room (docproc video clean), or set DOCPROC_VIDEO_KEEP_FRAMES=false",
        )
