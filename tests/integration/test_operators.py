"""`docproc operator`: accounts are added, given passwords, linked, listed and switched off."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from docproc import logs
from docproc.cli.main import app
from docproc.cli.serve import SERVICES
from docproc.engine.store import rows
from docproc.engine.store.session import Store
from docproc.errors import ConfigurationError, UsageError
from docproc.people.sign_in import passwords
from tests.harness import settings_for
from tests.processes import Processes

PASSWORD = "cuatro palabras largas"


class Commands:
    """Commands on a database of their own, in this process."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def run(self, *arguments: str, said: str = "", **environment: str) -> str:
        """What a command printed; raises what it ended with."""
        env = {"DOCPROC_HOME": str(self.home), **environment}
        result = CliRunner().invoke(app, arguments, input=said, env=env, catch_exceptions=False)
        assert result.exit_code == 0, result.output
        return result.stdout

    def json(self, *arguments: str, said: str = "") -> Any:
        return json.loads(self.run(*arguments, "--json", said=said))

    def query(self, statement: str) -> list[Any]:
        async def ask() -> list[Any]:
            store = Store(f"sqlite+aiosqlite:///{self.home / 'docproc.db'}")
            try:
                async with store.writing() as session:
                    return await rows.execute(session, statement)
            finally:
                await store.close()

        return asyncio.run(ask())


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Commands:
    monkeypatch.chdir(tmp_path)  # no `.env` of the developer's
    monkeypatch.setattr(logs, "configure", lambda *_, **__: None)
    return Commands(tmp_path)


def test_operators_are_added_listed_and_changed(cli: Commands) -> None:
    cli.run(
        "operator", "add", "ana", "--role", "supervisor", "--language", "es", said=f"{PASSWORD}\n{PASSWORD}\n"
    )
    added = cli.json(
        "operator", "add", "eva", "--skill", "extraction", "--no-password", "--oidc-subject", "id-1"
    )
    assert added == {"name": "eva"}
    ana, eva = cli.json("operator", "list")
    assert (ana["role"], ana["skills"], ana["signs_in_with"]) == (
        "supervisor",
        ["classification", "extraction", "material_question"],
        ["password"],
    )
    assert (eva["role"], eva["skills"], eva["signs_in_with"]) == ("operator", ["extraction"], ["oidc"])
    (row,) = cli.query("SELECT password_hash FROM operators WHERE username = 'ana'")
    assert asyncio.run(passwords.fits(row.password_hash, PASSWORD))

    cli.run("operator", "password", "ana", "--password-stdin", said="otras cuatro palabras\n")
    (row,) = cli.query("SELECT password_hash FROM operators WHERE username = 'ana'")
    assert not asyncio.run(passwords.fits(row.password_hash, PASSWORD))
    cli.run("operator", "link", "ana", "id-2")
    cli.run("operator", "deactivate", "ana")
    assert "ana" in cli.run("operator", "list")
    assert not cli.json("operator", "list")[0]["active"]
    cli.run("operator", "activate", "ana")
    ana, _ = cli.json("operator", "list")
    assert ana["active"] and ana["oidc_subject"] == "id-2"
    told = cli.query("SELECT outcome FROM events WHERE kind = 'account' ORDER BY id")
    expected = ["added", "added", "password", "linked", "deactivated", "activated"]
    assert [row.outcome for row in told] == expected
    everything = str(cli.query("SELECT data FROM events"))
    assert PASSWORD not in everything and "argon2" not in everything


MISTAKES: list[tuple[tuple[str, ...], str, str]] = [
    (("add", "ana", "--password-stdin"), "another long password\n", "'ana' or its identity is taken"),
    (("add", "eva", "--no-password", "--oidc-subject", "id-1"), "", "its identity is taken"),
    (("add", "eva", "--role", "boss"), "", "Use one of: operator, supervisor, admin"),
    (("add", "eva", "--language", "fr"), "", "Use one of: es, en"),
    (("add", " eva", "--no-password"), "", "no user name"),
    (("add", "eva", "--password-stdin"), "short\n", "10 to 256 characters"),
    (("password", "nobody", "--password-stdin"), "a long password\n", "there is no operator 'nobody'"),
    (("deactivate", "nobody"), "", "docproc operator list"),
]


def test_mistakes_are_answered_with_a_remedy_and_change_nothing(cli: Commands) -> None:
    cli.run("operator", "add", "ana", "--no-password", "--oidc-subject", "id-1")
    for arguments, said, problem in MISTAKES:
        with pytest.raises(UsageError) as raised:
            cli.run("operator", *arguments, said=said)
        assert problem in str(raised.value)
    assert len(cli.query("SELECT id FROM operators")) == 1


def test_servers_do_not_start_open_to_strangers(embedded: Processes) -> None:
    (together,) = embedded.run_all("up --host 0.0.0.0")
    assert (together.code, together.out) == (1, "")
    assert together.error.startswith(
        "the API would be open to everybody who reaches 0.0.0.0. Set DOCPROC_AUTH=on"
    )
    assert not (embedded.settings.home / "up.lock").exists()


@pytest.mark.parametrize("service", ["api_gateway", "backoffice"])
async def test_services_do_not_start_open_to_strangers(tmp_path: Path, service: str) -> None:
    """Before they wait for a database: whoever looks at the log sees it at once."""
    settings = settings_for(tmp_path, host="0.0.0.0", database_url="postgresql://postgres@127.0.0.1:1/no")
    with pytest.raises(ConfigurationError, match="would be open to everybody"):
        await SERVICES[service](settings, asyncio.Event())
