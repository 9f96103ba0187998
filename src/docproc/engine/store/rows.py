"""Many rows in one statement, on both databases: the batching that decides speed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from operator import itemgetter
from typing import Any, Literal
from uuid import UUID

from sqlalchemy import JSON, Table, TextClause, bindparam, text, update
from sqlalchemy.dialects import postgresql
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncSession

from docproc.engine.store.columns import moment_text

# SQLite's limit on bound parameters of one statement.
SQLITE_PARAMETERS = 32_000

_POSTGRES = postgresql.dialect()  # type: ignore[no-untyped-call] # SQLAlchemy leaves it untyped


async def insert(
    session: AsyncSession | AsyncConnection,
    table: Table,
    rows: Sequence[Mapping[str, Any]],
    *,
    on_conflict: Literal["error", "nothing"] = "error",
    returning: str = "",
) -> list[Row[Any]]:
    """Insert rows that share one set of columns; defaults of columns left out are filled in."""
    if not rows:
        return []
    connection = session if isinstance(session, AsyncConnection) else await session.connection()
    tail = " ON CONFLICT DO NOTHING" if on_conflict == "nothing" else ""
    if returning:
        tail += f" RETURNING {returning}"
    columns = _columns(table, tuple(rows[0]))
    if connection.dialect.name == "postgresql":
        statement, values = _postgres_insert(table, columns, rows)
        result = await connection.exec_driver_sql(statement + tail, values)
        return list(result) if returning else []
    found: list[Row[Any]] = []
    if not returning:
        statement, each = _sqlite_insert_each(table, columns, rows)
        await connection.exec_driver_sql(statement + tail, each)
        return found
    chunk = max(1, SQLITE_PARAMETERS // len(columns))
    for start in range(0, len(rows), chunk):
        statement, values = _sqlite_insert(table, columns, rows[start : start + chunk])
        result = await connection.exec_driver_sql(statement + tail, values)
        found.extend(result)
    return found


@lru_cache(maxsize=256)
def _columns(table: Table, given: tuple[str, ...]) -> tuple[str, ...]:
    """The columns to write: those given, and those with a default computed here."""
    defaults = [c.name for c in table.columns if c.default is not None and c.name not in given]
    return (*given, *defaults)


@lru_cache(maxsize=1024)
def _reader(table: Table, column: str, given: bool) -> Callable[[Mapping[str, Any]], Any]:
    """How a column's value is had from a row; decided once, because there are many rows."""
    is_json = isinstance(table.c[column].type, JSON)
    if given and is_json:
        return lambda row: None if row[column] is None else json.dumps(row[column], default=str)
    if given:
        return itemgetter(column)
    default: Any = table.c[column].default

    def made(_row: Mapping[str, Any]) -> Any:
        value = default.arg(None) if default.is_callable else default.arg
        return json.dumps(value) if is_json else value

    return made


@lru_cache(maxsize=1024)
def _postgres_statement(table: Table, columns: tuple[str, ...], shared: tuple[bool, ...]) -> str:
    """`shared` columns have one value for all rows; the others come as arrays, unnested to rows."""
    arrays, names, selected = [], [], []
    for number, (name, is_shared) in enumerate(zip(columns, shared, strict=True), start=1):
        sql_type = table.c[name].type.compile(_POSTGRES)
        is_list = sql_type.endswith("[]")
        # JSON and lists travel as text and are cast row by row: unnest would flatten a list of lists, and
        # the driver has no array codec for JSON.
        sent_as = "text" if is_list or sql_type == "JSONB" else sql_type
        if not is_shared:
            arrays.append(f"${number}::{sent_as}[]")
            names.append(f'"{name}"')
        value = f"${number}::{sent_as}" if is_shared else f'v."{name}"'
        selected.append(_postgres_value(value, sql_type, is_list))
    written = ", ".join(f'"{name}"' for name in columns)
    source = f" FROM unnest({', '.join(arrays)}) AS v({', '.join(names)})" if arrays else ""
    return f"INSERT INTO {table.name} ({written}) SELECT {', '.join(selected)}{source}"


