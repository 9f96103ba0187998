"""A file in, typed documents out (ACCEPTANCE A4, A16–A24), seen from outside on both deployments."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from docproc_samples import drawing
from tests import papers
from tests.deployments import PATIENCE, Deployment
from tests.papers import ID_CARD, INVOICE, LETTER, PAYSLIP
from tests.processes import until

# Its services are started once, so its tests stay in one process.
pytestmark = pytest.mark.xdist_group("deployment")

LIFE = ["received", "routing", "splitting", "processing", "extracting", "consolidating", "completed"]
# With this threshold no page is ever sure enough.
STRICT_CLASSIFY = "confidence_threshold: 0.90 # a page in the wrong place is expensive here"
STRICT_EXTRACT = "confidence_threshold: 0.85\n    backoffice_queue: task.extraction\n    when_no_time: wait"
# Nobody is there; where a flow does not say that it waits, doubts go out flagged.
WAITING = "\n    when_no_time: wait"
NEVER_SURE = {"confidence_threshold: 0.80": f"confidence_threshold: 1.0{WAITING}"}
MIXED = papers.pdf(INVOICE, INVOICE, ID_CARD, PAYSLIP, PAYSLIP)


def documents(status: dict[str, Any]) -> list[tuple[str, list[int]]]:
    return [(d["doc_type"], d["page_indices"]) for d in status["result"]["documents"]]


# Doubts are for people, and nobody is here: these flows let them pass.
@pytest.fixture(scope="session", autouse=True)
def _flows(deployment: Deployment) -> None:
    trusting = {
        "confidence_threshold: 0.80": "confidence_threshold: 0.0",
        "confidence_threshold: 0.75": "confidence_threshold: 0.0",
        "    backoffice_queue: task.extraction\n": "",
    }
    deployment.workflow("trusting", trusting)
    deployment.workflow("doubting", {**NEVER_SURE})
    careful = {
        "confidence_threshold: 0.80": "confidence_threshold: 0.0",
        "confidence_threshold: 0.75": "confidence_threshold: 1.0",
    }
    deployment.workflow("hasty", careful)
    careful["confidence_threshold: 0.75"] += WAITING
    deployment.workflow("careful", careful)


def test_normal_job_goes_through_all_seven_statuses_in_order(deployment: Deployment) -> None:
    """A4"""
    done = deployment.process(("mixed.pdf", MIXED), workflow="trusting")
    assert done["status"] == "completed", done["error"]
    assert deployment.statuses(done["request_id"]) == LIFE


def test_status_is_seen_on_the_way_with_counts(deployment: Deployment) -> None:
    """A2: partial progress is visible."""
    request_id = deployment.submit(("long.pdf", papers.pdf(*[INVOICE, ID_CARD] * 40)), workflow="trusting")
    seen: list[dict[str, Any]] = []

    def over() -> bool:
        seen.append(deployment.status(request_id))
        return seen[-1]["status"] in ("completed", "failed")

    until(over, "it ends", 90)
    assert seen[-1]["status"] == "completed", seen[-1]["error"]
    order = [LIFE.index(one["status"]) for one in seen]
    assert order == sorted(order)
    running = [one for one in seen if one["status"] in ("processing", "extracting")]
    assert running and all(one["page_count"] == 80 for one in running)
    assert all(one["document_count"] == 80 for one in seen if one["status"] == "extracting")


def test_answer_has_the_specified_shape(deployment: Deployment) -> None:
    """A23"""
    done = deployment.process(("mixed.pdf", MIXED), workflow="trusting")
    result = done["result"]
    assert result["request_id"] == done["request_id"]
    assert result["workflow"] == done["workflow_name"] == "trusting"
    assert (result["total_pages"], result["total_documents"]) == (5, 3)
    assert (done["page_count"], done["document_count"]) == (5, 3)
    assert documents(done) == [("invoice", [0, 1]), ("id_card", [2]), ("payslip", [3, 4])]
    assert result["partial"] is False and result["missing"] == []
    for document in result["documents"]:
        assert document["status"] == "completed"
        assert document["document_id"]
        assert 0 <= document["extraction_confidence"] <= 1
        for name, field in document["fields"].items():
            shape = {"value", "confidence", "source", "page", "box"}
            assert shape <= set(field) <= shape | {"rows", "reason", "why"}, (
                name
            )  # of tables; where there is one
            assert field["page"] in document["page_indices"]
            x0, y0, x1, y1 = field["box"]
            assert 0 <= x0 < x1 <= 1 and 0 <= y0 < y1 <= 1
    assert done["completed_at"] > done["created_at"]


def test_fields_are_typed_and_only_those_of_the_schema(deployment: Deployment) -> None:
    """A21"""
    done = deployment.process(("f.pdf", papers.pdf(INVOICE)), workflow="trusting")
    (invoice,) = done["result"]["documents"]
    found = invoice["extracted_data"]
    assert set(found) == {
        "invoice_number", "total_amount", "vendor_name", "date", "vendor_tax_id", "net_amount", "tax_amount",
        "currency", "customer_name", "customer_tax_id", "due_date", "withheld_amount", "surcharge_amount",
        "line_items", "tax_breakdown",
    }  # fmt: skip
    assert found["invoice_number"] == "F-2026-0042"
    assert found["total_amount"] == 121.0 and isinstance(found["total_amount"], float)
    assert found["date"] == "2026-03-12"
    assert found["vendor_tax_id"] == "B16596447"
    assert invoice["fields"]["total_amount"]["value"] == "121.00"
    assert invoice["fields"]["total_amount"]["source"] == "text_layer"
    confidences = [field["confidence"] for field in invoice["fields"].values()]
    assert invoice["extraction_confidence"] == pytest.approx(min(confidences), abs=1e-4)


# --- routing ---------------------------------------------------------------------------------------------


def test_named_workflow_stands_and_its_deadline_counts_from_reception(deployment: Deployment) -> None:
    """A16"""
    done = deployment.process(
        ("f.pdf", papers.pdf(ID_CARD)), workflow="trusting", metadata={"project": "hipotecas"}
    )
    assert done["workflow_name"] == "trusting"
    created, deadline = (datetime.fromisoformat(done[name]) for name in ("created_at", "deadline_utc"))
    assert deadline - created == timedelta(seconds=60 * PATIENCE)


@pytest.mark.parametrize(
    ("fields", "workflow", "seconds"),
    [
        ({"metadata": {"project": "hipotecas"}}, "hipotecas", 300),
        ({"channel": "hipotecas"}, "hipotecas", 300),
        ({"metadata": {"kind": "invoice"}}, "invoices", 30),
        ({"metadata": {"project": "otra"}}, "default", 60),
    ],
)
def test_router_chooses_by_channel_and_metadata(
    deployment: Deployment, fields: dict[str, Any], workflow: str, seconds: int
) -> None:
    """A16"""
    request_id = deployment.submit(("f.pdf", papers.pdf(INVOICE)), **fields)
    until(lambda: deployment.status(request_id)["status"] not in ("received",), "it is routed")
    status = deployment.status(request_id)
    assert status["workflow_name"] == workflow
    created, deadline = (datetime.fromisoformat(status[name]) for name in ("created_at", "deadline_utc"))
    assert deadline - created == timedelta(seconds=seconds * PATIENCE)


def test_trace_and_deadline_are_the_same_at_every_stage(deployment: Deployment) -> None:
    """A5: to the tasks for people, too."""
    request_id = deployment.submit(("m.pdf", papers.pdf(INVOICE, LETTER)), workflow="doubting")
    until(lambda: _tasks(deployment, request_id, 2), "both pages wait for a person")
    (row,) = deployment.query(f"SELECT trace_id, deadline_utc FROM requests WHERE id = '{request_id}'")
    for (body,) in deployment.query(
        f"SELECT message FROM backoffice_tasks WHERE request_id = '{request_id}'"
    ):
        message = json.loads(body)
        assert str(message["trace_id"]) == str(row[0])
        said = datetime.fromisoformat(deployment.status(request_id)["deadline_utc"])
        assert datetime.fromisoformat(message["deadline_utc"]) == said


# --- splitting -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "pages"),
    [
        ("a.pdf", papers.pdf(INVOICE, INVOICE, LETTER), 3),
        ("wrong-name.txt", papers.pdf(INVOICE), 1),
        (
            "zip.zip",
            papers.archive({"b/2.pdf": papers.pdf(ID_CARD), "a/1.pdf": papers.pdf(INVOICE, INVOICE)}),
            3,
        ),
        (
            "nested.zip",
            papers.archive(
                {"in.zip": papers.archive({"x.pdf": papers.pdf(PAYSLIP)}), "y.pdf": papers.pdf(LETTER)}
            ),
            2,
        ),
    ],
)
def test_page_count_is_exact_and_pages_are_no_copies(
    deployment: Deployment, name: str, content: bytes, pages: int
) -> None:
    """A17"""
    done = deployment.process((name, content), workflow="trusting")
    assert done["status"] == "completed", done["error"]
    assert done["page_count"] == pages
    request_id = done["request_id"]
    rows = deployment.query(
        "SELECT page_index, file_index, file_page, status FROM pages "
        f"WHERE request_id = '{request_id}' ORDER BY 1"
    )
    assert [row[0] for row in rows] == list(range(pages))
    assert {row[3] for row in rows} == {"CLASIFICADA"}
    (state,) = deployment.query(
        "SELECT expected_count, received_count, is_complete FROM aggregation_state "
        f"WHERE request_id = '{request_id}' AND stage = 'classification'"
    )
    assert (state[0], state[1], bool(state[2])) == (pages, pages, True)
    stored = [path for path in (deployment.storage / request_id).rglob("*") if path.is_file()]
    files = len({row[1] for row in rows})
    assert len(stored) <= files + 1  # the upload, and what an archive held; never a file per page


def test_pictures_are_read_by_recognition(deployment: Deployment) -> None:
    """A17, A18: an image, and a TIFF of two pages."""
    png = papers.image_bytes(papers.picture(INVOICE), "PNG")
    jpeg = papers.image_bytes(papers.picture(ID_CARD), "JPEG", quality=80)
    one, two = (
        deployment.submit((name, data), workflow="trusting") for name, data in [("a", png), ("b", jpeg)]
    )
    three = deployment.submit(("fax.tif", papers.tiff(PAYSLIP, LETTER)), workflow="trusting")
    first, second, third = (deployment.finished(request_id, 120) for request_id in (one, two, three))
    assert [done["status"] for done in (first, second, third)] == ["completed"] * 3
    assert documents(first) == [("invoice", [0])]
    assert first["result"]["documents"][0]["extracted_data"]["total_amount"] == 121.0
    assert first["result"]["documents"][0]["fields"]["total_amount"]["source"] == "ocr"
    assert documents(second) == [("id_card", [0])]
    assert second["result"]["documents"][0]["extracted_data"]["id_number"] == "39337243K"
    assert third["page_count"] == 2
    text, confidence = deployment.query(
        f"SELECT ocr_text, ocr_confidence FROM pages WHERE request_id = '{three}' AND page_index = 0"
    )[0]
    assert "Mondéjar" in text
    assert 0.5 < confidence <= 1


def test_text_layer_is_not_recognised_again(deployment: Deployment) -> None:
    """A18: the text is exactly the layer's, and the reading says so."""
    done = deployment.process(("f.pdf", papers.pdf(LETTER)), workflow="trusting")
    ((text,),) = deployment.query(f"SELECT ocr_text FROM pages WHERE request_id = '{done['request_id']}'")
    assert text.splitlines() == list(LETTER)


