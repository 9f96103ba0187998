"""The Dockerfile without Docker: built by Debian's buildah in chroots, on a base of debootstrap's, then run.

    python bench/image.py [--json] [--applications documents]

Needs root, and Debian's `buildah` and `debootstrap` (apt-get install buildah debootstrap). A registry's base
image cannot be had everywhere, so the base is Debian with its own Python; packages come from where this
machine's apt and pip get theirs, read at run time. What runs in the image: the program, migrations' heads, a
component of an unknown name, and a file that is read to the end, as user 10001.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
BASE, TAG = "localhost/docproc-base", "localhost/docproc-bench"
RELEASE = "bookworm"
# Where this machine's pip finds its index and its certificates; the container's finds them there, too.
PIP_FILES = {
    "/etc/pip.conf": "/etc/pip.conf",
    str(Path.home() / ".config/pip/pip.conf"): "/etc/xdg/pip/pip.conf",
}


def run(*command: str | Path) -> str:
    done = subprocess.run(
        ["nice", "-n", "10", *map(str, command)], cwd=ROOT, text=True, stdout=subprocess.PIPE, check=True
    )
    return done.stdout.strip()


def mirror() -> str:
    """The one that this machine's apt uses."""
    places = [Path("/etc/apt/sources.list"), *sorted(Path("/etc/apt/sources.list.d").glob("debian*"))]
    for place in (place for place in places if place.is_file()):
        if found := re.search(r"^(?:URIs:|deb(?: \[[^\]]*\])?)\s+(\S+)", place.read_text(), re.MULTILINE):
            return found[1]
    raise SystemExit("no mirror of Debian in /etc/apt")


def make_base() -> None:
    with tempfile.TemporaryDirectory(prefix="docproc-base-") as folder:
        packages = "--include=python3,python3-venv,ca-certificates"
        run("debootstrap", "--variant=minbase", packages, RELEASE, folder, mirror())
        container = run("buildah", "from", "scratch")
        run("buildah", "add", "--quiet", container, folder, "/")
        run("buildah", "commit", "--quiet", "--rm", container, BASE)


def build(applications: str) -> None:
    volumes = [f"--volume={here}:{there}:ro" for here, there in PIP_FILES.items() if Path(here).is_file()]
    volumes.append("--volume=/etc/ssl/certs:/etc/ssl/certs:ro")
    arguments = [f"--build-arg=PYTHON_IMAGE={BASE}", f"--build-arg=APPLICATIONS={applications}"]
    run("buildah", "build", "--isolation=chroot", "--network=host", *volumes, *arguments, f"--tag={TAG}", ".")


def try_out() -> dict[str, object]:
    container = run("buildah", "from", TAG)
    try:
        target = Path(run("buildah", "mount", container)) / "tmp/packet.pdf"
        shutil.copy(ROOT / "tests/fixtures/packet.pdf", target)

        def inside(*command: str) -> str:
            return run("buildah", "run", "--isolation=chroot", "--user=10001", container, "--", *command)

        version = inside("python", "-m", "docproc", "--version")
        heads = inside("alembic", "heads")
        unknown = inside("sh", "-c", "DOCPROC_COMPONENT_NAME=nobody python -m docproc 2>&1; echo exit $?")
        if "exit 1" not in unknown or "ocr" not in unknown:
            raise SystemExit(f"a component of an unknown name was not refused: {unknown}")
        answer = json.loads(
            inside("python", "-m", "docproc", "run", "/tmp/packet.pdf", "--no-keep", "--json")
        )
        return {"version": version, "heads": heads, "status": answer["status"]}
    finally:
        run("buildah", "rm", container)


def main() -> None:
    parser = argparse.ArgumentParser(description="Build and try the Dockerfile without Docker")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--applications", default="documents,materials,orchestrator,video")
    told = parser.parse_args()
    missing = [name for name in ("buildah", "debootstrap") if not shutil.which(name)]
    if missing:
        sys.exit(f"install Debian's {' and '.join(missing)}: apt-get install {' '.join(missing)}")
    begun = time.monotonic()
    make_base()
    build(told.applications)
    size = int(json.loads(run("buildah", "images", "--json", TAG))[0].get("sizeBytes", 0)) or None
    found = try_out()
    seconds = time.monotonic() - begun
    results = [{"system": "Dockerfile", "metric": "built_and_tried", "value": round(seconds, 1), "unit": "s"}]
    if size:
        results.append({"system": "Dockerfile", "metric": "size", "value": round(size / 1e6), "unit": "MB"})
    if told.json:
        print(json.dumps({"results": results, "ratios": {}, "tried": found}))
    else:
        print(f"built and tried in {seconds:.0f} s: {found}")


if __name__ == "__main__":
    main()
