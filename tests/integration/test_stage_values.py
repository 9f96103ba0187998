"""A stage after extraction changes fields: the answer has what it says, but for what people said."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.console.servers import station as create_app
from docproc.engine.component import NEXT, BaseComponent, Emission
from docproc.engine.message import PipelineMessage
from tests.components import PATHS
from tests.harness import Harness, filled
from tests.integration.test_amendments import FIRST, REST, TEXTS, _tasks

FLOW = """
    sla: {deadline_seconds: 3600}
    stages:
      - {name: lay, component: laid_words}
      - {name: classify, component: classifier, confidence_threshold: 0.0}
      - {name: group, component: classification_aggregator, confidence_threshold: 0.0}
      - {name: extract, component: extractor, confidence_threshold: 1.0, backoffice_queue: task.extraction}
      - {name: enrich, component: enriching}
      - {name: all, component: extraction_aggregator}
      - {name: answer, component: consolidator}
    extraction_schemas:
      invoice:
        fields:
          - {name: invoice_number, required: true}
          - {name: total_amount, type: decimal, required: true}
          - {name: vendor_name}
"""


class Enriching(BaseComponent):
    """Corrects the total, leaves the number alone, and adds what another system knows."""

    component_name = "enriching"
    takes = "document"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        data = {**message.payload["extracted_data"], "total_amount": 99.5, "supplier_code": "S-7"}
        payload = {**message.payload, "extracted_data": data}
        if message.payload["extracted_data"]["invoice_number"] == "202":
            payload["extraction_confidence"] = 0.4  # of this one it is not sure
        return [(NEXT, message.model_copy(update={"payload": payload}))]


@pytest.fixture(autouse=True)
def _components(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PATHS, "laid_words", "tests.integration.test_amendments.LaidWords")
    monkeypatch.setitem(PATHS, "enriching", f"{__name__}.Enriching")


@pytest.fixture
async def station(sqlite_engine: Harness) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(create_app(sqlite_engine.app))
    async with httpx.AsyncClient(transport=transport, base_url="http://docproc") as client:
        yield client


async def test_answer_has_what_a_stage_after_extraction_says(
    sqlite_engine: Harness, station: httpx.AsyncClient
) -> None:
    engine = sqlite_engine
    engine.workflow("enriched", FLOW)
    await engine.start(*FIRST, *REST, "extractor", "enriching")
    request = await engine.finished(await engine.submit("enriched", texts=TEXTS), 60)
    sure, unsure = filled(request.result_payload)["documents"]
    assert sure["extracted_data"]["total_amount"] == 99.5
    assert sure["extracted_data"]["supplier_code"] == "S-7"
    told: dict[str, Any] = sure["fields"]["total_amount"]
    assert (told["value"], told["source"], told["confidence"]) == ("99.5", "component", 1.0)
    assert sure["fields"]["invoice_number"]["source"] != "component"
    assert "total_amount" not in sure["needs_review"] and "invoice_number" in sure["needs_review"]
    assert unsure["fields"]["supplier_code"]["confidence"] == 0.4 >= unsure["extraction_confidence"]
    assert {"total_amount", "supplier_code"} <= set(unsure["needs_review"])

    # A person's word stands: the document passes the stage once more with it.
    task = next(t for t in await _tasks(engine, request.id) if str(t.reference_id) == sure["document_id"])
    await station.post(f"/tasks/{task.id}/claim", json={"operator": "ana"})
    said = {"operator": "ana", "extracted_data": {"total_amount": "121.00", "invoice_number": "A-1"}}
    done = await station.post(f"/tasks/{task.id}/submit", json=said)
    assert done.status_code == 200, done.text

    async def amended() -> bool:
        return (await engine.request(request.id)).answer_version == 2

    await engine.until(amended, "the second answer", 60)
    first, _ = filled((await engine.request(request.id)).result_payload)["documents"]
    assert (first["extracted_data"]["total_amount"], first["extracted_data"]["invoice_number"]) == (
        121.0,
        "A-1",
    )
    assert first["extracted_data"]["supplier_code"] == "S-7"
