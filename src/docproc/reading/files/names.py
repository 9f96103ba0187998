"""Names that strangers chose, made fit to be shown and sorted. They never reach the file system."""

from __future__ import annotations

import re
import unicodedata

_LONGEST_PART = 80
_LONGEST_NAME = 400
_JUNK = {"__macosx", "thumbs.db", "desktop.ini"}


def readable(name: str) -> str:
    """The name for people: no control or direction signs, no `..`, drives or endless parts."""
    seen = "".join("\N{REPLACEMENT CHARACTER}" if _is_unseen(sign) else sign for sign in name[:4000])
    parts = [part.strip() for part in re.sub(r"^[A-Za-z]:", "", seen.replace("\\", "/")).split("/")]
    kept = [_shortened(part) for part in parts if part.strip(".")]
    text = unicodedata.normalize("NFC", "/".join(kept)) or "unnamed"
    return text if len(text) <= _LONGEST_NAME else f"…{text[1 - _LONGEST_NAME :]}"


def _is_unseen(sign: str) -> bool:
    return unicodedata.category(sign) in {"Cc", "Cf", "Cs", "Zl", "Zp"}


def _shortened(part: str) -> str:
    if len(part) <= _LONGEST_PART:
        return part
    stem, dot, suffix = part.rpartition(".")
    if not dot or len(suffix) > 8:
        return f"{part[: _LONGEST_PART - 1]}…"
    return f"{stem[: _LONGEST_PART - 2 - len(suffix)]}….{suffix}"


def is_junk(name: str) -> bool:
    """What operating systems leave in archives: nobody meant to send it."""
    parts = readable(name).split("/")
    return any(part.startswith((".", "~$")) or part.lower() in _JUNK for part in parts)


def natural_key(name: str) -> list[tuple[int, int, str]]:
    """Sorts "scan 9" before "scan 10"; compares digits as text, for a number may have thousands."""
    parts = re.split(r"([0-9]+)", name.casefold())
    return [
        (0, len(part.lstrip("0")), part.lstrip("0")) if part.isascii() and part.isdigit() else (1, 0, part)
        for part in parts
        if part
    ]
