"""The raw loops of materials, with the worker's own functions.

The plain one is what somebody writes first: nothing is kept until all is done. The other one (`keeps`) has
the least that the specification asks for: an event is written down once, so that a second worker leaves it
alone; that a call is made is committed before it, and its answer after it, so that nothing is paid twice.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import statistics
import threading
import time
import uuid
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bench.materials_worker import _Place

QUEUE = "material_processing_high"
WARM = 3

# Of the loop that keeps what it has: the events that are worked on, and what models were asked and answered.
_KEEPING = """
    CREATE TABLE IF NOT EXISTS raw_events (id text PRIMARY KEY, body bytea NOT NULL, taken_at timestamptz);
    CREATE TABLE IF NOT EXISTS raw_answers (
        event_id text NOT NULL, prompt_hash text NOT NULL, asked integer NOT NULL, asked_at timestamptz,
        answer text, answered_at timestamptz, PRIMARY KEY (event_id, prompt_hash)
    )
"""
_TAKE = "INSERT INTO raw_events VALUES ($1, $2, now()) ON CONFLICT DO NOTHING"
_ASK = """
    INSERT INTO raw_answers VALUES ($1, $2, 1, now())
    ON CONFLICT (event_id, prompt_hash) DO UPDATE SET asked = raw_answers.asked + 1 RETURNING answer