def test_broken_file_in_an_archive_is_named_and_its_siblings_finish(deployment: Deployment) -> None:
    """A12, A17"""
    content = papers.archive(
        {"good.pdf": papers.pdf(INVOICE), "bad.pdf": b"%PDF-1.7 not really", "x.exe": b"MZ\0"}
    )
    done = deployment.process(("mixed.zip", content), workflow="trusting")
    assert done["status"] == "failed"
    assert "bad.pdf" in done["error"]["message"]
    assert [d["doc_type"] for d in done["result"]["documents"]] == ["invoice"]
    (missing,) = done["result"]["missing"]
    assert missing["reason"] == "failed" and "bad.pdf" in missing["detail"]
    skipped = [file for file in done["result"]["files"] if file["name"].endswith("x.exe")]
    assert skipped and skipped[0]["problem"]


def test_zip_slip_writes_nothing_outside(deployment: Deployment) -> None:
    """A17"""
    content = papers.archive(
        {"../../../../escaped.pdf": papers.pdf(INVOICE), "/abs.pdf": papers.pdf(INVOICE)}
    )
    done = deployment.process(("slip.zip", content), workflow="trusting")
    assert done["status"] == "completed"
    assert not list(deployment.storage.parent.glob("**/escaped.pdf"))
    assert not Path("/abs.pdf").exists()


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("random.bin", b"\x00\x01\x02 nothing at all" * 10, "."),
        ("empty.zip", papers.archive({}), "."),
        ("cut.pdf", papers.pdf(INVOICE)[:300], "."),
    ],
)
def test_unreadable_file_fails_with_a_reason(
    deployment: Deployment, name: str, content: bytes, said: str
) -> None:
    """A1f, A17: zero pages are a failure that says so."""
    done = deployment.process((name, content), workflow="trusting")
    assert done["status"] == "failed"
    assert said in done["error"]["message"]
    assert "Traceback" not in done["error"]["message"]


