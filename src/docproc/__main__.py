"""`python -m docproc`: the component named by DOCPROC_COMPONENT_NAME, or the command line."""

from __future__ import annotations

import sys

from docproc.errors import DocProcError


def main() -> None:
    if len(sys.argv) > 1:
        from docproc.cli.start import main as command_line

        return command_line("python -m docproc")
    from docproc.cli.worker import run_component
    from docproc.settings import Settings

    try:
        sys.exit(run_component(Settings.load()))
    except DocProcError as error:
        print(f"error: {error}", file=sys.stderr)
        sys.exit(error.exit_code)


if __name__ == "__main__":
    main()