"""
_KEEP = "UPDATE raw_answers SET answer = $3, answered_at = now() WHERE event_id = $1 AND prompt_hash = $2"
_DONE = "DELETE FROM raw_events WHERE id = $1"

# Of the raw loop's last run one at a time: milliseconds of each step.
_TIMES: dict[str, list[float]] = {}
# pdfium can be used by one thread at a time.
_PDFIUM = threading.Lock()


def stages() -> dict[str, float]:
    return {step: statistics.median(found) for step, found in _TIMES.items()}


async def rate(place: _Place, key: str, count: int, at_once: int = 1, *, keeps: bool = False) -> float:
    """One event after the other, or several, each acknowledged when all is stored; `keeps`: see above."""
    import aiormq
    import asyncpg
    import openai

    await place.publish(key, WARM + count)
    broker = await aiormq.connect(place.broker)
    channel = await broker.channel()
    await channel.basic_qos(prefetch_count=at_once)
    databases = [await asyncpg.connect(place.database) for _ in range(at_once)]
    model = openai.AsyncOpenAI(base_url=place.model, api_key="none", max_retries=0)
    arrived: asyncio.Queue[Any] = asyncio.Queue()
    is_timed = at_once == 1 and not keeps
    if is_timed:
        _TIMES.clear()
    if keeps:
        await databases[0].execute(_KEEPING)

    async def receive(message: Any) -> None:
        arrived.put_nowait(message)

    await channel.basic_consume(QUEUE, receive)
    began: list[float] = []
    left = WARM + count

    async def work(database: Any) -> None:
        nonlocal left
        while left > 0:
            left -= 1
            if left < count and not began:
                began.append(time.monotonic())
            message = await arrived.get()
            times = _Clock(is_kept=is_timed)
            event = json.loads(message.body)
            asking = _Asking(model)
            if keeps:
                asking = _KeepingAsking(model, database, event["event_id"])
                await database.execute(_TAKE, event["event_id"], bytes(message.body))
            await _raw_one(place, database, asking, event["payload"], times)
            await channel.basic_ack(message.delivery_tag)

    await asyncio.gather(*map(work, databases))
    seconds = time.monotonic() - began[0]
    await asyncio.gather(broker.close(), model.close(), *(database.close() for database in databases))
    return count / seconds


class _Clock:
    def __init__(self, *, is_kept: bool) -> None:
        self.is_kept = is_kept
        self.last = time.perf_counter()

    def lap(self, step: str) -> None:
        now = time.perf_counter()
        if self.is_kept:
            _TIMES.setdefault(step, []).append((now - self.last) * 1000)
        self.last = now


class _Asking:
    """Asks and keeps nothing."""

    def __init__(self, model: Any) -> None:
        self.model = model

    async def ask(self, step: str, messages: Any, kind: Any, make: Any) -> Any:
        from docproc.apps.materials.authors.openai.replies import parsed

        return make(parsed(await self.answer(messages), kind))

    async def answer(self, messages: Any) -> str:
        answer = await self.model.chat.completions.create(
            model="gpt-4-turbo-preview",
            messages=messages,
            temperature=0.3,
            max_tokens=4000,
            response_format={"type": "json_object"},
        )
        return str(answer.choices[0].message.content)

    async def done(self) -> None:
        """In the transaction that stores everything."""


class _KeepingAsking(_Asking):
    """Writes down that it asks, then the answer, each committed before anything follows."""

    def __init__(self, model: Any, database: Any, event_id: str) -> None:
        super().__init__(model)
        self.database = database
        self.event_id = event_id

    async def answer(self, messages: Any) -> str:
        prompt_hash = hashlib.sha256(json.dumps(messages, sort_keys=True).encode()).hexdigest()
        known = await self.database.fetchval(_ASK, self.event_id, prompt_hash)
        if known is not None:
            return str(known)
        answer = await super().answer(messages)
        await self.database.execute(_KEEP, self.event_id, prompt_hash, answer)
        return answer

    async def done(self) -> None:
        await self.database.execute(_DONE, self.event_id)


def _read(content: bytes, path: Path) -> Any:
    """As docproc keeps and reads it: the file and its text are on the disk before anything follows."""
    from docproc.apps.materials.content.chapters import with_chapters
    from docproc.apps.materials.content.source import SourceText
    from docproc.apps.materials.source import reading

    _write(path, content)
    with _PDFIUM:
        layer = reading.read_layer(path, path.with_suffix(".mended"), 2000, 500)
    source = with_chapters(SourceText.of_pages(list(layer.pages), ""))
    _write(path.with_suffix(".json"), source.model_dump_json().encode())
    return source


def _write(path: Path, content: bytes) -> None:
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


async def _raw_one(
    place: _Place, database: Any, asking: _Asking, payload: dict[str, str], times: _Clock
) -> None:
    import obstore

    from docproc.apps.materials.authors.openai.author import OpenAiAuthor
    from docproc.apps.materials.checks.examine import examine, marked
    from docproc.apps.materials.content.stored import ProcessingMetadata
    from docproc.apps.materials.settings import MaterialsSettings
    from docproc.apps.materials.store import NewDocument

    key, material_id = payload["file_url"].split("/", 3)[3], payload["material_id"]
    content = await asyncio.to_thread(lambda: bytes(obstore.get(place.store, key).bytes()))
    times.lap("fetch")
    source = await asyncio.to_thread(_read, content, place.folder / f"{material_id}.pdf")
    times.lap("text")
    author: Any = OpenAiAuthor(asking, MaterialsSettings())  # type: ignore[arg-type] # asks its own way
    summary = await author.summarise(source, language="es")
    times.lap("summary")
    quiz = await author.examine(source, summary, language="es", questions=10)
    times.lap("quiz")
    quiz = await asyncio.to_thread(lambda: marked(quiz, examine(quiz, source)))
    times.lap("check")
    metadata, now = ProcessingMetadata(request_id=material_id, generator="raw"), datetime.now(UTC)
    documents = [
        json.dumps(NewDocument("raw", material_id, one, metadata).document(1, now, now), default=str)
        for one in (summary, quiz)
    ]
    async with database.transaction():
        for table, document in zip(("material_summary", "material_assessment"), documents, strict=True):
            await database.execute(
                f"INSERT INTO {table} "
                "(id, tenant_id, material_id, version, document, created_at, updated_at) "
                "VALUES ($1, 'raw', $2, 1, $3::jsonb, now(), now())",
                uuid.uuid4().hex, material_id, document,
            )  # fmt: skip
        await database.execute(
            "INSERT INTO material_summary_link (id, tenant_id, material_id, status, created_at, updated_at) "
            "VALUES ($1, 'raw', $2, 'done', now(), now())",
            uuid.uuid4(), material_id,
        )  # fmt: skip
        await database.execute(
            "INSERT INTO assessment (id, tenant_id, material_id, mongo_document_id, title, total_questions, "
            "created_at, updated_at) VALUES ($1, 'raw', $2, '', '', 6, now(), now())",
            uuid.uuid4(), material_id,
        )  # fmt: skip
        await asking.done()
    times.lap("store")
