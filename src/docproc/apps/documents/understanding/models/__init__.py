"""Trained weights: packaged with the code, or those that `docproc learn` left in an installation."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy
import numpy.typing

from docproc.errors import ConfigurationError

Arrays = dict[str, numpy.typing.NDArray[Any]]
PACKAGED = Path(__file__).parent


# A stored file and when it was changed.
Version = tuple[Path, int]

_in_use: ContextVar[Path | None] = ContextVar("models", default=None)


@contextmanager
def using(folder: Path | None) -> Iterator[None]:
    """Within the block, weights of this folder come before the packaged ones."""
    token = _in_use.set(folder)
    try:
        yield
    finally:
        _in_use.reset(token)


def version(name: str, folder: Path | None = None) -> Version | None:
    """Which weights count now, for whoever keeps something made of them; None: there are none."""
    for place in (folder or _in_use.get(), PACKAGED):
        path = place / f"{name}.npz" if place is not None else None
        if path is not None and path.exists():
            return path, path.stat().st_mtime_ns
    return None


def arrays(name: str, folder: Path | None = None) -> Arrays:
    """The weights called `name`: the folder's own if it has them, else the packaged ones."""
    version_of_file = version(name, folder)
    if version_of_file is None:
        raise FileNotFoundError(PACKAGED / f"{name}.npz")
    return _read(*version_of_file)  # cached by version: read again only when the file has changed


@lru_cache(maxsize=8)
def _read(path: Path, _changed: int) -> Arrays:
    # allow_pickle=False: a pickle in the file could run any code.
    try:
        with path.open("rb") as file, numpy.load(file, allow_pickle=False) as stored:
            return {key: stored[key] for key in stored.files}
    except (
        OSError,
        ValueError,
        EOFError,
        AttributeError,
        TypeError,
        zipfile.BadZipFile,
        zlib.error,
    ) as error:
        packaged = path.parent == PACKAGED
        remedy = "Install DocProc again" if packaged else "Delete it: the packaged weights are used then"
        raise ConfigurationError(f"the weights in {path} cannot be read", remedy=remedy) from error
