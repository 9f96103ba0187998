"""Words that print is made of, Spanish and English: tells where some of them ran together."""

from __future__ import annotations

import gzip
from functools import cache
from pathlib import Path

import orjson

from docproc.reading.folding import fold

_LANGUAGES = ("es", "en")
_LEAST = 4  # letters: shorter words are found inside others by chance
_MOST = 60
_COMMON = 150  # times that a word was counted; rarer ones are found inside names
_SHORT = frozenset(("de", "la", "el", "los", "las", "del", "and", "the", "of", "co", "sdn", "bhd"))
_SHORT_COST, _NAME_COST = 1.5, 3.0  # of a word: 1


def cuts(run: str) -> tuple[int, ...]:
    """Where words begin inside a run of letters, of which one may be a name that no dictionary has.

    Nothing for a word, nor for a run in which there is none.
    """
    letters = fold(run)
    if not 2 * _LEAST <= len(letters) <= _MOST or letters in _words():
        return ()
    return _cheapest(letters)


def _cheapest(letters: str) -> tuple[int, ...]:
    # For each place: the cheapest way there without and with a name, as (cost, where its pieces begin).
    ways: list[list[tuple[float, tuple[int, ...]] | None]] = [[(0.0, ()), None]]
    for end in range(1, len(letters) + 1):
        best: list[tuple[float, tuple[int, ...]] | None] = [None, None]
        for start in range(end):
            for named, way in enumerate(ways[start]):
                if way is None:
                    continue
                # A name by itself is no reason to cut.
                may_be_name = named == 0 and end - start < len(letters)
                for is_name, cost in _costs(letters[start:end], may_be_name):
                    found = (way[0] + cost, (*way[1], start))
                    place = int(named or is_name)
                    if best[place] is None or found < best[place]:  # type: ignore[operator] # just seen
                        best[place] = found
        ways.append(best)
    whole = min((way for way in ways[-1] if way is not None), default=None)
    return whole[1][1:] if whole else ()


def _costs(piece: str, may_be_name: bool) -> list[tuple[bool, float]]:
    found = []
    if piece in _SHORT:
        found.append((False, _SHORT_COST))
    elif len(piece) >= _LEAST and piece in _words():
        found.append((False, 1.0))
    if may_be_name and len(piece) >= _LEAST:
        found.append((True, _NAME_COST + len(piece) / _MOST))  # the shortest name: the rest are words
    return found


@cache
def _words() -> frozenset[str]:
    import spellchecker  # for its dictionaries

    folder = Path(spellchecker.__file__).parent / "resources"
    return frozenset(
        fold(word)
        for language in _LANGUAGES
        for word, count in orjson.loads(
            gzip.decompress((folder / f"{language}.json.gz").read_bytes())
        ).items()
        if count >= _COMMON and len(word) >= _LEAST
    )
