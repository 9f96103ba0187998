"""Where the `docproc` program begins: an overview at once, everything else by way of Typer."""

from __future__ import annotations

import os
import sys


def main(program: str = "") -> None:
    """`program`: how it was called, where that is not the file's name."""
    if sys.argv[1:] == ["--help"]:
        return _overview(program or os.path.basename(sys.argv[0]))  # noqa: PTH119 # pathlib is not needed yet
    from docproc.cli.main import main as command_line

    command_line()


def _overview(program: str) -> None:
    """Typer takes longer to import than this takes: people who ask what there is wait for nothing else."""
    from docproc.cli import help as overview
    from docproc.cli.commands import find_commands
    from docproc.errors import DocProcError

    try:
        overview.show(find_commands(), program)
        print()  # as Typer ends its helps
    except DocProcError as error:
        from docproc.cli.main import tell

        tell(error)
        sys.exit(error.exit_code)
