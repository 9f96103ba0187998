"""Sessions on disk: where a film, its frames and its progress lie. The files are the truth.

frames/SESSION/frame_000000.png, .json      filtered frames, as workers write them
films/SESSION/input                         the film as it was sent
films/SESSION/originals/frame_000000.bmp    frames on their way to a worker
films/SESSION/output.mp4                    the film that was made
films/SESSION/upload.json, progress.json    what was asked for; how far it is
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from docproc.errors import ConfigurationError
from docproc.private import private_folder

# The channel of requests that are films.
CHANNEL = "video"


@dataclass(frozen=True, slots=True)
class Session:
    """The places of one film."""

    session_id: UUID
    films: Path
    frames: Path

    @property
    def film(self) -> Path:
        return self.films / "input"

    @property
    def part(self) -> Path:
        """The film while it is being sent."""
        return self.films / "input.part"

    @property
    def output(self) -> Path:
        return self.films / "output.mp4"

    @property
    def originals(self) -> Path:
        return self.films / "originals"

    def make(self) -> None:
        for folder in (self.films, self.originals, self.frames):
            folder.mkdir(parents=True, exist_ok=True)

    @property
    def exists(self) -> bool:
        return self.films.is_dir()

    def remove(self) -> None:
        for folder in (self.films, self.frames):
            shutil.rmtree(folder, ignore_errors=True)

    # --- what is said of it ---

    def say(self, name: str, facts: dict[str, Any]) -> None:
        """Write `NAME.json`, whole or not at all."""
        replace_file(self.films / f"{name}.json", json.dumps(facts).encode())

    def said(self, name: str) -> dict[str, Any] | None:
        """None while nobody has said it."""
        with suppress(FileNotFoundError, ValueError):
            found = json.loads((self.films / f"{name}.json").read_bytes())
            return found if isinstance(found, dict) else None
        return None


@dataclass(frozen=True, slots=True)
class Sessions:
    """All of them, in the folder that server, workers and preview share."""

    folder: Path

    def of(self, session_id: UUID) -> Session:
        name = str(session_id)
        return Session(session_id, self.folder / "films" / name, self.folder / "frames" / name)

    def find(self, said: str) -> Session | None:
        """By an id from outside: what is no UUID names no folder."""
        try:
            session = self.of(UUID(said))
        except ValueError:
            return None
        return session if session.exists else None

    def all(self) -> Iterator[Session]:
        """Newest first."""
        folder = self.folder / "films"
        with suppress(FileNotFoundError):
            ids = [found for name in os.listdir(folder) if (found := _uuid(name))]  # noqa: PTH208 # names only
            yield from sorted(map(self.of, ids), key=_age, reverse=True)

    def prepare(self) -> None:
        """Raises ConfigurationError where nothing can be written. A folder that is made is this user's alone;
        one that is there, such as a volume, keeps its rights."""
        try:
            private_folder(self.folder, tighten=False)
            for name in ("films", "frames"):
                (self.folder / name).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise ConfigurationError(
                f"{self.folder} cannot be used: {error.strerror}", remedy="Check DOCPROC_VIDEO_DATA"
            ) from error


def replace_file(path: Path, content: bytes | memoryview) -> None:
    """Nobody ever reads a part of it: written under another name, then renamed."""
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}.tmp")
    try:
        with temporary.open("wb") as file:
            file.write(content)
        temporary.replace(path)
    except BaseException:
        temporary.unlink(missing_ok=True)  # on a full disk, this makes the room to say so
        raise


def _uuid(name: str) -> UUID | None:
    try:
        return UUID(name)
    except ValueError:
        return None


def _age(session: Session) -> float:
    with suppress(FileNotFoundError):
        return session.films.stat().st_mtime
    return 0.0
