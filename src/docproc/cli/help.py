"""`docproc --help`: what Typer would draw, from the commands' manifests alone.

Typer's own drawing imports every command, and Markdown and syntax highlighting besides; a test compares them.
Texts are `Text` throughout: strings may hold emoji, whose table takes a while to import.
"""

from __future__ import annotations

import os
from collections.abc import Iterable

from rich.console import Console
from rich.highlighter import RegexHighlighter
from rich.padding import Padding
from rich.panel import Panel
from rich.table import Table
from rich.text import Text
from rich.theme import Theme

from docproc.cli.commands import Commands

ABOUT = "Files in, checked and structured answers out, before a deadline."
VERSION = "Say the version"

_OPTIONS = (
    ("--version", VERSION),
    ("--install-completion", "Install completion for the current shell."),
    (
        "--show-completion",
        "Show completion for the current shell, to copy it or customize the installation.",
    ),
    ("--help", "Show this message and exit."),
)

_STYLES = Theme(
    {
        "option": "bold cyan",
        "switch": "bold green",
        "types": "bold yellow",
        "usage": "yellow",
    }
)


class _Highlighter(RegexHighlighter):
    highlights = [  # noqa: RUF012 # declared so by Rich
        r"(^|\W)(?P<switch>\-\w+)(?![a-zA-Z0-9])",
        r"(^|\W)(?P<option>\-\-[\w\-]+)(?![a-zA-Z0-9])",
        r"(?P<types>\<[^\>]+\>)",
        r"(?P<usage>Usage: )",
    ]


def show(commands: Commands, program: str) -> None:
    """On standard output; `program` is how it was called."""
    highlight = _Highlighter()
    console = _console(highlight)
    usage = f"Usage: {program} [OPTIONS] COMMAND [ARGS]..."
    console.print(Padding(highlight(usage), 1), style="bold")
    console.print(Padding(highlight(Text(ABOUT)), (0, 1, 1, 1)))
    console.print(_panel("Options", _options(highlight)))
    console.print(_panel("Commands", _commands(commands, highlight)))
    for line in _epilog(commands):
        console.print(Padding(highlight(Text(line)), 1))


def _console(highlight: RegexHighlighter) -> Console:
    """The variables that Typer heeds."""
    width = os.environ.get("TERMINAL_WIDTH")
    wanted = any(os.environ.get(name) for name in ("GITHUB_ACTIONS", "FORCE_COLOR", "PY_COLORS"))
    force = False if os.environ.get("_TYPER_FORCE_DISABLE_TERMINAL") else wanted or None
    return Console(
        theme=_STYLES, highlighter=highlight, force_terminal=force, width=int(width) if width else None
    )


def _panel(title: str, table: Table) -> Panel:
    return Panel(table, border_style="dim", title=Text(title), title_align="left")


def _options(highlight: RegexHighlighter) -> Table:
    table = Table(highlight=True, show_header=False, expand=True, box=None, pad_edge=False)
    for name, about in _OPTIONS:
        kind = Text.assemble(("<", "dim"), "bool", (">", "dim"), style="bold yellow")
        table.add_row(highlight(name), *[Text()] * 3, kind, highlight(Text(about)))
    return table


def _commands(commands: Commands, highlight: RegexHighlighter) -> Table:
    table = Table(highlight=False, show_header=False, expand=True, box=None, pad_edge=False)
    longest = max(map(len, commands.all))
    table.add_column(style="bold cyan", no_wrap=True, width=longest)
    table.add_column(ratio=10)  # all the rest
    for command in commands.all.values():
        table.add_row(Text(command.name), highlight(Text(command.help)))
    return table


def _epilog(commands: Commands) -> Iterable[str]:
    return (f"Without {one.name}, {one.problem}. {one.remedy}" for one in commands.skipped)
