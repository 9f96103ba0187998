"""What the extractor remembers: earlier documents of the same layout that people reviewed."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from docproc.apps.documents.store import corrections
from docproc.apps.documents.store.corrections import Wanted
from docproc.apps.documents.understanding import memory
from docproc.engine.store.session import Store
from docproc.reading import page as page_text

LOOK_SECONDS = 5.0  # how long it may take until the first correction of a tenant is heeded


@dataclass(frozen=True, slots=True)
class Seeking:
    """A document that is about to be read; `words` are those of its first page, packed."""

    tenant_id: str
    doc_type: str
    words: bytes | None


class Recollection:
    """Looks up examples: one query for a batch, and almost nothing where nobody ever corrected anything."""

    def __init__(
        self, store: Store, keys_of: Callable[[Sequence[bytes]], Awaitable[Sequence[Sequence[str]]]]
    ) -> None:
        self.store = store
        self._keys_of = keys_of
        self._known: dict[str, tuple[bool, float]] = {}

    async def examples(self, seeking: Sequence[Seeking]) -> list[list[bytes]]:
        """The packed examples for each document, most alike first; reads only, holding nothing."""
        by_document: list[list[bytes]] = [[] for _ in seeking]
        asking = [n for n, one in enumerate(seeking) if one.words and await self._remembers(one.tenant_id)]
        if not asking:
            return by_document
        keys = await self._keys_of([seeking[number].words or b"" for number in asking])
        wanted = [
            Wanted(seeking[number].tenant_id, seeking[number].doc_type, own)
            for number, own in zip(asking, keys, strict=True)
        ]
        async with self.store.reading() as session:
            for number, examples in zip(asking, await corrections.nearest(session, wanted), strict=True):
                by_document[number] = examples
        return by_document

    async def types(self, tenants: Sequence[str], words: Sequence[bytes]) -> list[list[tuple[str, bytes]]]:
        """For each page the types, with packed examples, that people gave what may look like it."""
        known = [number for number, tenant in enumerate(tenants) if await self._remembers(tenant)]
        by_page: list[list[tuple[str, bytes]]] = [[] for _ in words]
        if not known:
            return by_page
        keys = await self._keys_of([words[number] for number in known])
        wanted = [(tenants[number], own) for number, own in zip(known, keys, strict=True)]
        async with self.store.reading() as session:
            for number, told in zip(known, await corrections.types_alike(session, wanted), strict=True):
                by_page[number] = told
        return by_page

    async def _remembers(self, tenant_id: str) -> bool:
        """Whether a tenant has any examples, asked every few seconds at most."""
        known, until = self._known.get(tenant_id, (False, 0.0))
        if time.monotonic() >= until:
            async with self.store.reading() as session:
                known = await corrections.remembers(session, tenant_id)
            self._known[tenant_id] = known, time.monotonic() + LOOK_SECONDS
        return known


def keys_of(first_pages: Sequence[bytes]) -> list[list[str]]:
    """In the child process: the keys by which layouts are found."""
    return [memory.keys(memory.fingerprint([page_text.unpack(words)])) for words in first_pages]
