"""Plans: what a task asks for becomes a flow of the engine, checked before anything is accepted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from docproc.apps.orchestrator.envelope.errors import Code, EnvelopeError, Violation, from_pydantic, refuse
from docproc.apps.orchestrator.envelope.models import MessageType, ServiceName
from docproc.apps.orchestrator.plans.step import CALL, RESULT, RESULT_STAGE, StepOptions, options_of
from docproc.apps.orchestrator.services.catalogue import Catalogue
from docproc.engine.workflow.definition import Name, Sla, Stage, Workflow
from docproc.engine.workflow.loader import WorkflowLoader
from docproc.engine.workflow.plan import PlanError
from docproc.errors import PermanentError, UnknownWorkflowError, WorkflowError

# How long a task may take in all, unless its flow says so: a session's length (§5.1).
DEADLINE_SECONDS: Final = 1800.0
PLAN_NAME: Final = "plan"


class Compensation(BaseModel):
    """What undoes a step, when a later one fails."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    type: MessageType
    service: ServiceName | None = None
    payload: dict[str, Any] = Field(default_factory=dict)


class PlanStep(BaseModel):
    """One call of a plan in a task's body."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    name: Name
    type: MessageType
    service: ServiceName | None = Field(default=None, description="Whom the type leads to, unless named")
    payload: dict[str, Any] = Field(default_factory=dict)
    after: tuple[Name, ...] = Field(
        default=(), description="Steps it waits for; without any it starts at once"
    )
    priority: int | None = Field(default=None, ge=0, le=9)
    timeout_ms: int | None = Field(default=None, ge=1, le=86_400_000)
    optional: bool = Field(default=False, description="Its failure does not fail the task")
    compensate: Compensation | None = Field(
        default=None, description="What undoes it when a later step fails"
    )


class PlanBody(BaseModel):
    """A graph of calls: steps that wait for nobody run side by side."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    steps: tuple[PlanStep, ...] = Field(min_length=1)


@dataclass(frozen=True, slots=True)
class Plan:
    """A flow for one task."""

    # The name under which the engine keeps it.
    name: str
    # None: the file of that name.
    definition: Workflow | None
    steps: int
    # What each step is sent, where the plan came with the task.
    inputs: Mapping[str, Any] | None = None


def operation(wanted: MessageType, service: str | None, catalogue: Catalogue, model: type[Workflow]) -> Plan:
    """One call, then its result. Raises EnvelopeError."""
    options = StepOptions(type=wanted, service=service)
    _check_service(options, catalogue, "target_service" if service else "type")
    name = f"operation-{wanted.name}"
    return Plan(name, _flow(model, name, [_stage(wanted.action, options, ())], (wanted.action,)), 1)


def from_body(said: Any, catalogue: Catalogue, model: type[Workflow], most_steps: int) -> Plan:
    """The graph in a task's body. Raises EnvelopeError."""
    try:
        body = PlanBody.model_validate(said)
    except ValidationError as error:
        found = from_pydantic(error).violations
        raise EnvelopeError([_below(one, "plan") for one in found]) from error
    if len(body.steps) > most_steps:
        raise refuse(
            Code.PLAN,
            "plan.steps",
            f"{len(body.steps)} steps are more than {most_steps}",
            "Split the task, or have DOCPROC_ORCHESTRATOR_MAX_STEPS raised",
        )
    stages: list[Stage] = []
    for number, step in enumerate(body.steps):
        stages.extend(_stages_of(step, catalogue, f"plan.steps.{number}"))
    waited_for = {name for step in body.steps for name in step.after}
    ends = tuple(step.name for step in body.steps if step.name not in waited_for)
    inputs: dict[str, Any] = {step.name: step.payload for step in body.steps}
    inputs |= {_undo(s.name): s.compensate.payload for s in body.steps if s.compensate is not None}
    # Without an end there is a cycle, which compiling names.
    flow = _flow(model, PLAN_NAME, stages, ends or (body.steps[-1].name,))
    return Plan(PLAN_NAME, flow, len(body.steps), inputs)


