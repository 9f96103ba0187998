"""A second application, written by its guide alone, installed from wheels where nothing else is."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import asyncpg
import httpx
import pytest

from tests import services
from tests.clean_environment import ROOT, CleanEnvironment, build_wheel

GUIDE = ROOT / "docs/how-to/add-an-application.md"
BLOCK = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ONE = json.dumps({"parcels": [{"number": "P-1", "weight_kg": 2.5}]})
HEAVIEST = {"DOCPROC_PARCELS_HEAVIEST_KG": "10"}
OTHERS = {"openvino", "pypdfium2", "rapidocr", "numpy", "fastapi", "jinja2"}

# Environments and servers are made once.
pytestmark = [pytest.mark.xdist_group("second application"), pytest.mark.timeout(180)]


@dataclass(frozen=True)
class Wheels:
    docproc: Path
    parcels: Path


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Wheels:
    """Somebody copies the files of the guide, and builds."""
    folder = tmp_path_factory.mktemp("wheels")
    project = folder / "parcels"
    for name, text in BLOCK.findall(GUIDE.read_text(encoding="utf-8")):
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        (project / name).write_text(text, encoding="utf-8")
    return Wheels(build_wheel(ROOT, folder), build_wheel(project, folder))


@pytest.fixture(scope="module")
def bare(wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> CleanEnvironment:
    """The engine and its commands."""
    return CleanEnvironment(tmp_path_factory.mktemp("bare"), [wheels.docproc, wheels.parcels])


@pytest.fixture(scope="module")
def serving(wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> CleanEnvironment:
    """With the servers, too."""
    return CleanEnvironment(tmp_path_factory.mktemp("serving"), [wheels.docproc, wheels.parcels], ["http"])


# --- commands, without a server ---------------------------------------------------------------------------


def test_command_of_the_application_stands_among_the_others(bare: CleanEnvironment, tmp_path: Path) -> None:
    told = bare.run("docproc", "--help", home=tmp_path).stdout
    assert re.search(r"parcels +Parcels and their weights", told)


def test_application_whose_packages_are_missing_says_what_to_install(
    bare: CleanEnvironment, tmp_path: Path
) -> None:
    told = bare.run("docproc", "run", "some.pdf", home=tmp_path, code=2).stderr
    assert told.count("\n") == 1
    assert "pip install 'docproc[documents]'" in told
    told = bare.run(
        "docproc", "db", "current", home=tmp_path, code=1, DOCPROC_APPLICATIONS="documents"
    ).stderr
    assert told.count("\n") == 1
    assert "pip install 'docproc[documents]'" in told


@pytest.mark.parametrize("name", ["api_gateway", "backoffice", "up"])
def test_servers_say_what_to_install(name: str, bare: CleanEnvironment, tmp_path: Path) -> None:
    command = ("docproc", "up") if name == "up" else ("python", "-m", "docproc")
    told = bare.run(*command, home=tmp_path, code=1, DOCPROC_COMPONENT_NAME=name).stderr
    assert told.count("\n") == 1
    assert "pip install 'docproc[http]'" in told


def test_postgresql_says_what_to_install(bare: CleanEnvironment, tmp_path: Path) -> None:
    said = {"DOCPROC_DATABASE_URL": "postgresql://nobody@127.0.0.1/nothing"}
    told = bare.run("docproc", "db", "upgrade", home=tmp_path, code=1, **said).stderr
    assert "pip install 'docproc[postgresql]'" in told


def test_database_gets_the_tables_of_the_application(bare: CleanEnvironment, tmp_path: Path) -> None:
    done = json.loads(bare.run("docproc", "db", "upgrade", "--json", home=tmp_path).stdout)
    assert done["applications"] == {"parcels": {"before": None, "after": "parcels_001"}}
    assert "parcels" in _sqlite_tables(tmp_path / "docproc.db")


def test_bad_setting_is_told_by_its_name(bare: CleanEnvironment, tmp_path: Path) -> None:
    told = bare.run("docproc", "parcels", home=tmp_path, code=1, DOCPROC_PARCELS_HEAVIEST_KG="-1").stderr
    assert "DOCPROC_PARCELS_HEAVIEST_KG" in told and "greater than 0" in told


def test_workflow_files_are_checked_by_the_application(bare: CleanEnvironment, tmp_path: Path) -> None:
    flows = tmp_path / "flows"
    flows.mkdir()
    (flows / "odd.yaml").write_text("name: odd\nstages:\n  - {name: weigh, component: scales}\n")
    said = {"DOCPROC_WORKFLOWS_DIR": str(flows)}
    found = json.loads(
        bare.run("docproc", "workflow", "check", "--json", home=tmp_path, code=1, **said).stdout
    )
    by_name = {one["workflow"]: one for one in found}
    assert by_name["parcels"]["ok"] and "needs a section" in by_name["odd"]["error"]


# What a worker has imported after it ran the application's components, in this very process.
WATCHED = """
import sys
from docproc.cli.main import main
sys.argv = ["docproc", *sys.argv[1:]]
try:
    main()
