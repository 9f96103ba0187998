"""Requests that change something must come from our own pages: they carry the session's token."""

from __future__ import annotations

import secrets

from fastapi import Request

from docproc.http.problems import Problem

HEADER, FIELD = "X-CSRF-Token", "csrf"
_READING = ("GET", "HEAD", "OPTIONS")
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")


async def check(request: Request, token: str) -> None:
    """Raises Problem 403 when a changing request has not the session's token."""
    if request.method in _READING:
        return
    said = request.headers.get(HEADER) or await _field(request)
    if not secrets.compare_digest(said.encode(), token.encode()):
        raise Problem(
            403,
            "csrf",
            "the request does not carry its session's token",
            f"Send it as {HEADER}, or reload the page",
        )


async def _field(request: Request) -> str:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind not in _FORMS:
        return ""
    said = (await request.form()).get(FIELD)
    return said if isinstance(said, str) else ""
