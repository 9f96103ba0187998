"""Reasons: every code has a sentence in each language, made of its facts alone."""

from __future__ import annotations

from typing import Any

import pytest

from docproc.apps.documents import reasons
from docproc.apps.documents.texts import text
from docproc.apps.documents.understanding import validate
from docproc.apps.documents.understanding.extract.checks import problem
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.apps.documents.understanding.reason import Code, Reason
from docproc.texts import LANGUAGES

# What the API has said since 0.1.
ENGLISH: dict[Code, tuple[dict[str, str], str]] = {
    Code.EMPTY: ({}, "The value is empty."),
    Code.CHECK_DIGITS: (
        {"value": "X1", "kind": "nif"}, "X1 is not a valid NIF: its check digits do not match.",
    ),
    Code.MALFORMED: ({"value": "X1", "kind": "bic"}, "X1 is not a valid BIC: it does not look like one."),
    Code.NO_SUCH_PROVINCE: (
        {"value": "99001"}, "99001 is not a valid Spanish postal code: there is no such province.",
    ),
    Code.NOBODYS_TAX_ID: (
        {"value": "X1"}, "X1 is neither a valid Spanish NIF nor a European VAT number.",
    ),
    Code.NOT_A_DATE: (
        {"value": "soon"}, "soon is not a date: write it as year-month-day, such as 2026-03-12.",
    ),
    Code.UNLIKELY_DATE: (
        {"value": "1066-10-14", "year": "1066"}, "1066-10-14 is not a likely date: the year is 1066.",
    ),
    Code.IN_THE_FUTURE: ({"value": "2099-01-01"}, "2099-01-01 is in the future."),
    Code.NOT_AN_AMOUNT: (
        {"value": "much"}, "much is not an amount: write it with a point and no thousands, such as 1250.00.",
    ),
    Code.NOT_FINITE: ({"value": "NaN"}, "NaN is not an amount."),
    Code.NOT_POSITIVE: ({"value": "-1.00"}, "-1.00 is not above zero."),
    Code.NOT_A_CURRENCY: ({"value": "euro"}, "euro is not a currency code such as EUR."),
    Code.NO_ZONE: ({}, "The text holds no machine-readable zone."),
    Code.ZONE_CHECK_DIGITS: ({}, "The check digits of the machine-readable zone do not match."),
    Code.PATTERN: ({"value": "4821 KL", "field": "plate"}, "4821 KL is not written as plate must be."),
    Code.NOT_AMONG: ({"value": "c", "options": "a, b"}, "c is none of a, b."),
    Code.BELOW: (
        {"value": "1", "field": "total", "limit": "2"}, "1 is below 2, the least that total may be.",
    ),
    Code.ABOVE: (
        {"value": "3", "field": "total", "limit": "2"}, "3 is above 2, the most that total may be.",
    ),
    Code.NOT_COMPARABLE: ({"value": "x", "type": "decimal"}, "x is not a decimal."),
    Code.SOURCES_DIFFER: (
        {"first": "qr_code", "value": "1", "second": "another_qr_code", "other": "2"},
        "the QR code says 1, another QR code says 2",
    ),
    Code.ZONE_CHECK_DIGIT: (
        {"part": "date_of_birth"}, "the zone's check digit of the date of birth does not match",
    ),
    Code.RULE_BROKEN: ({"rule": "a == b", "said": "a 1, b 2"}, "a == b does not hold: a 1, b 2."),
}  # fmt: skip


def test_every_code_is_in_the_table() -> None:
    assert set(ENGLISH) == set(Code)


@pytest.mark.parametrize("code", Code)
def test_every_code_has_a_sentence_in_each_language(code: Code) -> None:
    facts, said = ENGLISH[code]
    sentences = {language: reasons.sentence(Reason(code, facts), language) for language in LANGUAGES}
    assert sentences["en"] == said
    assert len(set(sentences.values())) == len(LANGUAGES)
    plain = {name: value for name, value in facts.items() if name not in reasons._WORDS}
    assert all(value in sentence for sentence in sentences.values() for value in plain.values())


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_word_that_a_fact_may_be_has_a_text(language: str) -> None:
    for source in ("page", "attached_invoice", "barcode", "qr_code", "ticketbai", "zone"):
        assert text(language, f"source_{source}")
        assert source == "page" or text(language, f"source_another_{source}")
    for part in ("id_number", "date_of_birth", "expiry_date"):
        assert text(language, f"zone_part_{part}")
    for type_ in ("string", "decimal", "date"):
        assert text(language, f"field_type_{type_}")


@pytest.mark.parametrize("kind", sorted(validate.KINDS))
@pytest.mark.parametrize("value", ["", "X1", "0.00", "-1", "NaN", "2999-01-01", "1066-01-01", "99999"])
def test_what_validators_say_can_be_told_in_each_language(kind: str, value: str) -> None:
    if wrong := validate.check(kind, value):
        assert all(reasons.sentence(wrong, language) for language in LANGUAGES)


@pytest.mark.parametrize(
    ("spec", "code"),
    [
        (FieldSpec("plate", pattern=r"\d{4}"), Code.PATTERN),
        (FieldSpec("plate", one_of=("a", "b")), Code.NOT_AMONG),
        (FieldSpec("total", "decimal", min="5"), Code.NOT_COMPARABLE),
    ],
)
def test_what_schemas_say_can_be_told_in_each_language(spec: FieldSpec, code: Code) -> None:
    wrong = problem(spec, "x")
    assert wrong is not None and wrong.code == code
    assert all("x" in reasons.sentence(wrong, language) for language in LANGUAGES)


def test_stored_reason_comes_back() -> None:
    reason = Reason(Code.PATTERN, {"value": "1", "field": "plate"})
    stored = reasons.as_json(reason)
    assert stored["reason"] == "1 is not written as plate must be."
    assert reasons.from_json(stored) == reason


@pytest.mark.parametrize(
    "field",
    [
        {"reason": "it was so"},
        {"reason": "it was so", "why": {"code": "of_a_later_version", "facts": {}}},
        {"reason": "it was so", "why": {"facts": {}}},
        {"reason": "it was so", "why": "nonsense"},
    ],
)
def test_reason_without_a_known_code_is_its_sentence(field: dict[str, Any]) -> None:
    assert reasons.from_json(field) == "it was so"
    assert reasons.from_json({}) is None
