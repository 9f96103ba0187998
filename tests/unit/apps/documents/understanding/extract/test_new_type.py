"""A type nobody trained for: names, types and labels in a schema, two layouts, and all fields are right."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from docproc.apps.documents.schemas import ExtractionSchema
from docproc.apps.documents.understanding.extract.document import extract
from docproc.reading import text_layer
from docproc_samples.drawing.sheet import Column, Sheet

PLAIN = """
fields:
  - {name: policy_number, required: true, labels: {es: [póliza, "nº de póliza"], en: [policy no]}}
  - {name: holder, required: true, labels: [tomador, tomador del seguro]}
  - {name: start_date, type: date, labels: [fecha de efecto, efecto]}
  - {name: end_date, type: date, labels: [vencimiento, fecha de vencimiento]}
  - {name: net_premium, type: decimal, labels: [prima neta]}
  - {name: taxes, type: decimal, labels: [impuestos, impuestos y recargos]}
  - {name: total_premium, type: decimal, labels: [prima total, total recibo]}
"""
CHECKED = (
    PLAIN
    + """
  - {name: holder_tax_id, labels: [NIF, DNI/NIF], validators: [nif]}
  - {name: account, labels: [domiciliación bancaria, cuenta de cargo], validators: [iban]}
  - {name: plate, labels: [matrícula], pattern: '\\d{4} ?[A-Z]{3}'}
  - {name: cover, labels: [modalidad], one_of: [Terceros, Terceros ampliado, Todo riesgo]}
rules:
  - net_premium + taxes == total_premium
  - start_date < end_date
"""
)


def boxed(sheet: Sheet) -> dict[str, str]:
    """Labels above their values, blocks side by side, the premium in a table."""
    sheet.text(45, 60, "Seguros La Encina, S.A.", 16, bold=True)
    sheet.text(550, 60, "PÓLIZA DE SEGURO DE AUTOMÓVIL", 11, align="right")
    sheet.text(45, 75, "Paseo de la Castellana, 200, 28046 Madrid · CIF A58818501", 8)
    for x, label, value in (
        (45, "Nº de póliza", "AU-2026-004417"),
        (220, "Fecha de efecto", "01/03/2026"),
        (395, "Vencimiento", "28/02/2027"),
    ):
        sheet.text(x, 120, label, 8)
        sheet.text(x, 134, value, 10, bold=True)
    sheet.text(45, 170, "TOMADOR DEL SEGURO", 8, bold=True)
    sheet.lines(45, 185, ["Marta Iglesias Prado", "NIF 12345678Z", "Calle del Olmo, 7, 37001 Salamanca"], 9)
    sheet.text(320, 170, "VEHÍCULO", 8, bold=True)
    sheet.lines(
        320, 185, ["Matrícula: 4821 KLM", "Marca: Seat León", "Modalidad: Todo riesgo con franquicia"], 9
    )
    titles = [Column(title, 125, "right") for title in ("Prima neta", "Impuestos", "Prima total")]
    sheet.table(45, 250, titles, [("312,40", "25,60", "338,00")])
    sheet.text(45, 330, "Domiciliación bancaria: ES91 2100 0418 4502 0005 1332", 9)
    return {
        "policy_number": "AU-2026-004417", "holder": "Marta Iglesias Prado", "holder_tax_id": "12345678Z",
        "start_date": "2026-03-01", "end_date": "2027-02-28", "net_premium": "312.40", "taxes": "25.60",
        "total_premium": "338.00", "account": "ES91 2100 0418 4502 0005 1332", "plate": "4821 KLM",
        "cover": "Todo riesgo",
    }  # fmt: skip


def listed(sheet: Sheet) -> dict[str, str]:
    """Labels at the left, values in a column, dates in words."""
    sheet.text(300, 70, "CONDICIONES PARTICULARES", 14, bold=True, align="center")
    facts = [
        ("Póliza", "7 301 556 902"), ("Tomador", "Transportes Vega, S.L."), ("DNI/NIF", "B16596447"),
        ("Efecto", "15 de enero de 2026"), ("Fecha de vencimiento", "14 de enero de 2027"),
        ("Matrícula", "1107 LBC Furgoneta Iveco"), ("Modalidad", "Terceros ampliado"),
        ("Prima neta", "1.204,15 €"), ("Impuestos y recargos", "98,74 €"), ("Total recibo", "1.302,89 €"),
        ("Cuenta de cargo", "ES79 2100 0813 6101 2345 6789"),
    ]  # fmt: skip
    for row, (label, value) in enumerate(facts):
        sheet.text(60, 130 + 20 * row, f"{label}:", 10)
        sheet.text(230, 130 + 20 * row, value, 10)
    return {
        "policy_number": "7 301 556 902", "holder": "Transportes Vega, S.L.", "holder_tax_id": "B16596447",
        "start_date": "2026-01-15", "end_date": "2027-01-14", "net_premium": "1204.15", "taxes": "98.74",
        "total_premium": "1302.89", "account": "ES79 2100 0813 6101 2345 6789", "plate": "1107 LBC",
        "cover": "Terceros ampliado",
    }  # fmt: skip


@pytest.mark.parametrize("schema", [PLAIN, CHECKED], ids=["plain", "checked"])
@pytest.mark.parametrize("draw", [boxed, listed])
def test_new_type_needs_no_training(
    draw: Callable[[Sheet], dict[str, str]], schema: str, tmp_path: Path
) -> None:
    sheet = Sheet()
    sheet.page()
    drawn = draw(sheet)
    path = tmp_path / "policy.pdf"
    path.write_bytes(sheet.finish())
    page = text_layer.read(path, 0)
    asked = ExtractionSchema.model_validate(yaml.safe_load(schema))
    assert page is not None
    found = extract("policy", [field.spec for field in asked.fields], [page], asked.rules)
    assert {name: value and value.value for name, value in found.items()} == {
        name: drawn[name] for name in found
    }
    assert not any(value.reason for value in found.values() if value)
    assert all(value.confidence > 0.5 for value in found.values() if value)
