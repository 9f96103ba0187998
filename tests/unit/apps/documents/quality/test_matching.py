"""When two values are the same, and when one can be read in a text."""

from __future__ import annotations

import pytest

from docproc.apps.documents.quality.matching import Kind, kind_of, same, similarity, stands_in, type_of


@pytest.mark.parametrize(
    ("name", "field_type", "kind"),
    [
        ("total_amount", "decimal", Kind.AMOUNT),
        ("date", "date", Kind.DATE),
        ("invoice_number", "string", Kind.ID),
        ("vendor_tax_id", "string", Kind.ID),
        ("id_number", "string", Kind.ID),
        ("iban", "string", Kind.ID),
        ("vendor_name", "string", Kind.NAME),
        ("currency", "string", Kind.NAME),
        ("party_a", "string", Kind.NAME),
        ("account_holder", "string", Kind.NAME),
        ("period", "string", Kind.NAME),
    ],
)
def test_kind_of_a_field(name: str, field_type: str, kind: Kind) -> None:
    assert kind_of(name, field_type) is kind  # type: ignore[arg-type] # a table of cases


@pytest.mark.parametrize(
    ("name", "values", "expected"),
    [
        ("due_date", ["2026-01-31"], "date"),
        ("due_date", ["end of month"], "string"),
        ("amount_due", ["12.00", "7"], "decimal"),
        ("account_number", ["12345"], "string"),
        ("tax_id", ["12345678"], "string"),
        ("subtotal", ["9.50"], "decimal"),
        ("city", ["León"], "string"),
    ],
)
def test_type_of_a_field_without_schema(name: str, values: list[str], expected: str) -> None:
    assert type_of(name, values) == expected


@pytest.mark.parametrize(
    ("kind", "truth", "value"),
    [
        (Kind.ID, "B66554437", "ES-B66554437"),
        (Kind.AMOUNT, "9.00", "9"),
        (Kind.AMOUNT, "1250.5", "1250.50"),
        (Kind.AMOUNT, "1,250.50", "1250.50"),
        (Kind.AMOUNT, "-3.10", "-3.1"),
        (Kind.DATE, "2018-12-25", "2018-12-25"),
        (Kind.DATE, "25/12/2018", "2018-12-25"),
        (Kind.ID, "B-12345674", "b12345674"),
        (Kind.ID, "12 345 678 901", "12345678901"),
        (Kind.ID, "2026/0031", "2026-0031"),
        (Kind.ID, "ES91 2100 0418", "ES9121000418"),
        (Kind.NAME, "Peñalver Hnos., S.L.", "PENALVER HNOS SL"),
        (Kind.NAME, "Hijos de J. Pérez, S. L. U.", "Hijos de J Perez SLU"),
        (Kind.NAME, "AEON CO. (M) BHD", "AEON CO.(M) BHD"),
        (Kind.NAME, "MR. D.I.Y. (M) SDN BHD", "MR DIY (M) SDN. BHD."),
        (Kind.NAME, "McDonald’s", "McDonalds"),
        (Kind.NAME, "Smith & Sons", "Smith  &Sons"),
        (Kind.NAME, "EUR", "eur"),
    ],
)
def test_same(kind: Kind, truth: str, value: str) -> None:
    assert same(kind, truth, value)
    assert similarity(kind, truth, value) == 1.0


@pytest.mark.parametrize(
    ("kind", "truth", "value"),
    [
        (Kind.AMOUNT, "9.00", "90.0"),
        (Kind.AMOUNT, "9.00", "-9.00"),
        (Kind.DATE, "2018-12-01", "2018-01-12"),
        (Kind.ID, "INV-100", "INV-1000"),
        (Kind.NAME, "Contoso Ltd", "Contoso"),
        (Kind.NAME, "Office Depot", "OfficeDepot"),
    ],
)
def test_not_the_same(kind: Kind, truth: str, value: str) -> None:
    assert not same(kind, truth, value)
    assert similarity(kind, truth, value) < 1.0


def test_names_have_a_similarity_and_a_missing_one_none() -> None:
    assert similarity(Kind.NAME, "Contoso Ltd", "Contoso Lld") == pytest.approx(10 / 11)
    assert similarity(Kind.NAME, "Contoso Ltd", None) == 0.0


@pytest.mark.parametrize(
    ("kind", "truth", "lines"),
    [
        (Kind.AMOUNT, "1250.50", ["Total: 1.250,50 €"]),
        (Kind.AMOUNT, "1250.50", ["USD 1,250.50"]),
        (Kind.AMOUNT, "9.00", ["2 9.00 18.00"]),
        (Kind.DATE, "2026-03-12", ["Fecha: 12 de marzo de 2026"]),
        (Kind.DATE, "2026-03-12", ["03/12/2026"]),
        (Kind.DATE, "2018-12-25", ["25122018 14:32"]),
        (Kind.ID, "2026/0031", ["Factura 2026 - 0031"]),
        (Kind.NAME, "Talleres Peñalver, S.L.", ["TALLERES", "PENALVER S.L."]),
        (Kind.NAME, "LIAM R. TALBOT", ["1 TALBOT", "2 LIAM R."]),
    ],
)
def test_value_stands_in_the_text(kind: Kind, truth: str, lines: list[str]) -> None:
    assert stands_in(kind, truth, lines)


@pytest.mark.parametrize(
    ("kind", "truth", "lines"),
    [
        (Kind.AMOUNT, "1250.50", ["Total: 1.250,60 €"]),
        (Kind.AMOUNT, "12.50", ["12.'5 0", "1.'", "'"]),
        (Kind.DATE, "2026-03-12", ["13/03/2026"]),
        (Kind.ID, "2026/0031", ["2026/0013"]),
        (Kind.NAME, "Talleres Peñalver", ["TALLERES PENA VER"]),
    ],
)
def test_value_does_not_stand_in_the_text(kind: Kind, truth: str, lines: list[str]) -> None:
    assert not stands_in(kind, truth, lines)
