"""Serving the preview."""

from __future__ import annotations

from docproc.settings import Settings


def serve(settings: Settings, host: str, port: int) -> None:
    raise NotImplementedError
