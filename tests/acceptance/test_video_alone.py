"""`docproc video run` on one machine, the guide to filters followed to the letter, and who may send films."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest

from bench.video_deployment import VideoDeployment
from docproc.apps.video.filters.chain import requested
from tests.films import Look, decoded, draw, number_of

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs/how-to/write-a-filter.md"
BLOCK = re.compile(r"^```\w+ file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)

pytestmark = pytest.mark.xdist_group("video faults")


def docproc(folder: Path, *arguments: str, code: int = 0, plugins: Path | None = None) -> Any:
    inherited = {key: value for key, value in os.environ.items() if not key.startswith("DOCPROC_")}
    paths = [str(path) for path in (plugins, ROOT / "src") if path]
    done = subprocess.run(
        [sys.executable, "-m", "docproc", "video", *arguments],
        cwd=folder,
        env={**inherited, "PYTHONPATH": os.pathsep.join(paths), "DOCPROC_HOME": str(folder / "home")},
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return json.loads(done.stdout) if "--json" in arguments and code == 0 else done


@pytest.fixture
def film(tmp_path: Path) -> Path:
    draw(tmp_path / "holiday.mp4", Look(frames=40, variable=True))
    return tmp_path / "holiday.mp4"


def test_run_filters_a_film_without_a_server(film: Path, tmp_path: Path) -> None:
    """The same filters as the workers', and the same frames: two processes change nothing."""
    told = ["run", "holiday.mp4", "--processing", "motion", "--out", "out.mp4", "--frames", "kept"]
    made = docproc(tmp_path, *told, "--processes", "2", "--json")
    assert (made["total_frames"], made["frames_failed"], made["audio"]) == (40, 0, "copied")
    assert made["output_path"] == "out.mp4" and made["size_bytes"] == (tmp_path / "out.mp4").stat().st_size
    before, after = decoded(film), decoded(tmp_path / "out.mp4")
    assert [number_of(image) for _, image in after] == list(range(40))
    assert [when.seconds for when, _ in after] == pytest.approx([when.seconds for when, _ in before])
    cv2.setNumThreads(1)
    chain, images = requested("motion", [], 8), [image for _, image in before]
    for index in range(40):
        found = cv2.imread(str(tmp_path / f"kept/frame_{index:06}.png"))
        expected = chain.apply(images[max(0, index - 1) : index + 1])
        assert found is not None and np.array_equal(found, expected), index


@pytest.mark.parametrize(
    ("told", "code", "said"),
    [
        (["run", "nothing.mp4"], 2, "there is no file nothing.mp4"),
        (["run", "words.txt"], 1, "the film cannot be opened"),
        (["run", "holiday.mp4", "--processing", "sepia"], 1, "there is no filter 'sepia'"),
        (["run", "holiday.mp4", "--filter", "blur:size"], 2, "'size' is no parameter"),
        (["run", "holiday.mp4", "--codec", "divx"], 1, "there is no codec 'divx'"),
        (["run", "holiday.mp4", "--out", "."], 2, "--out . is a folder"),
        (["run", "holiday.mp4", "--out", "./holiday.mp4"], 2, "is the film itself"),
        (["run", "holiday.mp4", "--out", "words.txt/out.mp4"], 2, "nothing can be written to words.txt"),
        (["run", "holiday.mp4", "--frames", "words.txt"], 2, "nothing can be written to words.txt"),
        (["send", "--video", "holiday.mp4", "--out", "/proc/out.mp4"], 2, "nothing can be written to /proc"),
        (["worker"], 1, "DOCPROC_VIDEO_REDIS_URL"),
        (["serve", "--bind", "1.2.3.4"], 1, "cannot listen on 1.2.3.4:9090"),
        (["preview", "--host", "0.0.0.0"], 1, "would show films to everybody"),
        (["send", "--video", "holiday.mp4", "--ipv4", "--ipv6"], 2, "contradict each other"),
    ],
)
def test_mistakes_are_told_in_one_line(
    told: list[str], code: int, said: str, film: Path, tmp_path: Path
) -> None:
    (tmp_path / "words.txt").write_text("no film")
    done = docproc(tmp_path, *told, code=code)
    (line,) = [one for one in done.stderr.splitlines() if one.strip()]
    assert line.startswith("error: ") and said in line
    assert not (tmp_path / "output.mp4").exists()


def test_filters_are_listed_with_what_they_take(tmp_path: Path) -> None:
    found = docproc(tmp_path, "filters", "--json")
    assert found["blur"]["properties"]["size"]["default"] == 9
    assert "gaussian, median, bilateral" in docproc(tmp_path, "filters").stdout


def test_guide_to_filters(film: Path, tmp_path: Path) -> None:
    plugins = tmp_path / "plugins"
    plugins.mkdir()
    for name, text in BLOCK.findall(GUIDE.read_text(encoding="utf-8")):
        (plugins / name).write_text(text, encoding="utf-8")
    project = tomllib.loads((plugins / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    metadata = plugins / "docproc_sepia-1.0.0.dist-info"  # as pip leaves it
    metadata.mkdir()
    (metadata / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: 1.0.0\n")
    lines = [f"{name} = {path}" for name, path in project["entry-points"]["docproc.video_filters"].items()]
    (metadata / "entry_points.txt").write_text("\n".join(["[docproc.video_filters]", *lines]))
    told = re.search(r"^docproc video (run holiday.*)$", GUIDE.read_text(encoding="utf-8"), re.MULTILINE)
    assert told
    made = docproc(tmp_path, *told[1].split(), "--json", plugins=plugins)
    assert made["filters_applied"] == ["sepia"] and made["frames_failed"] == 0
    image = decoded(tmp_path / "old.mp4")[5][1][100:, 250:]
    assert image[..., 2].mean() > image[..., 0].mean() + 20, "more red than blue"


def test_token_is_asked_of_everybody(film: Path, tmp_path: Path) -> None:
    place = VideoDeployment(tmp_path, VIDEO_TOKEN="open sesame")
    try:
        place.server()
        assert place.send(film)["total_frames"] == 40
        place.environment["DOCPROC_VIDEO_TOKEN"] = "guessed"
        client = place.sending(film)
        _, err = client.communicate(timeout=30)
        assert client.returncode == 1 and "error: not_allowed: the token is wrong" in err
        kept = "".join(path.read_text() for path in place.folder.rglob("*.json"))
        logged = "".join(one.said() for one in place.running)
        assert "sesame" not in kept + logged and "guessed" not in kept + logged
    finally:
        place.close()
