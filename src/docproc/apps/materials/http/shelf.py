"""What pages show of materials: the list, one with its documents, the pages that its text came from."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from datetime import datetime

from markupsafe import Markup, escape
from sqlalchemy import select

from docproc.app import App
from docproc.apps.materials.content.evidence import Evidence
from docproc.apps.materials.content.source import SourceText
from docproc.apps.materials.content.stored import AssessmentDocument, SummaryDocument
from docproc.apps.materials.http.materials import documents_of
from docproc.apps.materials.store import Kind
from docproc.apps.materials.tables import Assessment, MaterialSummaryLink
from docproc.apps.materials.writing import load_source
from docproc.http.problems import Problem

_SHOWN = 200


@dataclass(frozen=True, slots=True)
class Entry:
    """A material in the list."""

    material_id: str
    title: str
    status: str
    questions: int | None
    updated_at: datetime


@dataclass(frozen=True, slots=True)
class Shelved:
    """A material with both its documents, of the version asked for or the one in use."""

    material_id: str
    summary: SummaryDocument
    quiz: AssessmentDocument
    versions: list[int]

    @property
    def is_in_use(self) -> bool:
        return self.quiz.version == self.versions[-1]


async def entries(application: App, tenant_id: str) -> list[Entry]:
    """The latest first."""
    query = (
        select(MaterialSummaryLink, Assessment)
        .outerjoin(
            Assessment,
            (Assessment.tenant_id == MaterialSummaryLink.tenant_id)
            & (Assessment.material_id == MaterialSummaryLink.material_id),
        )
        .where(MaterialSummaryLink.tenant_id == tenant_id)
        .order_by(MaterialSummaryLink.updated_at.desc())
        .limit(_SHOWN)
    )
    async with application.store.reading() as session:
        return [
            Entry(
                link.material_id,
                quiz.title if quiz else link.material_id,
                link.status,
                quiz.total_questions if quiz else None,
                link.updated_at,
            )
            for link, quiz in await session.execute(query)
        ]


async def shelved(application: App, tenant_id: str, material_id: str, version: int | None = None) -> Shelved:
    """Raises Problem 404 where there is none, or no such version of its quiz."""
    store = documents_of(application)
    summary = await store.get(Kind.SUMMARY, tenant_id, material_id)
    quiz = await store.get(Kind.ASSESSMENT, tenant_id, material_id, version)
    if summary is None or quiz is None:
        named = f"{material_id!r}" if version is None else f"{material_id!r} with a version {version}"
        raise Problem(404, "unknown_material", f"there is no material {named}", "Check the id")
    return Shelved(
        material_id,
        SummaryDocument.model_validate(summary),
        AssessmentDocument.model_validate(quiz),
        await store.versions(Kind.ASSESSMENT, tenant_id, material_id),
    )


async def source_of(application: App, tenant_id: str, material_id: str) -> SourceText | None:
    """The text that it was written from; None where it is no longer kept."""
    query = select(MaterialSummaryLink.request_id).where(
        MaterialSummaryLink.tenant_id == tenant_id, MaterialSummaryLink.material_id == material_id
    )
    async with application.store.reading() as session:
        request_id = await session.scalar(query)
    if request_id is None:
        return None
    try:
        path = await application.blobs.fetch(f"{request_id}/text/source.json")
    except FileNotFoundError:
        return None
    return await asyncio.to_thread(load_source, path)


def marked(text: str, quotes: list[Evidence]) -> Markup:
    """The page's text with these quotations marked; they may be broken across its lines."""
    spans: list[tuple[int, int]] = []
    for evidence in quotes:
        match = _pattern(evidence.quote).search(text)
        if match and all(match.end() <= start or match.start() >= end for start, end in spans):
            spans.append(match.span())
    shown, at = Markup(), 0
    for start, end in sorted(spans):
        shown += escape(text[at:start]) + Markup("<mark>{}</mark>").format(text[start:end])
        at = end
    return shown + escape(text[at:])


def _pattern(quote: str) -> re.Pattern[str]:
    """Its words with any white space between them, and a hyphen where a line breaks a word."""
    broken = r"(?:[-\u00ad]\s*\n\s*)?"
    words = [broken.join(re.escape(sign) for sign in word) for word in quote.split()]
    return re.compile(r"\s+".join(words), re.IGNORECASE)
