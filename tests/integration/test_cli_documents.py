"""The commands people use on documents: `run` by itself, and `up` with those that talk to it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psutil
import pytest
from openpyxl import load_workbook
from reportlab.pdfgen import canvas

from bench.servers import HOST, _free_ports
from tests import papers
from tests.processes import Ended, Processes, Service, are_gone, until

# Its services are started once, so its tests stay in one process.
pytestmark = pytest.mark.xdist_group("commands")

NOBODY = "00000000-0000-0000-0000-000000000000"
FIELDS = [
    *("request_id", "status", "workflow_name", "created_at", "deadline_utc", "completed_at"),
    *("page_count", "document_count", "result", "error", "answer_version", "breached_at", "amended_at"),
]
INVOICE = (
    "FACTURA",
    "Suministros Industriales Vega, S.L.",
    "CIF: B16596447",
    "Número de factura: F-2025-0042",
    "Fecha: 22/04/2025",
    "Cliente: Gestoría Puerta Nueva, S.A.",
    "Base imponible: 100,00 €",
    "IVA 21 %: 21,00 €",
    "Total factura: 121,00 €",
)


def draw_pdf(path: Path, pages: int = 1, lines: tuple[str, ...] = INVOICE) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing = canvas.Canvas(str(path))
    for _ in range(pages):
        for place, line in enumerate(lines):
            drawing.drawString(72, 770 - 24 * place, line)
        drawing.showPage()
    drawing.save()
    return path


def as_delivered(folder: Path) -> Processes:
    """Without the engine tests' own components, and with the workflows that come with DocProc."""
    processes = Processes(folder)
    del processes.environment["DOCPROC_COMPONENTS"]
    return processes


@pytest.fixture
def cli(tmp_path: Path) -> Iterator[Processes]:
    with closing(as_delivered(tmp_path)) as processes:
        yield processes


def lines_of(ended: Ended) -> list[dict[str, Any]]:
    return [json.loads(line) for line in ended.out.splitlines()]


# --- run ------------------------------------------------------------------------------------------------


def test_run_shows_what_is_in_a_file_and_writes_it(cli: Processes, tmp_path: Path) -> None:
    draw_pdf(tmp_path / "factura.pdf")
    done = cli.run("run", "factura.pdf", "--out", "answers")
    assert done.code == 0, done.err
    assert re.match(
        r"factura\.pdf  completed  default · 1 page · [\d.]+ s\n  request [\da-f-]+\n  1\. invoice  page 1  ",
        done.out,
    )
    assert re.search(r"^ +\??  total_amount +121\.00 +\d+ %  page 1 *$", done.out, re.M)
    assert "JSON: answers/factura.json" in done.out
    written = json.loads((tmp_path / "answers/factura.json").read_text())
    assert list(written) == FIELDS
    assert written["result"]["documents"][0]["fields"]["total_amount"]["value"] == "121.00"
    kept = cli.run("request", "status", written["request_id"], "--json").json  # results stay
    assert kept["result"] == written["result"]
    assert cli.count("messages") == 0 and cli.count("workers") == 0


def test_folder_gives_a_line_each_in_natural_order_and_a_bad_file_fails_alone(
    cli: Processes, tmp_path: Path
) -> None:
    draw_pdf(tmp_path / "in/page-10.pdf", pages=2)
    draw_pdf(tmp_path / "in/page-2.pdf")
    (tmp_path / "in/page-3.pdf").write_bytes(b"%PDF-1.4 and then nothing of the kind")
    (tmp_path / "in/page-4.pdf").touch()
    (tmp_path / "in/.hidden").touch()
    done = cli.run("run", "in", "--json", "--out", "answers")
    assert (done.code, done.err) == (1, "")
    two, three, four, ten = lines_of(done)
    assert [list(one) for one in (two, three, four, ten)] == [FIELDS] * 4
    assert [one["status"] for one in (two, three, four, ten)] == [
        "completed",
        "failed",
        "failed",
        "completed",
    ]
    assert (two["page_count"], ten["page_count"]) == (1, 2)
    assert three["error"]["message"] and four["error"]["message"]
    names = {path.name for path in (tmp_path / "answers").iterdir()}
    assert names == {"page-2.json", "page-3.json", "page-4.json", "page-10.json"}