finally:
    print(*sys.modules, file=sys.stderr)
"""


def test_worker_imports_nothing_of_others(serving: CleanEnvironment, tmp_path: Path) -> None:
    """Not even where the packages are there."""
    command = ("request", "run", "parcels", "--payload", ONE, "--json")
    done = serving.run("python", "-c", WATCHED, *command, home=tmp_path)
    assert json.loads(done.stdout)["status"] == "completed"
    imported = set(done.stderr.splitlines()[-1].split())
    assert "parcels.components" in imported
    assert not imported & {*OTHERS, "parcels.http", "parcels.pages", "parcels.kinds"}
    assert not [name for name in imported if name.startswith("docproc.apps.documents.components")]


def test_bare_wheel_runs_the_application(bare: CleanEnvironment, tmp_path: Path) -> None:
    assert not [name for name in OTHERS if (bare.packages / name).exists()], "else this shows nothing"
    done = bare.run("docproc", "request", "run", "parcels", "--payload", ONE, "--json", home=tmp_path)
    request = json.loads(done.stdout)
    assert request["result"] == {"units": {"parcel:0": {"number": "P-1", "weight_kg": 2.5}}}
    assert (request["parcel_count"], request["total_kg"]) == (1, 2.5)
    assert json.loads(bare.run("docproc", "parcels", "--json", home=tmp_path).stdout) == [
        {"number": "P-1", "weight_kg": 2.5}
    ]
    assert "P-1  2.5 kg" in bare.run("docproc", "parcels", home=tmp_path).stdout


# --- everything running -----------------------------------------------------------------------------------


@dataclass(frozen=True)
class Running:
    api: httpx.Client
    station: httpx.Client
    log: Path


@pytest.fixture(scope="module")
def running(serving: CleanEnvironment, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """`docproc up`, as the guide ends."""
    home = tmp_path_factory.mktemp("home")
    ports = {name: _free_port() for name in ("API", "BACKOFFICE", "HEALTH")}
    said = {f"DOCPROC_{name}_PORT": str(port) for name, port in ports.items()}
    log = home / "up.log"
    with log.open("wb") as file:
        process = subprocess.Popen(
            [str(serving.bin / "docproc"), "up", "--processes", "1"],
            cwd=home,
            env=serving.variables(
                home, **said, **HEAVIEST, DOCPROC_LOG_LEVEL="info", DOCPROC_LOG_FORMAT="json"
            ),
            stdout=file,
            stderr=file,
        )
    try:
        api, station = (f"http://127.0.0.1:{ports[name]}" for name in ("API", "BACKOFFICE"))
        with httpx.Client(base_url=api) as one, httpx.Client(base_url=station) as other:
            _until(lambda: _answers(one) and _answers(other), "both servers answer", log)
            yield Running(one, other, log)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)


def _submit(running: Running, *parcels: tuple[str, float]) -> str:
    sent = {"parcels": [{"number": number, "weight_kg": weight} for number, weight in parcels]}
    accepted = running.api.post("/requests", json={"workflow": "parcels", "payload": sent})
    assert accepted.status_code == 200, accepted.text
    return str(accepted.json()["request_id"])


def _ended(running: Running, request_id: str) -> dict[str, Any]:
    ended: dict[str, Any] = running.api.get(f"/status/{request_id}", params={"wait": 30}, timeout=40).json()
    assert ended["status"] == "completed", ended
    return ended


def _tasks(running: Running) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = running.station.get("/api/tasks", params={"status": "pending"}).json()[
        "tasks"
    ]
    return found


def test_person_is_asked_in_either_language_and_the_answer_goes_on(running: Running) -> None:
    request_id = _submit(running, ("P-1", 2.5), ("P-2", 12))
    _until(lambda: _tasks(running), "somebody is asked", running.log)
    (task,) = _tasks(running)
    assert running.api.get(f"/status/{request_id}").json()["status"] == "weighing"
    assert "Peso de un paquete" in running.station.get("/", params={"operator": "ana", "lang": "es"}).text
    claimed = running.station.post(f"/tasks/{task['id']}/claim", json={"operator": "ana"})
    assert claimed.status_code == 200, claimed.text
    for language, words in (
        ("en", ("What does it weigh?", "Weight (kg)")),
        ("es", ("¿Cuánto pesa?", "Peso (kg)")),
    ):
        page = running.station.get(f"/tasks/{task['id']}", params={"operator": "ana", "lang": language}).text
        assert all(word in page for word in words) and 'value="12"' in page and "P-2" in page

    def answer(weight: float) -> httpx.Response:
        said = {"operator": "ana", "weight_kg": weight}
        return running.station.post(f"/tasks/{task['id']}/submit", json=said)

    assert answer(0).status_code == 422
    assert answer(11.5).status_code == 200
    ended = _ended(running, request_id)
    assert ended["result"]["units"]["parcel:1"] == {"number": "P-2", "weight_kg": 11.5}
    assert (ended["parcel_count"], ended["total_kg"]) == (2, 14.0)
    parcels = running.api.get(f"/parcels/{request_id}").json()
    assert [(one["number"], one["is_checked"]) for one in parcels] == [("P-1", False), ("P-2", True)]


def test_endpoints_of_the_application(running: Running) -> None:
    request_id = _submit(running, ("P-3", 1))
    _ended(running, request_id)
    found = running.api.get(f"/parcels/{request_id}").json()
    assert found == [{"number": "P-3", "weight_kg": 1, "is_checked": False}]
    missing = running.api.get("/parcels/6d1f6bb4-2f1c-4c8a-9f64-0c4d53f9a9a5")
    assert missing.status_code == 404 and missing.json()["error"]["code"] == "unknown_request"
    described = running.api.get("/openapi.json").json()
    assert "/parcels/{request_id}" in described["paths"] and "/process" not in described["paths"]
    assert {"parcel_count", "total_kg"} <= described["components"]["schemas"]["Status"]["properties"].keys()
    assert running.api.get("/ready").status_code == 200


@pytest.mark.parametrize(
    ("language", "title", "column"), [("en", "Parcels", "Weight"), ("es", "Paquetes", "Peso")]
)
def test_page_stands_in_the_console(language: str, title: str, column: str, running: Running) -> None:
    _ended(running, _submit(running, (f"P-{language}", 1)))
    page = running.api.get("/parcels", params={"lang": language})
    assert page.headers["content-language"] == language
    assert f"<h1>{title}</h1>" in page.text and f"<th>{column} (kg)</th>" in page.text
    assert f"<td>P-{language}</td>" in page.text
    assert f'<a href="/parcels" aria-current="page">{title}</a>' in page.text, "in the navigation"
    home = running.api.get("/", params={"lang": language})
    assert home.status_code == 200 and f">{title}</a>" in home.text


def test_log_lines_have_the_fields_of_the_application(running: Running) -> None:
    _ended(running, _submit(running, ("P-4", 1)))
    lines = [json.loads(line) for line in running.log.read_text().splitlines() if line.startswith("{")]
    assert "P-4" in {line.get("parcel") for line in lines}


def test_no_file_of_docproc_changed(wheels: Wheels, serving: CleanEnvironment, running: Running) -> None:
    """With all of it running: every file is as the wheel has it, and there are no others."""
    _ended(running, _submit(running, ("P-5", 1)))
    with zipfile.ZipFile(wheels.docproc) as wheel:
        (record,) = (name for name in wheel.namelist() if name.endswith(".dist-info/RECORD"))
        rows = [line.rsplit(",", 2) for line in wheel.read(record).decode().splitlines()]
    promised = {name: said for name, said, _ in rows if name.startswith("docproc/")}
    assert len(promised) > 300
    folder = serving.packages / "docproc"
    found = [path for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"]
    assert {path.relative_to(serving.packages).as_posix(): _digest(path) for path in found} == promised


# --- two applications at once -----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def beside(wheels: Wheels, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The second application's wheel, unpacked where Python finds it."""
    folder = tmp_path_factory.mktemp("beside")
    with zipfile.ZipFile(wheels.parcels) as wheel:
        wheel.extractall(folder)
    return folder


