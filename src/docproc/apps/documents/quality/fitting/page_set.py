"""Many pages as one matrix for the classifier. Which words get a column is decided when all pages are known,
so words are kept as sets until then."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy
import numpy.typing

from docproc.apps.documents.quality.fitting.labelled import LabelledPage
from docproc.apps.documents.understanding import page_doubt, page_evidence, page_features
from docproc.apps.documents.understanding.page_features import Names
from docproc.reading.folding import fold

Floats = numpy.typing.NDArray[numpy.float32]
Counts = numpy.typing.NDArray[numpy.int64]

# What has a column whatever the pages say: layout, types and phrases of the hand-written evidence.
FIXED = Names(page_evidence.TYPES, page_evidence.PHRASES, ())
_WORD = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True)
class PageSet:
    """One row a page: its type, its fixed columns, its vocabulary, and whether somebody sent it.

    `said` counts the words of a page that tell something, also those that are not kept in its vocabulary;
    `sources` names the family that a page comes from: a layout, a recipe, a file.
    """

    doc_types: tuple[str, ...]
    fixed: Floats
    vocabularies: tuple[frozenset[str], ...]
    real: numpy.typing.NDArray[numpy.bool_]
    said: Counts
    sources: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.doc_types)

    def and_(self, other: PageSet) -> PageSet:
        return PageSet(
            self.doc_types + other.doc_types,
            numpy.concatenate([self.fixed, other.fixed]),
            self.vocabularies + other.vocabularies,
            numpy.concatenate([self.real, other.real]),
            numpy.concatenate([self.said, other.said]),
            self.sources + other.sources,
        )

    def only(self, rows: Sequence[int]) -> PageSet:
        """Some of the pages."""
        return PageSet(
            tuple(self.doc_types[row] for row in rows),
            self.fixed[list(rows)],
            tuple(self.vocabularies[row] for row in rows),
            self.real[list(rows)],
            self.said[list(rows)],
            tuple(self.sources[row] for row in rows),
        )

    def spread(self) -> Spread:
        """In how many families and pages the words occur."""
        seen = {
            (word, "real" if real else source)
            for vocabulary, source, real in zip(self.vocabularies, self.sources, self.real, strict=True)
            for word in vocabulary
            if _WORD.fullmatch(word)
        }
        pages = Counter(word for vocabulary in self.vocabularies for word in vocabulary)
        return Spread(Counter(word for word, _ in seen), pages)

    def matrix(self, words: Sequence[str]) -> Floats:
        """The vectors of `page_features.vector`, with a column for each of these words."""
        start = self.fixed.shape[1]
        columns = {word: start + place for place, word in enumerate(words)}
        made = numpy.zeros((len(self), start + len(words)), dtype=numpy.float32)
        made[:, :start] = self.fixed
        for row, vocabulary in enumerate(self.vocabularies):
            made[row, [columns[word] for word in vocabulary if word in columns]] = page_features.WORD_STEP
        return made


def of(pages: Sequence[LabelledPage]) -> PageSet:
    columns = page_features.columns_of(FIXED)
    told = [page_evidence.tell(each.page.text) for each in pages]
    rows = [
        page_features.vector(each.page, said, columns, FIXED) for each, said in zip(pages, told, strict=True)
    ]
    return PageSet(
        tuple(each.doc_type for each in pages),
        numpy.array(rows, dtype=numpy.float32).reshape(len(pages), FIXED.width),
        tuple(said.vocabulary for said in told),
        numpy.array([each.is_real for each in pages], dtype=bool),
        numpy.array([page_doubt.long_words(one.vocabulary) for one in told], dtype=numpy.int64),
        tuple(each.source for each in pages),
    )


@dataclass
class Spread:
    """In how many sources and pages each word occurs: words of a single source would be overfitted."""

    sources: Counter[str] = field(default_factory=Counter)
    pages: Counter[str] = field(default_factory=Counter)

    def add(self, pages: Sequence[LabelledPage]) -> Spread:
        """With more pages; everything that somebody sent counts as one source."""
        seen: set[tuple[str, str]] = set()
        total = Spread(self.sources.copy(), self.pages.copy())
        for each in pages:
            said = set(_WORD.findall(fold(each.page.text)))
            total.pages.update(said)
            seen |= {(word, "real" if each.is_real else each.source) for word in said}
        total.sources.update(word for word, _ in seen)
        return total

    def words(self, least_sources: int, least_pages: int) -> list[str]:
        return sorted(
            word
            for word, count in self.sources.items()
            if count >= least_sources and self.pages[word] >= least_pages
        )
