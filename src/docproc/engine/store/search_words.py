"""The words by which a request is found: how they are cut out of texts, and out of what somebody types.

Both are cut by the same rules here, so that SQLite and PostgreSQL find the same. Case and accents do not
matter. `F-26-00483` is found by each of its parts and as one word, however its parts are separated:
`F2600483`, `F 26 00483`; `40.478,34` is found as `40478.34`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Mapping, Sequence

# A longer one is cut; nobody types that much of it.
LONGEST = 40
# What is kept of one request at most; PostgreSQL refuses a vector of more than a megabyte.
MOST_BYTES = 400_000
MOST_TERMS = 12
# What is shorter is a whole word: too many words begin with the same two letters.
SHORTEST_BEGINNING = 3

_PART = re.compile(r"[^\W_]+")


def folded(text: str) -> str:
    """Without case and accents."""
    plain = unicodedata.normalize("NFKD", text)
    return "".join(sign for sign in plain if not unicodedata.combining(sign)).casefold()


def words_of(texts: Iterable[str]) -> list[str]:
    """The different words of some texts, until there are enough of them."""
    found: dict[str, None] = {}
    room = MOST_BYTES
    for text in texts:
        for chunk in folded(text).split():
            for word in _words(chunk):
                if word in found:
                    continue
                room -= len(word.encode()) + 4
                if room < 0:
                    return list(found)
                found[word] = None
    return list(found)


def _words(chunk: str) -> list[str]:
    parts = _PART.findall(chunk)
    whole = ["".join(parts)] if len(parts) > 1 else []
    return [word[:LONGEST] for word in (*parts, *whole)]


def facet(name: str, value: str) -> str:
    """A word that nobody can type, because of its underscores: what a filter looks for."""
    return f"facet_{name}_{'_'.join(_PART.findall(folded(value)))}"


def facets(values: Mapping[str, Iterable[str]]) -> list[str]:
    return [facet(name, value) for name, several in values.items() for value in several]


Terms = Sequence[Sequence[Sequence[str]]]


def terms_of(typed: str) -> list[list[list[str]]]:
    """All of these must be there, each as one of its ways, a way being words that begin a word."""
    terms = []
    for chunk in folded(typed).split()[:MOST_TERMS]:
        parts = [part[:LONGEST] for part in _PART.findall(chunk)]
        if not parts:
            continue
        whole = ["".join(parts)[:LONGEST]]
        # The digits of an amount are no words of their own.
        ways = [whole] if len(parts) == 1 or all(map(str.isdecimal, parts)) else [whole, parts]
        terms.append(ways)
    return terms


def for_postgresql(terms: Terms, exact: Sequence[str] = ()) -> str:
    """As `to_tsquery` spells it; the words hold nothing but letters, digits and underscores."""
    words = [_any(ways, "'{}'", ":*", (" & ", " | ")) for ways in terms]
    return " & ".join([*words, *(f"'{one}'" for one in exact)])


def for_sqlite(terms: Terms, exact: Sequence[str] = ()) -> str:
    """As FTS5 spells it."""
    words = [_any(ways, '"{}"', "*", (" AND ", " OR ")) for ways in terms]
    return " AND ".join([*words, *(f'"{one}"' for one in exact)])


def _any(ways: Sequence[Sequence[str]], shape: str, begins: str, joints: tuple[str, str]) -> str:
    both, either = joints
    said = [
        both.join(shape.format(word) + (begins if len(word) >= SHORTEST_BEGINNING else "") for word in way)
        for way in ways
    ]
    return f"({either.join(f'({one})' for one in said)})"
