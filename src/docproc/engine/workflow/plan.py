"""A workflow compiled against the known components: who follows whom, what fans out, where it joins."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from graphlib import CycleError, TopologicalSorter

from docproc.engine.component_spec import REQUEST_UNIT, ComponentSpec
from docproc.engine.store.standing import Standing
from docproc.engine.store.tables import RequestStatus
from docproc.engine.transport import BACKOFFICE_EXCHANGE, DIRECT_EXCHANGE, Topology
from docproc.engine.workflow.definition import OnFailure, Stage, Workflow
from docproc.errors import PermanentError, UnroutableError


class PlanError(Exception):
    """A workflow that cannot work; the loader turns it into a WorkflowError with file and line."""

    def __init__(self, stage: str, key: str, message: str, remedy: str) -> None:
        super().__init__(message)
        self.stage = stage
        self.key = key
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Step:
    """A stage with everything routing needs to know about it."""

    stage: Stage
    component: ComponentSpec
    routing_key: str
    queue: str
    previous: tuple[str, ...]
    following: tuple[str, ...]
    unit: str = REQUEST_UNIT  # the unit it works on
    collected_by: str | None = None  # the join that will collect that unit
    fans_out_to: str | None = None  # the join that will collect the units it gives
    opened_by: str | None = None  # for a join: the stage whose fan-out it collects
    is_compensation: bool = False  # runs only when the request fails, to undo another stage
    standing: Standing | None = None  # what work in it makes of the request's status

    @property
    def name(self) -> str:
        return self.stage.name

    @property
    def is_join(self) -> bool:
        return self.component.joins

    @property
    def join_name(self) -> str:
        """The value in `aggregation_state.stage` when this step is a join."""
        return self.component.collects or self.name

    @property
    def branch_join_name(self) -> str:
        """The same for the implicit join of parallel branches before this step."""
        return f"{self.name}:branches"

    @property
    def joins_branches(self) -> bool:
        return len(self.previous) > 1

    @property
    def on_failure(self) -> OnFailure:
        """As the stage says; by default one failed unit does not take its siblings down."""
        if self.stage.on_failure is not None:
            return self.stage.on_failure
        return OnFailure.CONTINUE if self.collected_by else OnFailure.FAIL_REQUEST


@dataclass(frozen=True, slots=True)
class Plan:
    workflow: Workflow
    version: str
    steps: Mapping[str, Step]
    first: tuple[str, ...]
    has_windows: bool = False

    @property
    def compensations(self) -> Mapping[str, str]:
        """Stage -> the stage that undoes it."""
        return {one.name: one.compensate for one in self.workflow.stages if one.compensate is not None}

    def step(self, name: str) -> Step:
        try:
            return self.steps[name]
        except KeyError:
            raise PermanentError(
                f"workflow {self.workflow.name!r} ({self.version}) has no stage {name!r}",
                remedy=f"Its stages are {', '.join(self.steps)}",
            ) from None

    def stage_for_key(self, routing_key: str) -> str | None:
        return next((s.name for s in self.steps.values() if s.routing_key == routing_key), None)


def compile_plan(workflow: Workflow, components: Mapping[str, ComponentSpec], topology: Topology) -> Plan:
    """Check that the flow can work and precompute its routing; raises PlanError."""
    undoing = _compensations(workflow)
    previous = _predecessors(workflow, undoing)
    order = _topological(workflow, previous)
    flow = [stage for stage in workflow.stages if stage.name not in undoing]
    steps = {stage.name: _step(stage, previous, components, topology) for stage in flow}
    _check_single_end(steps)
    steps = _with_standings(_with_units(steps, order), order)
    for step in steps.values():
        _check_settings(step)
    _check_join_names(steps)
    first = tuple(name for name in steps if not steps[name].previous)
    for stage in workflow.stages:
        if stage.name in undoing:
            alone = _step(stage, {stage.name: ()}, components, topology)
            _check_takes(alone, REQUEST_UNIT)
            steps[stage.name] = replace(alone, is_compensation=True)
    has_windows = any(stage.window is not None for stage in workflow.stages)
    return Plan(workflow, workflow.content_version, steps, first, has_windows)


def _compensations(workflow: Workflow) -> set[str]:
    """The stages that undo others; they are no part of the flow."""
    stages = {stage.name: stage for stage in workflow.stages}
    undoing = {stage.name: stage.compensate for stage in workflow.stages if stage.compensate is not None}
    for name, undo in undoing.items():
        problem = ""
        if undo not in stages:
            problem = f"stage {name!r} is undone by {undo!r}, which does not exist"
        elif list(undoing.values()).count(undo) > 1:
            problem = f"{undo!r} undoes several stages"
        elif stages[undo].after or stages[undo].when or stages[undo].compensate:
            problem = f"{undo!r} undoes {name!r}, and is no part of the flow"
        if problem:
            raise PlanError(
                name, "compensate", problem,
                "Name a stage of its own, without `after:`, `when:` and `compensate:`",
            )  # fmt: skip
    return set(undoing.values())


def _predecessors(workflow: Workflow, undoing: set[str]) -> dict[str, tuple[str, ...]]:
    """Each stage follows the one above it, unless it says `after:`."""
    found: dict[str, tuple[str, ...]] = {}
    above: tuple[str, ...] = ()
    for stage in (one for one in workflow.stages if one.name not in undoing):
        if stage.name in found:
            raise PlanError(stage.name, "name", f"two stages are called {stage.name!r}", "Rename one of them")
        found[stage.name] = above if stage.after is None else stage.after
        above = (stage.name,)
    for name, befores in found.items():
        for before in befores:
            if before not in found:
                raise PlanError(
                    name, "after", f"stage {name!r} comes after {before!r}, which does not exist",
                    f"Use one of {', '.join(found)}",
                )  # fmt: skip
        if len(set(befores)) != len(befores):
            # One branch cannot arrive twice: the stage would wait for ever.
            raise PlanError(
                name, "after", f"stage {name!r} names the same stage twice in `after:`", "Keep one of them"
            )
    return found


def _topological(workflow: Workflow, previous: dict[str, tuple[str, ...]]) -> list[str]:
    try:
        return list(TopologicalSorter(previous).static_order())
    except CycleError as error:
        cycle = error.args[1]  # in the order of the flow, the first stage again at the end
        culprit = next(name for name in cycle if workflow.stage(name).after is not None)
        raise PlanError(
            culprit, "after", f"the stages form a cycle: {' → '.join(cycle)}",
            "Remove one of these `after:` entries",
        ) from None  # fmt: skip


def _step(
    stage: Stage,
    previous: Mapping[str, tuple[str, ...]],
    components: Mapping[str, ComponentSpec],
    topology: Topology,
) -> Step:
    component = components.get(stage.component)
    if component is None:
        raise PlanError(
            stage.name, "component", f"unknown component {stage.component!r}",
            f"Use one of {', '.join(sorted(components))}, or register it (docs/how-to/write-a-component.md)",
        )  # fmt: skip
    following = tuple(name for name, befores in previous.items() if stage.name in befores)
    queue = component.input_queue
    bound_key = topology.routing_key(queue)
    routing_key = stage.routing_key or bound_key or ""
    if _queue(topology, DIRECT_EXCHANGE, routing_key) != queue:
        raise PlanError(
            stage.name, "routing_key",
            f"routing key {routing_key!r} does not lead to {queue}, the queue of {stage.component!r}",
            f"Write routing_key: {bound_key}, or leave it out",
        )  # fmt: skip
    return Step(stage, component, routing_key, queue, previous[stage.name], following)


def _queue(topology: Topology, exchange: str, routing_key: str) -> str | None:
    try:
        return topology.queue(exchange, routing_key)
    except UnroutableError:
        return None


def _check_single_end(steps: Mapping[str, Step]) -> None:
    ends = [step.name for step in steps.values() if not step.following]
    if len(ends) > 1:
        raise PlanError(
            ends[-1], "after", f"the flow ends in several stages: {', '.join(ends)}",
            f"Join them with a last stage that says `after: [{', '.join(ends)}]`",
        )  # fmt: skip


# The units open at a point of the flow, outermost first, each with the stage that opened it.
_Stack = tuple[tuple[str, str], ...]


def _with_units(steps: dict[str, Step], order: list[str]) -> dict[str, Step]:
    """Follow the units through the flow: each fan-out must be collected by exactly one join."""
    leaving: dict[str, _Stack] = {}
    working_in: dict[str, _Stack] = {}
    joined_by: dict[str, str] = {}
    for name in order:
        step = steps[name]
        arriving = _arriving(step, leaving)
        working_in[name] = arriving
        _check_takes(step, arriving[-1][0])
        leaving[name] = _leaving(step, arriving, joined_by)
    (end,) = (name for name in order if not steps[name].following)
    if len(leaving[end]) > 1:
        unit = leaving[end][-1][0]
        raise PlanError(
            end, "component", f"the flow ends with loose {unit!r} units that nobody collects",
            f"Add a stage whose component collects {unit!r} units",
        )  # fmt: skip
    return {
        name: replace(
            step,
            unit=working_in[name][-1][0],
            collected_by=joined_by.get(working_in[name][-1][1]),
            fans_out_to=joined_by.get(name),
            opened_by=working_in[name][-1][1] if step.is_join else None,
        )
        for name, step in steps.items()
    }


def _with_standings(steps: dict[str, Step], order: list[str]) -> dict[str, Step]:
    """The statuses of a flow in the order of its stages; one that comes twice counts where it comes first."""
    passed: list[str] = [RequestStatus.RECEIVED, RequestStatus.ROUTING]
    found: dict[str, Step] = {}
    for name in order:
        step = steps[name]
        if status := step.component.status:
            if status not in passed:
                passed.append(status)
            standing = Standing(status, tuple(passed[: passed.index(status)]))
            step = replace(step, standing=standing)
        found[name] = step
    return {name: found[name] for name in steps}


def _arriving(step: Step, leaving: Mapping[str, _Stack]) -> _Stack:
    stacks = [leaving[before] for before in step.previous] or [((REQUEST_UNIT, ""),)]
    for before, stack in zip(step.previous, stacks, strict=False):
        if stack != stacks[0]:
            raise PlanError(
                step.name, "after",
                f"its branches bring different units: {step.previous[0]!r} gives {stacks[0][-1][0]!r}, "
                f"{before!r} gives {stack[-1][0]!r}",
                "Let the branches split and join the same units before they meet",
            )  # fmt: skip
    return stacks[0]


def _check_takes(step: Step, unit: str) -> None:
    takes = step.component.takes
    accepted = (takes,) if isinstance(takes, str) else takes
    if accepted is not None and unit not in accepted:
        giver = f"{step.previous[0]!r} gives" if step.previous else "the flow starts with"
        raise PlanError(
            step.name, "component",
            f"component {step.stage.component!r} takes {' or '.join(accepted)}, but {giver} {unit!r}",
            "Reorder the stages, or put one between them that turns the one unit into the other",
        )  # fmt: skip


def _leaving(step: Step, arriving: _Stack, joined_by: dict[str, str]) -> _Stack:
    _, opened_by = arriving[-1]
    stack = arriving
    if step.is_join:
        if len(stack) == 1:
            raise PlanError(
                step.name, "component", f"{step.stage.component!r} has nothing to collect",
                "Put a stage before it that fans out",
            )  # fmt: skip
        if opened_by in joined_by:
            raise PlanError(
                step.name, "component",
                f"the units of {opened_by!r} are already collected by {joined_by[opened_by]!r}",
                "Let the branches meet in one stage that collects",
            )  # fmt: skip
        joined_by[opened_by] = step.name
        stack = stack[:-1]
    gives = step.component.gives
    default = stack[-1][0]
    if gives is not None and gives != default:
        stack = (*stack, (gives, step.name))
    if step.stage.when is not None and stack != arriving:
        raise PlanError(
            step.name, "when", "a stage that splits or collects units cannot be skipped",
            "Move `when:` to a stage that gives what it takes",
        )  # fmt: skip
    return stack


def _check_settings(step: Step) -> None:
    stage = step.stage
    if stage.backoffice_queue is not None and not step.component.asks_people:
        raise PlanError(
            stage.name, "backoffice_queue", f"component {stage.component!r} never asks a person",
            "Remove backoffice_queue from this stage",
        )  # fmt: skip
    if stage.when_no_time is not None and stage.backoffice_queue is None:
        raise PlanError(
            stage.name, "when_no_time", "no person is asked at this stage",
            "Add backoffice_queue to the stage, or remove `when_no_time:`",
        )  # fmt: skip
    if stage.second_reader is not None and stage.backoffice_queue is None:
        raise PlanError(
            stage.name, "second_reader", "nobody answers at this stage",
            "Add backoffice_queue to the stage, or remove `second_reader:`",
        )  # fmt: skip
    if stage.aggregation is not None and not step.is_join:
        raise PlanError(
            stage.name, "aggregation", f"component {stage.component!r} collects nothing",
            "Remove `aggregation:` from this stage",
        )  # fmt: skip
    if stage.aggregation is not None and stage.aggregation.expect_count_from not in (None, *_counts(step)):
        raise PlanError(
            stage.name, "aggregation",
            f"expect_count_from {stage.aggregation.expect_count_from!r} counts other units than it collects",
            f"Write {' or '.join(_counts(step))}, or leave it out",
        )  # fmt: skip
    if stage.parallel and step.unit == REQUEST_UNIT:
        raise PlanError(
            stage.name, "parallel", "the stage works on the request, of which there is one",
            "Put `parallel: true` on a stage behind the one that splits, or leave it out",
        )  # fmt: skip
    if stage.window is not None and step.fans_out_to is None:
        raise PlanError(
            stage.name, "window", f"component {stage.component!r} does not fan out",
            "Put `window:` on the stage that splits",
        )  # fmt: skip
    if stage.when is not None and not step.following:
        # Nobody would be left to end the request.
        raise PlanError(
            stage.name, "when", "the last stage cannot be skipped",
            "End the flow with a stage that always runs",
        )  # fmt: skip


def _counts(step: Step) -> tuple[str, ...]:
    """What a join may expect its number of units from: the count of any kind of unit that it collects."""
    takes = step.component.takes or step.unit
    return tuple(f"{unit}_count" for unit in ((takes,) if isinstance(takes, str) else takes))


def _check_join_names(steps: Mapping[str, Step]) -> None:
    """Counts are kept by join name: two joins of one name would count each other's units."""
    seen: dict[str, str] = {}
    for step in steps.values():
        if step.is_join and seen.setdefault(step.join_name, step.name) != step.name:
            raise PlanError(
                step.name, "component",
                f"{seen[step.join_name]!r} and {step.name!r} would both count under {step.join_name!r}",
                "Rename the stage, or use another component for one of them, with `collects` of its own",
            )  # fmt: skip


def check_backoffice_routes(plan: Plan, topology: Topology) -> None:
    """Every `backoffice_queue` must lead to a queue."""
    known = [key for exchange, key in topology.bindings.values() if exchange == BACKOFFICE_EXCHANGE]
    for step in plan.steps.values():
        key = step.stage.backoffice_queue
        if key is not None and _queue(topology, BACKOFFICE_EXCHANGE, key) is None:
            raise PlanError(
                step.name, "backoffice_queue", f"no back-office queue is bound to {key!r}",
                f"Use {' or '.join(known)}, or declare a kind of task for it",
            )  # fmt: skip
