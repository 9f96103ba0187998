"""Streaming multipart: the parts of a form as they arrive, nothing held whole."""

from __future__ import annotations

import asyncio
import re
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import Enum, auto
from urllib.parse import unquote

from python_multipart.exceptions import FormParserError
from python_multipart.multipart import MultipartParser, parse_options_header

from docproc.http.problems import Problem

FORM_TYPE = "multipart/form-data"
STALL_SECONDS = 60.0
# Read and thrown away before refusing, so that the client gets to see the answer instead of a reset.
DRAIN_BYTES = 64 * 1024 * 1024
DRAIN_SECONDS = 5.0
MAX_PARTS = 1000

# Older clients send names that are not ASCII only in this form (RFC 5987).
_EXTENDED_NAME = re.compile(r";\s*filename\*\s*=\s*\"?([\w-]+)'[^']*'([^;\"]*)", re.IGNORECASE)


class _Mark(Enum):
    PART_END = auto()
    END = auto()


@dataclass(frozen=True, slots=True)
class _Head:
    """The headers of a part."""

    disposition: str


class Part:
    """One part of a form: its name, its file name if it is a file, and its content, to be read once."""

    def __init__(self, name: str, filename: str | None, form: MultipartStream) -> None:
        self.name = name
        self.filename = filename
        self._form = form

    async def chunks(self) -> AsyncIterator[bytes]:
        async for chunk in self._form.rest_of_part():
            yield chunk

    async def text(self, max_bytes: int) -> str:
        content = bytearray()
        async for chunk in self.chunks():
            content += chunk
            if len(content) > max_bytes:
                raise Problem(
                    413, "field_too_large", f"the field {self.name[:80]!r} is larger than {max_bytes} bytes"
                )
        try:
            return content.decode("utf-8")
        except UnicodeDecodeError as error:
            raise Problem(422, "invalid_field", f"the field {self.name[:80]!r} is not UTF-8 text") from error


class MultipartStream:
    """Feeds a body to the parser as far as the reader has come: memory stays at one network chunk."""

    def __init__(self, content_type: str, body: AsyncIterator[bytes]) -> None:
        kind, options = parse_options_header(content_type)
        boundary = options.get(b"boundary", b"")
        if kind.decode("latin-1") != FORM_TYPE or not boundary:
            raise _malformed("the Content-Type names no boundary")
        self._body = body
        self._events: deque[_Head | bytes | _Mark] = deque()
        self._headers: dict[bytes, bytes] = {}
        self._field, self._value = bytearray(), bytearray()
        self._inside = False
        self._parser = _parser(boundary, self)

    async def parts(self) -> AsyncIterator[Part]:
        """Part by part; what was not read of one is skipped. Raises Problem (400) for anything malformed."""
        number = 0
        while True:
            if self._inside:
                async for _ in self.rest_of_part():
                    pass
            event = await self._next()
            if event is _Mark.END:
                await self._skip_epilogue()
                return
            if isinstance(event, _Head):
                number += 1
                if number > MAX_PARTS:
                    raise Problem(413, "too_many_parts", f"the form has more than {MAX_PARTS} parts")
                self._inside = True
                name, filename = _names(event.disposition)
                yield Part(name, filename, self)

    async def rest_of_part(self) -> AsyncIterator[bytes]:
        while self._inside:
            event = await self._next()
            if event is _Mark.PART_END:
                self._inside = False
            elif isinstance(event, bytes):
                yield event

    async def drain(self) -> None:
        """Read on for a while, for a client that listens only after it has sent everything."""
        left = DRAIN_BYTES
        try:
            async with asyncio.timeout(DRAIN_SECONDS):
                async for chunk in self._body:
                    left -= len(chunk)
                    if left < 0:
                        return
        except (TimeoutError, Problem):  # why it is refused stands already
            return

    async def _next(self) -> _Head | bytes | _Mark:
        while not self._events:
            try:
                async with asyncio.timeout(STALL_SECONDS):
                    chunk = await anext(self._body)
            except StopAsyncIteration:
                raise _malformed("the form ends in the middle") from None
            except TimeoutError:
                raise Problem(
                    408, "upload_stalled", f"nothing came for {STALL_SECONDS:g} seconds", "Send it again"
                ) from None
            self._feed(chunk)
        return self._events.popleft()

    def _feed(self, chunk: bytes) -> None:
        try:
            self._parser.write(chunk)
        except FormParserError as error:
            raise _malformed(f"the form is malformed: {error}") from error

    async def _skip_epilogue(self) -> None:
        async for _ in self._body:
            pass

    # --- what the parser calls ------------------------------------------------------------------------

    def on_part_begin(self) -> None:
        self._headers = {}

    def on_header_field(self, data: bytes, start: int, end: int) -> None:
        self._field += data[start:end]

    def on_header_value(self, data: bytes, start: int, end: int) -> None:
        self._value += data[start:end]

    def on_header_end(self) -> None:
        self._headers[bytes(self._field).lower()] = bytes(self._value)
        self._field.clear()
        self._value.clear()

    def on_headers_finished(self) -> None:
        disposition = self._headers.get(b"content-disposition", b"")
        # As it came: parse_options_header takes text for latin-1, the names inside are UTF-8.
        self._events.append(_Head(disposition.decode("latin-1")))

    def on_part_data(self, data: bytes, start: int, end: int) -> None:
        self._events.append(bytes(data[start:end]))

    def on_part_end(self) -> None:
        self._events.append(_Mark.PART_END)

    def on_end(self) -> None:
        self._events.append(_Mark.END)


def _parser(boundary: bytes, form: MultipartStream) -> MultipartParser:
    try:
        return MultipartParser(
            boundary,
            {
                "on_part_begin": form.on_part_begin,
                "on_header_field": form.on_header_field,
                "on_header_value": form.on_header_value,
                "on_header_end": form.on_header_end,
                "on_headers_finished": form.on_headers_finished,
                "on_part_data": form.on_part_data,
                "on_part_end": form.on_part_end,
                "on_end": form.on_end,
            },
        )
    except FormParserError as error:
        raise _malformed(f"the boundary cannot be used: {error}") from error


def _names(disposition: str) -> tuple[str, str | None]:
    """The name of a part, and its file name: None for a plain field, possibly empty for a file."""
    _, options = parse_options_header(disposition)
    name = options.get(b"name")
    if name is None:
        raise _malformed("a part of the form has no name")
    filename = options.get(b"filename")
    shown = None if filename is None else _decoded(filename)
    if extended := _EXTENDED_NAME.search(disposition):
        shown = _decoded_extended(*extended.groups()) or shown
    return _decoded(name), shown


def _decoded(name: bytes) -> str:
    return name.decode("utf-8", "replace")


def _decoded_extended(charset: str, quoted: str) -> str | None:
    try:
        return unquote(quoted, encoding=charset, errors="replace")
    except LookupError:
        return None


def _malformed(problem: str) -> Problem:
    return Problem(400, "malformed_form", problem, "Send it as multipart/form-data, with any HTTP library")
