"""Versions: which router serves a message, and how often the database is asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

import pytest

from docproc.engine.store.session import Store
from docproc.engine.workflow.loader import WorkflowLoader
from docproc.engine.workflow.versions import Versions
from docproc.errors import PermanentError
from tests.unit.engine.workflow.flows import COMPONENTS, MODEL, TOPOLOGY, message, workflow_of

STAGES = "stages: [{name: a, component: work}]"


class Shelf:
    """Stands in for the store: one kept definition, and a count of the reads."""

    def __init__(self, definition: str | None) -> None:
        self.definition = definition
        self.reads = 0

    @asynccontextmanager
    async def reading(self) -> AsyncIterator[Shelf]:
        yield self

    async def scalar(self, _query: Any) -> str | None:
        self.reads += 1
        return self.definition


def _versions(folder: Path, definition: str | None) -> tuple[Versions, Shelf]:
    shelf = Shelf(definition)
    return Versions(cast(Store, shelf), WorkflowLoader(folder, COMPONENTS, TOPOLOGY, model=MODEL)), shelf


async def test_message_without_a_version_follows_the_file(tmp_path: Path) -> None:
    (tmp_path / "flow.yaml").write_text(f"name: flow\n{STAGES}\n")
    versions, shelf = _versions(tmp_path, None)
    assert list((await versions.router(message(workflow_name="flow"))).plan.steps) == ["a"]
    assert shelf.reads == 0


async def test_message_keeps_the_version_it_started_with_though_the_file_is_gone(tmp_path: Path) -> None:
    kept = workflow_of(STAGES)
    versions, _ = _versions(tmp_path, kept.model_dump_json(exclude_none=True))
    started = message("a", workflow_name="flow", workflow_version=kept.content_version)
    assert (await versions.workflow(started)) == kept


@pytest.mark.parametrize("version", ["as computed here", "as another release computed it"])
async def test_kept_version_is_read_once(tmp_path: Path, version: str) -> None:
    kept = workflow_of(STAGES)
    versions, shelf = _versions(tmp_path, kept.model_dump_json(exclude_none=True))
    asked = kept.content_version if version == "as computed here" else "0123456789abcdef"
    started = message("a", workflow_name="flow", workflow_version=asked)
    routers = [await versions.router(started) for _ in range(3)]
    assert routers[0] is routers[1] is routers[2]
    assert shelf.reads == 1


async def test_version_nobody_kept_is_a_permanent_error(tmp_path: Path) -> None:
    versions, _ = _versions(tmp_path, None)
    with pytest.raises(PermanentError, match="'flow' has no version 'gone'"):
        await versions.router(message("a", workflow_name="flow", workflow_version="gone"))


async def test_version_that_no_longer_works_here_is_a_permanent_error(tmp_path: Path) -> None:
    kept = workflow_of("stages: [{name: a, component: uninstalled}]")
    versions, _ = _versions(tmp_path, kept.model_dump_json(exclude_none=True))
    with pytest.raises(
        PermanentError, match="does not work with this release: unknown component 'uninstalled'"
    ):
        await versions.router(message("a", workflow_name="flow", workflow_version=kept.content_version))


async def test_version_of_a_newer_release_is_a_permanent_error(tmp_path: Path) -> None:
    kept = '{"name": "flow", "stages": [{"name": "a", "component": "cut", "from_the_future": 1}]}'
    versions, _ = _versions(tmp_path, kept)
    with pytest.raises(PermanentError, match="does not work with this release"):
        await versions.router(message("a", workflow_name="flow", workflow_version="newer"))
