"""Which content lies where in a folder, so that equal content is stored once: by hard links to one file.

The file system counts: a file goes with the last name it has, and nobody else keeps a count that a crash or a
race could make wrong. What is kept here are hints, empty folders with telling names; one that is wrong or
missing costs space, never a file, because a link is made first and looked at then.
"""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from docproc.private import private_folder

# Hints that are kept for one content, the latest: retention erases the oldest owners first.
_HINTS = 8
# In no owner and no address.
_BETWEEN = "~"


class Contents:
    """Hints `<folder>/<abc>/<address>~<owner>~<the file's mark>`: that owner of `root` has this content.

    On a file system without hard links nothing is shared; without locks, now and then something is not.
    """

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = root
        self.folder = folder

    @contextmanager
    def locked(self, address: str) -> Iterator[None]:
        """One at a time: of two who store the same, the second finds what the first stored."""
        handle = os.open(private_folder(self._place(address)), os.O_RDONLY)
        try:
            with suppress(OSError):
                fcntl.flock(handle, fcntl.LOCK_EX)
            yield
        finally:
            os.close(handle)

    def find(self, path: Path, address: str) -> Path | None:
        """Another name, beside `path`, of equal content that is stored already and durable."""
        for hint in self._hints(address):
            _, owner, mark = hint.name.split(_BETWEEN)
            found = path.with_name(f"{path.name}.shared")
            if self._link(owner, mark, found) and found.stat().st_size == path.stat().st_size:
                return found
            found.unlink(missing_ok=True)
            with suppress(OSError):
                hint.rmdir()  # its owner was erased, or has other content now
        return None

    def remember(self, path: Path, address: str, owner: str) -> None:
        """That the owner has this content there, for the next one who stores it."""
        hint = self._place(address) / _BETWEEN.join((address, owner, _mark(path)))
        with suppress(OSError):  # it is there already, or its name is too long: then nobody finds it
            hint.mkdir(mode=0o700)
            private_folder(hint)
        for old in self._hints(address)[_HINTS:]:
            with suppress(OSError):
                old.rmdir()

    def sweep(self) -> None:
        """Remove the hints of owners that are gone."""
        for hint in self.folder.glob(f"*/*{_BETWEEN}*"):
            with suppress(OSError):
                if not (self.root / hint.name.split(_BETWEEN)[1]).exists():
                    hint.rmdir()

    def _hints(self, address: str) -> list[Path]:
        """The latest first."""
        found = []
        with suppress(FileNotFoundError):
            for hint in self._place(address).glob(f"{address}{_BETWEEN}*"):
                with suppress(FileNotFoundError):
                    found.append((hint.stat().st_mtime_ns, hint))
        return [hint for _, hint in sorted(found, reverse=True)]

    def _link(self, owner: str, mark: str, target: Path) -> bool:
        """Link to the owner's file of that mark, and look only then whether it was the right one: whatever
        happens to the owner meanwhile, what was linked stays what it is."""
        number = int(mark.partition("-")[0])
        for folder, _, _ in os.walk(self.root / owner):
            with suppress(OSError), os.scandir(folder) as entries:
                for entry in entries:
                    if entry.inode() == number and entry.is_file(follow_symlinks=False):
                        os.link(entry.path, target)
                        return _mark(target) == mark
        return False

    def _place(self, address: str) -> Path:
        return self.folder / address[:3]


def _mark(path: Path) -> str:
    """Of the content, whatever it is called: a file is never written again once it is stored."""
    found = path.stat()
    return f"{found.st_ino}-{found.st_mtime_ns}-{found.st_size}"
