"""Erasing a tenant or a person: what would go, what went, and what the audit keeps."""

from __future__ import annotations

import asyncio
import json
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select
from typer.testing import CliRunner

from docproc.apps.documents.tables import Correction
from docproc.cli.main import app as command_line
from docproc.engine.store import events, purging, tenants
from docproc.engine.store.mentions import Person
from docproc.engine.store.tables import Request
from docproc.errors import UsageError
from docproc.terminal import output
from tests import tenancy
from tests.harness import Harness
from tests.tenancy import ACME, BETA, MARK

RUNNER = CliRunner()


@pytest.mark.parametrize(
    ("person", "text", "is_in"),
    [
        ("Ana García Pérez", "Cliente: ANA  GARCIA\nPEREZ, NIF …", True),
        ("ana garcia perez", "Ana García Pérez", True),
        ("Ana García", "Anabel García", False),
        ("12345678Z", "NIF: 12.345.678-Z", True),
        ("12.345.678-Z", '{"nif": "12345678Z"}', True),
        ("ES91 2100 0418 4502 0005 1332", "iban ES9121000418450200051332", True),
        ("12345678Z", "12345678A", False),
        ("Li Wei", "aquilinweilo", False),
    ],
)
def test_people_are_found_as_people_write_them(person: str, text: str, is_in: bool) -> None:
    assert Person(person).is_in(text) is is_in


@pytest.mark.parametrize("text", ["", "a", " . ", "Bo."])
def test_text_that_names_nobody_in_particular_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="at least 4"):
        Person(text)


def purge(engine: Harness, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict[str, Any]:
    for module in ("docproc.cli.purge", "docproc.terminal.output"):
        monkeypatch.setattr(f"{module}.load_settings", lambda: engine.settings)
    assert output.load_settings() is engine.settings
    result = RUNNER.invoke(command_line, ["purge", *arguments, "--json"])
    assert result.exit_code == 0, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


async def _run(engine: Harness, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> dict[str, Any]:
    return await asyncio.to_thread(purge, engine, monkeypatch, *arguments)


async def _requests(engine: Harness) -> set[UUID]:
    async with engine.app.store.reading() as session:
        return set(await session.scalars(select(Request.id)))


async def _rows(engine: Harness, tenant: str) -> dict[str, int]:
    async with engine.app.store.reading() as session:
        return await purging.count(session, tenant)


async def test_nothing_of_a_purged_tenant_is_left_but_who_and_when(
    sqlite_engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = sqlite_engine
    found = await tenancy.two_tenants(engine)
    other = await tenancy.send(engine, BETA, "of beta")
    before = await _rows(engine, BETA)
    shown = await _run(engine, monkeypatch, "--tenant", ACME)
    assert (shown["erased"], shown["requests"]) == (False, [found.values["request_id"]])
    assert {"api_keys", "operators", "tenants", "pages", "backoffice_tasks"} <= set(shown["rows"])
    assert await _rows(engine, ACME) == shown["rows"]

    done = await _run(engine, monkeypatch, "--tenant", ACME, "--yes")
    assert done["erased"] and await _rows(engine, ACME) == {}
    assert await _requests(engine) == {other} and await _rows(engine, BETA) == before
    stored = {path.name for path in (engine.settings.home / "storage").rglob("*") if path.is_file()}
    assert not any(MARK in name for name in stored) and any("of" in name for name in stored)
    for row in await engine.query("SELECT * FROM events WHERE tenant_id = 'acme'"):
        data = json.loads(row.data) if row.data else {}
        assert set(data) <= {"by", "operator", "workflow", "audit_until", "requests"} and MARK not in repr(
            row
        )
    (purged,) = await engine.query("SELECT outcome, data FROM events WHERE kind = 'purged'")
    assert (purged.outcome, json.loads(purged.data)) == ("tenant", {"by": "cli", "requests": 1})
    with pytest.raises(AssertionError):  # there is no such tenant any more
        await _run(engine, monkeypatch, "--tenant", ACME, "--yes")


async def test_version_of_a_workflow_that_another_tenant_began_with_stays(
    sqlite_engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = sqlite_engine
    await tenancy.two_tenants(engine)
    other = await tenancy.send(engine, BETA, "of beta")
    await _run(engine, monkeypatch, "--tenant", ACME, "--yes")
    kept = await engine.query("SELECT version FROM workflow_versions")
    assert [row.version for row in kept] == [(await engine.request(other)).workflow_version]


async def test_requests_that_speak_of_a_person_go_and_the_text_is_kept_nowhere(
    sqlite_engine: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    engine = sqlite_engine
    found = await tenancy.two_tenants(engine)
    read = UUID(found.values["request_id"])  # its page says MARK
    sent = await tenancy.send(engine, BETA, "Aitana Belmonte Ibáñez")
    corrected, kept = await tenancy.send(engine, BETA, "one"), await tenancy.send(engine, BETA, "two")
    async with engine.app.store.writing() as session:
        said = Correction(
            request_id=corrected, tenant_id=BETA, subject="field", field="name", doc_type="id_card",
            value_after="AITANA BELMONTE IBAÑEZ", is_changed=True,
        )  # fmt: skip
        session.add(said)
    person = "aitana belmonte ibañez"
    shown = await _run(engine, monkeypatch, "--person", person)
    assert set(shown["requests"]) == {str(sent), str(corrected)} and not shown["erased"]
    assert (await _run(engine, monkeypatch, "--person", person, "--tenant", ACME))["requests"] == []
    assert (await _run(engine, monkeypatch, "--person", f"{MARK} text"))["requests"] == [str(read)]
    await _run(engine, monkeypatch, "--person", person, "--yes")
    assert await _requests(engine) == {read, kept}
    assert await engine.query("SELECT 1 FROM corrections") == []
    (told,) = await engine.query("SELECT tenant_id, outcome, data FROM events WHERE kind = 'purged'")
    assert (told.tenant_id, told.outcome, json.loads(told.data)) == (
        BETA,
        "person",
        {"by": "cli", "requests": 2},
    )
    everything = repr(await engine.query("SELECT * FROM events")).casefold()
    assert "aitana" not in everything and "ibañez" not in everything


async def test_rows_of_the_installation_belong_to_no_tenant(sqlite_engine: Harness) -> None:
    names = {table.name for table in purging.tables()}
    assert not names & {"workers", "duties", events.TABLE.name}
    async with sqlite_engine.app.store.writing() as session:
        await tenants.add(session, ACME)
    assert await _rows(sqlite_engine, ACME) == {"tenants": 1}
