"""Errors as logs and timelines may tell them: their kind and their place, never a value out of a document.

What an error says is often what it choked on (`invalid literal for int(): '12345678Z'`), and what a database
refuses it quotes. Logs leave the machine and are kept for long; nobody erases a person from them.
"""

from __future__ import annotations

import re
import traceback
from collections.abc import Iterator

from docproc.errors import DocProcError, PermanentError

# SQLSTATEs that speak of servers and connections: lost, resources, shutdown, conflicts, read-only, no access.
_OF_THE_SERVER = ("08", "25", "28", "3D", "40", "53", "55", "57")
# A child process sends its traceback as text; of that, only where it was.
_REMOTE_PLACE = re.compile(r'^ *File "([^"\n]+)", line (\d+), in ', re.MULTILINE)


def text_for_logs(error: BaseException) -> str:
    """One line about an error. Ours speak for themselves, but for those that speak of what was sent."""
    if isinstance(error, DocProcError) and not isinstance(error, PermanentError):
        return str(error)
    return text_for_events(error, ours=False)


def text_for_events(error: BaseException, *, ours: bool = True) -> str:
    """One line for those who may see the request: what we said of it on purpose they may read."""
    if ours and isinstance(error, DocProcError):
        return str(error)
    if (driver := getattr(error, "orig", None)) is not None:  # SQLAlchemy's, around the driver's own
        return f"{type(error).__name__}: {_database_text(driver)}"
    if said := _system_text(error):
        return f"{type(error).__name__}: {said}"
    code = getattr(error, "code", None)
    kind = f"{type(error).__name__} ({code})" if isinstance(code, str) else type(error).__name__
    place = last_place(error)
    return f"{kind} at {place}" if place else kind


def _system_text(error: BaseException) -> str:
    """What the system says of files, without their names, and of connections."""
    if isinstance(error, OSError) and error.strerror:
        return str(error.strerror)
    return str(error) if isinstance(error, ConnectionError | TimeoutError) else ""


def _database_text(error: BaseException) -> str:
    """SQLite names tables and columns only; PostgreSQL quotes the values it refuses."""
    state = getattr(error, "sqlstate", None)
    kind = type(error.__cause__ or error).__name__
    if type(error).__module__.startswith("sqlite3") or state is None or state.startswith(_OF_THE_SERVER):
        return (str(error).splitlines() or [kind])[0]
    return f"{kind} (SQLSTATE {state})"


def last_place(error: BaseException) -> str:
    """Where it was raised, `file.py:12`: in the child process, if it was one."""
    if remote := _REMOTE_PLACE.findall(_remote_text(error.__cause__)):
        file, line = remote[-1]
    elif frames := traceback.extract_tb(error.__traceback__):
        file, line = frames[-1].filename, frames[-1].lineno
    else:
        return ""
    return f"{file.rpartition('/')[2]}:{line}"


def _remote_text(cause: BaseException | None) -> str:
    return str(cause) if cause is not None and type(cause).__name__ == "ChildTraceback" else ""


def chain(error: BaseException) -> Iterator[BaseException]:
    """The error and what it came from, in the order in which a traceback is read from its end."""
    seen: set[int] = set()
    todo = [error]
    while todo:
        one = todo.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        hidden = None if one.__suppress_context__ else one.__context__
        todo += [each for each in (one.__cause__, hidden) if each is not None]
        if isinstance(one, BaseExceptionGroup):
            todo += one.exceptions


def value_for_logs(error: BaseException) -> str:
    """What a log's traceback says after the error's class."""
    if remote := _REMOTE_PLACE.findall(_remote_text(error)):
        return ", ".join(f"{file}:{line}" for file, line in remote)
    if isinstance(error, DocProcError) or getattr(error, "orig", None) is not None:
        return text_for_logs(error)
    return _system_text(error)


def traceback_for_logs(error: BaseException) -> str:
    """As Python prints it, without what the errors say and without local variables."""
    parts = []
    for one in reversed(list(chain(error))):
        said = value_for_logs(one)
        name = f"{type(one).__module__}.{type(one).__qualname__}".removeprefix("builtins.")
        frames = "".join(traceback.format_tb(one.__traceback__))
        parts.append(f"{frames}{name}: {said}" if said else f"{frames}{name}")
    return "\n\n".join(parts)