def _alembic(url: str, beside: Path) -> None:
    """`alembic upgrade head`, singular, in a checkout."""
    subprocess.run(
        [sys.executable, "-m", "alembic", "upgrade", "head"],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": f"{ROOT / 'src'}:{beside}", "DOCPROC_DATABASE_URL": url},
        check=True,
        capture_output=True,
    )


def test_alembic_creates_the_tables_of_two_applications_on_sqlite(beside: Path, tmp_path: Path) -> None:
    _alembic(f"sqlite:///{tmp_path / 'two.db'}", beside)
    assert {"requests", "documents", "pages", "parcels"} <= _sqlite_tables(tmp_path / "two.db")


def test_alembic_creates_the_tables_of_two_applications_on_postgresql(beside: Path) -> None:
    services.require(services.postgres_problem())

    async def tables(url: str) -> set[str]:
        connection = await asyncpg.connect(url)
        try:
            return {row[0] for row in await connection.fetch("SELECT tablename FROM pg_tables")}
        finally:
            await connection.close()

    with services.postgres_database() as url:
        _alembic(url, beside)
        assert {"requests", "documents", "pages", "parcels"} <= asyncio.run(tables(url))


# --- helpers ----------------------------------------------------------------------------------------------


def _sqlite_tables(path: Path) -> set[str]:
    with closing(sqlite3.connect(path)) as connection:
        return {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}


def _digest(path: Path) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(path.read_bytes()).digest())
    return f"sha256={digest.rstrip(b'=').decode()}"


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def _answers(client: httpx.Client) -> bool:
    try:
        return client.get("/health").status_code == 200
    except httpx.TransportError:
        return False


def _until(condition: Callable[[], Any], what: str, log: Path, seconds: float = 60) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not {what}:\n{log.read_text()[-3000:]}"
        time.sleep(0.1)
