"""How hard a section or a question is."""

from __future__ import annotations

from enum import StrEnum


class Difficulty(StrEnum):
    BASIC = "basic"
    MEDIUM = "medium"
    ADVANCED = "advanced"
