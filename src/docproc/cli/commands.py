"""Which commands there are, without importing one: those all share, each application's own, and those of
packages that are tools."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from docproc.application import Application, Command
from docproc.errors import ConfigurationError, UsageError
from docproc.installed import Skipped, find_applications, find_tools

# What people come for first; commands that are not named follow by name.
ORDER = (
    *("run", "up", "submit", "status", "watch", "cancel", "samples", "eval", "learn"),
    *("corrections", "operator", "keys", "tenants", "workflow", "worker", "request", "deadletters", "alerts"),
    *("golden", "promote", "capacity", "purge", "db"),
)

_PACKAGE = "docproc.cli"
_APPLICATIONS = "DOCPROC_APPLICATIONS"

SHARED = (
    Command(
        "up", f"{_PACKAGE}.up:up", "Serve the API and process what comes, until Ctrl-C or SIGTERM."
    ),
    Command("status", f"{_PACKAGE}.status:status", "Say where a request stands, and show what was found."),
    Command(
        "watch", f"{_PACKAGE}.watch:watch",
        "Follow requests until they are over, and show what is in them; exit 1 when one failed.",
    ),
    Command("cancel", f"{_PACKAGE}.cancel:cancel", "Cancel a request: nothing more is done for it."),
    Command("operator", f"{_PACKAGE}.operator:app", "Accounts of the people at the review station."),
    Command("keys", f"{_PACKAGE}.keys:app", "Keys with which programs say who they are."),
    Command("tenants", f"{_PACKAGE}.tenants:app", "Tenants: whose work is kept apart from others'."),
    Command(
        "purge", f"{_PACKAGE}.purge:purge",
        "Erase a tenant, or the requests that speak of a person; shows what would go unless --yes.",
    ),
    Command("workflow", f"{_PACKAGE}.workflow:app", "Check, list, show and draw workflow files."),
    Command(
        "worker", f"{_PACKAGE}.worker:worker",
        "Run components until Ctrl-C or SIGTERM; dead workers are restarted.",
    ),
    Command("request", f"{_PACKAGE}.request:app", "Requests: work for any workflow."),
    Command("deadletters", f"{_PACKAGE}.deadletters:app", "Messages that could not be handled."),
    Command(
        "alerts", f"{_PACKAGE}.alerts:app", "Alerts: what fires, by which rules, and what was measured."
    ),
    Command("golden", f"{_PACKAGE}.golden:app", "Cases that every later version of a workflow must pass."),
    Command(
        "promote", f"{_PACKAGE}.promote:promote",
        "Run the golden cases on a workflow's next version, and promote it or say why not; exit 1 then.",
    ),
    Command("db", f"{_PACKAGE}.database:app", "The database's schema."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Commands:
    """By name and in order; and the applications that cannot work here."""

    all: dict[str, Command]
    skipped: tuple[Skipped, ...]

    def refuse_skipped(self, name: str) -> None:
        """A UsageError says what to install for the command of an application that cannot work here."""
        for one in self.skipped:
            if name in one.commands:
                raise UsageError(f"{name!r} is a command of {one.name}, {one.problem}", remedy=one.remedy)


def find_commands() -> Commands:
    """Of the applications that DOCPROC_APPLICATIONS names, else of all, and every tool's; raises
    ConfigurationError."""
    installed, chosen = find_applications(), _chosen()
    applications = [one for one in installed.applications if chosen is None or one.name in chosen]
    skipped = tuple(one for one in installed.skipped if chosen is None or one.name in chosen)
    found = _by_name(applications)
    first = {name: found[name] for name in ORDER if name in found}
    return Commands({**first, **dict(sorted(found.items()))}, skipped)


def _by_name(applications: list[Application]) -> dict[str, Command]:
    found: dict[str, Command] = {}
    own = (command for one in applications for command in one.commands)
    for command in (*SHARED, *own, *find_tools()):
        if command.name in found:
            raise ConfigurationError(
                f"the command {command.name!r} is there twice: {found[command.name].path}, {command.path}",
                remedy=f"Name the applications to load in {_APPLICATIONS}, without one of them",
            )
        found[command.name] = command
    return found


def _chosen() -> tuple[str, ...] | None:
    """As the settings say; they take longer to import than all the rest, so only where they name any."""
    if not (_APPLICATIONS in map(str.upper, os.environ) or _is_in_env_file()):
        return None
    from docproc.settings import Settings

    try:
        return Settings.load().applications
    except ConfigurationError:  # whichever command is called says so
        return None


def _is_in_env_file() -> bool:
    try:
        return _APPLICATIONS in Path(".env").read_text(encoding="utf-8").upper()
    except (OSError, UnicodeDecodeError):
        return False