def test_all_documents_are_one_table_for_a_spreadsheet(cli: Processes, tmp_path: Path) -> None:
    first, second = (draw_pdf(tmp_path / "in" / f"{name}.pdf") for name in ("uno", "dos"))
    done = cli.run("run", str(first), str(second), "--format", "csv", "--lang", "es")
    assert done.code == 0, done.err
    rows = done.out.lstrip("\ufeff").splitlines()
    assert rows[0].startswith("Documento;Fichero;Páginas;Tipo;Referencia;Número de factura;Importe total")
    assert [row.split(";")[1:4] for row in rows[1:]] == [
        ["uno.pdf", "1", "Factura"],
        ["dos.pdf", "1", "Factura"],
    ]
    assert all("121,00;" in row and "22/04/2025" in row for row in rows[1:])
    out = tmp_path / "tables"
    assert cli.run("run", str(first), "--format", "xlsx", "--lang", "en", "--out", str(out)).code == 0
    book = load_workbook(out / "documents.xlsx")
    assert book.sheetnames == ["Documents", "Lines"] and book["Documents"]["G2"].value == 121
    assert not (out / "uno.json").exists()
    for wrong in (("--format", "xlsx"), ("--format", "csv", "--json"), ("--format", "csv", "--lang", "fr")):
        assert cli.run("run", str(first), *wrong).code == 2


def test_together_makes_one_request_and_nothing_is_kept_when_asked(cli: Processes, tmp_path: Path) -> None:
    draw_pdf(tmp_path / "in/a.pdf")
    draw_pdf(tmp_path / "in/b.pdf")
    done = cli.run("run", "in", "in/a.pdf", "--together", "--no-keep", "--json")
    assert done.code == 0, done.err
    (one,) = lines_of(done)
    assert one["page_count"] == 3
    assert [file["name"] for file in one["result"]["files"]] == ["a.pdf", "b.pdf", "a.pdf"]
    assert not (tmp_path / "docproc.db").exists()


def test_workflow_channel_metadata_and_reference_reach_the_request(cli: Processes, tmp_path: Path) -> None:
    file = draw_pdf(tmp_path / "x.pdf")
    routed = cli.run("run", str(file), "--metadata", '{"kind": "invoice"}', "--external-id", "7", "--json")
    named = cli.run("run", str(file), "--workflow", "invoices", "--channel", "web", "--json")
    again = cli.run("run", str(file), "--external-id", "7", "--json")  # the same again is answered at once
    assert {one.code for one in (routed, named, again)} == {0}, routed.err + named.err + again.err
    assert (routed.json["workflow_name"], named.json["workflow_name"]) == ("invoices", "invoices")
    assert again.json == routed.json
    rows = cli.query("SELECT channel, external_id, metadata FROM requests ORDER BY created_at")
    assert [(row[0], row[1]) for row in rows] == [("cli", "7"), ("web", None)]
    assert json.loads(rows[0][2]) == {"kind": "invoice"}


def test_run_is_embedded_whatever_servers_the_environment_names(cli: Processes, tmp_path: Path) -> None:
    draw_pdf(tmp_path / "x.pdf")
    nowhere = "postgresql://nobody@127.0.0.1:1/none"
    done = cli.run("run", "x.pdf", "--home", "here", "--json", DATABASE_URL=nowhere)
    assert done.code == 0, done.err
    assert (tmp_path / "here/docproc.db").exists() and list((tmp_path / "here/storage").iterdir())


def test_standard_input_is_read(cli: Processes, tmp_path: Path) -> None:
    with draw_pdf(tmp_path / "x.pdf").open("rb") as file:
        done = subprocess.run(
            [sys.executable, "-m", "docproc", "run", "-", "--json"],
            env=cli.environment, cwd=tmp_path, stdin=file, capture_output=True, timeout=60, check=True,
        )  # fmt: skip
    assert json.loads(done.stdout)["result"]["files"][0]["name"] == "stdin"


