"""The commands there are, known without importing one."""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.console import Console
from typer import rich_utils
from typer.testing import CliRunner

from docproc import installed
from docproc.application import Application, Command
from docproc.apps.documents.application import application as documents
from docproc.cli import commands, main, start
from docproc.cli import help as overview
from docproc.cli.commands import find_commands
from docproc.entry_points import Point
from docproc.errors import ConfigurationError, UsageError
from docproc.installed import COMMANDS, Installed, Skipped

WEIGH = Command("weigh", "tests.unit.cli.test_commands:weigh", "Weigh.")
PARCELS = Application("parcels", commands=(WEIGH,))
LACKING = Skipped("video", "which needs cv2", "Install it with: pip install 'docproc[video]'", ("film",))


def weigh(parcel: str) -> None:
    """Weigh."""
    print(f"{parcel} weighs 3 kg")


def install(
    monkeypatch: pytest.MonkeyPatch, *applications: Application, skipped: tuple[Skipped, ...]
) -> None:
    monkeypatch.setattr(commands, "find_applications", lambda: Installed(applications, skipped))


def invoke(*arguments: str) -> Any:
    return CliRunner().invoke(main.app, list(arguments))


def root() -> Any:
    return typer.main.get_command(main.app)


@pytest.mark.parametrize("name", find_commands().all)
def test_the_line_of_a_command_says_what_its_own_help_says(name: str) -> None:
    command = root().commands[name]
    assert find_commands().all[name].help == (command.short_help or command.help).split("\n\n")[0]


@pytest.mark.parametrize("width", [60, 100])
def test_the_overview_looks_as_typer_would_draw_it(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    for module in (overview, rich_utils):
        file = io.StringIO()
        monkeypatch.setattr(module, "Console", lambda file=file, **given: _console(file, width, given))
        group = root()
        with typer.Context(group, info_name="docproc") as context:
            if module is overview:
                group.format_help(context, None)
            else:
                rich_utils.rich_format_help(obj=group, ctx=context, markup_mode="rich")
        drawn.append([line.rstrip() for line in file.getvalue().splitlines()])
    assert drawn[0] == drawn[1] and any("deadletters" in line for line in drawn[0])


def _console(file: io.StringIO, width: int, given: dict[str, Any]) -> Console:
    return Console(
        **{**given, "file": file, "width": width, "force_terminal": True, "color_system": "standard"}
    )


def test_applications_add_their_commands_after_those_with_a_place(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, documents, PARCELS, skipped=())
    assert list(find_commands().all) == [*commands.ORDER, "weigh"]
    assert invoke("weigh", "a box").output == "a box weighs 3 kg\n"
    assert "Weigh." in invoke("--help").output


def test_the_settings_choose_applications(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    install(monkeypatch, documents, PARCELS, skipped=(LACKING,))
    shared = [command.name for command in (*commands.SHARED, *installed.find_tools())]
    monkeypatch.setenv("DOCPROC_APPLICATIONS", "parcels")
    assert sorted(find_commands().all) == sorted([*shared, "weigh"])
    assert find_commands().skipped == ()
    monkeypatch.delenv("DOCPROC_APPLICATIONS")
    monkeypatch.chdir(tmp_path)
    Path(".env").write_text("docproc_applications=video")
    assert sorted(find_commands().all) == sorted(shared)
    assert find_commands().skipped == (LACKING,)


def test_a_package_that_is_no_application_adds_a_command(monkeypatch: pytest.MonkeyPatch) -> None:
    offer(monkeypatch, "weigh", "tests.unit.cli.test_commands:WEIGH")
    assert find_commands().all["weigh"] is WEIGH
    assert invoke("weigh", "a box").output == "a box weighs 3 kg\n"


@pytest.mark.parametrize(("name", "value"), [("lift", "WEIGH"), ("weigh", "weigh")])
def test_an_entry_point_that_is_no_command_of_its_name_is_refused(
    name: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    offer(monkeypatch, name, f"tests.unit.cli.test_commands:{value}")
    with pytest.raises(ConfigurationError, match=rf"{name}.*is no command of that name"):
        find_commands()


def offer(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    """As if a package offered it."""
    point = Point(name, value, "parcels")
    monkeypatch.setattr(installed, "find_points", lambda group: (point,) if group == COMMANDS else ())
    monkeypatch.setattr(commands, "find_tools", installed.find_tools.__wrapped__)


def test_a_command_of_a_skipped_application_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, PARCELS, skipped=(LACKING,))
    ended = invoke("film", "x.mp4")
    assert isinstance(ended.exception, UsageError) and ended.exception.exit_code == 2
    assert str(ended.exception) == (
        "'film' is a command of video, which needs cv2. Install it with: pip install 'docproc[video]'"
    )
    said = " ".join(invoke("--help").output.split())
    assert "Without video, which needs cv2. Install it with: pip install 'docproc[video]'" in said
    assert "film" not in said


def test_two_commands_of_one_name_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    install(monkeypatch, Application("other", commands=(Command("up", "other:up", "Up."),)), skipped=())
    with pytest.raises(ConfigurationError, match=r"'up' is there twice: .*, other:up. .*without one"):
        find_commands()


def test_an_error_of_the_overview_is_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    install(monkeypatch, Application("other", commands=(Command("up", "other:up", "Up."),)), skipped=())
    monkeypatch.setattr(sys, "argv", ["docproc", "--help"])
    with pytest.raises(SystemExit) as ended:
        start.main()
    assert ended.value.code == 1


def test_a_wrong_word_is_told_what_is_near() -> None:
    ended = invoke("stauts")
    assert ended.exit_code == 2 and "Did you mean 'status'" in ended.output
