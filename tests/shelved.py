"""A material as its stages store it, without running them."""

from __future__ import annotations

from collections.abc import AsyncIterator
from uuid import uuid4

from docproc.apps.materials.authors.extractive.author import examine, summarise
from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.stored import ProcessingMetadata
from docproc.apps.materials.http.materials import documents_of
from docproc.apps.materials.links import say, say_assessment
from docproc.apps.materials.order import Order
from docproc.apps.materials.store import NewDocument
from docproc.apps.materials.tables import LinkStatus
from tests.harness import Harness
from tests.unit.apps.materials.test_extractive import source


async def shelve(engine: Harness, material_id: str) -> Quiz:
    """Its quiz of six questions; the summary and the pages are there, too."""
    text = source("celula.es.txt")
    summary = summarise(text, "es")
    quiz = examine(text, summary, "es", 6)
    request_id = uuid4()

    async def content() -> AsyncIterator[bytes]:
        yield text.model_dump_json().encode()

    await engine.app.blobs.put(f"{request_id}/text/source.json", content())
    metadata = ProcessingMetadata(request_id=str(request_id), generator="extractive")
    documents, order = documents_of(engine.app), Order(material_id=material_id)
    async with engine.app.store.writing() as session:
        stored = await documents.put(session, NewDocument("default", material_id, summary, metadata))
        assessed = await documents.put(session, NewDocument("default", material_id, quiz, metadata))
        await say(
            session, "default", material_id, LinkStatus.COMPLETED, request_id=request_id, summary=stored
        )
        await say_assessment(session, "default", order, assessed, quiz.title, len(quiz.questions))
    return quiz
