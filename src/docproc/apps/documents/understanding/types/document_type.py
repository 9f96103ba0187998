"""The format of a type's file.

Phrases are written folded (lower case, no accents), as pages are before they are searched. They are grouped
by weight: the less else a phrase could mean, the more it is worth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

Kind = Literal[
    "amount",
    "integer",
    "date",
    "number",
    "tax_id",
    "iban",
    "name",
    "place_name",
    "address",
    "period",
    "currency",
    "text",
]


def _once_each(groups: dict[float, tuple[str, ...]]) -> dict[float, tuple[str, ...]]:
    counts = Counter(phrase for phrases in groups.values() for phrase in phrases)
    twice = [phrase for phrase, count in counts.items() if count > 1]
    if twice:
        told = ", ".join(map(repr, twice))
        raise ValueError(f"{told} stands there twice; keep one, with the weight it is worth")
    return groups


Weighted = dict[float, tuple[str, ...]]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Pattern(_Strict):
    """A regular expression over the folded text of a page."""

    weight: float
    pattern: str


class Together(_Strict):
    """Phrases that count only when a page has all of them: signs of different sides of a type."""

    weight: float
    words: tuple[str, ...]


class Evidence(_Strict):
    """What tells pages of the type. `titles` count in short lines near the top, `words` anywhere."""

    titles: Weighted = Field(default_factory=dict)
    # An expression: a line that has it is no title of the type, whatever else it says.
    no_title: str | None = None
    words: Weighted = Field(default_factory=dict)
    patterns: tuple[Pattern, ...] = ()
    together: tuple[Together, ...] = ()

    _check = field_validator("titles", "words")(_once_each)

    def with_words(self, phrases: Sequence[str], weight: float) -> Evidence:
        """With these among the words."""
        words = {**self.words, weight: (*self.words.get(weight, ()), *phrases)}
        return self.model_copy(update={"words": words})


class KnownField(_Strict):
    """How a field is looked for; what is left out is taken over from the type that this one is `like`."""

    kind: Kind | None = None
    # What is printed beside or above a value. `#` stands for any way to write "number".
    labels: Weighted = Field(default_factory=dict)
    # Labels of the other type that mean something else on this one.
    without: tuple[str, ...] = ()
    # What the foot of the page is worth, or, below zero, its head.
    bottom: float | None = None
    # The score of a value of this kind without any label.
    alone: float | None = None
    # A name may stand some lines below its label.
    block: bool | None = None

    _check = field_validator("labels")(_once_each)

    def over(self, other: KnownField) -> KnownField:
        """This one, with what it does not say taken from another."""
        labels = self.labels or {
            weight: tuple(phrase for phrase in phrases if phrase not in self.without)
            for weight, phrases in other.labels.items()
        }
        own = self.model_dump(exclude_none=True, exclude={"labels", "without"})
        return other.model_copy(update={**own, "labels": {w: kept for w, kept in labels.items() if kept}})


class DocumentType(_Strict):
    """All that is known of a type."""

    # What people call it; without, it is shown as it is written.
    name: Mapping[Literal["en", "es"], str] = Field(default_factory=dict)
    # Where it stands among the types in lists and in the classifier's features.
    order: int = 1000
    # Its pages show amounts: one without any only speaks of such documents.
    bears_money: bool = False
    # Types that carry the same codes for machines: such a code proves that a page is of one of them.
    codes_shared_with: tuple[str, ...] = ()
    # Running text is its nature; of other types it rather speaks about them.
    prose: bool = False
    # The name of the code that looks for its fields otherwise than for most (`extract/type_hooks.py`).
    hook: str = ""
    # Of its amounts, the first two make the third.
    sum: Annotated[tuple[str, ...], Field(max_length=3)] = ()
    # What tells a document from all others of the type: of each group the first field that it has.
    identity: tuple[tuple[str, ...], ...] = ()
    # The type whose fields and sum it has, unless it says otherwise.
    like: str | None = None
    evidence: Evidence = Evidence()
    fields: dict[str, KnownField] = Field(default_factory=dict)

    @field_validator("sum")
    @classmethod
    def _of_three(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        if len(value) not in (0, 3):
            raise ValueError("name three amounts: the first two make the third")
        return value

    def over(self, other: DocumentType) -> DocumentType:
        """This type with the fields of the one it is like."""
        fields = dict(other.fields)
        for name, field in self.fields.items():
            fields[name] = field.over(fields[name]) if name in fields else field
        taken = {
            "sum": self.sum or other.sum,
            "hook": self.hook or other.hook,
        }  # not what identifies it: a receipt has no number
        return self.model_copy(update={"fields": fields, "like": None, **taken})
