"""The registry: names to component classes, with errors that say what to correct."""

from __future__ import annotations

from importlib.metadata import EntryPoint
from typing import ClassVar

import pytest

from docproc import registry
from docproc.engine.components.collect import Collect
from docproc.errors import ConfigurationError
from docproc.registry import COMPONENT_REGISTRY, Registry
from tests.components import PATHS, Split, Work
from tests.unit.engine.workflow.flows import Unrun


class Misnamed(Unrun):
    component_name = "another"


class Nameless(Unrun):
    pass


class NotAComponent:
    component_name: ClassVar[str] = "not_a_component"


HERE = __name__


@pytest.fixture(autouse=True)
def _nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: [])


def test_own_components_are_known() -> None:
    assert Registry().load("collect") is Collect


def test_every_registered_component_loads_under_its_name() -> None:
    found = Registry()
    classes = {name: found.load(name) for name in found.names}
    assert set(classes) == set(COMPONENT_REGISTRY)
    assert all(one.component_name == name for name, one in classes.items())


def test_components_of_the_settings_are_added() -> None:
    found = Registry(PATHS)
    assert found.load("split") is Split
    assert set(found.names) == {*COMPONENT_REGISTRY, *PATHS}


def test_installed_packages_add_theirs_by_entry_point(monkeypatch: pytest.MonkeyPatch) -> None:
    def installed(group: str) -> list[EntryPoint]:
        assert group == "docproc.components"
        return [EntryPoint("work", "tests.components:Work", group)]

    monkeypatch.setattr(registry, "entry_points", installed)
    assert Registry().load("work") is Work


def test_settings_win_over_own_and_installed_components(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: [EntryPoint("work", "nowhere:Work", group)])
    assert Registry({"work": PATHS["work"]}).load("work") is Work


def test_unknown_component_lists_the_valid_names() -> None:
    with pytest.raises(ConfigurationError, match="no component 'wrok'") as caught:
        Registry({"work": PATHS["work"]}).load("wrok")
    assert caught.value.remedy == f"Use one of: {', '.join(sorted({*COMPONENT_REGISTRY, 'work'}))}"


@pytest.mark.parametrize(
    "path",
    [
        "no.such.module.Class",
        "tests.components.NoSuchClass",
        "Class",
        "",
        ".relative.Class",
        "tests.components.",
    ],
)
def test_component_that_cannot_be_imported_names_itself_and_its_path(path: str) -> None:
    with pytest.raises(ConfigurationError) as caught:
        Registry({"broken": path}).load("broken")
    assert "'broken' cannot be imported" in str(caught.value)
    assert repr(path) in str(caught.value)
    assert "Check the module path" in caught.value.remedy
    assert caught.value.__cause__ is not None


@pytest.mark.parametrize("name", ["NotAComponent", "HERE"])
def test_what_is_no_component_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match=r"is not a BaseComponent.*Derive it from"):
        Registry({"not_a_component": f"{HERE}.{name}"}).load("not_a_component")


@pytest.mark.parametrize("name", ["Misnamed", "Nameless"])
def test_component_called_otherwise_in_its_class_is_refused(name: str) -> None:
    with pytest.raises(ConfigurationError, match="Set component_name = 'mine'"):
        Registry({"mine": f"{HERE}.{name}"}).load("mine")


def test_components_are_imported_only_when_asked_for() -> None:
    broken = Registry({"broken": "no.such.module.Class"})
    assert broken.load("collect") is Collect
    with pytest.raises(ConfigurationError):
        _ = broken.specs
