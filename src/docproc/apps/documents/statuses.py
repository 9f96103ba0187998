"""The statuses that documents give a request on its way."""

from __future__ import annotations

from enum import StrEnum


class DocumentsStatus(StrEnum):
    """What a request is doing; each component declares the one it stands for."""

    SPLITTING = "splitting"
    PROCESSING = "processing"
    EXTRACTING = "extracting"
    CONSOLIDATING = "consolidating"
