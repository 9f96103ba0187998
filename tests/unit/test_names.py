"""What authors import from `docproc`: every name is there, for Python and for mypy, and costs nothing until
it is asked for."""

from __future__ import annotations

import ast
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import docproc

# Of the specification (A7), and of the manual.
PROMISED = {
    "BaseComponent", "JoinComponent", "PipelineMessage", "WorkflowLoader",
    "COMPONENT_REGISTRY", "QUEUE_BINDINGS", "Application", "Command", "ComponentSpec", "Link",
    "RequestView", "Section", "TaskKind", "Views", "BACKOFFICE", "NEXT", "REQUEST_UNIT", "Emission", "Where",
    "Settings", "SettingsSection", "PermanentError", "TransientError",
}  # fmt: skip


def _typed() -> dict[str, str]:
    """name -> module, as the block for type checkers says."""
    tree = ast.parse(Path(docproc.__file__).read_text(encoding="utf-8"))
    (block,) = (node for node in tree.body if isinstance(node, ast.If))
    return {
        alias.name: node.module
        for node in block.body
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
        if alias.asname == alias.name
    }


def test_type_checkers_know_the_same_names() -> None:
    assert _typed() == docproc._MODULE_OF


def test_every_promised_name_is_there() -> None:
    assert set(docproc._MODULE_OF) >= PROMISED
    assert set(dir(docproc)) >= PROMISED


def test_no_name_is_also_a_module() -> None:
    """Once somebody imported that, the name would be it."""
    assert not {one.name for one in pkgutil.iter_modules(docproc.__path__)} & docproc._MODULE_OF.keys()


@pytest.mark.parametrize("name", sorted(docproc._MODULE_OF))
def test_name_can_be_imported(name: str) -> None:
    module = sys.modules.get(f"{docproc._MODULE_OF[name]}.{name}")
    found = getattr(docproc, name)
    assert found is module or found is getattr(sys.modules[docproc._MODULE_OF[name]], name)


def test_other_names_are_refused_as_ever() -> None:
    with pytest.raises(ImportError, match="Sausage"):
        from docproc import Sausage  # noqa: F401
    assert not hasattr(docproc, "sausage")


@pytest.mark.parametrize(
    ("statement", "absent"),
    [
        ("import docproc", {"pydantic", "sqlalchemy", "fastapi", "numpy"}),
        ("from docproc import Application, ComponentSpec", {"pydantic", "sqlalchemy", "fastapi", "numpy"}),
        ("from docproc import BaseComponent, FormKind, RequestView", {"fastapi", "numpy", "openvino"}),
    ],
)
def test_import_costs_no_more_than_it_needs(statement: str, absent: set[str]) -> None:
    script = f"import sys\n{statement}\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert not absent & set(done.stdout.split())
