"""The SFTP server with real clients: OpenSSH's own, and asyncssh where a transfer must break off."""

from __future__ import annotations

import asyncio
import json
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import asyncssh
import pytest

from docproc.engine.store.columns import as_uuid
from docproc.http.access import keys
from docproc.http.access.keys import NewKey
from docproc.http.access.scopes import Scope
from tests.doors import PDF, Standing, standing

LARGE = PDF + b"%" * 300_000


@asynccontextmanager
async def server(tmp_path: Path, **values: Any) -> AsyncIterator[tuple[Standing[Any], str]]:
    """The door, and a key of the tenant `default`."""
    folder = tmp_path / "keys"
    folder.mkdir()
    settings = {"sftp_port": 0, "sftp_keys": folder, "inbox_poll_seconds": 0.05, **values}
    async with standing(tmp_path, "sftp_door", **settings) as here:
        async with here.engine.app.store.writing() as session:
            made = await keys.create(session, NewKey("sftp", "default", [Scope.SUBMIT]), "test")
        yield here, made.secret


def connect(here: Standing[Any], secret: str, user: str = "default") -> Any:
    return asyncssh.connect(
        "127.0.0.1", here.door.port, username=user, password=secret, known_hosts=None, client_keys=None
    )


def home(tmp_path: Path) -> Path:
    return tmp_path / "sftp" / "default"


async def test_openssh_client_sends_a_file_and_fetches_the_answer(tmp_path: Path) -> None:
    assert shutil.which("sftp") and shutil.which("ssh-keygen"), "OpenSSH's client is needed"
    async with server(tmp_path) as (here, _):
        key = tmp_path / "id"
        made = asyncssh.generate_private_key("ssh-ed25519")
        made.write_private_key(str(key))
        key.chmod(0o600)
        made.write_public_key(str(tmp_path / "keys" / "default"))
        (tmp_path / "invoice.pdf").write_bytes(PDF)
        assert await _sftp(here, key, tmp_path, "put invoice.pdf", "ls -l") == 0
        (row,) = await here.until_requests(1)
        assert (row.channel, row.external_id) == ("sftp", "invoice.pdf")
        assert await here.blob(row) == PDF
        await here.finish(as_uuid(row.id))
        answer = home(tmp_path) / "done" / "invoice.pdf.answer.json"
        await here.engine.until(answer.exists, "the answer was written")
        assert await _sftp(here, key, tmp_path, "get done/invoice.pdf.answer.json") == 0
        assert json.loads((tmp_path / "invoice.pdf.answer.json").read_text())["status"] == "completed"


async def _sftp(here: Standing[Any], key: Path, folder: Path, *commands: str) -> int:
    (folder / "batch").write_text("\n".join(commands) + "\n")
    options = ["StrictHostKeyChecking=no", "UserKnownHostsFile=/dev/null", "IdentitiesOnly=yes"]
    process = await asyncio.create_subprocess_exec(
        "sftp", "-q", "-b", "batch", "-i", str(key), "-P", str(here.door.port),
        *(part for option in options for part in ("-o", option)), "default@127.0.0.1",
        cwd=folder, stdout=asyncio.subprocess.DEVNULL,
    )  # fmt: skip
    return await asyncio.wait_for(process.wait(), 30)


async def test_transfer_that_breaks_off_is_not_taken_and_can_go_on(tmp_path: Path) -> None:
    async with server(tmp_path) as (here, secret):
        async with connect(here, secret) as connection:
            sftp = await connection.start_sftp_client()
            file = await sftp.open("x.pdf", "wb")
            await file.write(LARGE[:100_000])
            connection.abort()  # as when a cable is pulled
        await here.engine.until(
            lambda: (home(tmp_path) / ".x.pdf.docproc-part").exists(), "what came is kept for going on"
        )
        async with connect(here, secret) as connection, connection.start_sftp_client() as sftp:
            assert await sftp.listdir(".") and "x.pdf" not in await sftp.listdir(".")
            came = (await sftp.stat("x.pdf")).size
            assert await here.requests() == []
            async with sftp.open("x.pdf", "ab") as file:
                await file.write(LARGE[came:])
        (row,) = await here.until_requests(1)
        assert await here.blob(row) == LARGE


async def test_client_that_leaves_without_closing_its_file_is_not_believed(tmp_path: Path) -> None:
    """An orderly end of the connection, and the file still open: a script that was stopped."""
    async with server(tmp_path) as (here, secret):
        async with connect(here, secret) as connection, connection.start_sftp_client() as sftp:
            file = await sftp.open("x.pdf", "wb")
            await file.write(LARGE[:100_000])
        async with connect(here, secret) as connection, connection.start_sftp_client() as sftp:
            await sftp.put(_written(tmp_path, "y.pdf"), "y.pdf")
        (row,) = await here.until_requests(1)
        assert row.external_id == "y.pdf"


def _written(tmp_path: Path, name: str, content: bytes = PDF) -> str:
    (tmp_path / name).write_bytes(content)
    return str(tmp_path / name)


async def test_file_under_a_working_name_is_taken_when_it_is_renamed(tmp_path: Path) -> None:
    async with (
        server(tmp_path) as (here, secret),
        connect(here, secret) as connection,
        connection.start_sftp_client() as sftp,
    ):
        await sftp.put(_written(tmp_path, "x.pdf"), "x.pdf.filepart")
        await sftp.put(_written(tmp_path, "y.pdf", PDF + b"2"), "y.pdf")
        (row,) = await here.until_requests(1)
        assert row.external_id == "y.pdf"
        await sftp.rename("x.pdf.filepart", "x.pdf")
        rows = await here.until_requests(2)
        assert rows[1].external_id == "x.pdf"
        await sftp.put(_written(tmp_path, "x.pdf"), "x.pdf")  # once more, the same
        done = home(tmp_path)
        await here.engine.until(lambda: not (done / "x.pdf").exists(), "it was taken")
        assert len(await here.requests()) == 2


async def test_homes_are_closed_to_others_and_lead_nowhere(tmp_path: Path) -> None:
    async with server(tmp_path, max_upload_mb=0.1) as (here, secret):
        for user, password in (("default", "dp_00000000_" + "0" * 64), ("acme", secret), ("../x", secret)):
            with pytest.raises(asyncssh.PermissionDenied):
                await connect(here, password, user)
        async with connect(here, secret) as connection, connection.start_sftp_client() as sftp:
            (tmp_path / "sftp" / "secret").write_text("another's")
            with pytest.raises(asyncssh.SFTPError):
                await sftp.open("../secret")
            with pytest.raises(asyncssh.SFTPError):
                await sftp.symlink("/etc/passwd", "link")
            with pytest.raises(asyncssh.SFTPError, match="larger than"):
                await sftp.put(_written(tmp_path, "large.pdf", LARGE), "large.pdf")
            with pytest.raises(asyncssh.ChannelOpenError):
                await connection.run("ls")
