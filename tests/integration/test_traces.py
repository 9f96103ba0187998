"""Traces: one for each request, through every hop and a person's detour, as a collector receives it."""

from __future__ import annotations

import gzip
import threading
from collections import Counter
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from uuid import uuid4

import pytest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from sqlalchemy import insert

from docproc.alerts.spans import root_id
from docproc.alerts.traces import Traces, exporter
from docproc.engine.message import utc_now
from docproc.engine.store.tables import Event
from docproc.engine.store.task_tables import BackofficeTask
from tests.harness import Harness

FLOW = """
stages:
  - {name: cut, component: split}
  - {name: read, component: work}
  - {name: all, component: gather}
"""


class Collector(BaseHTTPRequestHandler):
    """Takes spans as OpenTelemetry's collector does."""

    received: list[Any]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        if self.headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        told = ExportTraceServiceRequest.FromString(body)
        self.received += [span for r in told.resource_spans for s in r.scope_spans for span in s.spans]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def collector() -> Iterator[tuple[str, list[Any]]]:
    Collector.received = []
    server = HTTPServer(("127.0.0.1", 0), Collector)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}/v1/traces", Collector.received
    server.shutdown()
    thread.join()
    server.server_close()


async def test_a_request_is_one_trace(engine: Harness, collector: tuple[str, list[Any]]) -> None:
    endpoint, received = collector
    traces = Traces(engine.app, exporter(endpoint))
    await traces.look()
    engine.workflow("traced", FLOW)
    await engine.start()
    request = await engine.run("traced", n=3)
    asked = utc_now() - timedelta(seconds=30)
    task = {"id": uuid4(), "request_id": request.id, "task_type": "classification", "created_at": asked}
    answered = {"request_id": request.id, "kind": "task", "outcome": "completed", "stage": "read"}
    moments = {"started_at": utc_now(), "finished_at": utc_now(), "data": {"task_id": str(task["id"])}}
    async with engine.app.store.writing() as session:
        await session.execute(insert(BackofficeTask).values({**task, "required_skills": []}))
        await session.execute(insert(Event).values({**answered, **moments}))
    for _ in range(4):
        await traces.look()
    assert request.trace_id is not None
    assert {span.trace_id for span in received} == {request.trace_id.bytes}
    assert len({span.span_id for span in received}) == len(received)
    names = Counter(span.name for span in received)
    assert set(names) - {"workflow_router"} == {
        "request traced", "received", "cut", "read", "all", "person: classification"
    }  # fmt: skip
    assert (names["read"], names["cut"], names["request traced"]) == (3, 1, 1)
    root = root_id(request.id).to_bytes(8, "big")
    by_name = {span.name: span for span in received}
    assert by_name["request traced"].span_id == root and not by_name["request traced"].parent_span_id
    assert {span.parent_span_id for span in received if span.span_id != root} == {root}
    person = by_name["person: classification"]
    assert person.end_time_unix_nano - person.start_time_unix_nano >= 30_000_000_000
    told = {one.key: one.value.string_value for one in by_name["read"].attributes}
    assert (told["docproc.request_id"], told["docproc.outcome"]) == (str(request.id), "done")


async def test_a_collector_that_is_away_stops_nothing(sqlite_engine: Harness) -> None:
    traces = Traces(sqlite_engine.app, lambda _spans: False)
    sqlite_engine.workflow("traced", FLOW)
    await sqlite_engine.start()
    for _ in range(2):
        await traces.look()
    await sqlite_engine.run("traced", n=1)
    for _ in range(3):
        await traces.look()
