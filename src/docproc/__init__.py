"""DocProc: files in, checked and structured answers out, before a deadline.

What authors of components and applications import is here. Each name is imported when first asked for, so
that a manifest costs nothing but itself; what takes FastAPI is in `docproc.http`.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.2.0.dev0"

if TYPE_CHECKING:
    from docproc.app import App as App
    from docproc.app import open_client as open_client
    from docproc.app import open_database as open_database
    from docproc.application import Application as Application
    from docproc.application import Command as Command
    from docproc.application import Link as Link
    from docproc.application import Section as Section
    from docproc.application import Views as Views
    from docproc.engine.component import BACKOFFICE as BACKOFFICE
    from docproc.engine.component import NEXT as NEXT
    from docproc.engine.component import BaseComponent as BaseComponent
    from docproc.engine.component import Emission as Emission
    from docproc.engine.component import JoinComponent as JoinComponent
    from docproc.engine.component import Where as Where
    from docproc.engine.component_spec import REQUEST_UNIT as REQUEST_UNIT
    from docproc.engine.component_spec import ComponentSpec as ComponentSpec
    from docproc.engine.message import PipelineMessage as PipelineMessage
    from docproc.engine.running.intake import Submission as Submission
    from docproc.engine.store import fan_in as fan_in
    from docproc.engine.store import tasks as tasks
    from docproc.engine.store.columns import Id as Id
    from docproc.engine.store.columns import Json as Json
    from docproc.engine.store.columns import Moment as Moment
    from docproc.engine.store.tables import Base as Base
    from docproc.engine.store.tables import Request as Request
    from docproc.engine.store.tables import Tenanted as Tenanted
    from docproc.engine.workflow.definition import Strict as Strict
    from docproc.engine.workflow.definition import Workflow as Workflow
    from docproc.engine.workflow.loader import WorkflowLoader as WorkflowLoader
    from docproc.errors import ConfigurationError as ConfigurationError
    from docproc.errors import DocProcError as DocProcError
    from docproc.errors import InvalidAnswerError as InvalidAnswerError
    from docproc.errors import MessageError as MessageError
    from docproc.errors import PermanentError as PermanentError
    from docproc.errors import ProcessingError as ProcessingError
    from docproc.errors import TransientError as TransientError
    from docproc.errors import UsageError as UsageError
    from docproc.http.views import RequestView as RequestView
    from docproc.people.forms import FormKind as FormKind
    from docproc.people.kinds import Listed as Listed
    from docproc.people.kinds import Shown as Shown
    from docproc.people.kinds import Sitting as Sitting
    from docproc.people.kinds import TaskKind as TaskKind
    from docproc.registry import COMPONENT_REGISTRY as COMPONENT_REGISTRY
    from docproc.registry import QUEUE_BINDINGS as QUEUE_BINDINGS
    from docproc.settings import Settings as Settings
    from docproc.settings import SettingsSection as SettingsSection
    from docproc.terminal.output import load_settings as load_settings
    from docproc.terminal.output import print_json as print_json
    from docproc.terminal.output import run_async as run_async
    from docproc.terminal.view import TerminalView as TerminalView

# Where each of them is.
_MODULES = {
    "docproc.app": ("App", "open_client", "open_database"),
    "docproc.application": ("Application", "Command", "Link", "Section", "Views"),
    "docproc.engine.component": ("BACKOFFICE", "NEXT", "BaseComponent", "Emission", "JoinComponent", "Where"),
    "docproc.engine.component_spec": ("REQUEST_UNIT", "ComponentSpec"),
    "docproc.engine.message": ("PipelineMessage",),
    "docproc.engine.running.intake": ("Submission",),
    "docproc.engine.store": ("fan_in", "tasks"),
    "docproc.engine.store.columns": ("Id", "Json", "Moment"),
    "docproc.engine.store.tables": ("Base", "Request", "Tenanted"),
    "docproc.engine.workflow.definition": ("Strict", "Workflow"),
    "docproc.engine.workflow.loader": ("WorkflowLoader",),
    "docproc.errors": (
        "ConfigurationError", "DocProcError", "InvalidAnswerError", "MessageError",
        "PermanentError", "ProcessingError", "TransientError", "UsageError",
    ),
    "docproc.http.views": ("RequestView",),
    "docproc.people.forms": ("FormKind",),
    "docproc.people.kinds": ("Listed", "Shown", "Sitting", "TaskKind"),
    "docproc.registry": ("COMPONENT_REGISTRY", "QUEUE_BINDINGS"),
    "docproc.settings": ("Settings", "SettingsSection"),
    "docproc.terminal.output": ("load_settings", "print_json", "run_async"),
    "docproc.terminal.view": ("TerminalView",),
}  # fmt: skip
_MODULE_OF = {name: module for module, names in _MODULES.items() for name in names}


def __getattr__(name: str) -> Any:
    module = _MODULE_OF.get(name)
    if module is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    found = globals()[name] = _find(import_module(module), name)
    return found


def _find(module: Any, name: str) -> Any:
    """A name of a module, or a module of a package."""
    return getattr(module, name) if hasattr(module, name) else import_module(f"{module.__name__}.{name}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULE_OF})