def test_mistakes_are_answered_by_one_line_with_a_remedy(cli: Processes, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    draw_pdf(tmp_path / "x.pdf")
    mistakes = {
        "run nowhere.pdf": (2, "nowhere.pdf does not exist. Check the path"),
        "run x.pdf empty": (2, "there is no file in empty. Name a folder with documents"),
        "run x.pdf --metadata {": (2, "the metadata is not JSON"),
        "run x.pdf --home h --no-keep": (2, "contradict each other. Give one of them"),
        "run x.pdf --workflow none": (1, "there is no workflow 'none'. Known workflows: "),
        "submit nowhere.pdf": (2, "nowhere.pdf does not exist"),
        f"status {NOBODY} --server http://127.0.0.1:1": (
            1,
            "no DocProc answers at http://127.0.0.1:1. Start one with: docproc up",
        ),
        f"watch {NOBODY} --server nonsense": (2, "'nonsense' is no server's address. Write it as http://"),
    }
    for (command, (code, said)), ended in zip(mistakes.items(), cli.run_all(*mistakes), strict=True):
        assert (ended.code, ended.out) == (code, ""), command
        assert said in ended.error, command


def test_ctrl_c_cancels_what_is_not_done(cli: Processes, tmp_path: Path) -> None:
    for number in range(3):
        draw_pdf(tmp_path / f"in/{number}.pdf", pages=150)
    process = subprocess.Popen(
        [sys.executable, "-m", "docproc", "run", "in"],
        env=cli.environment, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True,
    )  # fmt: skip
    try:
        until(lambda: cli.count("pages WHERE status != 'PENDIENTE_OCR'"), "a page was read", 60)
        children = psutil.Process(process.pid).children(recursive=True)
        os.killpg(process.pid, signal.SIGINT)  # as a terminal does: to the children, too
        _, said = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert (process.returncode, said) == (130, "cancelled\n")
    until(lambda: are_gone(children), "no child is left")
    assert cli.count("messages") == 0 and cli.count("workers") == 0
    assert cli.count("requests WHERE status = 'failed'") > 0
    assert cli.count("requests WHERE status NOT IN ('failed', 'completed')") == 0


# --- up, and what talks to it ---------------------------------------------------------------------------


class Up:
    """`docproc up` on ports of its own."""

    def __init__(self, folder: Path) -> None:
        self.processes = as_delivered(folder)
        self.port, self.review_port = _free_ports(2)
        self.url = f"http://{HOST}:{self.port}"
        self.processes.environment["DOCPROC_SERVER"] = self.url
        self.service = self.start()

    def start(self) -> Service:
        service = self.processes.start(
            "up",
            "--port",
            str(self.port),
            "--processes",
            "2",
            BACKOFFICE_PORT=self.review_port,
            REVIEW="flag",
        )
        service.until_status("/ready", 200, 90)
        return service

    def run(self, *arguments: str) -> Ended:
        return self.processes.run(*arguments)


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    running = Up(tmp_path_factory.mktemp("up"))
    with closing(running.processes):
        yield running


def test_files_are_submitted_followed_and_looked_at(up: Up, tmp_path: Path) -> None:
    good, empty = draw_pdf(tmp_path / "good.pdf"), tmp_path / "empty.pdf"
    empty.touch()
    sent = up.run("submit", str(good), "--channel", "web", "--external-id", "9", "--metadata", '{"a": 1}')
    assert sent.code == 0, sent.err
    request_id, said = sent.out.split(maxsplit=1)
    assert said == f"good.pdf; docproc watch {request_id}\n"
    watched = up.run("watch", request_id, "--json")
    assert watched.code == 0, watched.err
    assert (watched.json["request_id"], watched.json["status"]) == (request_id, "completed")
    status, machine = up.run("status", request_id), up.run("status", request_id, "--json")
    assert status.out.startswith(f"{request_id}  completed  default · 1 page")
    assert "total_amount" in status.out
    assert machine.json == watched.json and list(machine.json) == FIELDS
    over = up.run("cancel", request_id)
    assert over.code == 1 and "is over already: completed" in over.error

    mixed = up.run("submit", str(good), str(empty), "--json")
    assert mixed.code == 1
    accepted, refused = lines_of(mixed)
    assert (accepted["name"], accepted["status"]) == ("good.pdf", "received")
    assert (refused["request_id"], "is empty" in refused["error"]["message"]) == (None, True)


def test_submit_waits_for_all_and_tells_a_failure(up: Up, tmp_path: Path) -> None:
    draw_pdf(tmp_path / "a.pdf")
    (tmp_path / "b.pdf").write_bytes(b"nothing of the kind")
    waited = up.run("submit", str(tmp_path / "b.pdf"), str(tmp_path / "a.pdf"), "--wait")
    assert waited.code == 1
    assert re.search(r"^b\.pdf  failed .*\n(.*\n)*a\.pdf  completed ", waited.out, re.M)
    together = up.run("submit", str(tmp_path), "--together", "--wait", "--json")
    assert [file["name"] for file in together.json["result"]["files"]] == ["a.pdf", "b.pdf"]


def test_running_request_is_cancelled(up: Up, tmp_path: Path) -> None:
    long = papers.save(tmp_path, "long.tif", papers.tiff(*[papers.INVOICE] * 60))  # a minute of recognition
    request_id = up.run("submit", str(long), "--json").json["request_id"]
    cancelled = up.run("cancel", request_id)
    assert (cancelled.code, cancelled.out) == (0, f"{request_id}  cancelled\n"), cancelled.err
    watched = up.run("watch", request_id)
    assert watched.code == 1 and "cancelled by the client" in watched.out


def test_unknown_requests_and_strangers_are_named(up: Up) -> None:
    for command in ("status", "watch", "cancel"):
        unknown = up.run(command, NOBODY)
        assert unknown.code == 1 and f"there is no request {NOBODY}. Check the id" in unknown.error
    stranger = up.run("status", NOBODY, "--server", f"http://{HOST}:{up.service.port}")
    assert stranger.code == 1 and "is no DocProc" in stranger.error


def test_review_station_asks_who_is_there(up: Up) -> None:
    review = Service(up.service.process, up.service.log, up.review_port)
    assert review.get("/health") == (200, '{"status":"ok"}')
    answer = review.get("/")
    assert answer and answer[0] == 200 and "Who are you?" in answer[1]


def test_second_one_on_the_same_home_or_port_is_refused(up: Up, tmp_path: Path) -> None:
    twice = up.run("up")
    assert twice.code == 1
    assert (
        f"DocProc runs already on {up.processes.folder}: process {up.service.pid}, {up.url}/" in twice.error
    )
    for variable, port in (("API_PORT", up.port), ("HEALTH_PORT", up.service.port)):
        taken = as_delivered(tmp_path).run("up", BACKOFFICE_PORT=0, **{"API_PORT": 0, variable: port})
        assert taken.code == 1
        assert f":{port}: Address already in use" in taken.error and f"DOCPROC_{variable}" in taken.error


def test_sigterm_ends_everything_and_it_can_be_started_again(up: Up, tmp_path: Path) -> None:
    children = up.service.children()
    assert children
    started = time.monotonic()
    up.service.stop()
    assert time.monotonic() - started < 15
    until(lambda: are_gone(children), "no child is left")
    assert up.processes.count("workers") == 0
    up.service = up.start()
    assert up.run("submit", str(draw_pdf(tmp_path / "again.pdf")), "--wait").code == 0


def test_up_says_where_to_go_and_ends_with_ctrl_c(tmp_path: Path) -> None:
    processes = as_delivered(tmp_path)
    environment = {**processes.environment, "DOCPROC_BACKOFFICE_PORT": "0", "DOCPROC_WARM_UP": "false"}
    command = [sys.executable, "-m", "docproc", "up", "--home", "data", "--port", "0"]
    with subprocess.Popen(
        command, env=environment, cwd=tmp_path, stdout=subprocess.PIPE, text=True, stderr=subprocess.DEVNULL
    ) as process:
        try:
            assert process.stdout
            said = [process.stdout.readline() for _ in range(6)]
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0
        finally:
            process.kill()
    assert re.fullmatch(rf"API and page +http://{re.escape(HOST)}:\d+/\n", said[0])
    assert str(tmp_path / "data") in said[2] and "docproc submit FILE --wait --server" in said[3]
    assert "Ctrl-C" in said[4] and said[5] == "Ready.\n"


def test_what_faces_the_network_and_what_keeps_deadlines_are_processes_of_their_own(up: Up) -> None:
    """Issue 11, 3: and each comes back by itself; `/ready` says when."""
    before = _services(up)
    assert set(before) == {"api_gateway", "backoffice", "sla_monitor"}
    for process in before.values():
        process.kill()
    up.service.until_status("/ready", 503, 10)
    up.service.until_status("/ready", 200, 60)
    after = _services(up)
    assert set(after) == set(before)
    assert {one.pid for one in after.values()}.isdisjoint(one.pid for one in before.values())
    assert up.run("status", NOBODY).error.startswith(f"there is no request {NOBODY}")


def test_service_that_cannot_start_ends_everything_and_says_why(tmp_path: Path) -> None:
    incomplete = {"AUTH": "on", "OIDC_ISSUER": "https://login.example", "WARM_UP": "false"}
    ended = as_delivered(tmp_path).run("up", API_PORT=0, BACKOFFICE_PORT=0, **incomplete)
    assert ended.code == 1 and "DOCPROC_OIDC_CLIENT_ID is not" in ended.err, ended.err


def _services(up: Up) -> dict[str, psutil.Process]:
    """By name, what runs beside the worker."""
    children = psutil.Process(up.service.pid).children()
    return {child.cmdline()[-1]: child for child in children if child.cmdline()[-2:-1] == ["--child"]}
