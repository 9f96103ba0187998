"""Passwords: argon2id, away from the event loop and a few at a time."""

from __future__ import annotations

import asyncio
import secrets
import unicodedata
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache, partial
from typing import ParamSpec, TypeVar

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

from docproc.errors import UsageError

P = ParamSpec("P")
Result = TypeVar("Result")

SHORTEST, LONGEST = 10, 256

_HASHER = PasswordHasher()  # argon2id; the library's defaults are those of RFC 9106
# Each takes 64 MiB and a core; a crowd at the door waits here.
_THREADS = ThreadPoolExecutor(max_workers=2, thread_name_prefix="passwords")


def check(password: str) -> None:
    """Raises UsageError when it is too short or too long."""
    if not SHORTEST <= len(password) <= LONGEST:
        is_short = len(password) < SHORTEST
        raise UsageError(
            f"a password has {SHORTEST} to {LONGEST} characters",
            remedy="Choose a longer one, such as four words" if is_short else "Choose a shorter one",
        )


def hashed(password: str) -> str:
    """What is stored of it. Slow on purpose: never call it in the event loop."""
    return _HASHER.hash(_normal(password))


def is_outdated(password_hash: str) -> bool:
    """Whether it was made with weaker parameters than today's."""
    return _HASHER.check_needs_rehash(password_hash)


async def fits(password_hash: str | None, password: str) -> bool:
    """Takes as long for somebody without a password, whose name nobody shall learn."""
    return await _away(_fits, password_hash, password)


async def hash_away(password: str) -> str:
    return await _away(hashed, password)


async def _away(function: Callable[P, Result], *arguments: P.args, **named: P.kwargs) -> Result:
    job = partial(function, *arguments, **named)
    return await asyncio.get_running_loop().run_in_executor(_THREADS, job)


@cache
def _nobody() -> str:
    """What an unknown name is compared with: it takes as long, and never fits."""
    return _HASHER.hash(secrets.token_urlsafe())


def _fits(password_hash: str | None, password: str) -> bool:
    if len(password) > LONGEST:
        password, password_hash = "", None
    try:
        _HASHER.verify(password_hash or _nobody(), _normal(password))
    except (VerificationError, InvalidHashError, UnicodeEncodeError):  # half a character is nobody's
        return False
    return bool(password_hash)


def _normal(password: str) -> str:
    """Keyboards type é in two ways."""
    return unicodedata.normalize("NFC", password)
