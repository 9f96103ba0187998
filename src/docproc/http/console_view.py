"""What applications show in the console: columns of the inbox, their part of a request's page, and exports.

The console knows requests, statuses, deadlines, events and answers; what is inside a request, only its
application knows. It says so through a `ConsoleView`, which its manifest names (`Views.console`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import App
from docproc.application import load
from docproc.engine.store.tables import Request
from docproc.errors import ConfigurationError
from docproc.http.access.caller import Caller
from docproc.written import Written


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the inbox; `text` is the key of its heading."""

    key: str
    text: str
    is_number: bool = False


@dataclass(frozen=True, slots=True)
class Facet:
    """Something that the inbox can be filtered by; the values are those of `Entry.facets`."""

    name: str
    # The key of what stands above the choices.
    text: str
    # Value -> what people call it.
    choices: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Panel:
    """An application's part of the page of a request."""

    template: str
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Exported:
    """A file to take away."""

    content: bytes
    media_type: str


@dataclass(frozen=True, slots=True)
class Change:
    """What one version of an answer says otherwise than the one before; "" where it said nothing."""

    where: str
    before: str
    after: str


class ConsoleView:
    """One application's part of the console. Its methods read only, and leave out what they do not know."""

    columns: ClassVar[tuple[Column, ...]] = ()
    # In which formats answers of many requests can be had: file endings.
    exports: ClassVar[tuple[str, ...]] = ()

    def facets(self, written: Written) -> Sequence[Facet]:
        return ()

    def cells(self, summary: Mapping[str, Any], written: Written) -> Mapping[str, str]:
        """The texts of its columns, from the summary that it described (`Entry.summary`)."""
        return {}

    def note(self, summary: Mapping[str, Any], written: Written) -> str:
        """What stands below the title: how much it is."""
        return ""

    def picture(self, request_id: UUID, summary: Mapping[str, Any]) -> str | None:
        """The address of a small picture."""
        return None

    async def progress(
        self, session: AsyncSession, request_ids: Sequence[UUID], written: Written
    ) -> Mapping[UUID, str]:
        """How far requests under way are, in a few words."""
        return {}

    async def intake(self, application: App, caller: Caller, written: Written) -> Panel | None:
        """Where somebody puts files in, shown above the inbox; once for the page."""
        return None

    async def panel(self, application: App, request: Request, written: Written) -> Panel | None:
        """What is inside a request; None where it is of another application."""
        return None

    def differences(self, before: Any, after: Any, written: Written) -> Sequence[Change]:
        """Between the payloads of two answers to one request."""
        return ()

    async def export(
        self, application: App, request_ids: Sequence[UUID], format: str, language: str
    ) -> Exported:
        """The answers of requests as one file; those without one are left out."""
        raise NotImplementedError


class ConsoleViews:
    """Those of all applications as one."""

    def __init__(self, views: Sequence[ConsoleView]) -> None:
        self.all = views
        self.columns = [column for view in views for column in view.columns]
        keys = [column.key for column in self.columns]
        if twice := sorted({key for key in keys if keys.count(key) > 1}):
            raise ConfigurationError(
                f"two applications add the column {twice[0]!r} to the inbox",
                remedy="Name the applications to load in DOCPROC_APPLICATIONS, without one of them",
            )

    @property
    def exporting(self) -> ConsoleView | None:
        """The one that makes files of answers."""
        return next((view for view in self.all if view.exports), None)

    def cells(self, summary: Mapping[str, Any], written: Written) -> dict[str, str]:
        return {key: text for view in self.all for key, text in view.cells(summary, written).items()}

    def note(self, summary: Mapping[str, Any], written: Written) -> str:
        return " · ".join(filter(None, (view.note(summary, written) for view in self.all)))

    def picture(self, request_id: UUID, summary: Mapping[str, Any]) -> str | None:
        return next(filter(None, (view.picture(request_id, summary) for view in self.all)), None)

    def facets(self, written: Written) -> list[Facet]:
        return [facet for view in self.all for facet in view.facets(written)]

    async def progress(
        self, session: AsyncSession, request_ids: Sequence[UUID], written: Written
    ) -> dict[UUID, str]:
        found: dict[UUID, str] = {}
        for view in self.all if request_ids else ():
            found.update(await view.progress(session, request_ids, written))
        return found

    def differences(self, before: Any, after: Any, written: Written) -> list[Change]:
        return [change for view in self.all for change in view.differences(before, after, written)]

    async def panel(self, application: App, request: Request, written: Written) -> Panel | None:
        for view in self.all:
            if panel := await view.panel(application, request, written):
                return panel
        return None

    async def intake(self, application: App, caller: Caller, written: Written) -> list[Panel]:
        found = [await view.intake(application, caller, written) for view in self.all]
        return [panel for panel in found if panel]


def console_views_of(application: App) -> ConsoleViews:
    """Those of a process, made once."""
    return application.shared(_make)


def _make(application: App) -> ConsoleViews:
    paths = [one.views.console for one in application.applications.all if one.views.console]
    return ConsoleViews([load(path) for path in paths])
