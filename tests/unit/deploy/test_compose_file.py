"""docker-compose.yml: valid by the specification of such files, and true to the code (A30, A0 b)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from bench.compose import ComposeFile
from docproc.apps.documents.settings import DocumentsSettings
from docproc.apps.materials.settings import MaterialsSettings
from docproc.apps.orchestrator.settings import OrchestratorSettings
from docproc.apps.video.settings import VideoSettings
from docproc.cli.serve import SERVICES
from docproc.registry import COMPONENT_REGISTRY
from docproc.settings import Settings

ROOT = Path(__file__).parents[3]
FILE = ROOT / "docker-compose.yml"
OVERRIDE = ROOT / "docker-compose.override.yml"
SPECIFIED = {
    "rabbitmq", "postgres", "api-gateway", "backoffice", "workflow-router", "splitter", "ocr", "classifier",
    "classification-aggregator", "extractor", "extraction-aggregator", "consolidator", "sla-monitor",
}  # fmt: skip
PROFILES = ("materials", "orchestrator", "video")
FOREIGN = {"rabbitmq", "postgres", "redis", "mongo", "prometheus", "grafana"}
COMPOSE = ComposeFile(FILE)
OURS = [name for name in COMPOSE.names if name not in FOREIGN]


@pytest.mark.parametrize("path", sorted(ROOT.glob("docker-compose*.yml")), ids=lambda path: path.name)
def test_file_is_valid_by_the_compose_specification(path: Path) -> None:
    told = ["--builtin-schema", "vendor.compose-spec", str(path)]
    checked = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *told], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_thirteen_services_and_the_migration_start_by_themselves() -> None:
    assert set(COMPOSE.started()) == {*SPECIFIED, "migrate"}
    assert {"material-worker", "service-call", "task-result", "video-server", "redis"} <= set(
        COMPOSE.started(*PROFILES)
    )


def test_every_component_of_documents_has_its_service() -> None:
    named = {COMPOSE.service(name).environment.get("DOCPROC_COMPONENT_NAME") for name in OURS}
    named.discard(None)
    assert named <= {*COMPONENT_REGISTRY, *SERVICES}
    assert {
        "workflow_router",
        "splitter",
        "ocr",
        "classifier",
        "classification_aggregator",
        "extractor",
    } <= named
    # Ways in besides HTTP are opened by a setting each, and then run beside these.
    always = {name for name in SERVICES if not name.endswith("_door")}
    assert {"extraction_aggregator", "consolidator", "service_call", "task_result", *always} <= named
    for name in OURS:
        component = COMPOSE.service(name).environment.get("DOCPROC_COMPONENT_NAME")
        assert component in (None, name.replace("-", "_")), "`make logs-ocr` finds the component `ocr`"


@pytest.mark.parametrize("name", OURS)
def test_settings_are_those_of_the_code(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A misspelt variable would be ignored without a word."""
    sections = (Settings, DocumentsSettings, MaterialsSettings, OrchestratorSettings, VideoSettings)
    known = {f"DOCPROC_{field.upper()}" for kind in sections for field in kind.model_fields}
    service = COMPOSE.service(name)
    assert service.environment.keys() <= known
    for key, value in service.environment.items():
        monkeypatch.setenv(key, value)
    settings = Settings.load(_env_file=None)
    assert settings.log_level == "info" and settings.allow_open
    for secret in service.secrets:
        assert secret.upper() in known


@pytest.mark.parametrize("name", OURS)
def test_containers_are_locked_down_and_wait_for_the_tables(name: str) -> None:
    told = COMPOSE.told(name)
    assert told["read_only"] and told["cap_drop"] == ["ALL"] and told["init"]
    assert told["security_opt"] == ["no-new-privileges:true"]
    service = COMPOSE.service(name)
    if name != "migrate":
        assert service.health, "Docker must know whether it is well"
    if name != "migrate" and not name.startswith("video-"):
        assert service.after["migrate"] == "service_completed_successfully"


def test_secrets_are_files_and_no_password_is_in_the_environment() -> None:
    for name in COMPOSE.names:
        service = COMPOSE.service(name)
        assert not any(
            "docproc:docproc" in value or "guest:guest" in value for value in service.environment.values()
        )
        for file in service.secrets.values():
            assert (ROOT / file).is_file(), file
    assert COMPOSE.service("ocr").secrets.keys() == {"docproc_database_url", "docproc_rabbitmq_url"}


def test_every_port_is_published_on_loopback_only() -> None:
    ports = [port for name in COMPOSE.names for port in COMPOSE.told(name).get("ports", [])]
    assert ports and all(port.startswith(("127.0.0.1:", "[::1]:")) for port in ports)
    assert {port.rsplit(":", 1)[1] for port in ports} >= {
        "8000",
        "8001",
        "5432",
        "5672",
        "15672",
        "9090",
        "8080",
    }


def test_override_runs_the_source_of_the_checkout() -> None:
    developing = ComposeFile(FILE, override=OVERRIDE)
    assert yaml.safe_load(OVERRIDE.read_text())["services"].keys() <= set(COMPOSE.names)
    for name in ("api-gateway", "ocr", "material-worker"):
        service = developing.service(name)
        assert service.volumes["/app/src"] == "./src" and service.environment["PYTHONPATH"] == "/app/src"
        assert service.environment["DOCPROC_LOG_LEVEL"] == "debug"
        assert service.volumes["/app/storage"] == "storage", "what the first file says stays"


def test_makefile_has_the_specified_targets() -> None:
    """§16; run without Docker, as `make --dry-run` shows them."""
    for target, shown in (
        ("up", "docker compose up --build --detach"),
        ("down", "docker compose --profile '*' down"),
        ("logs", "docker compose logs --follow"),
        ("logs-ocr", "docker compose logs --follow ocr"),
        ("clean", "docker compose --profile '*' down --volumes"),
        ("migrate-docker", "docker compose exec api-gateway alembic upgrade head"),
    ):
        done = subprocess.run(
            ["make", "--dry-run", "--no-print-directory", target],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert done.stdout.startswith(shown), target
    for target in ("test", "lint", "format"):
        assert f"\n{target}: install" in (ROOT / "Makefile").read_text()
