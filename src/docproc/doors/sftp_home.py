"""A tenant's home as SFTP clients see it: a file has its name only once the client closed it.

Until then it lies under a hidden name. A transfer that breaks off leaves the hidden file, which the client
can go on with (`reput`) or send again; nobody takes it meanwhile.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import asyncssh
from asyncssh import (
    FXF_TRUNC,
    FXF_WRITE,
    SFTPAttrs,
    SFTPFailure,
    SFTPName,
    SFTPOpUnsupported,
    SFTPServer,
)

_PREFIX, _SUFFIX = b".", b".docproc-part"


class Home(SFTPServer):
    """One session's view. `came` is called when a file has got its name."""

    def __init__(
        self,
        channel: asyncssh.SSHServerChannel[bytes],
        root: Path,
        largest_bytes: int,
        came: Callable[[], None],
    ) -> None:
        super().__init__(channel, chroot=os.fsencode(root))
        self._largest_bytes = largest_bytes
        self._came = came
        # Files that are being written, by the number of their descriptor: hidden name and name.
        self._writing: dict[int, tuple[bytes, bytes]] = {}

    def open(self, path: bytes, pflags: int, attrs: SFTPAttrs) -> Any:
        if not pflags & FXF_WRITE:
            return super().open(path, pflags, attrs)
        target = self.map_path(path)
        hidden = _hidden(target)
        if not pflags & FXF_TRUNC and os.path.lexists(target) and not os.path.lexists(hidden):
            _path(target).replace(_path(hidden))  # it is written to again before it was taken
        attrs.permissions = 0o600
        file = super().open(_hidden(path), pflags, attrs)
        self._writing[_number(file)] = (hidden, target)
        return file

    def write(self, file_obj: object, offset: int, data: bytes) -> Any:
        if offset + len(data) > self._largest_bytes:  # it would be refused when it is here
            megabytes = self._largest_bytes / 1024**2
            raise SFTPFailure(f"larger than {megabytes:g} MB (DOCPROC_MAX_UPLOAD_MB)")
        return super().write(file_obj, offset, data)

    def close(self, file_obj: object) -> Any:
        names = self._writing.pop(_number(file_obj), None)
        # asyncssh closes what a lost connection left open while it handles the error that told of the loss.
        # A client that closes a file does so by a request of its own: no error is being handled then.
        is_broken_off = sys.exc_info()[0] is not None
        if names is None or is_broken_off:
            return super().close(file_obj)
        return self._finish(file_obj, *names)

    async def _finish(self, file_obj: Any, hidden: bytes, target: bytes) -> None:
        """Before the client is told: from then on it may forget the file."""
        await asyncio.to_thread(os.fsync, file_obj.fileno())
        super().close(file_obj)
        _path(hidden).replace(_path(target))  # over an earlier one of that name
        self._came()

    def stat(self, path: bytes) -> Any:
        return super().stat(self._shown(path))

    def lstat(self, path: bytes) -> Any:
        return super().lstat(self._shown(path))

    def remove(self, path: bytes) -> Any:
        return super().remove(self._shown(path))

    def _shown(self, path: bytes) -> bytes:
        """A client that goes on with a transfer asks how much of the file is there."""
        if os.path.lexists(self.map_path(path)) or not os.path.lexists(self.map_path(_hidden(path))):
            return path
        return _hidden(path)

    async def scandir(self, path: bytes) -> AsyncIterator[SFTPName]:
        async for entry in super().scandir(path):
            name = entry.filename
            if not (isinstance(name, bytes) and name.endswith(_SUFFIX)):
                yield entry

    def rename(self, oldpath: bytes, newpath: bytes) -> Any:
        found = super().rename(oldpath, newpath)
        self._came()
        return found

    def posix_rename(self, oldpath: bytes, newpath: bytes) -> Any:
        found = super().posix_rename(oldpath, newpath)
        self._came()
        return found

    # Owners and permissions are ours; times say nothing here. Links could lead out of the home.

    def setstat(self, path: bytes, attrs: SFTPAttrs) -> Any:
        return None

    def lsetstat(self, path: bytes, attrs: SFTPAttrs) -> Any:
        return None

    def fsetstat(self, file_obj: object, attrs: SFTPAttrs) -> Any:
        return None

    def symlink(self, oldpath: bytes, newpath: bytes) -> Any:
        raise SFTPOpUnsupported("there are no links here")

    def link(self, oldpath: bytes, newpath: bytes) -> Any:
        raise SFTPOpUnsupported("there are no links here")


def _hidden(path: bytes) -> bytes:
    folder, slash, name = path.rpartition(b"/")
    return folder + slash + _PREFIX + name + _SUFFIX


def _path(local: bytes) -> Path:
    return Path(os.fsdecode(local))


def _number(file: Any) -> int:
    return int(file.fileno())
