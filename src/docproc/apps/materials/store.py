"""The contract of a material store: one summary and one quiz for each material, the versions before them
kept."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import BaseModel

from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.stored import AssessmentDocument, ProcessingMetadata, SummaryDocument
from docproc.apps.materials.content.summary import Summary

if TYPE_CHECKING:
    from sqlalchemy.ext.asyncio import AsyncSession


class Kind(StrEnum):
    """The two documents of a material; the values are what `material_versions` says."""

    SUMMARY = "summary"
    ASSESSMENT = "assessment"


# Their collections, or tables.
COLLECTIONS = {Kind.SUMMARY: "material_summary", Kind.ASSESSMENT: "material_assessment"}
MODELS: dict[Kind, type[BaseModel]] = {Kind.SUMMARY: SummaryDocument, Kind.ASSESSMENT: AssessmentDocument}


@dataclass(frozen=True, slots=True)
class NewDocument:
    """What is to be stored for a material.

    `metadata.request_id` says whose work it is: what the same request (or the same edit) stores again
    replaces itself and keeps its version.
    """

    tenant_id: str
    material_id: str
    content: Summary | Quiz
    metadata: ProcessingMetadata

    @property
    def kind(self) -> Kind:
        return Kind.SUMMARY if isinstance(self.content, Summary) else Kind.ASSESSMENT

    def document(self, version: int, created_at: datetime, now: datetime) -> dict[str, Any]:
        """As it is stored: validated, with times as datetimes and everything else as JSON has it."""
        times = {"created_at": created_at, "updated_at": now}
        said = {
            **self.content.model_dump(mode="json"),
            "material_id": self.material_id,
            "version": version,
            "processing_metadata": self.metadata.model_dump(mode="json"),
        }
        MODELS[self.kind].model_validate({**said, **times})
        return {**said, **times}


@dataclass(frozen=True, slots=True)
class Stored:
    """Where a document lies now."""

    document_id: str
    version: int


class MaterialStore(ABC):
    """Documents by material. Every method may raise DocumentsDownError, which passes.

    `put` is called first in a handled message, before `session` is otherwise touched: a store elsewhere
    writes
    before the transaction begins, one in the engine's database inside it. So what is elsewhere may be newer
    than what the database says of it, never older, until the repeated message has written both.
    """

    # Whether documents lie in another system, and not in the message's own transaction.
    is_elsewhere: ClassVar[bool] = True

    async def prepare(self) -> None:
        """Collections, validators and indexes; called once per process, before any message."""

    async def close(self) -> None:
        """Called once after the last message."""

    @abstractmethod
    async def put(self, session: AsyncSession, new: NewDocument) -> Stored:
        """Insert or replace a material's document: one for each material, whoever writes at the same time.

        The first has version 1, the work of another request the next one; `created_at` stays. The document
        that
        is replaced is kept as a version. Raises MaterialError (`bad_document`) for what fails validation.
        """

    @abstractmethod
    async def get(
        self, kind: Kind, tenant_id: str, material_id: str, version: int | None = None
    ) -> dict[str, Any] | None:
        """The document in use, or an earlier version of it, without its id; None: there is none."""

    @abstractmethod
    async def versions(self, kind: Kind, tenant_id: str, material_id: str) -> list[int]:
        """The versions that can be read, oldest first."""

    async def log(self, tenant_id: str, events: Sequence[dict[str, Any]]) -> None:
        """Entries of `material_event`, for stores that have a log of their own; the same entry may come
        again."""

    @abstractmethod
    async def remove(self, session: AsyncSession, tenant_id: str, material_id: str) -> None:
        """Both documents and all their versions."""
