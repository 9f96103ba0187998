"""What the API tells of a request that is a film."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast
from uuid import uuid4

import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.video.http.views import view
from docproc.apps.video.progress import Progress
from docproc.apps.video.settings import sessions_of
from docproc.engine.store.tables import Request
from docproc.settings import Settings

NO_SESSION = cast(AsyncSession, None)


async def test_film_tells_how_far_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DOCPROC_HOME", str(tmp_path))
    film, paper = Request(id=uuid4(), channel="video"), Request(id=uuid4(), channel="api")
    assert await view.detail(NO_SESSION, film, {}) == {"film": None}, "not begun"
    place = sessions_of(Settings.load()).of(film.id)
    place.make()
    place.say("progress", Progress(str(film.id), "a.mp4", [], "processing", 3, 10).snapshot())
    told: dict[str, Any] = dict(await view.detail(NO_SESSION, film, {}))["film"]
    assert (told["status"], told["frames_processed"], told["frames_total"]) == ("processing", 3, 10)
    assert await view.detail(NO_SESSION, paper, {}) == {"film": None}
