"""Examples that were drawn and made up before the release, packed beside this module: weights learnt from an
installation's own documents alone would forget what theirs do not show.

`make train` writes them (`docproc_samples.training.packing`), because drawing is not part of the product.
"""

from __future__ import annotations

import zipfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy
import numpy.typing

from docproc.apps.documents.quality.fitting.page_set import FIXED, PageSet, Spread
from docproc.apps.documents.quality.fitting.scoring import FieldExample
from docproc.apps.documents.understanding.extract import features
from docproc.errors import ConfigurationError

PAGES = Path(__file__).with_name("pages.npz")
FIELDS = Path(__file__).with_name("fields.npz")
# Drawn documents of layouts that nothing was trained on, with their labels: files, because a measurement
# begins with files.
GOLDEN = Path(__file__).with_name("golden.zip")

# A word that fewer drawn sources share cannot be spread enough, even when all real pages say it.
_LEAST_SOURCES = 2

Arrays = Mapping[str, numpy.typing.NDArray[Any]]


@dataclass(frozen=True)
class PackedPages:
    """Pages to learn from and pages held back; `spread` is that of the words of the former."""

    learnt: PageSet
    held_back: PageSet
    spread: Spread


def pages(path: Path = PAGES) -> PackedPages:
    return _pages(path)


def fields(path: Path = FIELDS) -> list[FieldExample]:
    """The fields of drawn documents; their candidates' features only, not what they were read from."""
    stored = _load(path, features=features.NAMES)
    ends = numpy.cumsum(stored["sizes"])[:-1]
    columns = ("doc_types", "names", "kinds", "groups")
    blocks = (
        *(stored[column].tolist() for column in columns),
        numpy.split(stored["seen"].astype(float), ends),
        numpy.split(stored["right"].astype(float), ends),
        stored["weights"].tolist(),
    )
    return [
        FieldExample(doc_type, name, kind, (), seen, right, group, weight)
        for doc_type, name, kind, group, seen, right, weight in zip(*blocks, strict=True)
    ]


def unpack_golden(folder: Path) -> None:
    """The held-out samples as a labelled folder."""
    with zipfile.ZipFile(GOLDEN) as archive:
        archive.extractall(folder)


def write_pages(packed: PackedPages, path: Path = PAGES) -> None:
    words = packed.spread.words(_LEAST_SOURCES, 1)
    spread = packed.spread
    stored: dict[str, numpy.typing.NDArray[Any]] = {
        "types": numpy.array(FIXED.types),
        "phrases": numpy.array(FIXED.phrases),
        "words": numpy.array(words),
        "sources": numpy.array([spread.sources[word] for word in words], dtype=numpy.uint16),
        "pages": numpy.array([spread.pages[word] for word in words], dtype=numpy.uint16),
        **_rows("learnt", packed.learnt, words),
        **_rows("held_back", packed.held_back, words),
    }
    numpy.savez_compressed(path, **stored)  # type: ignore[arg-type] # numpy's stub


def write_fields(examples: Sequence[FieldExample], path: Path = FIELDS) -> None:
    stored: dict[str, numpy.typing.NDArray[Any]] = {
        "features": numpy.array(features.NAMES),
        "doc_types": numpy.array([each.doc_type for each in examples]),
        "names": numpy.array([each.name for each in examples]),
        "kinds": numpy.array([each.kind for each in examples]),
        "groups": numpy.array([each.group for each in examples]),
        "weights": numpy.array([each.weight for each in examples]),
        "sizes": numpy.array([len(each.seen) for each in examples], dtype=numpy.uint16),
        "seen": numpy.vstack([each.seen for each in examples]).astype(numpy.float32),
        "right": numpy.concatenate([each.right for each in examples]).astype(bool),
    }
    numpy.savez_compressed(path, **stored)  # type: ignore[arg-type] # numpy's stub


def _rows(name: str, pages: PageSet, words: Sequence[str]) -> dict[str, numpy.typing.NDArray[Any]]:
    """Vocabularies as places in `words`, all pages' one after the other."""
    places = {word: place for place, word in enumerate(words)}
    said = [sorted(places[word] for word in each if word in places) for each in pages.vocabularies]
    return {
        f"{name}_types": numpy.array(pages.doc_types),
        # float16 has three digits: enough for features under so strong a penalty, at half the size.
        f"{name}_fixed": pages.fixed.astype(numpy.float16),
        f"{name}_sizes": numpy.array([len(each) for each in said], dtype=numpy.uint16),
        f"{name}_words": numpy.array([place for each in said for place in each], dtype=numpy.uint16),
        f"{name}_said": pages.said.astype(numpy.uint16),
        f"{name}_sources": numpy.array(pages.sources),
    }


@cache
def _pages(path: Path) -> PackedPages:
    stored = _load(path, types=FIXED.types, phrases=FIXED.phrases)
    words = stored["words"].tolist()
    counts = (Counter(dict(zip(words, stored[name].tolist(), strict=True))) for name in ("sources", "pages"))
    return PackedPages(_set("learnt", stored, words), _set("held_back", stored, words), Spread(*counts))


def _set(name: str, stored: Arrays, words: Sequence[str]) -> PageSet:
    said = numpy.split(stored[f"{name}_words"], numpy.cumsum(stored[f"{name}_sizes"])[:-1])
    kinds = stored[f"{name}_types"].tolist()
    return PageSet(
        tuple(kinds),
        stored[f"{name}_fixed"].astype(numpy.float32),
        tuple(frozenset(words[place] for place in each) for each in said),
        numpy.zeros(len(kinds), dtype=bool),
        stored[f"{name}_said"].astype(numpy.int64),
        tuple(stored[f"{name}_sources"].tolist()),
    )


def _load(path: Path, **columns: Sequence[str]) -> Arrays:
    """The arrays of a file whose columns stand for what this version sees; raises ConfigurationError."""
    with numpy.load(path, allow_pickle=False) as file:
        stored = {key: file[key] for key in file.files}
    for name, expected in columns.items():
        if tuple(stored[name].tolist()) != tuple(expected):
            raise ConfigurationError(
                f"the packed examples in {path} were made for other {name}",
                remedy="Make them anew: `make train` in a checkout of this version",
            )
    return stored
