"""Single values: what fails is kept, doubted and explained; what passes check digits is a little surer."""

from __future__ import annotations

import pytest

from docproc.apps.documents.reasons import sentence
from docproc.apps.documents.understanding.extract.checks import FAILED, SUREST, checked, problem
from docproc.apps.documents.understanding.extract.spec import FieldSpec, FieldValue
from docproc.apps.documents.understanding.reason import Code, Reason
from docproc.reading.page import Source


def found(value: str, confidence: float = 0.9, reason: Reason | None = None) -> FieldValue:
    return FieldValue(value, confidence, Source.OCR, 0, None, reason)


@pytest.mark.parametrize(
    ("spec", "value", "says"),
    [
        (FieldSpec("x", validators=("nif",)), "12345678A", "check digits"),
        (FieldSpec("x", validators=("iban",)), "ES91 2100 0418 4502 0005 1333", "IBAN"),
        (FieldSpec("x", validators=("naf",)), "28 12345678 41", "NAF"),
        (FieldSpec("x", pattern=r"\d{4} ?[A-Z]{3}"), "M 1234 AB", "written"),
        (FieldSpec("x", one_of=("Terceros", "Todo riesgo")), "Asistencia", "none of Terceros"),
        (FieldSpec("x", "decimal", min="0"), "-1.00", "below 0"),
        (FieldSpec("x", "decimal", max="100.50"), "100.51", "above 100.50"),
        (FieldSpec("x", "date", min="2020-01-01"), "2019-12-31", "below 2020-01-01"),
        (FieldSpec("x", "decimal", validators=("positive",)), "0.00", "above zero"),
        (FieldSpec("x", "date", validators=("date_not_future",)), "2099-01-01", "future"),
    ],
)
def test_failed_check_is_explained_and_below_any_threshold(spec: FieldSpec, value: str, says: str) -> None:
    after = checked(spec, found(value, 0.99))
    assert after is not None and after.value == value  # never dropped
    assert after.confidence <= FAILED
    assert after.reason is not None and says in sentence(after.reason)


@pytest.mark.parametrize(
    ("spec", "value"),
    [
        (FieldSpec("x"), "anything"),
        (FieldSpec("x", pattern=r"\d{4} ?[A-Z]{3}"), "1234 bcd"),
        (FieldSpec("x", one_of=("Todo riesgo",)), "Todo riesgo"),
        (FieldSpec("x", "decimal", min="0", max="100.50"), "100.50"),
        (FieldSpec("x", "date", min="2020-01-01", max="2020-12-31"), "2020-06-01"),
    ],
)
def test_right_values_are_left_alone(spec: FieldSpec, value: str) -> None:
    assert problem(spec, value) is None
    assert checked(spec, found(value)) == found(value)


def test_right_check_digits_raise_the_confidence_a_little() -> None:
    spec = FieldSpec("x", validators=("nif",))
    raised = checked(spec, found("12345678Z", 0.6))
    assert raised is not None and 0.6 < raised.confidence < 0.7
    sure = checked(spec, found("12345678Z", SUREST + 0.005))
    assert sure is not None and sure.confidence == SUREST + 0.005  # never lowered by passing


def test_doubt_of_another_source_survives_right_check_digits() -> None:
    spec = FieldSpec("x", validators=("nif",))
    doubted = found("12345678Z", 0.4, Reason(Code.EMPTY))
    assert checked(spec, doubted) == doubted


@pytest.mark.parametrize(
    ("spec", "printed", "value"),
    [
        (FieldSpec("x", pattern=r"\d{4} ?[A-Z]{3}"), "1107 LBC Furgoneta", "1107 LBC"),
        (FieldSpec("x", pattern=r"\d{4}"), "123456", "123456"),
        (FieldSpec("x", one_of=("Todo riesgo",)), "TODO RIESGO", "Todo riesgo"),
        (
            FieldSpec("x", one_of=("Terceros", "Terceros ampliado")),
            "TERCEROS AMPLIADO con lunas",
            "Terceros ampliado",
        ),
    ],
)
def test_value_is_cut_out_of_a_longer_text(spec: FieldSpec, printed: str, value: str) -> None:
    after = checked(spec, found(printed))
    assert after is not None and after.value == value


def test_missing_value_stays_missing() -> None:
    assert checked(FieldSpec("x", validators=("nif",)), None) is None
