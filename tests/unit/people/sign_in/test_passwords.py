"""Passwords: which may be chosen, and that only the right one fits."""

from __future__ import annotations

import pytest

from docproc.errors import UsageError
from docproc.people.sign_in import passwords


async def test_only_the_right_password_fits_and_hashes_differ() -> None:
    first, second = passwords.hashed("cuatro palabras más"), await passwords.hash_away("cuatro palabras más")
    assert first.startswith("$argon2id$") and first != second
    assert await passwords.fits(first, "cuatro palabras más")
    assert await passwords.fits(first, "cuatro palabras ma\u0301s")  # the same, typed in another way
    assert not await passwords.fits(first, "cuatro palabras mas")
    assert not passwords.is_outdated(first)


@pytest.mark.parametrize("stored", [None, "", "not a hash"])
async def test_nothing_fits_where_no_password_is_stored(
    stored: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    compared = passwords.hashed("compared with nobody")
    monkeypatch.setattr(passwords, "_nobody", lambda: compared)
    for tried in ("", "compared with nobody", "x" * 100_000, "\ud800"):
        assert not await passwords.fits(stored, tried)


@pytest.mark.parametrize("chosen", ["", "short", "x" * 257])
def test_passwords_too_short_or_endless_are_refused(chosen: str) -> None:
    with pytest.raises(UsageError, match="10 to 256"):
        passwords.check(chosen)
