"""What is installed: applications, commands, transports, blob stores, middleware, found by entry points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from typing import Any

from docproc import entry_points
from docproc.application import ENTRY_POINT_GROUP, Application, Command
from docproc.entry_points import Point
from docproc.errors import ConfigurationError

BLOBSTORES = "docproc.blobstores"
COMMANDS = "docproc.commands"
MIDDLEWARE = "docproc.middleware"


@dataclass(frozen=True, slots=True)
class Skipped:
    """An application that is installed but cannot work here."""

    name: str
    problem: str
    remedy: str
    # The commands it would have, so that whoever types one is told what to install.
    commands: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Installed:
    applications: tuple[Application, ...]
    skipped: tuple[Skipped, ...]

    def chosen(self, names: Sequence[str] | None) -> tuple[Application, ...]:
        """The applications called so, all of them where nothing is named; raises ConfigurationError."""
        if names is None:
            return self.applications
        known = {application.name: application for application in self.applications}
        for name in names:
            if name in known:
                continue
            skipped = next((one for one in self.skipped if one.name == name), None)
            raise ConfigurationError(
                f"DOCPROC_APPLICATIONS names {name!r}, "
                f"{skipped.problem if skipped else 'which is not installed'}",
                remedy=skipped.remedy if skipped else f"Use {', '.join(sorted(known)) or 'none'}",
            )
        return tuple(known[name] for name in names)


@cache
def find_points(group: str) -> tuple[Point, ...]:
    """The entry points of a group; of two with one name the first found counts, as Python's imports do."""
    found = {point.name: point for point in reversed(list(entry_points.find(group)))}
    return tuple(found[name] for name in sorted(found))


@cache
def find_applications() -> Installed:
    """Manifests are read, nothing else is imported. One that cannot work is left out and says why."""
    usable: list[Application] = []
    skipped: list[Skipped] = []
    for point in find_points(ENTRY_POINT_GROUP):
        try:
            manifest = point.load()
        except ImportError as error:
            anew = f"Install {point.distribution or point.value} anew"
            skipped.append(Skipped(point.name, f"which cannot be imported: {error}", anew))
            continue
        if not isinstance(manifest, Application) or manifest.name != point.name:
            raise ConfigurationError(
                f"the entry point {point.name!r} ({point.value}) is no application of that name",
                remedy="Let it name a docproc.Application whose `name` is the entry point's",
            )
        lacking = [module for module in manifest.requires if find_spec(module) is None]
        if lacking:
            commands = tuple(command.name for command in manifest.commands)
            problem = f"which needs {', '.join(lacking)}"
            remedy = f"Install it with: pip install '{manifest.install}'"
            skipped.append(Skipped(manifest.name, problem, remedy, commands))
            continue
        usable.append(manifest)
    return Installed(tuple(usable), tuple(skipped))


@cache
def find_tools() -> tuple[Command, ...]:
    """Commands that packages add without being an application; nothing but their `Command` is imported."""
    tools = []
    for point in find_points(COMMANDS):
        command = point.load()
        if not isinstance(command, Command) or command.name != point.name:
            raise ConfigurationError(
                f"the entry point {point.name!r} ({point.value}) is no command of that name",
                remedy="Let it name a docproc.Command whose `name` is the entry point's",
            )
        tools.append(command)
    return tuple(tools)


def load_plugin(group: str, name: str, setting: str) -> Any:
    """The class that a package offers under this name; a ConfigurationError lists the names there are."""
    points = {point.name: point for point in find_points(group)}
    if name not in points:
        raise ConfigurationError(
            f"{setting} names {name!r}, which no installed package offers",
            remedy=f"Use one of: {', '.join(points)}",
        )
    try:
        return points[name].load()
    except ImportError as error:
        extra = f"docproc[{name}]" if points[name].value.startswith("docproc.") else points[name].value
        raise ConfigurationError(
            f"{name} ({setting}) needs a package that is not installed: {error.name}",
            remedy=f"Install it with: pip install '{extra}'",
        ) from error


def require_extra(extra: str, module: str, what: str) -> None:
    """Raises ConfigurationError where what an extra brings, `module` among it, is not installed."""
    if find_spec(module) is None:
        raise ConfigurationError(
            f"{what} needs {module}, which is not installed",
            remedy=f"Install it with: pip install 'docproc[{extra}]'",
        )
