"""Files and folders that only this user reads, whatever the umask: they hold people's documents."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO, cast

from docproc.errors import ConfigurationError

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def private_folder(path: Path, *, tighten: bool = True) -> Path:
    """Make a folder and what leads to it, for this user alone; `tighten`: one of ours that was there, too.

    Raises ConfigurationError where somebody may have planted it, OSError where it cannot be made.
    """
    path = path.absolute()
    refuse_planted(path)
    made = [folder for folder in (path, *path.parents) if not folder.exists()]
    for folder in reversed(made):
        with suppress(FileExistsError):  # another process was faster, and does the same
            folder.mkdir(mode=FOLDER_MODE)
        _restrict(folder, FOLDER_MODE)
    if made:
        refuse_planted(path)  # between looking and making, somebody else may have been there
    elif tighten:
        _restrict(path, FOLDER_MODE)
    return path


def private_file(path: Path) -> Path:
    """Have a file, empty where there was none, that only this user reads. Raises OSError."""
    # One that is there is not opened: closing it again would drop the locks that SQLite holds on it in this
    # process, and another process would take its write-ahead log for abandoned.
    with suppress(FileExistsError):
        os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, FILE_MODE))
    _restrict(path, FILE_MODE)
    return path


def private_files(paths: Iterable[Path]) -> None:
    """Those of the files that are there, and ours, are read by this user only."""
    for path in paths:
        _restrict(path, FILE_MODE)


def open_private(path: Path, mode: str) -> BinaryIO:
    """`open` for writing bytes into a file that only this user reads."""
    return cast(BinaryIO, private_file(path).open(mode))


def refuse_planted(path: Path) -> None:
    """Where everybody may write, such as /tmp, a folder of a known name may be another user's trap: a link to
    elsewhere, or a folder whose owner reads all that comes. Raises ConfigurationError."""
    for folder in (path, *path.parents):
        try:
            around, found = folder.parent.stat(), folder.lstat()
        except OSError:  # not there yet, or out of sight: making it will say so
            continue
        if folder == folder.parent or not around.st_mode & stat.S_IWOTH:
            continue
        if stat.S_ISLNK(found.st_mode) or found.st_uid not in (os.geteuid(), 0):
            what = "a link" if stat.S_ISLNK(found.st_mode) else "another user's"
            raise ConfigurationError(
                f"{folder} is {what}, in a folder where everybody may write",
                remedy=f"Remove it, or choose another place than {path} (DOCPROC_STORAGE_PATH, DOCPROC_HOME)",
            )


def _restrict(path: Path, mode: int) -> None:
    """Take away what others may do; what is not ours, or everybody's by purpose (/tmp), is left alone.

    So is `/`: named by mistake in a setting of root, it would be closed to every other user of the machine.
    """
    if path == path.parent:
        return
    with suppress(FileNotFoundError):
        found = path.stat()
        if found.st_uid != os.geteuid() or found.st_mode & stat.S_ISVTX:
            return
        if stat.S_IMODE(found.st_mode) != mode:
            path.chmod(mode)
