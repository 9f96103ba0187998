"""What commands print: tables for people, JSON for machines, errors and logs on the side."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

import orjson
from rich.console import Console

from docproc import logs
from docproc.settings import Settings

# Into a pipe or file nothing is folded or cut: one row is one line, ids stay whole.
PIPE_WIDTH = 1000

console = Console(width=None if sys.stdout.isatty() else PIPE_WIDTH)
errors = Console(stderr=True)

Result = TypeVar("Result")


def load_settings(**overrides: Any) -> Settings:
    """The settings of a command that ends; its log keeps off standard output, which is the answer."""
    settings = Settings.load(**overrides)
    if "log_level" not in settings.model_fields_set:  # what went wrong is in the answer already
        settings = settings.model_copy(update={"log_level": "critical"})
    logs.configure(settings, component="cli")
    return settings


def print_json(value: Any) -> None:
    """One object on one line, for machines."""
    print(orjson.dumps(value, default=str).decode(), flush=True)


def run_async(main: Coroutine[Any, Any, Result]) -> Result:
    """Run a command's coroutine, on uvloop where there is one."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    return uvloop.run(main)
