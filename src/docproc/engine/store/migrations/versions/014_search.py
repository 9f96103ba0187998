"""The inbox: what is found of each request, views that people keep, and lists of one status."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import TSVECTOR

from docproc.engine.store import columns

revision = "014"
down_revision = "012"

IS_STALE = sa.text("indexed_version <> answer_version")

# FTS5 beside its table: the words are there once, and rows that go, by a cascade too, go from both.
# `detail=none`: which request has a word is all that is asked. `prefix`: beginnings of three and four
# letters, which many words share, are looked up instead of collected.
FTS = (
    "CREATE VIRTUAL TABLE search_words USING fts5(words, content='search_entries', content_rowid='id', "
    "detail=none, prefix='3 4', tokenize=\"unicode61 tokenchars '_'\")",
    "CREATE TRIGGER search_words_insert AFTER INSERT ON search_entries BEGIN "
    "INSERT INTO search_words(rowid, words) VALUES (new.id, new.words); END",
    "CREATE TRIGGER search_words_delete AFTER DELETE ON search_entries BEGIN "
    "INSERT INTO search_words(search_words, rowid, words) VALUES ('delete', old.id, old.words); END",
    "CREATE TRIGGER search_words_update AFTER UPDATE OF words ON search_entries BEGIN "
    "INSERT INTO search_words(search_words, rowid, words) VALUES ('delete', old.id, old.words); "
    "INSERT INTO search_words(rowid, words) VALUES (new.id, new.words); END",
)


def upgrade() -> None:
    # The version of the answer that the entry tells of. What was there before is described by and by.
    op.add_column("requests", sa.Column("indexed_version", sa.Integer(), nullable=False, server_default="-1"))
    op.create_index(
        "ix_requests_stale", "requests", ["created_at"], postgresql_where=IS_STALE, sqlite_where=IS_STALE
    )
    op.create_index("ix_requests_inbox", "requests", ["tenant_id", "status", "created_at", "id"])
    is_postgresql = op.get_bind().dialect.name == "postgresql"
    op.create_table(
        "search_entries",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            autoincrement=True,
        ),
        sa.Column(
            "request_id",
            columns.Id(),
            sa.ForeignKey("requests.id", ondelete="CASCADE"),
            nullable=False,
            unique=True,
        ),
        sa.Column("title", sa.Text(), nullable=False),
        sa.Column("summary", columns.Json, nullable=False),
        sa.Column("attention", sa.Integer(), nullable=False, server_default="0"),
        sa.Column("words", TSVECTOR() if is_postgresql else sa.Text(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
    )
    op.create_index("ix_search_entries_tenant", "search_entries", ["tenant_id", "id"])
    waits = sa.text("attention > 0")
    op.create_index(
        "ix_search_entries_attention",
        "search_entries",
        ["tenant_id", "id"],
        postgresql_where=waits,
        sqlite_where=waits,
    )
    if is_postgresql:
        # Beside the row, not in TOAST, whose cost the planner does not see: it would read every vector of a
        # table that looks small rather than use the index.
        op.execute("ALTER TABLE search_entries ALTER COLUMN words SET STORAGE MAIN")
        op.create_index("ix_search_entries_words", "search_entries", ["words"], postgresql_using="gin")
    else:
        for statement in FTS:
            op.execute(statement)
    op.create_table(
        "saved_views",
        sa.Column("id", columns.Id(), primary_key=True),
        sa.Column("owner", sa.String(64), nullable=False, server_default=""),
        sa.Column("name", sa.String(64), nullable=False),
        sa.Column("query", sa.Text(), nullable=False),
        sa.Column("created_at", columns.Moment(), nullable=False),
        sa.Column("tenant_id", sa.String(64), nullable=False, server_default="default"),
    )
    op.create_index("uq_saved_views_name", "saved_views", ["tenant_id", "owner", "name"], unique=True)


def downgrade() -> None:
    op.drop_table("saved_views")
    if op.get_bind().dialect.name != "postgresql":
        op.execute("DROP TABLE search_words")
    op.drop_table("search_entries")
    op.drop_index("ix_requests_inbox", "requests")
    op.drop_index("ix_requests_stale", "requests")
    op.drop_column("requests", "indexed_version")