# --- classification, and people --------------------------------------------------------------------------


def _tasks(deployment: Deployment, request_id: str, number: int) -> bool:
    where = f"request_id = '{request_id}'"
    return bool(deployment.query(f"SELECT count(*) FROM backoffice_tasks WHERE {where}")[0][0] == number)


def test_unsure_page_waits_for_a_person(deployment: Deployment) -> None:
    """A19"""
    request_id = deployment.submit(("f.pdf", papers.pdf(INVOICE)), workflow="doubting")
    until(lambda: _tasks(deployment, request_id, 1), "a task is made", 60)
    (row,) = deployment.query(
        "SELECT id, task_type, reference_id, source_stage, workflow_name, required_skills, deadline_utc, "
        f"input_data, status FROM backoffice_tasks WHERE request_id = '{request_id}'"
    )
    ((page_id, page_type),) = deployment.query(
        f"SELECT id, status FROM pages WHERE request_id = '{request_id}'"
    )
    assert (row[1], str(row[2]), row[3], row[4]) == ("classification", str(page_id), "classify", "doubting")
    assert page_type == "EN_REVISION"
    assert "classification" in str(row[5])
    assert row[6] is not None and row[8] == "pending"
    seen = row[7] if isinstance(row[7], dict) else json.loads(row[7])
    assert seen["page_index"] == 0
    assert "FACTURA" in seen["ocr_text"]
    assert seen["suggested_type"] == "invoice"
    assert 0 < seen["confidence"] < 1
    notices = (
        f"SELECT body FROM messages WHERE request_id = '{request_id}' "
        "AND queue = 'q.backoffice.classification'"
    )
    if not deployment.is_distributed:  # only there a review station runs
        until(lambda: not deployment.query(notices), "the back office has taken the notice")
    else:
        (notice,) = deployment.query(notices)
        assert json.loads(notice[0])["payload"]["task_id"] == str(row[0])
    assert deployment.status(request_id)["status"] == "processing"


