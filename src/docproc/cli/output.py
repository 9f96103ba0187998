"""What commands print: tables for people, JSON for machines, errors on the side."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

import orjson
from rich.console import Console

console = Console()
errors = Console(stderr=True)

Result = TypeVar("Result")


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
