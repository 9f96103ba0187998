"""`docproc video send`: a film to a server, and what was made of it back."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any
from uuid import UUID

import typer

from docproc.apps.video.cli.options import (
    AsJson,
    Codec,
    Filters,
    FrameBar,
    Processing,
    check_target,
    parse_filters,
)
from docproc.errors import UsageError
from docproc.settings import Settings
from docproc.terminal.output import console, errors, load_settings, print_json, run_async


def send(
    video: Path = typer.Option(..., "--video", help="The film", show_default=False),
    host: str = typer.Option("::1", "--host", help="Where the server is"),
    port: int = typer.Option(9090, "--port", min=1, max=65535),
    ipv4: bool = typer.Option(False, "--ipv4", help="Over IPv4 only"),
    ipv6: bool = typer.Option(False, "--ipv6", help="Over IPv6 only"),
    processing: str = Processing,
    filters: list[str] = Filters,
    codec: str = Codec,
    out: Path = typer.Option("output.mp4", "--out", "-o", help="The film that is made"),
    preview: bool = typer.Option(
        False, "--preview", help="Say where it can be watched meanwhile, and open it"
    ),
    session: UUID = typer.Option(None, "--session", help="Go on with a session that was broken off"),
    callback_url: str = typer.Option(
        None, "--callback-url", help="Where the request's answers are sent, too"
    ),
    patience: float = typer.Option(
        60.0, "--patience", min=0, help="Seconds that a server which went away may take to come back"
    ),
    as_json: bool = AsJson,
) -> None:
    """Send a film to a video server, wait, and write the film it makes; exit 1 when it cannot."""
    if not video.is_file():
        raise UsageError(f"there is no file {video}", remedy="Name a film with --video")
    if ipv4 and ipv6:
        raise UsageError("--ipv4 and --ipv6 contradict each other", remedy="Give one of them")
    check_target(out, video)
    settings = load_settings()
    from docproc.apps.video.client import Address, Wish

    family = socket.AF_INET if ipv4 else socket.AF_INET6 if ipv6 else socket.AF_UNSPEC
    if ipv4 and host == "::1":
        host = "127.0.0.1"
    wish = Wish(processing, parse_filters(filters), codec, _token(settings), session, callback_url)
    address = Address(host, port, family)
    result = run_async(_send(address, video, wish, out, patience, preview, as_json))
    metrics = {**result["metrics"], "session_id": result["session_id"], "size_bytes": result["size_bytes"]}
    metrics["output_path"] = str(out)
    if as_json:
        return print_json(metrics)
    console.print_json(data=metrics)


def _token(settings: Settings) -> str | None:
    from docproc.apps.video.settings import VideoSettings

    token = settings.section(VideoSettings).video_token
    return token.get_secret_value() if token else None


async def _send(
    address: Any, film: Path, wish: Any, out: Path, patience: float, preview: bool, as_json: bool
) -> dict[str, Any]:
    from docproc.apps.video.client import send_film

    def acknowledged(said: dict[str, Any]) -> None:
        errors.print(f"session {said['session_id']}", highlight=False)
        if preview:
            errors.print(f"preview {said['preview_url']}", highlight=False, soft_wrap=True)
            if os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"):
                typer.launch(said["preview_url"])

    with FrameBar(shown=not as_json) as bar:

        def tell(what: str, done: int, total: int | None, said: dict[str, Any]) -> None:
            if what == "frames" and said.get("frames_total"):
                bar.frames(said)
            else:
                bar.show(what, done, total)

        return await send_film(address, film, wish, out, tell, acknowledged, patience)