def test_unsure_fields_go_to_a_person_with_the_rest_filled_in(deployment: Deployment) -> None:
    """A21"""
    request_id = deployment.submit(("f.pdf", papers.pdf(INVOICE)), workflow="careful")
    until(lambda: _tasks(deployment, request_id, 1), "a task is made", 60)
    ((kind, data),) = deployment.query(
        f"SELECT task_type, input_data FROM backoffice_tasks WHERE request_id = '{request_id}'"
    )
    seen = data if isinstance(data, dict) else json.loads(data)
    assert kind == "extraction"
    assert seen["extracted_data"]["invoice_number"] == "F-2026-0042"
    assert "total_amount" in seen["review"]
    assert deployment.status(request_id)["status"] == "extracting"


def test_unsure_fields_go_out_flagged_when_nobody_is_there(deployment: Deployment) -> None:
    """A28: the answer does not wait, and the question stays."""
    done = deployment.process(("f.pdf", papers.pdf(INVOICE)), workflow="hasty")
    assert done["status"] == "completed", done["error"]
    (document,) = done["result"]["documents"]
    assert document["status"] == "completed" and "total_amount" in document["needs_review"]
    ((data, status),) = deployment.query(
        f"SELECT input_data, status FROM backoffice_tasks WHERE request_id = '{done['request_id']}'"
    )
    seen = data if isinstance(data, dict) else json.loads(data)
    assert (seen["amends"], status) == (True, "pending")


