"""What speaks for each of the shipped types, from their files. The classifier's features are made of it."""

from __future__ import annotations

import re

from docproc.apps.documents.understanding.types.document_type import Weighted
from docproc.apps.documents.understanding.types.loader import shipped

TITLES: dict[str, Weighted] = {name: one.evidence.titles for name, one in shipped().items()}
WORDS: dict[str, Weighted] = {name: one.evidence.words for name, one in shipped().items()}
# Type, weight, and an expression over the folded text.
PATTERNS: tuple[tuple[str, float, str], ...] = tuple(
    (name, each.weight, each.pattern) for name, one in shipped().items() for each in one.evidence.patterns
)
# Type, weight, and the phrases that only count together.
TOGETHER: tuple[tuple[str, float, tuple[str, ...]], ...] = tuple(
    (name, each.weight, each.words) for name, one in shipped().items() for each in one.evidence.together
)
# Type -> an expression; a line that has it is none of its titles.
NO_TITLE = {
    name: re.compile(one.evidence.no_title)
    for name, one in shipped().items()
    if one.evidence.no_title is not None
}
PROSE = frozenset(name for name, one in shipped().items() if one.prose)
ABOUT_MONEY = frozenset(name for name, one in shipped().items() if one.bears_money)
