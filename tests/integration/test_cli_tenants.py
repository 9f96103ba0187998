"""`docproc tenants`, `docproc keys`, and `--tenant` of the commands that work on the database."""

from __future__ import annotations

import pytest

from tests.processes import Processes

FLOW = "stages: [{name: work, component: work}]\n"


@pytest.fixture
def cli(embedded: Processes) -> Processes:
    embedded.workflow("flow", FLOW)
    return embedded


def test_tenants_and_keys_are_made_listed_changed_and_switched_off(cli: Processes) -> None:
    made = cli.run("tenants", "create", "acme", "--name", "Acme S.A.", "--json")
    assert made.json == {
        "tenant_id": "acme", "display_name": "Acme S.A.", "weight": 1.0, "active": True, "settings": {},
    }  # fmt: skip
    settings = '{"quotas": {"at_once": 5}, "thresholds": {"classifier": 0.9}}'
    changed = cli.run("tenants", "set", "acme", "--weight", "2.5", "--settings", settings, "--json")
    assert (changed.json["weight"], changed.json["settings"]["quotas"]) == (2.5, {"at_once": 5})
    key = cli.run(
        "keys",
        "create",
        "shop import",
        "--tenant",
        "acme",
        "--scope",
        "read",
        "--expires-days",
        "9",
        "--json",
    )
    assert key.json["key"].startswith(key.json["prefix"])
    listed, everybody, again, unknown, wrong, scope, stray, nobody = cli.run_all(
        "keys list --tenant acme --json",
        "tenants list --json",
        "tenants create acme",
        "keys create x --tenant nobody --scope read",
        'tenants set acme --settings {"quotas":{"sometimes":1}}',
        "keys create x --scope everything",
        "keys revoke dp_00000000",
        "operator add ana --tenant nobody --no-password",
    )
    (row,) = listed.json
    assert (row["name"], row["tenant_id"], row["scopes"], row["standing"]) == (
        "shop import",
        "acme",
        ["read"],
        "active",
    )
    assert key.json["key"] not in listed.out
    assert [one["tenant_id"] for one in everybody.json] == ["acme", "default"]
    assert {one.code for one in (again, unknown, wrong, scope, stray, nobody)} == {2}
    assert "there is a tenant 'acme'" in again.error and "no tenant 'nobody'" in unknown.error
    assert "quotas.sometimes" in wrong.error and "everything is no scope" in scope.error
    rotated = cli.run("keys", "rotate", key.json["prefix"], "--overlap-hours", "0", "--json")
    assert rotated.json["prefix"] != key.json["prefix"]
    revoked = cli.run("keys", "revoke", rotated.json["prefix"], "--json")
    assert revoked.json["standing"] == "revoked"
    working, every, off = cli.run_all(
        "keys list --json", "keys list --all --json", "tenants deactivate acme --json"
    )
    assert working.json == [] and {one["standing"] for one in every.json} == {"revoked", "expired"}
    assert off.json["active"] is False


def test_commands_are_for_a_tenant_where_one_is_named(cli: Processes) -> None:
    assert cli.run("tenants", "create", "acme").code == 0
    own = cli.settings.workflows_dir / "tenants" / "acme"
    own.mkdir(parents=True)
    (own / "special.yaml").write_text(f"name: special\n{FLOW}")
    done, refused, listed = cli.run_all(
        "request run special --tenant acme --json",
        "request run special --json",
        "workflow list --tenant acme --json",
    )
    assert (done.code, done.json["status"]) == (0, "completed") and refused.code == 1
    assert "special" in [row["name"] for row in listed.json]
    request_id = done.json["request_id"]
    all_of_it, theirs, others, seen, unseen, kept = cli.run_all(
        "request list --json",
        "request list --tenant acme --json",
        "request list --tenant default --json",
        f"request status {request_id} --tenant acme --json",
        f"request status {request_id} --tenant default",
        f"request erase {request_id} --tenant default",
    )
    assert [len(one.json) for one in (all_of_it, theirs, others)] == [1, 1, 0]
    assert seen.code == 0 and unseen.code == 1 and kept.code == 2
    shown = cli.run("purge", "--tenant", "acme")
    assert "requests: 1" in shown.out and "Nothing was changed" in shown.out
    gone = cli.run("purge", "--tenant", "acme", "--yes", "--json")
    assert gone.json["requests"] == [request_id] and cli.run("tenants", "show", "acme").code == 2
