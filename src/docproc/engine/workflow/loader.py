"""WorkflowLoader: finds, checks and reloads the YAML files, and answers where a flow goes next."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import structlog
import yaml
from pydantic import ValidationError

from docproc.engine.component_spec import ComponentSpec
from docproc.engine.store.tenants import NAME as TENANT_NAME
from docproc.engine.transport import Topology
from docproc.engine.workflow.definition import Stage, Workflow
from docproc.engine.workflow.plan import Plan, PlanError, check_backoffice_routes, compile_plan
from docproc.errors import UnknownWorkflowError, WorkflowError
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

# Where tenants have workflows of their own: a folder each, and no other folder is ever taken for one.
TENANTS_FOLDER = "tenants"
_SAFE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,63}")
_DEEPEST, _LARGEST = 50, 100_000
_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class _Loaded:
    stamp: tuple[int, int, int]
    plan: Plan


class WorkflowLoader:
    """The workflows of a folder, read again whenever a file changes; no restart needed."""

    def __init__(
        self,
        directory: Path,
        components: Mapping[str, ComponentSpec],
        topology: Topology,
        *,
        model: type[Workflow] = Workflow,
        packaged: Sequence[Path] = (),
    ) -> None:
        """`model` has the sections of the applications; `packaged` are folders that serve where `directory`
        has no workflow of a name."""
        self.directory = directory
        self.components = components
        self.topology = topology
        self.model = model
        self.folders = (directory, *packaged)
        # By path, so that workflows of one name and several tenants stay apart.
        self._loaded: dict[Path, _Loaded] = {}

    def of(self, tenant_id: str) -> WorkflowLoader:
        """The workflows of a tenant: its own in `tenants/<tenant>/`, and where it has none of a name, the
        common ones."""
        own = self.directory / TENANTS_FOLDER / tenant_id
        if not (TENANT_NAME.fullmatch(tenant_id) and own.is_dir()):
            return self
        found = copy(self)
        found.directory = own
        found.folders = (own, *self.folders)
        return found

    def names(self) -> list[str]:
        """All workflow names; the packaged ones serve where the folder has none of that name."""
        found = (path for folder in self.folders if folder.is_dir() for path in folder.glob("*.y*ml"))
        return sorted(
            {
                path.stem
                for path in found
                if path.suffix in (".yaml", ".yml") and _SAFE_NAME.fullmatch(path.stem)
            }
        )

    def path(self, name: str) -> Path:
        """The file of a workflow. Names are not paths: nothing outside the folder can be reached."""
        if _SAFE_NAME.fullmatch(name):
            for folder in self.folders:
                for suffix in (".yaml", ".yml"):
                    if (path := folder / f"{name}{suffix}").is_file():
                        return path
        known = ", ".join(self.names()) or "none yet"
        raise UnknownWorkflowError(
            f"there is no workflow {name[:80]!r}",
            remedy=f"Known workflows: {known}. Add {name[:80]}.yaml to {self.directory}"
            if _SAFE_NAME.fullmatch(name)
            else f"Known workflows: {known}",
        )

    def plan(self, name: str) -> Plan:
        """The current content of a workflow, compiled; raises WorkflowError naming file and line."""
        path = self.path(name)
        stat = path.stat()
        stamp = (stat.st_mtime_ns, stat.st_size, stat.st_ino)
        cached = self._loaded.get(path)
        if cached is None or cached.stamp != stamp:
            cached = _Loaded(stamp, self.compile(path))
            self._loaded[path] = cached
        return cached.plan

    def compile(self, path: Path) -> Plan:
        """Read and check one file, wherever it lies."""
        data, lines = _read(path)
        try:
            workflow = self.model.model_validate(data)
        except ValidationError as error:
            raise _invalid(error, path, lines) from error
        if workflow.name != path.stem:
            raise WorkflowError(
                f"the workflow is called {workflow.name!r} but its file {path.name!r}",
                file=path, line=lines.get(("name",)), remedy=f"Rename the file to {workflow.name}.yaml",
            )  # fmt: skip
        try:
            return self.compile_workflow(workflow)
        except PlanError as error:
            # Of two stages with one name, the second is the mistake.
            index = max(i for i, stage in enumerate(workflow.stages) if stage.name == error.stage)
            line = lines.get(("stages", index, error.key)) or lines.get(("stages", index))
            raise WorkflowError(str(error), file=path, line=line, remedy=error.remedy) from error

    def compile_workflow(self, workflow: Workflow) -> Plan:
        plan = compile_plan(workflow, self.components, self.topology)
        check_backoffice_routes(plan, self.topology)
        return plan

    def usable(self) -> list[Workflow]:
        """All workflows whose files are in order; a broken one must not keep the others from working."""
        found = []
        for name in self.names():
            try:
                found.append(self.load(name))
            except WorkflowError as error:
                log.warning("workflow_unusable", workflow=name, problem=text_for_logs(error))
        return found

    # The specified questions.

    def load(self, name: str) -> Workflow:
        return self.plan(name).workflow

    def get_first_stage(self, name: str) -> Stage:
        plan = self.plan(name)
        return plan.steps[plan.first[0]].stage

    def get_next_stage(self, name: str, stage: str) -> Stage | None:
        """The stage after `stage`, or None after the last one (the first of them where it branches)."""
        plan = self.plan(name)
        following = plan.step(stage).following
        return plan.steps[following[0]].stage if following else None

    def get_stage_by_component(self, name: str, component: str) -> Stage | None:
        return next((s for s in self.load(name).stages if s.component == component), None)

    def get_extraction_schema(self, name: str, doc_type: str) -> Any:
        """Specified, though it asks for an application's section; None: there is no such schema."""
        return (self.load(name).section("extraction_schemas") or {}).get(doc_type)


