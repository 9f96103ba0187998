"""The runbook names commands, services and settings that there are."""

from __future__ import annotations

import re
from pathlib import Path

from bench.compose import ComposeFile
from docproc.settings import Settings

ROOT = Path(__file__).parents[3]
PAGES = [ROOT / "docs/how-to" / f"{name}.md" for name in ("runbook", "deploy-with-compose", "upgrade")]
TEXT = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)


def test_commands_are_those_of_the_reference() -> None:
    headings = re.findall(
        r"^#+ `docproc ([^`]+)`$", (ROOT / "docs/reference/cli.md").read_text(), re.MULTILINE
    )
    known = {" ".join(word for word in heading.split() if word.islower()) for heading in headings}
    named = re.compile(r"(?<!namespace )(?<!username )\bdocproc ([a-z]+(?: [a-z][a-z-]*)?)")
    for span in re.findall(r"`([^`]+)`", TEXT):
        for command in named.findall(span):
            assert command in known | {"docproc"}, f"{span}: there is no command {command}"


def test_services_are_those_of_the_compose_file() -> None:
    names = ComposeFile(ROOT / "docker-compose.yml").names
    for name in re.findall(r"make logs-([a-z-]+)", TEXT) + re.findall(r"compose exec ([a-z-]+)", TEXT):
        assert name in names, name
    for name in re.findall(r"--scale ([a-z-]+)=", TEXT):
        assert name in names, name


def test_settings_are_those_of_the_code() -> None:
    known = {f"DOCPROC_{field.upper()}" for field in Settings.model_fields}
    of_compose = {"DOCPROC_IMAGE", "DOCPROC_SECRETS"}
    for name in set(re.findall(r"DOCPROC_[A-Z_]+[A-Z]", TEXT)):
        assert name in known | of_compose or name.startswith("DOCPROC_MATERIALS_"), name
