"""The tables of documents: files, pages, documents, corrections and layouts."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import (
    Boolean,
    Column,
    Float,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    Table,
    Text,
    UniqueConstraint,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from docproc.engine.message import utc_now
from docproc.engine.store.columns import Id, Integers, Json, Moment, Strings
from docproc.engine.store.tables import Base, Tenanted

# Two columns that the specification gives `requests` and only documents fill. The engine's class does not map
# them: they are read and written as columns of this table.
REQUESTS = Table(
    "requests",
    Base.metadata,
    Column("page_count", Integer),
    Column("document_count", Integer),
    extend_existing=True,
)


class File(Tenanted, Base):
    """A file with pages: an upload, or one found inside an upload (archive, mail)."""

    __tablename__ = "files"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    request_id: Mapped[UUID] = mapped_column(Id, ForeignKey("requests.id", ondelete="CASCADE"))
    file_index: Mapped[int] = mapped_column(Integer)
    name: Mapped[str] = mapped_column(Text)
    blob_key: Mapped[str | None] = mapped_column(String(255))
    media_type: Mapped[str] = mapped_column(String(127))
    page_count: Mapped[int] = mapped_column(Integer)
    notes: Mapped[Any] = mapped_column(Strings, default=list)
    # Why it could not be read; `skipped` when it is no document at all.
    problem: Mapped[str | None] = mapped_column(Text)
    skipped: Mapped[bool] = mapped_column(Boolean, default=False, server_default=text("false"))

    __table_args__ = (UniqueConstraint("request_id", "file_index", name="uq_files_place"),)


class PageStatus(StrEnum):
    """Where a page stands; the first value is the specification's."""

    PENDING_OCR = "PENDIENTE_OCR"
    READ = "PENDIENTE_CLASIFICACION"
    IN_REVIEW = "EN_REVISION"
    CLASSIFIED = "CLASIFICADA"


class DocumentStatus(StrEnum):
    """Where a document stands."""

    PENDING = "pending"
    IN_REVIEW = "in_review"
    COMPLETED = "completed"


class Document(Tenanted, Base):
    """A logical document: consecutive pages of one type."""

    __tablename__ = "documents"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    request_id: Mapped[UUID] = mapped_column(Id, ForeignKey("requests.id", ondelete="CASCADE"), index=True)
    doc_type: Mapped[str | None] = mapped_column(String(64))
    page_indices: Mapped[Any] = mapped_column(Integers, default=list)
    status: Mapped[str] = mapped_column(String(32), default="pending")
    extracted_data: Mapped[Any | None] = mapped_column(Json)
    extraction_confidence: Mapped[float | None] = mapped_column(Float)
    # Name -> {"value", "confidence", "source", "page", "box", maybe "reason"}: what `extracted_data` is from.
    fields: Mapped[Any | None] = mapped_column(Json)
    # The fields a person should look at.
    needs_review: Mapped[Any | None] = mapped_column(Strings)
    # How sure the type is, and that it begins and ends where it does; `doubts` names which of the two
    # (`doc_type`, `boundary`) is below its threshold and was answered by nobody.
    doc_type_confidence: Mapped[float | None] = mapped_column(Float)
    boundary_confidence: Mapped[float | None] = mapped_column(Float)
    doubts: Mapped[Any | None] = mapped_column(Strings)
    # A digest of what tells it from all others (issuer, number, total), to find the same one sent twice.
    identity: Mapped[str | None] = mapped_column(String(32))
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(Moment, default=utc_now, onupdate=utc_now)

    __table_args__ = (Index("ix_documents_identity", "identity", "tenant_id"),)


