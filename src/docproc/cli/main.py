"""`docproc`: the command line's root, and the way errors reach people. Commands are imported when called."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping
from typing import Any

import typer
from typer.core import TyperGroup

from docproc import __version__
from docproc.application import Command, load
from docproc.cli import help as overview
from docproc.cli.commands import find_commands
from docproc.errors import DocProcError

# How commands talk: Typer's tables, and errors as they are.
_LOOK: dict[str, Any] = {"rich_markup_mode": "rich", "pretty_exceptions_enable": False}


class _WhenCalled(Mapping[str, Any]):
    """Commands by name, each made when it is asked for."""

    def __init__(self, commands: Mapping[str, Command]) -> None:
        self._commands = commands
        self._made: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._made:
            self._made[name] = _make(self._commands[name])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._commands)

    def __len__(self) -> int:
        return len(self._commands)


class _Root(TyperGroup):
    """What is installed decides which commands there are."""

    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        self.found = find_commands()
        made: Any = _WhenCalled(self.found.all)
        self.commands = made

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.found.all)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if not ctx.resilient_parsing:  # a shell that completes words is told nothing
            self.found.refuse_skipped(cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        overview.show(self.found, ctx.command_path)


def _make(command: Command) -> Any:
    """What Typer makes of a function, or of a Typer with commands of its own."""
    found = load(command.path)
    holder = typer.Typer(add_completion=False, **_LOOK)
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=command.name)
    else:
        holder.command(command.name)(found)
    return typer.main.get_group(holder).commands[command.name]


app = typer.Typer(name="docproc", cls=_Root, help=overview.ABOUT, no_args_is_help=True, **_LOOK)


def _version(wanted: bool) -> None:
    if wanted:
        print(__version__)
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_version, is_eager=True, help=overview.VERSION),
) -> None:
    pass


def main() -> None:
    try:
        app()
    except DocProcError as error:
        tell(error)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        sys.exit(130)


def tell(error: DocProcError) -> None:
    """In one line on standard error."""
    from rich.markup import escape

    from docproc.terminal.output import errors

    errors.print(f"[bold red]error:[/] {escape(str(error))}", highlight=False, soft_wrap=True)
