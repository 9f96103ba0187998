"""The protocol of the video server: a 4-byte big-endian length, then JSON; films follow as plain bytes.

Both sides use it; docs/reference/video-protocol.md describes it for others.
"""

from __future__ import annotations

import asyncio
import json
import struct
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from docproc.apps.video.errors import Code, VideoError

VERSION = 1
VERSIONS = frozenset({"1", "1.0"})
LARGEST_MESSAGE = 256 * 1024
CHUNK_BYTES = 1024 * 1024
_LENGTH = struct.Struct(">I")


class _Said(BaseModel):
    """Unknown fields are no mistake: a newer client may say more."""

    model_config = ConfigDict(extra="ignore", frozen=True)


class VideoInfo(_Said):
    filename: str = Field(default="film", max_length=1024)
    size_bytes: int = Field(ge=0)
    # Hexadecimal; checked when it is given.
    sha256: str | None = Field(default=None, pattern=r"^[0-9a-fA-F]{64}$")


class Handshake(_Said):
    """What a client says first."""

    type: Literal["handshake"]
    version: int | float | str
    mode: str = "process"
    codec: str = "h264"
    processing: str = "blur"
    filters: list[Any] = Field(default_factory=list)
    video_info: VideoInfo
    # To go on with a session: an upload that broke off, or a film whose client went away.
    session_id: UUID | None = None
    token: str | None = None
    # Of the engine's request.
    workflow: str = "video"
    priority: int = Field(default=5, ge=0, le=9)
    callback_url: str | None = None


def encode(message: dict[str, Any]) -> bytes:
    body = json.dumps(message, separators=(",", ":")).encode()
    return _LENGTH.pack(len(body)) + body


async def read_message(reader: asyncio.StreamReader) -> dict[str, Any]:
    """Raises VideoError for what is no message, EOFError where the other side has gone."""
    length = _LENGTH.unpack(await _exactly(reader, _LENGTH.size))[0]
    if not 0 < length <= LARGEST_MESSAGE:
        raise VideoError(
            f"a message of {length} bytes, between 1 and {LARGEST_MESSAGE} are taken",
            code=Code.MESSAGE_TOO_LARGE,
        )
    try:
        found = json.loads(await _exactly(reader, length))
    except ValueError as error:
        raise VideoError("the message is no JSON", code=Code.BAD_MESSAGE) from error
    if not isinstance(found, dict) or not isinstance(found.get("type"), str):
        raise VideoError("the message is no object with a type", code=Code.BAD_MESSAGE)
    return found


def parse_handshake(said: dict[str, Any]) -> Handshake:
    """Raises VideoError."""
    if said.get("type") == "handshake" and str(said.get("version")) not in VERSIONS:
        raise VideoError(
            f"version {said.get('version')!r} of the protocol is not spoken here",
            code=Code.UNSUPPORTED_VERSION,
            remedy=f"Use version {VERSION}",
        )
    try:
        return Handshake.model_validate(said)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, first["loc"]))
        raise VideoError(f"handshake: {where}: {first['msg']}", code=Code.BAD_MESSAGE) from error


async def _exactly(reader: asyncio.StreamReader, count: int) -> bytes:
    try:
        return await reader.readexactly(count)
    except asyncio.IncompleteReadError as error:
        raise EOFError("the connection ended inside a message") from error