class Page(Tenanted, Base):
    """One row per page of the request's files."""

    __tablename__ = "pages"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    request_id: Mapped[UUID] = mapped_column(Id, ForeignKey("requests.id", ondelete="CASCADE"))
    file_index: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    # Counted over the whole request; `file_page` counts within the file. Both from 0.
    page_index: Mapped[int] = mapped_column(Integer)
    file_page: Mapped[int] = mapped_column(Integer, default=0, server_default="0")
    status: Mapped[str] = mapped_column(String(32), default="PENDIENTE_OCR")
    # The words with their boxes and confidences (reading/page.py, `pack`).
    words: Mapped[bytes | None] = mapped_column(LargeBinary)
    # How far the file's page is turned clockwise to stand upright.
    rotation: Mapped[int] = mapped_column(SmallInteger, default=0, server_default="0")
    # What the page says of itself: its number, an invoice's number, tax ids (understanding/boundaries.py).
    marks: Mapped[Any | None] = mapped_column(Json)
    # Who decided the type: AUTO or BACKOFFICE.
    origin: Mapped[str | None] = mapped_column(String(16))
    ocr_text: Mapped[str | None] = mapped_column(Text)
    ocr_confidence: Mapped[float | None] = mapped_column(Float)
    doc_type: Mapped[str | None] = mapped_column(String(64))
    classification_confidence: Mapped[float | None] = mapped_column(Float)
    document_id: Mapped[UUID | None] = mapped_column(Id, ForeignKey("documents.id"), index=True)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    updated_at: Mapped[datetime] = mapped_column(Moment, default=utc_now, onupdate=utc_now)

    __table_args__ = (UniqueConstraint("request_id", "file_index", "page_index", name="uq_pages_place"),)


class CorrectionSubject(StrEnum):
    """What a person spoke of."""

    FIELD = "field"
    TYPE = "type"
    SPLIT = "split"


class Correction(Tenanted, Base):
    """What a person said of a field, a page's type or a split: right as it was, or what is right.

    It stands by itself: no foreign key, so that it outlives the request it was made on.
    """

    __tablename__ = "corrections"

    id: Mapped[UUID] = mapped_column(Id, primary_key=True, default=uuid4)
    request_id: Mapped[UUID] = mapped_column(Id)
    # Empty for the type of a page that belongs to no document yet.
    document_id: Mapped[UUID | None] = mapped_column(Id)
    subject: Mapped[str] = mapped_column(String(16))
    field: Mapped[str] = mapped_column(String(128), default="", server_default="")
    # As the person left it.
    doc_type: Mapped[str] = mapped_column(String(64))
    value_before: Mapped[str | None] = mapped_column(Text)
    # Empty: there is no such value on the document.
    value_after: Mapped[str | None] = mapped_column(Text)
    confidence_before: Mapped[float | None] = mapped_column(Float)
    source_before: Mapped[str | None] = mapped_column(String(16))
    # False: the person confirmed what the machine had said.
    is_changed: Mapped[bool] = mapped_column(Boolean)
    # Where the right value stands, if that is known.
    page_index: Mapped[int | None] = mapped_column(Integer)
    box: Mapped[Any | None] = mapped_column(Json)
    operator: Mapped[str | None] = mapped_column(String(64))
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)
    # The file and its pages, for the export as labelled examples.
    blob_key: Mapped[str | None] = mapped_column(String(255))
    file_name: Mapped[str | None] = mapped_column(Text)
    page_indices: Mapped[Any] = mapped_column(Integers, default=list)
    file_pages: Mapped[Any] = mapped_column(Integers, default=list)

    __table_args__ = (
        Index("ix_corrections_document", "document_id"),
        Index("ix_corrections_created", "tenant_id", "created_at"),
    )


class Layout(Tenanted, Base):
    """What one reviewed document teaches about others that look like it (understanding/memory)."""

    __tablename__ = "layouts"

    document_id: Mapped[UUID] = mapped_column(Id, primary_key=True)
    doc_type: Mapped[str] = mapped_column(String(64))
    example: Mapped[bytes] = mapped_column(LargeBinary)
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)

    __table_args__ = (Index("ix_layouts_tenant", "tenant_id"),)


class LayoutKey(Base):
    """By which a layout is found: documents that look alike share some of their keys."""

    __tablename__ = "layout_keys"

    # First, because it tells most: a planner without statistics must not look through a whole tenant.
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    tenant_id: Mapped[str] = mapped_column(
        String(64), primary_key=True, default="default", server_default="default"
    )
    doc_type: Mapped[str] = mapped_column(String(64), primary_key=True)
    document_id: Mapped[UUID] = mapped_column(Id, primary_key=True)
    # The layout's, here so that the latest are found without reading examples.
    created_at: Mapped[datetime] = mapped_column(Moment, default=utc_now)

    __table_args__ = (Index("ix_layout_keys_document", "document_id"),)
