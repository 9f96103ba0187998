"""Whether a disk still takes something."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

# Less than this, and the next file or commit may not fit.
ROOM_BYTES = 1024 * 1024
FULL = frozenset({errno.ENOSPC, errno.EDQUOT})


def is_full(path: Path) -> bool:
    """Of the disk a path lies on, or will lie on once its folders are made."""
    there = next((folder for folder in (path, *path.parents) if folder.exists()), None)
    return there is not None and shutil.disk_usage(there).free < ROOM_BYTES
