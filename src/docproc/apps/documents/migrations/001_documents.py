"""The tables of documents: files, pages, documents, what people corrected and the layouts they saw.

A database of version 0.1.0 has them already, made by the engine's own migrations: what exists is left alone.
"""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from docproc.engine.store import columns

revision = "documents_001"
down_revision = None


def _id() -> sa.Column[object]:
    return sa.Column("id", columns.Id(), primary_key=True)


def _tenant() -> sa.Column[str]:
    return sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default")


def _request() -> sa.Column[object]:
    owner = sa.ForeignKey("requests.id", ondelete="CASCADE")
    return sa.Column("request_id", columns.Id(), owner, nullable=False)


def _times() -> list[sa.Column[object]]:
    return [sa.Column(name, columns.Moment(), nullable=False) for name in ("created_at", "updated_at")]


def upgrade() -> None:
    existing = set(sa.inspect(op.get_bind()).get_table_names())
    # In the order of their foreign keys.
    makers = {
        "files": _files,
        "documents": _documents,
        "pages": _pages,
        "corrections": _corrections,
        "layouts": _layouts,
        "layout_keys": _layout_keys,
    }
    for name, make in makers.items():
        if name not in existing:
            make()


def downgrade() -> None:
    for table in ("layout_keys", "layouts", "corrections", "pages", "documents", "files"):
        op.drop_table(table)


def _files() -> None:
    op.create_table(
        "files",
        _id(),
        _request(),
        sa.Column("file_index", sa.Integer(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("blob_key", sa.String(255)),
        sa.Column("media_type", sa.String(127), nullable=False),
        sa.Column("page_count", sa.Integer(), nullable=False),
        sa.Column("notes", columns.Strings, nullable=False),
        sa.Column("problem", sa.Text()),
        sa.Column("skipped", sa.Boolean(), nullable=False, server_default=sa.text("false")),
        _tenant(),
        sa.UniqueConstraint("request_id", "file_index", name="uq_files_place"),
    )


def _documents() -> None:
    op.create_table(
        "documents",
        _id(),
        _request(),
        sa.Column("doc_type", sa.String(64)),
        sa.Column("page_indices", columns.Integers, nullable=False),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("extracted_data", columns.Json),
        sa.Column("extraction_confidence", sa.Float()),
        sa.Column("fields", columns.Json),
        sa.Column("needs_review", columns.Strings),
        *_times(),
        _tenant(),
    )
    op.create_index("ix_documents_request_id", "documents", ["request_id"])


def _pages() -> None:
    op.create_table(
        "pages",
        _id(),
        _request(),
        sa.Column("file_index", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("page_index", sa.Integer(), nullable=False),
        sa.Column("file_page", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("status", sa.String(32), nullable=False),
        sa.Column("words", sa.LargeBinary()),
        sa.Column("rotation", sa.SmallInteger(), nullable=False, server_default="0"),
        sa.Column("marks", columns.Json),
        sa.Column("origin", sa.String(16)),
        sa.Column("ocr_text", sa.Text()),
        sa.Column("ocr_confidence", sa.Float()),
        sa.Column("doc_type", sa.String(64)),
        sa.Column("classification_confidence", sa.Float()),
        sa.Column("document_id", columns.Id(), sa.ForeignKey("documents.id")),
        *_times(),
        _tenant(),
        sa.UniqueConstraint("request_id", "file_index", "page_index", name="uq_pages_place"),
    )
    op.create_index("ix_pages_document_id", "pages", ["document_id"])


def _corrections() -> None:
    op.create_table(
        "corrections",
        _id(),
        sa.Column("request_id", columns.Id(), nullable=False),
        sa.Column("document_id", columns.Id()),
        sa.Column("subject", sa.String(16), nullable=False),
        sa.Column("field", sa.String(128), nullable=False, server_default=""),
        sa.Column("doc_type", sa.String(64), nullable=False),
        sa.Column("value_before", sa.Text()),
        sa.Column("value_after", sa.Text()),
        sa.Column("confidence_before", sa.Float()),
        sa.Column("source_before", sa.String(16)),
        sa.Column("is_changed", sa.Boolean(), nullable=False),
        sa.Column("page_index", sa.Integer()),
        sa.Column("box", columns.Json),
        sa.Column("operator", sa.String(64)),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("blob_key", sa.String(255)),
        sa.Column("file_name", sa.Text()),
        sa.Column("page_indices", columns.Integers, nullable=False),
        sa.Column("file_pages", columns.Integers, nullable=False),
        _tenant(),
    )
    op.create_index("ix_corrections_document", "corrections", ["document_id"])
    op.create_index("ix_corrections_created", "corrections", ["tenant_id", "created_at"])


def _layouts() -> None:
    op.create_table(
        "layouts",
        sa.Column("document_id", columns.Id(), primary_key=True),
        sa.Column("doc_type", sa.String(64), nullable=False),
        sa.Column("example", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        _tenant(),
    )
    op.create_index("ix_layouts_tenant", "layouts", ["tenant_id"])


def _layout_keys() -> None:
    op.create_table(
        "layout_keys",
        sa.Column("key", sa.String(64), primary_key=True),
        sa.Column("tenant_id", sa.String(64), primary_key=True, server_default="default"),
        sa.Column("doc_type", sa.String(64), primary_key=True),
        sa.Column("document_id", columns.Id(), primary_key=True),
        sa.Column("created_at", columns.Moment(), nullable=False),
    )
    op.create_index("ix_layout_keys_document", "layout_keys", ["document_id"])
