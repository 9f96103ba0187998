"""What the loaded applications add up to: read from their manifests, imported when first asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

from docproc.application import Application, ImportPath, load
from docproc.engine.message import PipelineMessage
from docproc.engine.running.quotas import CountUnits
from docproc.engine.running.work import Middleware
from docproc.engine.store.erasure import EraseOwn
from docproc.engine.store.mentions import TextsOf
from docproc.engine.store.schema_version import Branch
from docproc.engine.store.search import Describe
from docproc.engine.workflow.definition import Workflow, WorkflowSection, with_sections
from docproc.errors import ConfigurationError
from docproc.installed import MIDDLEWARE, find_points
from docproc.settings import Settings


class Applications:
    """The applications of a process, as one."""

    def __init__(self, applications: Sequence[Application]) -> None:
        self.all = tuple(applications)

    @cached_property
    def workflow_model(self) -> type[Workflow]:
        """Workflow files with the sections of all of them."""
        sections = [section for one in self.all for section in one.sections]
        _refuse_twice("workflow section", [section.key for section in sections])
        return with_sections(
            [
                WorkflowSection(one.key, load(one.type), load(one.check) if one.check else None)
                for one in sections
            ]
        )

    @property
    def workflow_folders(self) -> list[Path]:
        return [one.workflows for one in self.all if one.workflows]

    @property
    def migrations(self) -> list[Branch]:
        return [Branch(one.name, one.migrations) for one in self.all if one.migrations]

    @property
    def task_kinds(self) -> dict[str, ImportPath]:
        """Type of task -> path of its kind."""
        _refuse_twice("kind of task", [kind for one in self.all for kind in one.task_kinds])
        return {kind: path for one in self.all for kind, path in one.task_kinds.items()}

    def import_tables(self) -> None:
        """So that the tables of all of them are in the metadata."""
        for one in self.all:
            if one.tables:
                __import__(one.tables)

    def check_settings(self, settings: Settings) -> None:
        """Before start: a bad value of an application's variable is reported like any other."""
        for one in self.all:
            if one.settings:
                settings.section(load(one.settings))

    async def problem(self, app: object) -> str | None:
        """What keeps the first of them that has one from working, in a line; `app` is the process."""
        for name, check in self._health.items():
            if found := await check(app):
                return f"{name}: {found}"
        return None

    @cached_property
    def _health(self) -> dict[str, Any]:
        return {one.name: load(one.health) for one in self.all if one.health}

    @cached_property
    def erasers(self) -> list[EraseOwn]:
        """What removes their rows of a request."""
        return [load(one.erase) for one in self.all if one.erase]

    @cached_property
    def units(self) -> list[CountUnits]:
        """What counts their units of a tenant's day."""
        return [load(one.units) for one in self.all if one.units]

    @cached_property
    def texts_of(self) -> list[TextsOf]:
        """What their rows say of requests."""
        return [load(one.texts_of) for one in self.all if one.texts_of]

    @cached_property
    def describers(self) -> list[Describe]:
        """What says by what their requests are found."""
        return [load(one.describe) for one in self.all if one.describe]

    def log_fields(self, message: PipelineMessage, payload: Mapping[str, Any]) -> dict[str, Any]:
        """What they say of a handled message in its log line."""
        found: dict[str, Any] = {}
        for fields in self._log_fields:
            found |= fields(message, payload)
        return found

    @cached_property
    def _log_fields(self) -> list[Any]:
        return [load(one.log_fields) for one in self.all if one.log_fields]


def load_middleware() -> list[type[Middleware]]:
    """What is installed, outermost first."""
    found: list[type[Middleware]] = [point.load() for point in find_points(MIDDLEWARE)]
    return sorted(found, key=lambda one: one.place)


def _refuse_twice(what: str, names: Sequence[str]) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(
                f"two applications offer the {what} {name!r}",
                remedy="Name the applications to load in DOCPROC_APPLICATIONS, without one of them",
            )
