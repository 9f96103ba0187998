"""The compose file of video: valid by the specification of such files, and true to the code (D17)."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer

from bench.compose import ComposeFile
from docproc.apps.video.cli.app import app
from docproc.apps.video.settings import VideoSettings
from docproc.settings import Settings

ROOT = Path(__file__).parents[4]
FILE = ROOT / "docker-compose.video.yml"
OURS = ("server", "worker", "preview")


@pytest.fixture(scope="module")
def compose() -> ComposeFile:
    return ComposeFile(FILE)


def test_file_is_valid_by_the_compose_specification() -> None:
    told = ["--builtin-schema", "vendor.compose-spec", str(FILE)]
    checked = subprocess.run(
        [sys.executable, "-m", "check_jsonschema", *told], capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_services_are_those_specified(compose: ComposeFile) -> None:
    assert compose.names == ["redis", *OURS]
    assert list(compose.content["volumes"]) == ["video_data", "video_home"]
    for name in OURS:
        service = compose.service(name)
        assert service.volumes["/app/data"] == "video_data"
        assert service.environment["DOCPROC_VIDEO_DATA"] == "/app/data", "frames/ID/ lies right below it"
    worker = compose.content["services"]["worker"]
    assert not {"container_name", "ports"} & worker.keys(), "several could not have them"


def test_broker_never_throws_tasks_away(compose: ComposeFile) -> None:
    command = compose.service("redis").command
    assert command[command.index("--maxmemory-policy") + 1] == "noeviction"


@pytest.mark.parametrize("name", OURS)
def test_settings_are_those_of_the_code(
    name: str, compose: ComposeFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A misspelt variable would be ignored without a word."""
    environment = compose.service(name).environment
    known = {f"DOCPROC_{field.upper()}" for kind in (Settings, VideoSettings) for field in kind.model_fields}
    assert environment.keys() <= known
    for key, value in environment.items():
        monkeypatch.setenv(key, value)
    settings = Settings.load(_env_file=None)
    video = settings.section(VideoSettings)
    assert video.video_redis_url == "redis://redis:6379/0" and video.video_data == Path("/app/data")
    assert settings.is_embedded and video.video_token is None


@pytest.mark.parametrize("name", OURS)
def test_commands_are_those_of_the_code(name: str, compose: ComposeFile) -> None:
    group, command, *options = compose.service(name).command  # behind the image's `python -m docproc`
    assert group == "video"
    known = typer.main.get_command(app).commands[command]  # type: ignore[attr-defined] # a group has them
    known.make_context(command, options)  # raises for what it does not take


def test_only_this_machine_reaches_the_ports(compose: ComposeFile) -> None:
    ports = [one for name in OURS for one in compose.content["services"][name].get("ports", [])]
    assert ports == ["127.0.0.1:9090:9090", "[::1]:9090:9090", "127.0.0.1:8080:8080"]


def test_image_is_the_one_the_dockerfile_builds(compose: ComposeFile) -> None:
    stages = [line.split()[-1] for line in (ROOT / "Dockerfile").read_text().splitlines() if " AS " in line]
    for name in OURS:
        assert compose.content["services"][name]["build"]["target"] in stages
