"""How deep JSON may be nested: told from its brackets, before a parser or anything behind it recurses."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Iterator
from itertools import accumulate

from docproc.http.problems import Problem

DEEPEST = 50
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")

# Possessive, and an open end counts as closed: one pass, whatever somebody wrote.
_STRINGS = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\\?\Z)', re.DOTALL)
_OTHER = bytes(set(range(256)) - set(b"[]{}"))


def is_too_deep(text: bytes | bytearray | str) -> bool:
    return max(_levels(text), default=0) > DEEPEST


def is_closed(text: bytes | bytearray | str) -> bool:
    return all(level == 0 for level in deque(_levels(text), maxlen=1))


def check(text: bytes | bytearray | str, what: str, code: str = "invalid_body") -> None:
    """Raises Problem 422."""
    if is_too_deep(text):
        raise Problem(422, code, f"{what} is nested deeper than {DEEPEST} levels", "Send it flatter")


def _levels(text: bytes | bytearray | str) -> Iterator[int]:
    """After each bracket, how many are open."""
    brackets = _STRINGS.sub(b"", _utf8(text)).translate(None, _OTHER)
    return accumulate(1 if bracket in b"[{" else -1 for bracket in brackets)


def _utf8(text: bytes | bytearray | str) -> bytes:
    if isinstance(text, str):
        return text.encode("utf-8", "surrogatepass")
    try:  # as the parser will read it
        decoded = bytes(text).decode(json.detect_encoding(text), "surrogatepass")
    except UnicodeDecodeError:  # the parser will not
        return b""
    return decoded.encode("utf-8", "surrogatepass")
