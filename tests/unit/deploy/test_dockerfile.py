"""The image: its file passes hadolint, and the part of the lock that it installs is whole (A8)."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from requirements import part

ROOT = Path(__file__).parents[3]
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
LOCK = (ROOT / "requirements/dev.txt").read_text(encoding="utf-8")
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))


def instructions(stage: str) -> str:
    found = re.search(rf"^FROM \S+ AS {stage}\n(.*?)(?=^FROM |\Z)", DOCKERFILE, re.MULTILINE | re.DOTALL)
    assert found, stage
    return found[1]


def test_dockerfile_passes_hadolint() -> None:
    program = Path(sys.executable).parent / "hadolint"
    done = subprocess.run(
        [program, "--config", ".hadolint.yaml", "Dockerfile"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_runtime_is_not_root_and_starts_the_named_component() -> None:
    runtime = instructions("runtime")
    assert re.search(r"^USER 10001:10001$", runtime, re.MULTILINE)
    assert runtime.rstrip().endswith('ENTRYPOINT ["python", "-m", "docproc"]')
    assert "pip" not in runtime, "what builds stays behind"


def test_everything_that_is_copied_is_in_the_context() -> None:
    """.dockerignore leaves out all but what it names."""
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE):
        for source in line.split()[:-1]:
            assert any(one == source or one.startswith(f"{source}/") for one in kept), source
    assert not any("secret" in one for one in kept)


@pytest.mark.parametrize("extras", [["documents"], ["video", "redis"], ["all"], ["build"]], ids=",".join)
def test_part_of_the_lock_is_whole(extras: list[str]) -> None:
    """Every package that something installed asks for is there, with hashes; nothing of the tests is."""
    wanted = part.asked(PROJECT, extras)
    found = "\n".join(part.part(LOCK, wanted))
    names = {part.plain(name) for name in re.findall(r"^([A-Za-z0-9._-]+)==", found, re.MULTILINE)}
    assert wanted <= names
    assert len(re.findall(r"^\S+==", found, re.MULTILINE)) <= found.count("--hash=sha256:")
    for name, asking, _ in part.blocks(LOCK):
        assert name in names or not names.intersection(asking), f"{name} is left out"
    assert not {"pytest", "mypy", "playwright", "mkdocs"} & names


def test_part_of_documents_is_smaller_than_all() -> None:
    documents = part.part(LOCK, part.asked(PROJECT, ["documents"]))
    assert not any(line.startswith(("av==", "celery==", "pymongo==")) for line in documents)
    assert len(documents) < len(part.part(LOCK, part.asked(PROJECT, ["all"])))


def test_unknown_extra_is_told() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "requirements/part.py", "documnts"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1 and "no extra" in done.stderr and "documents" in done.stderr
