"""The machines: which workers live and what they use, the room on disks, and dead letters."""

from __future__ import annotations

import asyncio
import shutil
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.alerts.samples import Sample
from docproc.engine.store import rows
from docproc.engine.store.workers import STALE_SECONDS

if TYPE_CHECKING:
    from docproc.app import App

ACTIVE, CPU, MEMORY = "workers.active", "workers.cpu", "workers.memory"
DISK_FREE = "disk.free"
DEAD_LETTERS = "dead_letters.open"

LIVING = """
SELECT id, host, pid, components, is_ready, slots, started_at, cpu_pct, memory_mb FROM workers
WHERE beat_at > {fresh} ORDER BY host, components, pid
"""
LETTERS = "SELECT count(*) AS number FROM dead_letters WHERE settled_at IS NULL"
# A process that hosts many components is named by the first ones.
_NAMED = 48


async def measure(app: App, session: AsyncSession) -> list[Sample]:
    [letters] = await rows.execute(session, LETTERS)
    samples = [Sample(DEAD_LETTERS, letters.number, {})]
    groups: defaultdict[str, list[Any]] = defaultdict(list)
    for row in await living(app, session):
        groups[name_of(row.components)].append(row)
    for name, found in groups.items():
        labels = {"component": name}
        samples += [
            Sample(ACTIVE, len(found), labels),
            Sample(CPU, sum(row.cpu_pct or 0.0 for row in found) / 100, labels),
            Sample(MEMORY, sum(row.memory_mb or 0.0 for row in found) * 2**20, labels),
        ]
    samples.append(Sample(ACTIVE, sum(map(len, groups.values())), {}))
    return [*samples, *await asyncio.to_thread(_disks, app)]


async def living(app: App, session: AsyncSession) -> list[Any]:
    """The worker processes whose last beat is recent."""
    statement = LIVING.format(fresh=app.store.clock_plus(":age"))
    return await rows.execute(session, statement, age=-STALE_SECONDS)


def name_of(components: str) -> str:
    """How the workers of these components are called: each container has one, an embedded process several."""
    names = components.split(",")
    shown = ", ".join(names)
    return shown if len(shown) <= _NAMED else f"{names[0]}, {names[1]} +{len(names) - 2}"


def _disks(app: App) -> list[Sample]:
    """Where this process writes: the folder of files, and that of an embedded database."""
    settings = app.settings
    places = {"home": settings.home.expanduser().absolute()} if settings.is_embedded else {}
    if settings.effective_blobstore == "local":
        places["files"] = settings.effective_storage_path
    found = []
    for name, path in places.items():
        usage = shutil.disk_usage(_existing(path))
        found.append(Sample(DISK_FREE, usage.free / usage.total, {"place": name}))
    return found


def _existing(path: Path) -> Path:
    """A folder that is made with its first file lies on the disk of the one above it."""
    while not path.exists() and path != path.parent:
        path = path.parent
    return path
