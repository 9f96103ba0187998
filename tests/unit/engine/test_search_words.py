"""Words that requests are found by: cut the same way out of documents and of what somebody types."""

from __future__ import annotations

import pytest

from docproc.engine.store.search import Wanted
from docproc.engine.store.search_words import MOST_BYTES, facet, terms_of, words_of


def finds(typed: str, *texts: str) -> bool:
    """As a database does: every term by one of its ways, each of whose words begins a word."""
    words = words_of(texts)

    def has(part: str) -> bool:
        return part in words or (len(part) > 2 and any(word.startswith(part) for word in words))

    return all(any(all(map(has, way)) for way in ways) for ways in terms_of(typed))


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("energia", "Energía del Duero, S.L."),
        ("ENERGÍA duero", "Energía del Duero, S.L."),
        ("ener", "Energía"),
        ("S.L.", "Energía del Duero, S.L."),
        ("F-26-00483", "Factura F-26-00483"),
        ("F2600483", "Factura F-26-00483"),
        ("00483", "Factura F-26-00483"),
        ("40.478,34", "Total 40478.34"),
        ("40478,34", "Total: 40.478,34 €"),
        ("B-41104597", "NIF B41104597"),
        ("Prieto-Hijos", "Prieto Hijos"),
        ("Straße", "STRASSE"),
        ("2026/118", "ref. 2026-118"),
    ],
)
def test_written_otherwise_it_is_found(typed: str, text: str) -> None:
    assert finds(typed, text)


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        ("en", "Energía"),
        ("00484", "F-26-00483"),
        ("40.478,35", "40478.34"),
        ("duero norte", "Energía del Duero"),
    ],
)
def test_another_is_not_found(typed: str, text: str) -> None:
    assert not finds(typed, text)


def test_facets_cannot_be_typed() -> None:
    assert facet("type", "bank_statement") == "facet_type_bank_statement"
    assert not finds("facet_type_invoice", "an invoice")
    assert all("_" not in word for ways in terms_of("facet_type_invoice") for way in ways for word in way)


@pytest.mark.parametrize("typed", ["", "  ", "—", "'", '"', "*", "( & | !"])
def test_nothing_typed_is_everything(typed: str) -> None:
    assert Wanted(typed).is_everything


@pytest.mark.parametrize("typed", ["a' | 'b", 'x" OR "y', "NOT a AND (b", "a:*", "a*", "\\"])
def test_signs_of_the_databases_are_no_words(typed: str) -> None:
    for dialect, signs in (("postgresql", "'():*&| "), ("sqlite", '"()*ANDOR ')):
        assert all(sign.islower() or sign in signs for sign in Wanted(typed).query(dialect))


def test_vector_of_a_huge_document_is_limited() -> None:
    words = words_of(f"word{number}" for number in range(200_000))
    assert 1000 < sum(len(word) + 4 for word in words) <= MOST_BYTES
