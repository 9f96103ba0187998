"""Where a person is spoken of: texts of requests, compared as people write names and numbers."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.store.tables import Answer, DeadLetter, Request
from docproc.engine.store.task_tables import BackofficeTask
from docproc.errors import UsageError

# (session, tenant or None for all) -> a request, and something its rows say.
TextsOf = Callable[[AsyncSession, str | None], AsyncIterator[tuple[UUID, str]]]

# A shorter text is in every second document.
SHORTEST = 4


class Person:
    """A text that names somebody. Case, accents and spaces do not matter; nor does what stands between the
    characters of a number (12.345.678-Z is 12345678Z)."""

    def __init__(self, text: str) -> None:
        """Raises UsageError when it is too short to name anybody."""
        self._words, self._signs = _folded(text), _signs(text)
        if len(self._signs) < SHORTEST:
            raise UsageError(
                f"a person's name or number has at least {SHORTEST} characters",
                remedy="Write all of it: --person 'Ana García Pérez'",
            )
        self._is_number = any(sign.isdecimal() for sign in self._signs)

    def is_in(self, text: str) -> bool:
        if self._words in _folded(text):
            return True
        return self._is_number and self._signs in _signs(text)


async def find(
    session: AsyncSession, person: Person, tenant_id: str | None, sources: Sequence[TextsOf]
) -> set[UUID]:
    """The requests that speak of a person, by what the engine and applications keep of them."""
    found = set[UUID]()
    for source in (_of_engine, *sources):
        async for request_id, text in source(session, tenant_id):
            if request_id not in found and person.is_in(text):
                found.add(request_id)
    return found


async def _of_engine(session: AsyncSession, tenant_id: str | None) -> AsyncIterator[tuple[UUID, str]]:
    of_request = (
        Request.external_id,
        Request.metadata_,
        Request.uploads,
        Request.result_payload,
        Request.error,
    )
    of_task = (BackofficeTask.input_data, BackofficeTask.output_data)
    for request_id, columns in (
        (Request.id, of_request),
        (Answer.request_id, (Answer.payload,)),
        (BackofficeTask.request_id, of_task),
        (DeadLetter.request_id, (DeadLetter.reason, DeadLetter.body)),
    ):
        async for found in texts(session, tenant_id, request_id, columns):
            yield found


async def texts(
    session: AsyncSession, tenant_id: str | None, request_id: Any, columns: Sequence[Any]
) -> AsyncIterator[tuple[UUID, str]]:
    """What these columns of a table say, row by row, as text; `request_id` is the column that tells whose."""
    query = select(request_id, *columns).where(request_id.is_not(None))
    if tenant_id is not None:
        query = query.where(request_id.class_.tenant_id == tenant_id)
    async for row in await session.stream(query):
        yield row[0], "\n".join(_said(value) for value in row[1:] if value is not None)


def _said(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="replace")
    # Not escaped: a name is compared as it is written.
    return json.dumps(value, ensure_ascii=False, default=str)


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text)
    letters = (sign for sign in plain if not unicodedata.combining(sign))
    return " ".join("".join(letters).casefold().split())


def _signs(text: str) -> str:
    return "".join(sign for sign in _folded(text) if sign.isalnum())
