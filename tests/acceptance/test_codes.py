"""Codes and attached data decide the fields; where they contradict the print, a person is told why."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from facturx import generate_from_binary
from reportlab.pdfgen.canvas import Canvas

from tests import barcodes, einvoices, papers
from tests.deployments import Deployment
from tests.processes import until

# Its services are started once, so its tests stay in one process.
pytestmark = pytest.mark.xdist_group("deployment")

BACK = (
    "IDESPCAA000000439337243K<<<<<<",
    "8312251F3201015ESP<<<<<<<<<<<2",
    "BELMONTE<IBANEZ<<AITANA<<<<<<<",
)


@pytest.fixture(scope="module", autouse=True)
def _flow(deployment: Deployment) -> None:
    # What the classifier makes of such small pages is not the question here.
    any_type = {"confidence_threshold: 0.80": "confidence_threshold: 0.0"}
    deployment.workflow("asking", any_type)
    deployment.workflow("flagging", {**any_type, "    backoffice_queue: task.extraction\n": ""})


def with_code(text: str) -> bytes:
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(595, 842), invariant=1)
    canvas.setFont("Courier", 11)
    for number, line in enumerate(papers.INVOICE):
        canvas.drawString(50, 780 - number * 24, line)
    barcodes.draw_shapes(canvas, text, 50, 80, 85)
    canvas.save()
    return out.getvalue()


def fields(deployment: Deployment, name: str, content: bytes) -> dict[str, Any]:
    done = deployment.process((name, content), workflow="flagging")
    assert done["status"] == "completed", done["error"]
    (document,) = done["result"]["documents"]
    found: dict[str, Any] = document["fields"]
    return found


def test_qr_code_attached_invoice_and_zone_are_extracted_exactly(deployment: Deployment) -> None:
    coded = fields(deployment, "qr.pdf", with_code(barcodes.verifactu()))
    for name in ("invoice_number", "total_amount", "date", "vendor_tax_id"):
        assert (coded[name]["value"], coded[name]["source"]) == (einvoices.SAID[name], "code")
    attached = generate_from_binary(papers.pdf(papers.INVOICE), einvoices.FACTUR_X.encode())
    embedded = fields(deployment, "facturx.pdf", attached)
    told = set(embedded) & set(einvoices.SAID)
    assert {"invoice_number", "total_amount", "vendor_name", "customer_name"} <= told
    for name in told:
        value = embedded[name]["value"].removeprefix("ES")  # tax ids are those of European trade there
        assert (value, embedded[name]["source"]) == (einvoices.SAID[name].removeprefix("ES"), "embedded")
    alone = fields(deployment, "factura.xsig", einvoices.FACTURAE.encode())
    assert alone["total_amount"]["value"] == "121.00" and alone["total_amount"]["source"] == "embedded"
    zone = fields(deployment, "dni.pdf", papers.pdf(BACK))
    assert (zone["id_number"]["value"], zone["id_number"]["source"]) == ("39337243K", "code")
    assert zone["date_of_birth"]["value"] == "1983-12-25"


def test_tampered_total_goes_to_a_person_with_the_reason(deployment: Deployment) -> None:
    tampered = with_code(barcodes.verifactu(total="112.00"))
    request_id = deployment.submit(("f.pdf", tampered), workflow="asking")
    query = f"SELECT input_data FROM backoffice_tasks WHERE request_id = '{request_id}'"
    until(lambda: bool(deployment.query(query)), "a task is made", 60)
    ((data,),) = deployment.query(query)
    seen = data if isinstance(data, dict) else json.loads(data)
    assert seen["review"] == ["total_amount"]
    assert seen["fields"]["total_amount"]["reason"] == "the QR code says 112.00, the page says 121.00"
    flagged = fields(deployment, "f.pdf", tampered)["total_amount"]
    assert flagged["reason"] and flagged["confidence"] <= 0.5
