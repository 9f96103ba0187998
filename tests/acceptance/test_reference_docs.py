"""The reference pages say what the code says: every field, key, column, command, error and log event."""

from __future__ import annotations

import ast
import dataclasses
import inspect
import re
import tomllib
from collections.abc import Iterator
from enum import StrEnum
from pathlib import Path
from typing import Any

import prometheus_client
import pytest
import typer
from pydantic import BaseModel

from docproc import errors, registry
from docproc.alerts.configuration import AlertSettings
from docproc.app import App
from docproc.application import Application, Command, Link, Section, Views
from docproc.apps.documents import schemas
from docproc.apps.documents.settings import DocumentsSettings
from docproc.apps.materials import metrics as material_metrics  # noqa: F401 # its metrics are listed, too
from docproc.apps.materials.settings import MaterialsSettings
from docproc.apps.orchestrator.resilience import measured  # noqa: F401 # its metrics are listed, too
from docproc.apps.orchestrator.settings import OrchestratorSettings
from docproc.apps.video import metrics as video_metrics  # noqa: F401 # its metrics are listed, too
from docproc.apps.video.settings import VideoSettings
from docproc.cli.main import app as command_line
from docproc.doors.configuration import DoorSettings
from docproc.engine.component_spec import ComponentSpec
from docproc.engine.message import Failure, PipelineMessage
from docproc.engine.running.middleware import metrics  # noqa: F401 # its metrics are listed, too
from docproc.engine.running.work import Outcome
from docproc.engine.store.tables import Base, MessageState, RequestStatus
from docproc.engine.workflow import conditions, definition
from docproc.http.callbacks import sender  # noqa: F401 # its metrics are listed, too
from docproc.people.supervision import second_reader  # noqa: F401 # its metrics are listed, too
from docproc.settings import Settings
from tests.harness import settings_for
from tests.schema import APPLICATIONS

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
REFERENCE = DOCS / "reference"
BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page(name: str) -> str:
    return (REFERENCE / f"{name}.md").read_text(encoding="utf-8")


