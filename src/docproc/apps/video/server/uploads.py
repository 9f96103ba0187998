"""Uploads: a film on its way to disk, chunk by chunk, and what is left of it when it breaks off."""

from __future__ import annotations

import asyncio
import hashlib
from pathlib import Path
from typing import BinaryIO
from uuid import uuid4

from docproc.apps.video.errors import Code, VideoError
from docproc.apps.video.server.protocol import CHUNK_BYTES, Handshake
from docproc.apps.video.sessions import Session, Sessions
from docproc.engine.disk import FULL

UPLOAD = "upload"


def begin(sessions: Sessions, said: Handshake) -> Session:
    """The session of a handshake: a new one, or the one to go on with. Raises VideoError."""
    if said.session_id is not None:
        return _known(sessions, said)
    session = sessions.of(uuid4())
    session.make()
    session.part.touch()
    session.say(UPLOAD, said.model_dump(mode="json", exclude={"token"}))
    return session


def _known(sessions: Sessions, said: Handshake) -> Session:
    session = sessions.find(str(said.session_id))
    before = session.said(UPLOAD) if session else None
    if session is None or before is None:
        raise VideoError(
            f"there is no session {said.session_id}", code=Code.UNKNOWN_SESSION, remedy="Send the film anew"
        )
    same = ("size_bytes", "sha256")
    now = said.video_info.model_dump(mode="json")
    if [before["video_info"][key] for key in same] != [now[key] for key in same]:
        raise VideoError("the session is that of another film", code=Code.UNKNOWN_SESSION)
    return session


def offset(session: Session, said: Handshake) -> int:
    """How many bytes are here already."""
    if session.film.exists():
        return said.video_info.size_bytes
    try:
        return min(session.part.stat().st_size, said.video_info.size_bytes)
    except FileNotFoundError:
        return 0


async def receive(
    reader: asyncio.StreamReader, session: Session, said: Handshake, idle_seconds: float
) -> None:
    """The rest of the film, straight to disk. Raises VideoError, or EOFError when the client goes away."""
    size, here = said.video_info.size_bytes, offset(session, said)
    digest = hashlib.sha256()
    file = await asyncio.to_thread(_open, session.part, here, digest)
    try:
        while here < size:
            try:
                async with asyncio.timeout(idle_seconds):
                    chunk = await reader.read(min(CHUNK_BYTES, size - here))
            except TimeoutError as error:
                raise VideoError(
                    f"nothing came for {idle_seconds:g} s", code=Code.TIMED_OUT, remedy="Resume the upload"
                ) from error
            if not chunk:
                raise EOFError("the client went away in the middle of its film")
            await asyncio.to_thread(_write, file, chunk, digest)
            here += len(chunk)
    except OSError as error:
        if error.errno in FULL:
            raise VideoError("the disk is full", code=Code.DISK_FULL, remedy="Send it again later") from error
        raise
    finally:
        await asyncio.to_thread(_close, file)
    _check(session, said, digest.hexdigest())
    session.part.replace(session.film)


def _open(path: Path, here: int, digest: hashlib._Hash) -> BinaryIO:
    file = path.open("r+b")
    left = here
    while left and (chunk := file.read(min(CHUNK_BYTES, left))):
        digest.update(chunk)
        left -= len(chunk)
    file.truncate()
    return file


def _write(file: BinaryIO, chunk: bytes, digest: hashlib._Hash) -> None:
    file.write(chunk)
    digest.update(chunk)


def _close(file: BinaryIO) -> None:
    try:
        file.close()
    except OSError:
        pass  # a full disk says so once more


def _check(session: Session, said: Handshake, digest: str) -> None:
    if said.video_info.size_bytes == 0:
        raise VideoError("the film is empty", code=Code.NO_FRAMES)
    wanted = said.video_info.sha256
    if wanted is not None and wanted.lower() != digest:
        session.part.unlink(missing_ok=True)
        raise VideoError(
            "what arrived is not what was sent: the checksums differ",
            code=Code.CHECKSUM_MISMATCH,
            remedy="Send the film again",
        )
