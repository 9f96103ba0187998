"""Scratch folders: for files in the making, gone with their block, or swept when a process was killed."""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

from docproc.engine import disk
from docproc.errors import ConfigurationError
from docproc.private import private_folder


class Scratch:
    """Folders in one folder, on the same file system as what they are made for: a rename is enough."""

    def __init__(self, base: Path, setting: str) -> None:
        """`setting` is named when the folder cannot be used."""
        self.base = base
        self.setting = setting

    @contextmanager
    def folder(self) -> Iterator[Path]:
        folder = self._made()
        try:
            with _held(folder):
                yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def _made(self) -> Path:
        try:
            private_folder(self.base.parent)
            private_folder(self.base)
            return Path(tempfile.mkdtemp(dir=self.base))
        except OSError as error:
            if error.errno in disk.FULL:
                raise  # no setting is wrong
            raise ConfigurationError(
                f"files cannot be stored in {self.base.parent}: {error.strerror}",
                remedy=f"Check {self.setting}",
            ) from error

    def sweep(self, before: datetime) -> int:
        found = 0
        with suppress(FileNotFoundError):
            for folder in self.base.iterdir():
                with suppress(OSError):  # whoever had it ended meanwhile, or it is somebody else's
                    old = folder.is_dir() and _newest(folder) < before.timestamp()
                    if old and not _is_held(folder):
                        shutil.rmtree(folder, ignore_errors=True)
                        found += 1
        return found


@contextmanager
def _held(folder: Path) -> Iterator[None]:
    """Marks it as in use, for as long as this process lives at most."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        with suppress(OSError):  # not every file system locks; then its age alone speaks for it
            fcntl.flock(handle, fcntl.LOCK_SH)
        yield
    finally:
        os.close(handle)


def _is_held(folder: Path) -> bool:
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    finally:
        os.close(handle)
    return False


def _newest(folder: Path) -> float:
    """When something in it was last written: its own time does not change while a file in it grows."""
    return max(path.lstat().st_mtime for path in (folder, *folder.rglob("*")))
