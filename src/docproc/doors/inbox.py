"""A folder that files are put into: which of them are complete, and where they go once they were taken.

Everything here is about files and blocks; the door (hot_folder.py) calls it in threads.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import json
import os
import signal
import stat
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, Any
from urllib.parse import quote, unquote, urlsplit

from docproc.doors import notes

DONE, FAILED = "done", "failed"
ANSWER, ERROR = ".answer.json", ".error.json"
# How programs call what they have not finished writing.
UNFINISHED = (".part", ".partial", ".filepart", ".tmp", ".temp", ".crdownload", ".download", ".swp", "~")
_DAY_SECONDS = 86_400


@dataclass(frozen=True, slots=True)
class Seen:
    """A file as it was found; one that is written to, or replaced, is another."""

    path: str  # in the inbox, with slashes
    inode: int
    size: int
    changed_ns: int


class ChangedError(Exception):
    """Somebody writes to the file: it is left alone until it is quiet again."""


@dataclass(slots=True)
class Inbox:
    """One tenant's folder. `scheme` is how addresses of answers begin: `folder` or `sftp`."""

    tenant_id: str
    root: Path
    scheme: str
    # How long a file must have been quiet; 0 where only complete files get their name.
    settle_seconds: float
    # The files of the last look, and since when they have been as they are.
    _quiet: dict[Seen, float] = field(default_factory=dict)
    # Those that could not be taken, and until when they are left alone.
    _waiting: dict[str, float] = field(default_factory=dict)

    def prepare(self) -> None:
        for name in ("", DONE, FAILED):
            (self.root / name).mkdir(parents=True, exist_ok=True)

    # --- coming in --------------------------------------------------------------------------------------

    def ready(self, limit: int, clock: Callable[[], float] = time.monotonic) -> list[Seen]:
        """The complete files, oldest first."""
        now = clock()
        found = list(self._files())
        self._quiet = {seen: self._quiet.get(seen, now) for seen in found}
        self._waiting = {path: until for path, until in self._waiting.items() if until > now}
        quiet = [
            seen
            for seen, since in self._quiet.items()
            if now - since >= self.settle_seconds and seen.path not in self._waiting
        ]
        quiet.sort(key=lambda seen: (seen.changed_ns, seen.path))
        return quiet[:limit]

    def leave_alone(self, seen: Seen, seconds: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._waiting[seen.path] = clock() + seconds

    def _files(self, folder: str = "") -> Iterator[Seen]:
        with contextlib.suppress(FileNotFoundError), os.scandir(self.root / folder) as entries:
            for entry in entries:
                name = entry.name
                path = f"{folder}/{name}" if folder else name
                if entry.is_dir(follow_symlinks=False):
                    if not name.startswith(".") and path not in (DONE, FAILED):
                        yield from self._files(path)
                elif _may_come(name):
                    with contextlib.suppress(FileNotFoundError):
                        facts = entry.stat(follow_symlinks=False)
                        if stat.S_ISREG(facts.st_mode):
                            yield Seen(path, facts.st_ino, facts.st_size, facts.st_mtime_ns)

    def open(self, seen: Seen) -> IO[bytes]:
        """Raises ChangedError when it is no longer that file, or somebody has it open for writing."""
        try:
            # Neither a link, which could lead anywhere, nor a pipe, which would keep us waiting.
            number = os.open(self.root / seen.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP):
                raise ChangedError from error
            raise
        file = os.fdopen(number, "rb", buffering=0)
        try:
            self.check(file, seen)
            if _is_written(number):
                raise ChangedError
        except BaseException:
            file.close()
            raise
        return file

    def check(self, file: IO[bytes], seen: Seen) -> None:
        """Raises ChangedError: what was read is then no whole file."""
        facts = os.fstat(file.fileno())
        if (facts.st_ino, facts.st_size, facts.st_mtime_ns) != (seen.inode, seen.size, seen.changed_ns):
            raise ChangedError

    def notes(self, seen: Seen) -> bytes | None:
        """What lies beside it; longer notes are cut off, and then no JSON."""
        path = self.root / (seen.path + notes.SUFFIX)
        try:
            number = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.ELOOP):
                return None
            raise
        with os.fdopen(number, "rb") as file:
            return file.read(notes.LARGEST_BYTES + 1)

    # --- going out --------------------------------------------------------------------------------------

    def free_place(self, path: str) -> str:
        """A name in `done` that no other file has, nor had: its answer may still be there."""
        found, number = path, 2
        while any(
            (self.root / place / (found + suffix)).exists()
            for place in (DONE, FAILED)
            for suffix in ("", ANSWER)
        ):
            whole = PurePosixPath(path)
            found = str(whole.with_name(f"{whole.stem}-{number}{whole.suffix}"))
            number += 1
        return found

    def address(self, place: str) -> str:
        """Where answers about a file are sent, as its request keeps it."""
        return f"{self.scheme}://{quote(self.tenant_id, safe='')}/{quote(place)}"

    @staticmethod
    def place_of(address: str) -> tuple[str, str]:
        """The tenant, and the place of the file."""
        parts = urlsplit(address)
        return unquote(parts.netloc), unquote(parts.path.removeprefix("/"))

    def accepted(self, seen: Seen, place: str, *, keep_notes: bool) -> None:
        """Out of the way, unless another took its name meanwhile. `keep_notes`: no password is in them."""
        self._move(seen, DONE, place)
        beside = self.root / (seen.path + notes.SUFFIX)
        if beside.exists():
            if keep_notes:
                beside.replace(self.root / DONE / (place + notes.SUFFIX))
            else:
                beside.unlink()

    def refused(self, seen: Seen, why: dict[str, Any]) -> None:
        place = self.free_place(seen.path)
        self._move(seen, FAILED, place)
        _write(self.root / FAILED / (place + ERROR), json.dumps(why, ensure_ascii=False, indent=2))
        with contextlib.suppress(FileNotFoundError):
            beside = self.root / (seen.path + notes.SUFFIX)
            beside.replace(self.root / FAILED / (place + notes.SUFFIX))

    def _move(self, seen: Seen, folder: str, place: str) -> None:
        source, target = self.root / seen.path, self.root / folder / place
        target.parent.mkdir(parents=True, exist_ok=True)
        with contextlib.suppress(FileNotFoundError):  # moved before, by a door that was killed then
            if source.lstat().st_ino == seen.inode:
                source.replace(target)

    def answered(self, place: str, body: str, *, has_failed: bool) -> None:
        """Write the answer beside its file, which is in `failed` while the request is, else in `done`."""
        here, there = (FAILED, DONE) if has_failed else (DONE, FAILED)
        target = self.root / here / place
        target.parent.mkdir(parents=True, exist_ok=True)
        for suffix in ("", notes.SUFFIX):
            with contextlib.suppress(FileNotFoundError):
                (self.root / there / (place + suffix)).replace(str(target) + suffix)
        _write(Path(str(target) + ANSWER), body)
        (self.root / there / (place + ANSWER)).unlink(missing_ok=True)

    def sweep(self, keep_days: float) -> int:
        """Remove what was moved into `done` longer ago, and folders that are empty by it."""
        before, removed = time.time() - keep_days * _DAY_SECONDS, 0
        for folder, _, files in os.walk(self.root / DONE, topdown=False):
            for name in files:
                path = Path(folder, name)
                with contextlib.suppress(FileNotFoundError):
                    if path.lstat().st_ctime < before:  # of the move; its own time may be anything
                        path.unlink()
                        removed += 1
            if Path(folder) != self.root / DONE:
                with contextlib.suppress(OSError):  # not empty
                    Path(folder).rmdir()
        return removed


def _may_come(name: str) -> bool:
    """No hidden and no unfinished file, and no notes: a JSON file alone may be notes that came first."""
    return not (name.startswith((".", "~$")) or name.lower().endswith((*UNFINISHED, notes.SUFFIX)))


def _is_written(number: int) -> bool:
    """Whether a process of this machine has the file open for writing: the kernel refuses a lease then.

    Where leases are not to be had (another user's file, a network file system), only time tells.
    """
    if not hasattr(fcntl, "F_SETLEASE"):  # not Linux
        return False
    try:
        # Whoever opens it for writing while we hold the lease has us told by a signal; SIGIO would end us.
        fcntl.fcntl(number, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(number, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    fcntl.fcntl(number, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False


def _write(path: Path, text: str) -> None:
    """Whole or not at all, and there to stay."""
    unfinished = path.with_name(f".{path.name}.part")
    with unfinished.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unfinished.replace(path)
