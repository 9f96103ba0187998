"""The contract of an application: one object that says all an application adds to the engine.

A manifest is data. It names code by path (`"package.module:name"`), which is imported when a process first
needs it: a worker that runs one component imports that component and nothing else of the application.
"""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from docproc.engine.component_spec import ComponentSpec
from docproc.errors import ConfigurationError

# Installed packages offer their manifests under this entry point group.
ENTRY_POINT_GROUP = "docproc.applications"

# "package.module:name", imported when needed.
ImportPath = str


@dataclass(frozen=True, slots=True)
class Section:
    """A top-level key that this application's workflow files may have."""

    key: str
    # A Pydantic model or any type annotation that Pydantic can validate: the value of the key.
    type: ImportPath
    # `check(workflow) -> None`, called on the whole workflow; raises ValueError, or a ValidationError that
    # names the place inside the file.
    check: ImportPath | None = None


@dataclass(frozen=True, slots=True)
class Command:
    """A command of the `docproc` program: a function, or a Typer with commands of its own."""

    name: str
    path: ImportPath
    # One line for `docproc --help`, which imports no command.
    help: str


@dataclass(frozen=True, slots=True)
class Link:
    """An entry of the console's navigation."""

    # The key of its text in the application's catalogue.
    text: str
    href: str
    # On which server the page lies: "api" (port 8000) or "backoffice" (port 8001).
    server: str = "api"
    # The least role that sees it; "" is everybody.
    role: str = ""


@dataclass(frozen=True, slots=True)
class Views:
    """What the web console and the terminal show of an application."""

    # Folders of Jinja templates, of files served under /static/<application's name>/, and of texts
    # (`*.yaml`: key -> {en, es}).
    templates: Path | None = None
    static: Path | None = None
    texts: Path | None = None
    navigation: tuple[Link, ...] = ()
    # Routers of pages, on the API's server and on the review station.
    api_pages: tuple[ImportPath, ...] = ()
    station_pages: tuple[ImportPath, ...] = ()
    # What the list and the page of requests show beyond the engine's own columns: a `RequestView`
    # (docproc.http.views).
    requests: ImportPath | None = None
    # Its columns of the inbox, and its part of a request's page: a `ConsoleView` (docproc.http.console_view).
    console: ImportPath | None = None
    # How its requests look in a terminal: a `TerminalView` (docproc.terminal.view).
    terminal: ImportPath | None = None


@dataclass(frozen=True, slots=True)
class Application:
    """Everything an application adds. All but the name may be left out."""

    name: str
    components: tuple[ComponentSpec, ...] = ()
    sections: tuple[Section, ...] = ()
    # A folder of workflow files that serve where DOCPROC_WORKFLOWS_DIR has none of that name.
    workflows: Path | None = None
    # The module that declares its tables, and the folder of its migrations: an Alembic branch of its own.
    tables: str | None = None
    migrations: Path | None = None
    # A class derived from docproc.SettingsSection.
    settings: ImportPath | None = None
    # FastAPI routers of the API.
    routers: tuple[ImportPath, ...] = ()
    commands: tuple[Command, ...] = ()
    # Type of task -> a `TaskKind` (docproc.people.kinds).
    task_kinds: Mapping[str, ImportPath] = field(default_factory=dict)
    views: Views = Views()
    # `fields(message, payload) -> dict`: what a log line of a handled message says beyond the engine's own
    # fields; `payload` is that of the first emitted message.
    log_fields: ImportPath | None = None
    # `async check(app) -> str | None`: what keeps the application from working, for `/ready`; None: nothing.
    health: ImportPath | None = None
    # `async erase(session, request_id)`: remove its rows of a request and what was learnt from it, in the
    # transaction that erases the request; the engine removes its own rows and the request's files.
    erase: ImportPath | None = None
    # `async count(session, tenant_id, since, request_id=None) -> int`: how many units of a tenant's daily
    # quota its requests took (documents: pages); a `CountUnits` (docproc.engine.running.quotas).
    units: ImportPath | None = None
    # `texts(session, tenant_id) -> async iterator of (request id, text)`: what its rows say of requests,
    # looked through for a person who is to be forgotten (`docproc purge --person`); a `TextsOf`
    # (docproc.engine.store.mentions).
    texts_of: ImportPath | None = None
    # `comparable(result) -> Any`: what of an answer golden cases compare (docproc.promotion); else all of it.
    golden: ImportPath | None = None
    # `async describe(session, request_ids) -> {id: Entry}`: what the inbox shows and finds of its requests; a
    # `Describe` (docproc.engine.store.search).
    describe: ImportPath | None = None
    # What it adds to the alerts: an `AlertSet` (docproc.alerts.alert_set) of metrics, rules and actions.
    alerts: ImportPath | None = None
    # Modules that must be importable, and the extra that brings them: `pip install 'docproc[extra]'`.
    requires: tuple[str, ...] = ()
    install: str = ""


def load(path: ImportPath) -> Any:
    """The object that a path names; a ConfigurationError says which one cannot be imported."""
    module_name, _, name = path.partition(":")
    try:
        return getattr(importlib.import_module(module_name), name)
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(
            f"{path!r} cannot be imported: {error}",
            remedy="Check the path in the application's manifest, and that its package is installed",
        ) from error
