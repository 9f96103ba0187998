"""The command line as people and scripts meet it: output, exit codes, and errors of one readable line."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path
from uuid import UUID

import pytest

from docproc import __version__
from tests import services
from tests.processes import Processes, query_postgres

NOBODY = "00000000-0000-0000-0000-000000000000"
GATHER = """
sla: {deadline_seconds: 30}
stages:
  - {name: split, component: split}
  - {name: check, component: poison, retry: {attempts: 2, delay_seconds: 0}}
  - {name: gather, component: gather}
"""
POISONED = '{"n":3,"poison":[1],"error":"permanent"}'
CURED = "poison=tests.faults.Cured"


@pytest.fixture
def cli(embedded: Processes) -> Processes:
    embedded.workflow("flow", GATHER)
    return embedded


# --- workflow -------------------------------------------------------------------------------------------


def test_version_is_said_and_workflows_are_checked_listed_shown_and_drawn(cli: Processes) -> None:
    said, check, listed, as_json, shown, full, tree, mermaid = cli.run_all(
        "--version",
        "workflow check flow",
        "workflow list",
        "workflow list --json",
        "workflow show flow",
        "workflow show flow --json",
        "workflow graph flow",
        "workflow graph flow --mermaid",
    )
    assert (said.code, said.out, said.err) == (0, f"{__version__}\n", "")
    assert {one.code for one in (check, listed, as_json, shown, full, tree, mermaid)} == {0}
    row = next(row for row in as_json.json if row["name"] == "flow")
    assert (row["stages"], row["deadline_seconds"]) == (3, 30)
    version = row["version"]
    assert re.fullmatch(r"[0-9a-f]{16}", version)
    assert check.out == f"✓ flow  {version}\n"
    assert re.search(rf"^ ?flow +{version} +3 +30 s", listed.out, re.M)
    assert shown.out == (cli.settings.workflows_dir / "flow.yaml").read_text()
    assert full.json["version"] == version
    assert [stage["retry"]["attempts"] for stage in full.json["stages"]] == [3, 2, 3]
    assert re.search(r"split.*\n.*check.*\n.*gather", tree.out)
    assert mermaid.out.startswith("flowchart TD\n") and "s_split -->|item| s_check" in mermaid.out


def test_broken_workflow_is_named_with_file_line_and_remedy_and_does_not_hide_others(cli: Processes) -> None:
    broken = cli.workflow("broken", "stages:\n  - name: split\n    component: splti\n")
    check, as_json, listed, run = cli.run_all(
        "workflow check", "workflow check --json", "workflow list --json", "request run broken"
    )
    place = f"{broken}:4: unknown component 'splti'. Use one of ask, "
    assert check.code == as_json.code == 1
    assert f"✗ broken  {place}" in check.out and "✓ flow  " in check.out
    results = {row["workflow"]: row for row in as_json.json}
    assert results["flow"]["ok"] and not results["broken"]["ok"]
    assert results["broken"]["error"].startswith(place)
    assert {row["name"]: bool(row["version"]) for row in listed.json}["broken"] is False
    assert run.code == 1
    assert run.error.startswith(place)


# --- errors ---------------------------------------------------------------------------------------------


MISTAKES = [
    ("request submit ../flow", 1, "there is no workflow '../flow'. Known workflows: default, flow"),
    ("request run [/red]", 1, "there is no workflow '[/red]'. Known workflows: default, flow"),
    ("request submit flow --payload {", 2, "the payload is not JSON: Expecting property name"),
    ("request run flow --payload [1]", 2, 'not an object. Write it as --payload \'{"text": "…"}\''),
    (f"request status {NOBODY}", 1, f"there is no request {NOBODY}. Check the id"),
    (f"deadletters show {NOBODY}", 1, f"there is no dead letter {NOBODY}. See docproc deadletters list"),
    ("deadletters replay", 2, "no dead letter is named. Give ids of docproc deadletters list, or --all"),
    ("worker nosuch", 1, "there is no component 'nosuch'. Use one of: ask, choosy, classif"),
]


def test_mistakes_are_answered_by_one_line_with_a_remedy(cli: Processes) -> None:
    answers = cli.run_all(*(command for command, _, _ in MISTAKES))
    for ended, (command, code, said) in zip(answers, MISTAKES, strict=True):
        assert (ended.code, ended.out) == (code, ""), command
        assert said in ended.error, command


def test_misused_options_are_answered_with_usage(cli: Processes) -> None:
    for ended in cli.run_all("request submit flow --priority 12", "worker --processes 0"):
        assert (ended.code, ended.out) == (2, "")
        assert "--help" in ended.err and "Traceback" not in ended.err


def test_settings_that_cannot_work_are_named_with_a_remedy(cli: Processes, tmp_path: Path) -> None:
    unread = cli.run("db", "current", PREFETCH_COUNT="many")
    assert unread.code == 1
    assert "DOCPROC_PREFETCH_COUNT" in unread.error and "Correct the environment or .env" in unread.error
    (tmp_path / "file").touch()
    misplaced = cli.run("request", "submit", "flow", HOME=tmp_path / "file" / "home")
    assert misplaced.code == 1 and misplaced.error.endswith("Check DOCPROC_HOME")


def test_database_out_of_reach_is_said_with_a_remedy(cli: Processes) -> None:
    nowhere = "postgresql://postgres@127.0.0.1:1/docproc"
    for ended in cli.run_all("db upgrade", "db sweep", "request submit flow", DATABASE_URL=nowhere):
        assert ended.code == 1
        assert ended.error.startswith("the database is out of reach: ")
        assert ended.error.endswith("Check DOCPROC_DATABASE_URL and the server")


# --- db -------------------------------------------------------------------------------------------------


def test_postgresql_database_is_used_only_after_its_upgrade(cli: Processes) -> None:
    services.require(services.postgres_problem())
    with services.postgres_database() as url:
        empty, early = cli.run_all("db current --json", "request submit flow", DATABASE_URL=url)
        assert empty.json["current"] is None
        assert early.code == 1
        assert early.error == "the database is not migrated to this version. Run: docproc db upgrade"
        upgraded = cli.run("db", "upgrade", "--json", DATABASE_URL=url).json
        assert upgraded["before"] is None and upgraded["after"] == empty.json["wanted"]
        asyncio.run(query_postgres(url, "UPDATE alembic_version SET version_num = 'future'"))
        newer = cli.run("db", "upgrade", DATABASE_URL=url)
        assert newer.code == 1
        assert "future" in newer.error and "If a newer DocProc made it, use that version" in newer.error


def test_sweep_removes_engine_rows_of_old_requests_and_keeps_results(cli: Processes) -> None:
    cli.run("request", "run", "flow")
    current, sweep = cli.run_all("db current", "db sweep --json")
    version = re.match(r"The database is at version (\w+), this program wants (\w+)\.\n", current.out)
    assert version and version[1] == version[2]
    assert sweep.json == {"requests": 0}
    assert cli.run("db", "sweep", "--days", "0").out == "Engine rows of 1 requests removed.\n"
    assert (cli.count("events"), cli.count("fan_in_arrivals"), cli.count("requests")) == (0, 0, 1)


# --- request --------------------------------------------------------------------------------------------


def test_request_is_run_to_its_result(cli: Processes) -> None:
    good, bad, machine = cli.run_all(
        'request run flow --payload {"n":2}',
        f"request run flow --payload {POISONED}",
        'request run flow --payload {"n":2} --json',
    )
    assert good.code == 0
    assert good.out.startswith("completed  flow ") and '"item:1"' in good.out
    assert bad.code == 1
    assert re.match(r"failed  flow .*\n.*item:1", bad.out) and '"item:2"' in bad.out
    assert (machine.code, machine.err, machine.out.count("\n")) == (0, "", 1)
    assert machine.json["status"] == "completed"
    assert machine.json["result"]["units"] == ["item:0", "item:1"]


def test_submitted_request_can_be_followed(cli: Processes) -> None:
    said, as_json = cli.run_all("request submit flow --priority 9", "request submit flow --json")
    request_id = said.out.split()[0]
    assert f"docproc request status {request_id}" in said.out
    assert UUID(as_json.json["request_id"]) != UUID(request_id)
    status, machine = cli.run_all(f"request status {request_id}", f"request status {request_id} --json")
    found = machine.json
    assert list(found) == [
        *("request_id", "status", "workflow_name", "created_at", "deadline_utc", "completed_at"),
        *("page_count", "document_count", "result", "error", "answer_version", "breached_at", "amended_at"),
    ]
    assert (found["request_id"], found["status"]) == (request_id, "received")
    assert status.out.startswith("received  flow ")
    assert sorted(cli.query("SELECT priority FROM requests")) == [(5,), (9,)]


# --- deadletters ----------------------------------------------------------------------------------------


def test_dead_letter_is_replayed_once_and_completes_its_request(cli: Processes) -> None:
    failed = cli.run("request", "run", "flow", "--payload", POISONED, "--json").json
    listed, as_json = cli.run_all("deadletters list", "deadletters list --json")
    (letter,) = as_json.json
    assert (letter["request_id"], letter["unit_key"]) == (failed["request_id"], "item:1")
    assert re.search(rf"{letter['id']} .* check +item:1 +1 +cannot ever work", listed.out)
    whole = cli.run("deadletters", "show", letter["id"], "--json")
    assert whole.json["history"][0]["type"] == "PermanentError" and '"poison":[1]' in whole.json["body"]

    assert cli.run("deadletters", "replay", letter["id"]).out == f"{letter['id']}  replayed\n"
    again, discarded, empty = cli.run_all(
        f"deadletters replay {letter['id']} --json", f"deadletters discard {letter['id']}", "deadletters list"
    )
    assert again.code == discarded.code == 1
    assert not again.json[0]["ok"] and "was already replayed as" in again.json[0]["error"]
    assert "If it failed again" in discarded.out
    assert empty.out == "There are no dead letters.\n"

    service = cli.start("worker", "poison", "gather", "--processes", "1", COMPONENTS=_with_cured(cli))
    cli.until_all("completed", 1)
    service.stop()
    assert cli.query("SELECT error FROM requests") == [(None,)]


def test_all_dead_letters_are_replayed_or_discarded_at_once(cli: Processes) -> None:
    cli.run("request", "run", "flow", "--payload", '{"n":4,"poison":[0,1,2],"error":"permanent"}')
    assert cli.count("dead_letters WHERE settled_at IS NULL") == 3
    one = str(UUID(bytes=_raw_id(cli)))
    mixed = cli.run("deadletters", "discard", one, NOBODY, "--json")
    assert mixed.code == 1
    assert [row["ok"] for row in mixed.json] == [True, False]
    replayed = cli.run("deadletters", "replay", "--all", "--json")
    assert (replayed.code, [row["ok"] for row in replayed.json]) == (0, [True, True])
    none, everything = cli.run_all("deadletters discard --all", "deadletters list --all --json")
    assert (none.code, none.out) == (0, "There are no dead letters.\n")
    assert sorted(bool(row["replayed_as"]) for row in everything.json) == [False, True, True]
    assert all(row["settled_at"] for row in everything.json)


def _with_cured(cli: Processes) -> str:
    """The components after somebody has mended `poison`: the later entry wins."""
    return f"{cli.environment['DOCPROC_COMPONENTS']},{CURED}"


def _raw_id(cli: Processes) -> bytes:
    found = cli.query("SELECT id FROM dead_letters ORDER BY created_at")[0][0]
    return found if isinstance(found, bytes) else UUID(found).bytes
