"""The manifest of video: what this application adds to the engine. It is read by every process, so it
imports nothing but the contract."""

from __future__ import annotations

from pathlib import Path

from docproc.application import Application, Command, Views
from docproc.engine.component_spec import REQUEST_UNIT, ComponentSpec

_HERE = Path(__file__).parent
_PACKAGE = "docproc.apps.video"

application = Application(
    name="video",
    components=(
        ComponentSpec(
            "film",
            f"{_PACKAGE}.components.film:FilmComponent",
            routing_key="request.film",
            takes=REQUEST_UNIT,
            status="filtering",
        ),
    ),
    workflows=_HERE / "workflows",
    settings=f"{_PACKAGE}.settings:VideoSettings",
    commands=(
        Command("video", f"{_PACKAGE}.cli.app:app", "Films: filter their frames, here or on many machines."),
    ),
    views=Views(texts=_HERE / "texts", requests=f"{_PACKAGE}.http.views:view"),
    erase=f"{_PACKAGE}.erasing:erase",
    requires=("PIL", "av", "celery", "cv2", "flask", "numpy", "redis", "waitress"),
    install="docproc[video]",
)