def _postgres_value(value: str, sql_type: str, is_list: bool) -> str:
    if is_list:
        items = f"SELECT jsonb_array_elements_text({value}::jsonb)"
        return f"CASE WHEN {value} IS NOT NULL THEN ARRAY({items})::{sql_type} END"
    return f"{value}::jsonb" if sql_type == "JSONB" else value


def _postgres_insert(
    table: Table, columns: tuple[str, ...], rows: Sequence[Mapping[str, Any]]
) -> tuple[str, tuple[Any, ...]]:
    """What is the same in all rows is sent once: of a fan-out's messages that is most."""
    values: list[Any] = []
    shared = []
    for column in columns:
        found = list(map(_reader(table, column, column in rows[0]), rows))
        is_shared = found[0] == found[-1] and found.count(found[0]) == len(found)
        shared.append(is_shared)
        values.append(found[0] if is_shared else found)
    if len(rows) > 1 and all(shared):  # rows that are all alike still have to be many
        shared[0] = False
        values[0] = [values[0]] * len(rows)
    return _postgres_statement(table, columns, tuple(shared)), tuple(values)


def _sqlite_insert_each(
    table: Table, columns: tuple[str, ...], rows: Sequence[Mapping[str, Any]]
) -> tuple[str, list[tuple[Any, ...]]]:
    """For `executemany`: one short statement, prepared once."""
    readers = [_reader(table, column, column in rows[0]) for column in columns]
    names = ", ".join(f'"{name}"' for name in columns)
    marks = ", ".join("?" * len(columns))
    values = [tuple(_for_sqlite(reader(row)) for reader in readers) for row in rows]
    return f"INSERT INTO {table.name} ({names}) VALUES ({marks})", values


def _sqlite_insert(
    table: Table, columns: tuple[str, ...], rows: Sequence[Mapping[str, Any]]
) -> tuple[str, tuple[Any, ...]]:
    readers = [_reader(table, column, column in rows[0]) for column in columns]
    names = ", ".join(f'"{name}"' for name in columns)
    row_marks = f"({', '.join('?' * len(columns))})"
    values = tuple(_for_sqlite(reader(row)) for row in rows for reader in readers)
    return f"INSERT INTO {table.name} ({names}) VALUES {', '.join([row_marks] * len(rows))}", values


def _for_sqlite(value: Any) -> Any:
    if isinstance(value, datetime):
        return moment_text(value)
    if isinstance(value, UUID):
        return str(value)
    if isinstance(value, list | dict):
        return json.dumps(value, default=str)
    return value


async def update_many(session: AsyncSession, table: Table, changes: Sequence[Mapping[str, Any]]) -> None:
    """Change the same columns of many rows, found by `id`: one statement with many values."""
    if not changes:
        return
    connection = await session.connection()
    columns: dict[str, Any] = {name: bindparam(f"new_{name}") for name in changes[0] if name != "id"}
    statement = update(table).where(table.c.id == bindparam("row")).values(columns)
    values = [{"row": c["id"], **{f"new_{name}": c[name] for name in columns}} for c in changes]
    await connection.execute(statement, values)


async def execute(session: AsyncSession | AsyncConnection, statement: str, **values: Any) -> list[Row[Any]]:
    """Run a named statement written with `:name` parameters; SQLite's plain types are converted here."""
    connection = session if isinstance(session, AsyncConnection) else await session.connection()
    result = await connection.execute(_text(statement), values_for(connection.dialect.name, values))
    return list(result) if result.returns_rows else []


def values_for(dialect: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Bound values as the driver wants them."""
    if dialect == "sqlite":
        return {name: _for_sqlite(value) for name, value in values.items()}
    return dict(values)


def among(dialect: str, column: str, parameter: str) -> str:
    """SQL for "column is one of the bound list"."""
    if dialect == "sqlite":
        return f"{column} IN (SELECT value FROM json_each({parameter}))"
    return f"{column} = ANY({parameter})"


@lru_cache(maxsize=512)
def _text(statement: str) -> TextClause:
    return text(statement)