def named(name: str, loader: WorkflowLoader, catalogue: Catalogue) -> Plan:
    """A flow of the deployment, or of the tenant. Raises EnvelopeError."""
    try:
        workflow = loader.plan(name).workflow
    except UnknownWorkflowError as error:
        known = ", ".join(flows(loader)) or "none yet"
        raise refuse(Code.PLAN, "flow", f"there is no flow {name[:64]!r}", f"Known flows: {known}") from error
    except WorkflowError as error:
        raise refuse(
            Code.PLAN, "flow", f"{name} cannot be used now: {error.args[0]}", "Have its file corrected"
        ) from error
    calls = [stage for stage in workflow.stages if stage.component == CALL]
    if not calls:
        raise refuse(Code.PLAN, "flow", f"{name} calls no service", "Name a flow of the orchestrator")
    for stage in calls:
        try:
            _check_service(options_of(stage), catalogue, f"flow {name}, stage {stage.name}")
        except PermanentError as error:
            raise refuse(Code.PLAN, "flow", str(error.args[0]), error.remedy) from error
    return Plan(name, None, len(calls))


def flows(loader: WorkflowLoader) -> list[str]:
    """The names of flows that call services."""
    return [flow.name for flow in loader.usable() if any(one.component == CALL for one in flow.stages)]


def check(plan: Plan, loader: WorkflowLoader) -> None:
    """Whether the engine can run it: cycles, unknown steps. Raises EnvelopeError."""
    if plan.definition is None:
        return
    try:
        loader.compile_workflow(plan.definition)
    except PlanError as error:
        index = _index(plan.definition, error.stage)
        raise refuse(Code.PLAN, f"plan.steps.{index}.{error.key}", str(error), error.remedy) from error


def _index(workflow: Workflow, stage: str) -> int:
    names = [one.name for one in workflow.stages if one.component == CALL]
    return max((number for number, name in enumerate(names) if name == stage), default=0)


def _stages_of(step: PlanStep, catalogue: Catalogue, path: str) -> list[Stage]:
    if step.name == RESULT_STAGE:
        raise refuse(Code.PLAN, f"{path}.name", f"{RESULT_STAGE!r} is the end of every plan", "Rename it")
    options = StepOptions(
        type=step.type,
        service=step.service,
        priority=step.priority,
        timeout_ms=step.timeout_ms,
        optional=step.optional,
    )
    _check_service(options, catalogue, f"{path}.service" if step.service else f"{path}.type")
    if step.compensate is None:
        return [_stage(step.name, options, step.after)]
    undoing = StepOptions(type=step.compensate.type, service=step.compensate.service)
    _check_service(undoing, catalogue, f"{path}.compensate")
    undo = _undo(step.name)
    return [_stage(step.name, options, step.after, compensate=undo), _stage(undo, undoing, None)]


def _undo(step: str) -> str:
    return f"undo-{step}"[:64]


def _stage(
    name: str, options: StepOptions, after: Sequence[str] | None, compensate: str | None = None
) -> Stage:
    said = options.model_dump(mode="json", exclude_defaults=True)
    extra: dict[str, Any] = {"compensate": compensate} if compensate else {}
    return Stage.model_validate({"name": name, "component": CALL, "after": after, "options": said, **extra})


def _flow(model: type[Workflow], name: str, stages: Sequence[Stage], ends: Sequence[str]) -> Workflow:
    last = Stage(name=RESULT_STAGE, component=RESULT, after=tuple(ends))
    return model(name=name, sla=Sla(deadline_seconds=DEADLINE_SECONDS), stages=(*stages, last))


def _check_service(options: StepOptions, catalogue: Catalogue, path: str) -> None:
    if options.service_in(catalogue) is None:
        known = ", ".join(catalogue.services)
        wanted = options.service or options.type.name
        raise refuse(Code.SERVICE, path, f"no service takes {wanted!r}", f"Known services: {known}")


def _below(violation: Violation, path: str) -> Violation:
    return Violation(violation.code, f"{path}.{violation.path}", violation.message, violation.remedy)