def test_required_field_that_is_missing_is_asked_for(deployment: Deployment) -> None:
    """A21: below no threshold, but not there."""
    deployment.workflow(
        "strict", {"confidence_threshold: 0.75": "confidence_threshold: 0.0"}, like="invoices"
    )
    request_id = deployment.submit(("f.pdf", papers.pdf(LETTER)), workflow="strict")
    until(lambda: _tasks(deployment, request_id, 1), "a task is made", 60)
    ((data,),) = deployment.query(
        f"SELECT input_data FROM backoffice_tasks WHERE request_id = '{request_id}'"
    )
    seen = data if isinstance(data, dict) else json.loads(data)
    assert {"invoice_number", "total_amount"} <= set(seen["review"])
    assert seen["extraction_confidence"] == 0


def test_same_file_gives_the_same_answer(deployment: Deployment) -> None:
    """A19: deterministic."""
    answers = []
    for _ in range(2):
        done = deployment.process(("m.pdf", MIXED), workflow="trusting")
        answers.append([{**d, "document_id": ""} for d in done["result"]["documents"]])
    assert answers[0] == answers[1]


# --- grouping --------------------------------------------------------------------------------------------


def test_consecutive_pages_of_a_type_are_one_document(deployment: Deployment) -> None:
    """A20, A22"""
    done = deployment.process(("m.pdf", papers.pdf(INVOICE, ID_CARD, INVOICE)), workflow="trusting")
    assert documents(done) == [("invoice", [0]), ("id_card", [1]), ("invoice", [2])]
    request_id = done["request_id"]
    (state,) = deployment.query(
        "SELECT expected_count, received_count, is_complete FROM aggregation_state "
        f"WHERE request_id = '{request_id}' AND stage = 'extraction'"
    )
    assert (state[0], state[1], bool(state[2])) == (3, 3, True)
    rows = deployment.query(
        f"SELECT document_id FROM pages WHERE request_id = '{request_id}' ORDER BY page_index"
    )
    ids = [d["document_id"] for d in done["result"]["documents"]]
    assert [str(row[0]) for row in rows] == ids


def test_a_document_never_crosses_files(deployment: Deployment) -> None:
    """A23: over all files, in page order."""
    content = papers.archive({"1.pdf": papers.pdf(INVOICE), "2.pdf": papers.pdf(INVOICE, INVOICE)})
    done = deployment.process(("two.zip", content), workflow="trusting")
    assert documents(done) == [("invoice", [0]), ("invoice", [1, 2])]
    together = deployment.process(
        ("1.pdf", papers.pdf(ID_CARD)), ("2.pdf", papers.pdf(ID_CARD)), workflow="trusting"
    )
    assert documents(together) == [("id_card", [0]), ("id_card", [1])]


