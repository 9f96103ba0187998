"""What DocProc keeps is read by its user only, whatever the umask; planted folders are refused."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from docproc.app import App
from docproc.apps.documents.quality import learning
from docproc.apps.documents.quality.verdicts import Decision
from docproc.engine.blobstores.local import LocalBlobStore
from docproc.engine.store import rows
from docproc.engine.store.session import Store
from docproc.engine.transports.wakeups import SocketWakeups
from docproc.errors import ConfigurationError
from docproc.http.callbacks.secret import key_for
from docproc.private import private_folder
from docproc.settings import Settings


@pytest.fixture(params=[0o000, 0o022, 0o777], ids=oct)
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    before = os.umask(request.param)
    yield
    os.umask(before)


def _mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


def _open_to_others(home: Path) -> list[str]:
    """Everything under home, itself included, that is not exactly its user's alone."""
    return [
        f"{path.relative_to(home.parent)} {_mode(path):o}"
        for path in (home, *home.rglob("*"))
        if _mode(path) != (0o700 if path.is_dir() else 0o600)
    ]


async def _content() -> AsyncIterator[bytes]:
    yield b"%PDF"


@pytest.mark.usefixtures("_umask")
async def test_everything_under_home_is_its_users_alone(tmp_path: Path) -> None:
    home = tmp_path / "somewhere" / "home"
    settings = Settings.load(home=home, _env_file=None)
    app = App(settings)
    await app.prepare_database()
    await app.blobs.put("a/in/0-scan.pdf", _content())
    with app.blobs.scratch() as folder:
        found = folder / "found.pdf"
        found.touch()
        found.chmod(0o644)
        await app.blobs.put_file("a/files/0000.pdf", found)
    await app.blobs.copy("a/in/0-scan.pdf", "b/in/0-scan.pdf")
    key_for(settings)
    made = tmp_path / "weights"
    private_folder(made)
    (made / "classifier.npz").touch()
    (made / "classifier.npz").chmod(0o644)
    kept = learning.Trial("classifier", "", (), Decision(True, ""))
    learning.install(made, home / "models", learning.Learnt(1, 1, (), (kept,)))

    names = {path.name for path in home.rglob("*")}
    expected = {"docproc.db", "docproc.db-wal", "docproc.db-shm", "callback.secret", ".scratch"}
    assert expected | {"0-scan.pdf", "0000.pdf", "classifier.npz"} <= names
    assert _open_to_others(home) == []
    await app.close()


@pytest.mark.usefixtures("_umask")
async def test_sockets_are_their_users_alone(tmp_path: Path) -> None:
    wakeups = SocketWakeups(str(tmp_path / "docproc.db"))
    await wakeups.open(lambda _name: None)
    assert (_mode(wakeups.folder), _mode(wakeups.path)) == (0o700, 0o600)
    await wakeups.close()


async def test_what_an_earlier_release_left_open_is_closed(tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o755)
    for name in ("docproc.db", "docproc.db-wal"):
        (home / name).touch(mode=0o644)
    app = App(Settings.load(home=home, _env_file=None))
    await app.prepare_database()
    assert _open_to_others(home) == []
    await app.close()


async def test_a_database_in_a_folder_of_other_things_leaves_the_folder_as_it_is(tmp_path: Path) -> None:
    tmp_path.chmod(0o755)
    store = Store(f"sqlite+aiosqlite:///{tmp_path / 'mine.db'}")
    await store.close()
    assert (_mode(tmp_path), _mode(tmp_path / "mine.db")) == (0o755, 0o600)


async def test_a_second_store_leaves_the_locks_of_the_first_alone(tmp_path: Path) -> None:
    path = tmp_path / "docproc.db"

    def from_another_process() -> str:
        code = f"import sqlite3; c = sqlite3.connect({str(path)!r})"
        code += "; print(c.execute('SELECT count(*) FROM t').fetchone()[0]); c.close()"
        return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout

    first = Store(f"sqlite+aiosqlite:///{path}")
    async with first.writing() as session:
        await rows.execute(session, "CREATE TABLE t (n INTEGER)")
    second = Store(f"sqlite+aiosqlite:///{path}")
    assert from_another_process() == "0\n"
    async with first.writing() as session:  # into a log that the other process must not have removed
        await rows.execute(session, "INSERT INTO t VALUES (1)")
    assert from_another_process() == "1\n"
    await first.close()
    await second.close()


@pytest.fixture
def everybodys(tmp_path: Path) -> Path:
    """As /tmp is."""
    folder = tmp_path / "tmp"
    folder.mkdir()
    folder.chmod(0o1777)
    return folder


def _distributed(storage: Path) -> Settings:
    url = "postgresql://docproc@localhost/docproc"
    return Settings.load(storage_path=storage, database_url=url, _env_file=None)


async def test_the_specified_storage_is_made_for_its_user_alone(everybodys: Path) -> None:
    root = everybodys / "docproc" / "storage"
    await LocalBlobStore.create(_distributed(root)).put("a/in/0-scan.pdf", _content())
    assert _open_to_others(root.parent) == []
    assert _mode(everybodys) == 0o1777  # everybody's by purpose
    assert Settings.load(_env_file=None).storage_path == Path("/tmp/docproc/storage")


@pytest.mark.parametrize("planted", ["docproc", "docproc/storage"])
def test_a_storage_that_is_a_link_is_refused(everybodys: Path, tmp_path: Path, planted: str) -> None:
    root = everybodys / "docproc" / "storage"
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    if planted == "docproc":
        root.parent.symlink_to(elsewhere)
    else:
        root.parent.mkdir()
        root.parent.chmod(0o777)
        root.symlink_to(elsewhere)
    with pytest.raises(ConfigurationError, match="is a link"):
        LocalBlobStore.create(_distributed(root))
    with pytest.raises(ConfigurationError, match="is a link"):
        private_folder(root)
    assert list(elsewhere.iterdir()) == []


def test_a_storage_of_another_user_is_refused(everybodys: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    root = everybodys / "docproc" / "storage"
    root.mkdir(parents=True)
    if os.geteuid() == 0:  # root's folders are nobody's trap
        os.chown(root.parent, 65534, -1)
    else:
        me = os.geteuid()
        monkeypatch.setattr(os, "geteuid", lambda: me + 1)
    with pytest.raises(ConfigurationError, match="another user's"):
        LocalBlobStore.create(_distributed(root))


async def test_a_folder_for_sockets_that_is_a_link_is_refused(
    everybodys: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(everybodys))
    wakeups = SocketWakeups("/somewhere/docproc.db")
    wakeups.folder.symlink_to("/")
    with pytest.raises(ConfigurationError, match="is a link"):
        await wakeups.open(lambda _name: None)


def test_the_root_of_everything_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """As root it would be ours to close, and no other user could start a program any more."""
    changed: list[Path] = []
    monkeypatch.setattr(Path, "chmod", lambda path, mode: changed.append(path))
    monkeypatch.setattr(os, "geteuid", lambda: Path("/").stat().st_uid)
    private_folder(Path("/"))
    assert not changed
