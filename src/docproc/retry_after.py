"""How long a server asks to be left alone: the header `Retry-After`, in both of its forms."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

_SECONDS = re.compile(r"\d{1,12}(\.\d{1,6})?", re.ASCII)


def wait_seconds(retry_after: str | None, now: datetime) -> float | None:
    """What a `Retry-After` says, as seconds or as a date; None when it says nothing usable."""
    if retry_after is None:
        return None
    text = retry_after.strip()
    if text.isascii() and text.isdigit():
        return float(text[:12])
    if _SECONDS.fullmatch(text):
        return float(text)
    try:
        until = parsedate_to_datetime(text)
    except ValueError:
        return None
    until = until.replace(tzinfo=UTC) if until.tzinfo is None else until
    return max(0.0, (until - now).total_seconds())