def test_staggered_document_is_extracted_before_the_last_page_is_classified(deployment: Deployment) -> None:
    """A20: one page waits for a person, the documents before it do not."""
    change = {
        STRICT_CLASSIFY: "confidence_threshold: 0.85",
        STRICT_EXTRACT: "confidence_threshold: 0.0",
    }
    deployment.workflow("staggered", change, like="hipotecas")
    unsure = ("Recibo", "nómina o factura, quizá un contrato de alquiler")
    request_id = deployment.submit(
        ("m.pdf", papers.pdf(ID_CARD, PAYSLIP, LETTER, unsure)), workflow="staggered"
    )

    def extracted() -> bool:
        rows = deployment.query(
            f"SELECT doc_type FROM documents WHERE request_id = '{request_id}' AND status = 'completed'"
        )
        return {"id_card", "payslip"} <= {row[0] for row in rows}

    until(extracted, "the first documents have their fields", 60)
    assert _tasks(deployment, request_id, 1), "the doubtful page should wait for a person"
    (state,) = deployment.query(
        "SELECT is_complete FROM aggregation_state "
        f"WHERE request_id = '{request_id}' AND stage = 'classification'"
    )
    assert not state[0]


# --- other flows -----------------------------------------------------------------------------------------


def test_flow_without_classification_takes_each_file_as_one_invoice(deployment: Deployment) -> None:
    """A24"""
    deployment.workflow("only_invoices", {"    backoffice_queue: task.extraction\n": ""}, like="invoices")
    done = deployment.process(("f.pdf", papers.pdf(INVOICE, LETTER)), workflow="only_invoices")
    assert done["status"] == "completed", done["error"]
    assert documents(done) == [("invoice", [0, 1])]
    assert done["result"]["documents"][0]["extracted_data"]["total_amount"] == 121.0
    assert "routing" in deployment.statuses(done["request_id"])


def test_fast_extract_skips_grouping_altogether(deployment: Deployment) -> None:
    """A24: split → ocr → extract → aggregate → consolidate, dropped into the folder while it runs."""
    (deployment.processes.settings.workflows_dir / "fast_extract.yaml").write_text(
        """
name: fast_extract
stages:
  - {name: split, component: splitter, routing_key: request.split}
  - {name: ocr, component: ocr, routing_key: page.ocr, parallel: true}
  - {name: extract, component: extractor, routing_key: doc.extract}
  - {name: aggregate, component: extraction_aggregator, routing_key: doc.extracted}
  - {name: consolidate, component: consolidator, routing_key: request.consolidate}
extraction_schemas:
  invoice:
    fields:
      - {name: invoice_number, required: true}
      - {name: total_amount, type: decimal}
""",
        encoding="utf-8",
    )
    done = deployment.process(("f.pdf", papers.pdf(INVOICE, INVOICE)), workflow="fast_extract")
    assert done["status"] == "completed", done["error"]
    assert documents(done) == [("invoice", [0]), ("invoice", [1])]
    assert done["document_count"] == 2


def test_hipotecas_answers_a_mixed_packet(deployment: Deployment, papers_folder: Path) -> None:
    """A24: another flow with other stages; a realistic packet of the generator."""
    deployment.workflow(
        "hipotecas_abiertas",
        {
            STRICT_CLASSIFY: "confidence_threshold: 0.0",
            STRICT_EXTRACT: "confidence_threshold: 0.0",
        },
        like="hipotecas",
    )
    packet = drawing.packet(papers_folder, seed=3, form="digital", language="es")
    done = deployment.process(packet.path, workflow="hipotecas_abiertas")
    assert done["status"] == "completed", done["error"]
    assert done["page_count"] == sum(len(d.page_indices) for d in packet.documents)
    covered = [index for d in done["result"]["documents"] for index in d["page_indices"]]
    assert covered == list(range(done["page_count"]))
    truth = {index: d.doc_type for d in packet.documents for index in d.page_indices}
    guess = {index: d["doc_type"] for d in done["result"]["documents"] for index in d["page_indices"]}
    right = sum(truth[index] == guess[index] for index in truth)
    assert right >= len(truth) - 1, {i: (truth[i], guess[i]) for i in truth if truth[i] != guess[i]}
