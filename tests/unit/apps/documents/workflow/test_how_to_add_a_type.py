"""The how-to for a new document type: its workflow loads, tells the type and finds the fields."""

from __future__ import annotations

import re
from pathlib import Path

from docproc.app import App
from docproc.apps.documents.schemas import schemas_of
from docproc.apps.documents.understanding.classify import classify
from docproc.apps.documents.understanding.extract.document import extract
from tests.harness import settings_for
from tests.pages import page_of

GUIDE = Path(__file__).parents[5] / "docs/how-to/add-a-document-type.md"
PAGE = """
    PÓLIZA DE SEGURO DE AUTOMÓVIL                CONDICIONES PARTICULARES
    Nº de póliza: AU-2026-004417                 Fecha de efecto: 01/03/2026
    Tomador: Marta Iglesias Prado                Vencimiento: 28/02/2027
    NIF: 12345678Z
    Matrícula: 4821 KLM                          Modalidad: Todo riesgo

    Garantía                          Capital
    Responsabilidad civil        50.000.000,00
    Lunas                             1.200,00

    Prima neta: 312,40
    Impuestos: 25,60
    Prima total: 338,00
    Cuenta de cargo: ES91 2100 0418 4502 0005 1332
"""


def test_the_guide_works_to_the_letter(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    found = re.search(
        r"^```yaml file=workflows/policies.yaml\n(.*?)^```$", GUIDE.read_text(encoding="utf-8"), re.M | re.S
    )
    assert found
    (settings.workflows_dir / "policies.yaml").write_text(found[1], encoding="utf-8")
    schemas = schemas_of(App(settings).loader.load("policies"))
    page = page_of(PAGE)
    told = classify(page, {name: schema.keywords for name, schema in schemas.items() if schema.keywords})
    assert told.doc_type == "policy"
    policy = schemas["policy"]
    values = extract("policy", [field.spec for field in policy.fields], [page], policy.rules)
    plain = {name: value.value for name, value in values.items() if value and not value.rows}
    assert plain == {
        "policy_number": "AU-2026-004417", "holder": "Marta Iglesias Prado", "holder_tax_id": "12345678Z",
        "start_date": "2026-03-01", "end_date": "2027-02-28", "plate": "4821 KLM", "cover": "Todo riesgo",
        "net_premium": "312.40", "taxes": "25.60", "total_premium": "338.00",
        "account": "ES91 2100 0418 4502 0005 1332",
    }  # fmt: skip
    covers = values["covers"]
    assert covers and [row.cells for row in covers.rows] == [
        ("Responsabilidad civil", "50000000.00"), ("Lunas", "1200.00"),
    ]  # fmt: skip