def _read(path: Path) -> tuple[Any, dict[_Path, int]]:
    """The file's data, and the line of every key in it."""
    try:
        text = path.read_text(encoding="utf-8")
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        data = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else None
        raise WorkflowError(
            f"not readable as YAML: {error.problem}", file=path, line=line, remedy="Check the indentation"
        ) from error
    except (OSError, ValueError, yaml.YAMLError) as error:
        raise WorkflowError(f"cannot be read: {error}", file=path, remedy="Save it as UTF-8 text") from error
    lines: dict[_Path, int] = {}
    _note_lines(node, (), lines, path)
    return data, lines


def _note_lines(node: yaml.Node | None, where: _Path, lines: dict[_Path, int], path: Path) -> None:
    if len(where) > _DEEPEST or len(lines) > _LARGEST:
        # An alias inside its own anchor has no end, and aliases of aliases grow without measure.
        raise WorkflowError(
            "nested too deeply, or too large", file=path, line=node.start_mark.line + 1 if node else None,
            remedy="Look for an alias (*) inside its own anchor (&)",
        )  # fmt: skip
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            place = (*where, key.value)
            if place in lines:
                raise WorkflowError(
                    f"{key.value!r} is written twice", file=path, line=key.start_mark.line + 1,
                    remedy=f"Keep one of them (the other is on line {lines[place]})",
                )  # fmt: skip
            lines[place] = key.start_mark.line + 1
            _note_lines(value, place, lines, path)
    elif isinstance(node, yaml.SequenceNode):
        for index, value in enumerate(node.value):
            lines[*where, index] = value.start_mark.line + 1
            _note_lines(value, (*where, index), lines, path)


def _invalid(error: ValidationError, path: Path, lines: Mapping[_Path, int]) -> WorkflowError:
    first = error.errors(include_url=False)[0]
    location = tuple(part for part in first["loc"] if not str(part).startswith("function-"))
    line = next((lines[location[:n]] for n in range(len(location), 0, -1) if location[:n] in lines), 1)
    where = ".".join(str(part) for part in location) or "the file"
    if first["type"] == "extra_forbidden":
        return WorkflowError(
            f"{where}: unknown key", file=path, line=line,
            remedy="Correct the spelling, or put the component's own settings under `options:`",
        )  # fmt: skip
    if first["type"] == "missing":
        return WorkflowError(f"{where} is missing", file=path, line=line, remedy=f"Add {location[-1]}:")
    problem = first["msg"].removeprefix("Value error, ")
    return WorkflowError(f"{where}: {problem}", file=path, line=line, remedy="See docs/reference/workflow.md")