def section(text: str, heading: str) -> str:
    """The text under a heading, down to the next heading of any level."""
    found = re.search(rf"^#+ {re.escape(heading)}\n(.*?)(?=^#|\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"no heading {heading!r}"
    return found[1]


def table_rows(text: str) -> Iterator[list[str]]:
    """The cells of every table row, without headers' rules."""
    for line in text.splitlines():
        if line.startswith("|") and not line.startswith("|---"):
            yield [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def named_in_first_column(text: str) -> list[str]:
    return [name for row in table_rows(text) for name in re.findall(r"`([^`]+)`", row[0])]


# --- settings -------------------------------------------------------------------------------------------

# Computed on each machine, so the page describes them in words.
COMPUTED = {"home": "per user", "processes": "the cores", "components": "none", "callback_urls": "none"}
COMPUTED["video_concurrency"] = "the cores"
COMPUTED |= dict.fromkeys(("inbox_folder", "inbox_bucket", "mail_senders"), "none")


# Those of every process, of alerts, of doors, and of the applications.
OF_APPLICATIONS = (
    AlertSettings,
    DoorSettings,
    DocumentsSettings,
    MaterialsSettings,
    OrchestratorSettings,
    VideoSettings,
)
FIELDS = dict(Settings.model_fields)
for one in OF_APPLICATIONS:
    FIELDS |= one.model_fields


def shown(name: str) -> str:
    """A default as a person writes it into `.env`, and as the page shows it."""
    field = FIELDS[name]
    if name in COMPUTED:
        return COMPUTED[name]
    if field.default is None:
        return "unset"
    return f"`{str(field.default).lower() if isinstance(field.default, bool) else field.default}`"


def test_every_setting_is_listed_with_its_default() -> None:
    listed = {row[0].strip("`"): row[1] for row in table_rows(page("settings")) if len(row) == 3}
    listed = {name: default for name, default in listed.items() if name.startswith("DOCPROC_")}
    assert listed == {f"DOCPROC_{name.upper()}": shown(name) for name in FIELDS}


def test_env_example_has_every_setting_and_changes_nothing_when_uncommented(tmp_path: Path) -> None:
    lines = (ROOT / ".env.example").read_text(encoding="utf-8").splitlines()
    given = [line.removeprefix("# ") for line in lines if line.startswith("# DOCPROC_")]
    names = [line.partition("=")[0] for line in given]
    assert sorted(names) == sorted(f"DOCPROC_{name.upper()}" for name in FIELDS)
    for line in given:
        name, _, value = line.partition("=")
        has_fixed_default = shown(name.removeprefix("DOCPROC_").lower()).startswith("`")
        assert bool(value) == has_fixed_default, line
    assert all(line.startswith("#") for line in lines if line), "everything is commented out"
    file = tmp_path / ".env"
    file.write_text("\n".join(given))
    uncommented, bare = Settings.load(_env_file=file), Settings.load(_env_file=None)
    assert uncommented.model_dump() == bare.model_dump()
    for one in OF_APPLICATIONS:
        assert uncommented.section(one) == bare.section(one)


# --- message --------------------------------------------------------------------------------------------


def test_every_message_field_is_listed_once() -> None:
    listed = named_in_first_column(section(page("message"), "Fields"))
    assert sorted(listed) == sorted(PipelineMessage.model_fields)


def test_every_failure_field_is_listed() -> None:
    listed = named_in_first_column(section(page("message"), "Failure"))
    assert listed == list(Failure.model_fields)


# --- workflow -------------------------------------------------------------------------------------------

SECTIONS: dict[str, type[BaseModel]] = {
    "The whole file": APPLICATIONS.workflow_model,
    "`sla`": definition.Sla,
    "`retention`": definition.Retention,
    "`early_answer`": schemas.EarlyAnswer,
    "`stages`": definition.Stage,
    "`second_reader`": definition.SecondReader,
    "`aggregation`": definition.Aggregation,
    "`extraction_schemas`": schemas.SchemaField,
    "A schema": schemas.ExtractionSchema,
    "`columns`": schemas.SchemaColumn,
}


def default_of(model: type[BaseModel], key: str) -> str | None:
    """A plain default as the page must show it; None where the page uses words."""
    default: Any = model.model_fields[key].default
    if model.model_fields[key].is_required():
        return "required"
    if isinstance(default, bool):
        return f"`{str(default).lower()}`"
    return f"`{default}`" if isinstance(default, int | float | str) and default != "" else None


def check_keys(model: type[BaseModel], rows: list[list[str]]) -> None:
    listed = {row[0].strip("`"): row[2] for row in rows if row[0].startswith("`")}
    assert sorted(listed) == sorted(model.model_fields)
    for key, default in listed.items():
        wanted = default_of(model, key)
        assert wanted in (None, default), f"{model.__name__}.{key} is {wanted} by default, not {default}"


@pytest.mark.parametrize("heading", SECTIONS)
def test_every_key_of_a_workflow_is_listed_with_its_default(heading: str) -> None:
    check_keys(SECTIONS[heading], list(table_rows(section(page("workflow"), heading))))


def test_every_key_of_retry_is_listed_with_its_default() -> None:
    rows = list(table_rows(section(page("workflow"), "`retry`")))
    second = next(i for i, row in enumerate(rows) if row[0] == "key of a rule")
    check_keys(definition.Retry, rows[:second])
    check_keys(definition.ErrorRetry, rows[second:])


def test_names_and_functions_of_conditions_are_listed() -> None:
    rows = {row[0]: row[1] for row in table_rows(section(page("workflow"), "Conditions: `when`"))}
    assert re.findall(r"`(\w+)`", rows["names"]) == list(conditions.NAMES)
    assert re.findall(r"`(\w+)`", rows["functions"]) == list(conditions.FUNCTIONS)


def test_complete_workflows_of_the_page_pass_the_loader(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    loader = App(settings).loader
    examples = {
        mark.strip().removeprefix("file=workflows/"): text
        for language, mark, text in BLOCK.findall(page("workflow"))
        if language == "yaml" and mark.strip().startswith("file=")
    }
    assert len(examples) == 2
    for name, text in examples.items():
        (settings.workflows_dir / name).write_text(text, encoding="utf-8")
    assert set(examples) <= {f"{name}.yaml" for name in loader.names()}  # beside those that come with it
    stages = [stage for name in loader.names() for stage in loader.load(name).stages]
    used = {key for stage in stages for key in stage.model_fields_set}
    assert {"after", "when", "retry", "window", "timeout_seconds", "on_failure", "backoffice_queue"} <= used


# --- commands -------------------------------------------------------------------------------------------


def commands(command: Any, path: str) -> Iterator[tuple[str, Any]]:
    if hasattr(command, "commands"):  # a group; whose class it is depends on Typer's version
        for name, child in command.commands.items():
            yield from commands(child, f"{path} {name}")
    else:
        yield path, command


COMMANDS = dict(commands(typer.main.get_command(command_line), "docproc"))


@pytest.mark.parametrize("path", COMMANDS)
def test_every_command_is_listed_with_its_options_and_an_example(path: str) -> None:
    found = re.search(
        rf"^###? `{re.escape(path)}( [^`]+)?`\n(.*?)(?=^##|\Z)", page("cli"), re.MULTILINE | re.DOTALL
    )
    assert found, f"no heading for {path}"
    parameters = [p for p in COMMANDS[path].params if not getattr(p, "hidden", False)]
    options = {o for p in parameters for o in p.opts if o.startswith("--") and o != "--help"}
    assert set(named_in_first_column(found[2])) == options
    arguments = [p for p in parameters if p.param_type_name == "argument"]
    assert bool(found[1]) == bool(arguments), f"arguments of {path}"
    assert any(language == "console" and path in text for language, _, text in BLOCK.findall(found[2]))


def test_exit_codes_of_errors_are_listed() -> None:
    codes = {row[0] for row in table_rows(section(page("cli"), "Exit codes"))}
    assert codes >= {str(error.exit_code) for error in exceptions().values()} | {"0", "130"}


# --- tables ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("table", Base.metadata.tables)
def test_every_column_of_a_table_is_listed(table: str) -> None:
    text = section(page("tables"), f"`{table}`")
    rows = [row for row in table_rows(text) if len(row) == 3]
    start = next(i for i, row in enumerate(rows) if row[:2] == ["column", "type"])
    end = next((i for i, row in enumerate(rows) if i > start and not row[0].startswith("`")), len(rows))
    listed = {row[0].strip("`"): row[1] for row in rows[start + 1 : end]}
    columns = Base.metadata.tables[table].columns
    assert list(listed) and sorted(listed) == sorted(column.name for column in columns)
    for column in columns:
        assert listed[column.name].endswith("?") == column.nullable, f"{table}.{column.name}: may be empty?"


def test_every_message_state_is_explained() -> None:
    listed = named_in_first_column(section(page("tables"), "`messages`"))
    assert {state.value for state in MessageState} <= set(listed)


@pytest.mark.parametrize(("values", "table"), [(RequestStatus, "requests"), (Outcome, "events")])
def test_every_status_and_outcome_is_mentioned(values: type[StrEnum], table: str) -> None:
    text = section(page("tables"), f"`{table}`")
    missing = {value.value for value in values if f"`{value.value}`" not in text}
    assert missing <= {Outcome.REPEATED.value}, missing  # it leaves no event


# --- errors ---------------------------------------------------------------------------------------------


def exceptions() -> dict[str, type[errors.DocProcError]]:
    found = inspect.getmembers(errors, inspect.isclass)
    return {name: one for name, one in found if issubclass(one, errors.DocProcError)}


def test_every_error_is_listed_with_its_exit_code() -> None:
    rows = [row for row in table_rows(page("errors")) if len(row) == 5 and row[0].startswith("`")]
    assert {row[0].strip("`"): row[4] for row in rows} == {
        name: str(error.exit_code) for name, error in exceptions().items()
    }


def test_family_tree_of_errors_is_true() -> None:
    tree = next(text for _, _, text in BLOCK.findall(page("errors")) if text.startswith("DocProcError"))
    parents: list[str] = []
    for line in tree.splitlines():
        name = line.strip("│├└─ ")
        depth = line.index(name) // 4
        parents[depth:] = [name]
        first_base = exceptions()[name].__bases__[0].__name__
        assert first_base == (parents[depth - 1] if depth else "Exception"), name
    assert len(tree.splitlines()) == len(exceptions())


# --- logs and metrics -----------------------------------------------------------------------------------


def log_events() -> set[str]:
    """The names of all log lines in the source: the first argument of `log.warning(…)` and the like."""
    found = set()
    for path in (ROOT / "src/docproc").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func).startswith("log."):
                constants = [a.value for a in node.args[:2] if isinstance(a, ast.Constant)]
                found |= {value for value in constants if isinstance(value, str)}
    return found


def test_every_log_event_is_explained() -> None:
    logs = page("metrics-and-logs")
    listed = set(named_in_first_column(section(logs, "Other events")))
    assert listed | {"message_handled"} == log_events()


def test_every_metric_and_outcome_is_listed() -> None:
    families = {family.name for family in prometheus_client.REGISTRY.collect()}
    ours = {family for family in families if family.startswith("docproc_")}
    listed = named_in_first_column(section(page("metrics-and-logs"), "Metrics"))
    assert {name.removesuffix("_total") for name in listed if name.startswith("docproc_")} == ours
    assert {outcome.value for outcome in Outcome} <= set(listed)


# --- application ----------------------------------------------------------------------------------------

CONTRACTS = (Application, ComponentSpec, Section, Command, Views, Link)


@pytest.mark.parametrize("contract", CONTRACTS, ids=lambda contract: str(contract.__name__))
def test_every_field_of_a_manifest_is_listed_with_its_default(contract: type[Any]) -> None:
    rows = [
        row for row in table_rows(section(page("application"), f"`{contract.__name__}`")) if row[0] != "field"
    ]
    assert [row[0].strip("`") for row in rows] == [field.name for field in dataclasses.fields(contract)]
    for (name, default, _), field in zip(rows, dataclasses.fields(contract), strict=True):
        required = field.default is field.default_factory is dataclasses.MISSING
        assert (default == "required") == required, name
        if field.default is False or (isinstance(field.default, str) and field.default and default[0] == "`"):
            assert default == f"`{field.default}`", name


def test_every_group_of_entry_points_is_listed() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    listed = named_in_first_column(section(page("application"), "Entry points"))
    assert set(listed) == {*project["entry-points"], registry.ENTRY_POINT_GROUP}


# --- links ----------------------------------------------------------------------------------------------

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


def anchors(path: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    text = BLOCK.sub("", path.read_text(encoding="utf-8"))
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_relative_links_lead_somewhere(path: Path) -> None:
    text = BLOCK.sub("", path.read_text(encoding="utf-8"))
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", target):
            continue
        file, _, anchor = target.partition("#")
        goal = (path.parent / file).resolve() if file else path
        assert goal.exists(), f"{target} leads nowhere"
        assert not anchor or anchor in anchors(goal), f"{target}: no such heading"
