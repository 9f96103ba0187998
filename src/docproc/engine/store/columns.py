"""Column types that mean the same on SQLite and PostgreSQL."""

from __future__ import annotations

from collections.abc import Collection
from datetime import UTC, datetime
from typing import Any, cast
from uuid import UUID

from sqlalchemy import (
    ARRAY,
    CHAR,
    JSON,
    ColumnElement,
    DateTime,
    Dialect,
    Index,
    Integer,
    String,
    TypeDecorator,
    any_,
    literal,
    text,
)
from sqlalchemy.dialects import postgresql
from sqlalchemy.types import TypeEngine

# Text that sorts like time: what SQLite compares as strings.
SQLITE_MOMENT = "%Y-%m-%d %H:%M:%S.%f"

# What a message without a deadline is ordered by.
NO_DEADLINE = datetime(9999, 12, 31, tzinfo=UTC)


class Id(TypeDecorator[UUID]):
    """A UUID: native on PostgreSQL, readable text on SQLite."""

    impl = CHAR(36)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        native = dialect.name == "postgresql"
        return dialect.type_descriptor(postgresql.UUID(as_uuid=True) if native else CHAR(36))

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        if value is None:
            return None
        value = value if isinstance(value, UUID) else UUID(str(value))
        return value if dialect.name == "postgresql" else str(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> UUID | None:
        return value if value is None or isinstance(value, UUID) else UUID(value)


class Moment(TypeDecorator[datetime]):
    """An aware UTC datetime."""

    impl = DateTime(timezone=True)
    cache_ok = True

    def load_dialect_impl(self, dialect: Dialect) -> TypeEngine[Any]:
        native = dialect.name == "postgresql"
        return dialect.type_descriptor(DateTime(timezone=True) if native else String(26))

    def process_bind_param(self, value: Any, dialect: Dialect) -> Any:
        if value is None or dialect.name == "postgresql":
            return value
        return moment_text(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> datetime | None:
        return value if value is None or isinstance(value, datetime) else moment_of(value)


def as_uuid(value: UUID | str) -> UUID:
    """A UUID from a raw statement's result, whatever the database gave."""
    return value if isinstance(value, UUID) else UUID(value)


def as_moment(value: datetime | str) -> datetime:
    """A moment from a raw statement's result, whatever the database gave."""
    return value if isinstance(value, datetime) else moment_of(value)


def moment_text(value: datetime) -> str:
    return value.astimezone(UTC).strftime(SQLITE_MOMENT)


def moment_of(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)  # strptime takes ten times as long


# None is NULL, not JSON's null: `WHERE error IS NULL` finds a reopened request.
Json = JSON(none_as_null=True).with_variant(postgresql.JSONB(none_as_null=True), "postgresql")
Integers = JSON().with_variant(ARRAY(Integer), "postgresql")
Strings = JSON().with_variant(ARRAY(String), "postgresql")


def is_one_of(dialect: str, column: Any, ids: Collection[UUID]) -> ColumnElement[bool]:
    """A column of ids against many of them. On PostgreSQL it is the same statement for any number: one for
    each number would have to be parsed and planned again and again."""
    if dialect == "postgresql":
        return cast(
            ColumnElement[bool], column == any_(literal(list(ids), ARRAY(postgresql.UUID(as_uuid=True))))
        )
    return cast(ColumnElement[bool], column.in_(ids))


def index_where(name: str, *columns: Any, where: str) -> Index:
    """An index of only the rows that a condition names, on either database."""
    return Index(name, *columns, postgresql_where=text(where), sqlite_where=text(where))
