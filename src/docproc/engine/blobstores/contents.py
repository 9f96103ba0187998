"""Shared content in a folder: stored once, found by its address, needed by as many names as link to it.

The file system counts: a content is a file with one name here and one per place that needs it, and whoever
removes the last of those removes the name here, too. No crash and no race can make that count wrong, because
nobody else keeps one. And no race can lose a file: a link that was made keeps its content, whatever happens
to the name here.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from docproc.private import private_folder

_TRIES = 5


class Contents:
    """Files by address. On a file system without hard links nothing is shared."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def share(self, path: Path, address: str) -> Path:
        """What to keep instead of `path`: a link to equal content that is here, beside it; else `path`
        itself, which others find under its address from now on. It must be durable before: they rely on it.
        """
        content = self._path(address)
        private_folder(content.parent)
        for _ in range(_TRIES):
            try:
                os.link(path, content)
                return path
            except FileExistsError:
                pass
            except OSError:  # no links here: a copy of its own
                return path
            with suppress(FileNotFoundError):  # whoever needed it last erased it meanwhile: ours replaces it
                if found := self._linked(content, path):
                    return found
        return path

    def _linked(self, content: Path, path: Path) -> Path | None:
        """A name for the content beside `path`; None when it cannot be had, and is forgotten here."""
        found = path.with_name(f"{path.name}.shared")
        try:
            os.link(content, found)
        except FileNotFoundError:
            raise
        except OSError:  # as many names as a file can have: another begins to count anew
            content.unlink(missing_ok=True)
            return None
        if found.stat().st_size != path.stat().st_size:  # damaged from outside: never handed to another
            found.unlink()
            content.unlink(missing_ok=True)
            return None
        return found

    def release(self, addresses: Iterable[str]) -> None:
        """Forget those that nobody needs any more. For whoever removed a name, afterwards."""
        for address in addresses:
            _forget_unneeded(self._path(address))

    def sweep(self) -> int:
        """Forget all that nobody needs: of processes that died between removing a name and releasing it.

        However new: whoever is about to need it has a name for it already.
        """
        return sum(_forget_unneeded(path) for path in self.folder.glob("*/*"))

    def _path(self, address: str) -> Path:
        return self.folder / address[:2] / address


def _forget_unneeded(content: Path) -> bool:
    with suppress(FileNotFoundError):
        if content.stat().st_nlink == 1:
            content.unlink()
            return True
    return False
