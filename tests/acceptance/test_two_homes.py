"""Two machines that share a database, a broker and a bucket, and no disk: a packet is finished by both."""

from __future__ import annotations

import base64
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import obstore
import pytest
from obstore.store import S3Store

from bench.s3_server import S3Server
from bench.servers import HOST, _free_ports
from tests import deployments, papers, services
from tests.deployments import Deployment
from tests.papers import ID_CARD, INVOICE, PAYSLIP
from tests.processes import Processes, until

pytestmark = pytest.mark.xdist_group("s3")

# Who does what: each stage but the last leaves its work to the other machine.
HERE = ("workflow_router", "splitter", "classification_aggregator", "extraction_aggregator", "consolidator")
THERE = ("ocr", "classifier", "extractor")
KEY = base64.b64encode(b"k" * 32).decode()
SCANNED = papers.image_bytes(papers.picture(INVOICE, dpi=100), "PNG")
# Of the picture's own bytes, which are nowhere else.
MARKER = SCANNED[200:240]
PREFIX = "two-homes"


@dataclass
class TwoHomes:
    """The API runs on the one machine, the review station on the other."""

    api: Deployment
    station: httpx.Client
    homes: tuple[Path, Path]
    bucket: S3Server


def _machine(folder: Path, urls: tuple[str, str], storage: dict[str, str]) -> Processes:
    folder.mkdir()
    machine = deployments._processes(folder, *urls)
    machine.environment |= {**storage, "DOCPROC_WARM_UP": "false"}
    return machine


@pytest.fixture(scope="module")
def two_homes(
    tmp_path_factory: pytest.TempPathFactory, migrated_template: str, s3_server: S3Server
) -> Iterator[TwoHomes]:
    services.require(services.rabbitmq_problem())
    folder = tmp_path_factory.mktemp("two")
    storage = {
        **s3_server.environment(),
        "DOCPROC_STORAGE_URL": f"s3://{s3_server.bucket}/{PREFIX}",
        "DOCPROC_STORAGE_ENDPOINT": s3_server.url,
        "DOCPROC_STORAGE_KEY": KEY,
    }
    port, backoffice = _free_ports(2)
    with (
        services.postgres_database(migrated_template) as database_url,
        services.rabbitmq_vhost() as rabbitmq_url,
        contextlib.ExitStack() as ending,
    ):
        here, there = (
            _machine(folder / name, (database_url, rabbitmq_url), storage) for name in ("here", "there")
        )
        ending.callback(there.close)
        running = [
            there.start("worker", *THERE, PROCESSES=1),
            there.start(COMPONENT_NAME="backoffice", BACKOFFICE_PORT=backoffice),
            here.start("worker", *HERE, PROCESSES=1),
            here.start(COMPONENT_NAME="api_gateway", API_PORT=port),
        ]
        api = ending.enter_context(deployments._running(here, running, port))
        station = ending.enter_context(httpx.Client(base_url=f"http://{HOST}:{backoffice}", timeout=30))
        for service in running:
            service.until_status("/ready", 200, 60)
        yield TwoHomes(api, station, (here.folder, there.folder), s3_server)


def _documents(status: dict[str, Any]) -> list[tuple[str, list[int]]]:
    return [(one["doc_type"], one["page_indices"]) for one in status["result"]["documents"]]


def test_a_packet_is_finished_and_shown_without_a_shared_disk(two_homes: TwoHomes) -> None:
    """Its files are uploaded and unpacked on one machine, read and drawn on the other."""
    unasked = {
        "confidence_threshold: 0.80": "confidence_threshold: 0.0",
        "confidence_threshold: 0.75": "confidence_threshold: 0.0",
        "    backoffice_queue: task.extraction\n": "",
    }
    packet = papers.archive(
        {"1.pdf": papers.pdf(INVOICE, ID_CARD), "2.png": SCANNED, "3.pdf": papers.pdf(PAYSLIP)}
    )
    for home in two_homes.homes:
        machine = Deployment(Processes(home), [], two_homes.api.url)
        machine.workflow("trusting", unasked)
        machine.http.close()
    done = two_homes.api.process(("packet.zip", packet), workflow="trusting")
    assert done["status"] == "completed", done["error"]
    assert _documents(done) == [("invoice", [0]), ("id_card", [1]), ("invoice", [2]), ("payslip", [3])]
    _check_pictures(two_homes, done["request_id"])
    _check_places(two_homes)
    _check_erased(two_homes, done["request_id"])


def _check_pictures(two_homes: TwoHomes, request_id: str) -> None:
    """Drawn at the station's machine, then served by the other from the bucket."""
    pages = f"/requests/{request_id}/pages"
    for number in range(4):
        seen = two_homes.station.get(
            f"/supervisor{pages}/{number}.png", params={"operator": "ana", "width": 400}
        )
        assert seen.status_code == 200, seen.text
        assert seen.content.startswith(b"\x89PNG")
        same = two_homes.api.http.get(f"{pages}/{number}.png", params={"width": 400})
        assert same.content == seen.content


def _check_places(two_homes: TwoHomes) -> None:
    """Nothing lies in a local storage, and nobody can read what lies in the bucket."""
    for home in two_homes.homes:
        assert not (home / "files").exists() and not (home / "storage").exists()
    stored = _objects(two_homes.bucket)
    assert {key.split("/")[1] for key in stored} == {"in", "files", "pages"}
    assert all(content.startswith(b"DPB1") for content in stored.values())
    assert not any(MARKER in content for content in stored.values())
    copies = [path for home in two_homes.homes for path in (home / "cache").rglob("*") if path.is_file()]
    assert any(MARKER in path.read_bytes() for path in copies)  # the marker is where it must be


def _objects(bucket: S3Server) -> dict[str, bytes]:
    account = bucket.environment()
    store = S3Store(
        bucket.bucket,
        prefix=PREFIX,
        endpoint=bucket.url,
        access_key_id=account["AWS_ACCESS_KEY_ID"],
        secret_access_key=account["AWS_SECRET_ACCESS_KEY"],
        region=account["AWS_REGION"],
        client_options={"allow_http": True},
    )
    keys = [found["path"] for page in obstore.list(store) for found in page]
    return {key: bytes(obstore.get(store, key).bytes()) for key in keys}


def _check_erased(two_homes: TwoHomes, request_id: str) -> None:
    assert two_homes.api.http.delete(f"/requests/{request_id}").status_code == 204
    picture = two_homes.station.get(
        f"/supervisor/requests/{request_id}/pages/0.png", params={"operator": "ana"}
    )
    assert picture.status_code == 404
    until(lambda: not list((two_homes.homes[0] / "cache").glob(f"{request_id}/*")), "its copies are gone")
