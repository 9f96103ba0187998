"""Office documents: converted to PDF by LibreOffice, in a process group that never outlives its caller."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
from pathlib import Path

from docproc.errors import UnreadableFileError
from docproc.reading.files.found import Limits
from docproc.reading.files.kinds import MOST_OFFICE_PARTS, ZIPPED_OFFICE, Kind
from docproc.reading.files.trouble import Code
from docproc.reading.files.zips import check_no_bomb, open_zip

# The pipe on standard input closes when this process ends, however it ends; then the group kills itself.
_GUARDED = 'exec 3<&0; { cat <&3 >/dev/null; kill -KILL 0; } & exec 3<&-; "$@" </dev/null'

# No macros, and nothing fetched that a document merely refers to: a file of ours, a page of our network.
_PROFILE = """<?xml version="1.0" encoding="UTF-8"?>
<oor:items xmlns:oor="http://openoffice.org/2001/registry">
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="DisableMacrosExecution" oor:op="fuse"><value>true</value></prop></item>
<item oor:path="/org.openoffice.Office.Common/Security/Scripting">
<prop oor:name="BlockUntrustedRefererLinks" oor:op="fuse"><value>true</value></prop></item>
</oor:items>
"""


def find_libreoffice() -> str | None:
    return shutil.which("soffice") or shutil.which("libreoffice")


def convert(source: Path, kind: Kind, target: Path, limits: Limits) -> None:
    """Write the document as PDF to `target`."""
    if kind in ZIPPED_OFFICE:
        with open_zip(source, MOST_OFFICE_PARTS) as archive:
            check_no_bomb(archive, source.stat().st_size, limits.ratio)
    program = find_libreoffice()
    if program is None:
        raise UnreadableFileError(
            f"reading {kind.upper()} files needs LibreOffice, which is not installed here",
            code=Code.NEEDS_LIBREOFFICE,
            remedy="Send a PDF, or install LibreOffice on the workers",
        )
    folder = target.with_suffix(".office")
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _convert_in(folder, program, source, kind, limits.convert_seconds)
        (folder / "document.pdf").replace(target)
    except FileNotFoundError as error:
        raise _failed(kind, "could not be converted") from error
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _convert_in(folder: Path, program: str, source: Path, kind: Kind, seconds: float) -> None:
    profile = folder / "profile"
    (profile / "user").mkdir(parents=True)
    (profile / "user" / "registrymodifications.xcu").write_text(_PROFILE)
    document = folder / f"document.{kind}"
    document.symlink_to(source.resolve())
    command = [
        program, f"-env:UserInstallation={profile.resolve().as_uri()}", "--headless", "--norestore",
        "--convert-to", "pdf", "--outdir", str(folder), str(document),
    ]  # fmt: skip
    process = subprocess.Popen(
        ["/bin/sh", "-c", _GUARDED, "sh", *command],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        env=os.environ | {"HOME": str(folder), "SAL_USE_VCLPLUGIN": "svp"},
    )
    with process:
        try:
            process.wait(seconds)
        except subprocess.TimeoutExpired as error:
            raise _failed(kind, f"took longer than {seconds:g} seconds to convert") from error
        finally:
            os.killpg(process.pid, signal.SIGKILL)  # the guard at least is still there


def _failed(kind: Kind, how: str) -> UnreadableFileError:
    return UnreadableFileError(
        f"the {kind.upper()} document {how}",
        code=Code.CONVERSION_FAILED,
        remedy="Save it as PDF and send that",
    )
