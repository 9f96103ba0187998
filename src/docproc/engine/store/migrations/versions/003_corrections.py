"""Nothing any more: corrections and layouts belong to documents (apps/documents/migrations)."""

from __future__ import annotations

revision = "003"
down_revision = "002"


def upgrade() -> None:
    """The revision stays, because databases say that they are at it."""


def downgrade() -> None:
    """As above."""
