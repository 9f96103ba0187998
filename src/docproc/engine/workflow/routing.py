"""Where emitted messages go: sentinels resolved against the request's own workflow version."""

from __future__ import annotations

import pkgutil
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid5

from docproc.engine.component import BACKOFFICE, NEXT, Emission
from docproc.engine.message import UNIT_SEPARATOR, PipelineMessage, child_key
from docproc.engine.store.standing import Standing
from docproc.engine.transport import BACKOFFICE_EXCHANGE, DIRECT_EXCHANGE, Topology
from docproc.engine.workflow import conditions
from docproc.engine.workflow.definition import Stage, Workflow
from docproc.engine.workflow.plan import Plan, Step
from docproc.errors import PermanentError

# What a message comes from that goes on with a person's answer.
PEOPLE = "backoffice"


@dataclass(frozen=True, slots=True)
class Routed:
    """A message with its address; `standing` is what the request becomes by sending it.

    `step` is the stage it goes to; None for what leaves the flow (to people, to another system).
    """

    message: PipelineMessage
    exchange: str
    routing_key: str
    queue: str
    standing: Standing | None = None
    held_by: str | None = None
    step: Step | None = None


@dataclass(frozen=True, slots=True)
class BranchArrival:
    """A message that has to wait at `step` for the other branches of its unit."""

    step: Step
    branch: str
    message: PipelineMessage


@dataclass(frozen=True, slots=True)
class JoinArrival:
    """A unit at a join that only counts: no message goes there, the sender counts it."""

    step: Step
    message: PipelineMessage


Route = Routed | BranchArrival | JoinArrival
# What a join that counts under some conditions only is asked about each unit.
Counts = Callable[[Workflow, Stage, PipelineMessage], bool]


class Router:
    """Resolves emissions for one plan."""

    def __init__(self, plan: Plan, topology: Topology) -> None:
        self.plan = plan
        self.topology = topology
        self._counts: dict[str, Counts] = {}

    def enter(self, message: PipelineMessage) -> list[Route]:
        """A request comes into the flow: to the first stage, or all of them where it starts in branches."""
        stamp = {"workflow_name": self.plan.workflow.name, "workflow_version": self.plan.version}
        draft = _Draft(message, stamp, message.message_id)
        return list(self._follow(draft, "", self.plan.first))

    def resolve(
        self, handled: PipelineMessage, emissions: Sequence[Emission], generation: int | None = None
    ) -> list[Route]:
        """Address everything that handling `handled` emitted; raises PermanentError when it cannot be.

        `generation` is the one the emitted units will be counted in, where the stage fans out.
        """
        step = self.plan.step(handled.current_stage)
        routes: list[Route] = []
        for target, emitted in emissions:
            draft = _Draft(emitted, _stamp(step, handled, emitted), handled.message_id)
            if target == BACKOFFICE:
                routes.append(self._to_person(step, draft, _whole(step, handled)))
                continue
            draft.stamp["unit_key"] = _unit_key(step, handled, emitted)
            if generation is not None:
                draft.stamp["generation"] = generation
            if target == NEXT:
                routes.extend(self._follow(draft, step.name, step.following))
            else:
                routes.append(self._to_key(target, draft))
        if len(emissions) > 1:
            _refuse_twins(step, routes)
        return routes

    def after(self, message: PipelineMessage) -> list[Route]:
        """The message goes on from its stage without being handled again (a person answered)."""
        step = self.plan.step(message.current_stage)
        draft = _Draft(message, {"source_component": PEOPLE}, message.message_id)
        return list(self._follow(draft, step.name, step.following))

    def into(self, step: Step, message: PipelineMessage, parent: UUID) -> list[Route]:
        """Into a stage whose branches have met."""
        return list(self._into(step, _Draft(message, {}, parent)))

    def arrive_failed(self, message: PipelineMessage, join: Step) -> Route:
        """A failed unit skips what is left and goes straight to the join that waits for it."""
        return self._to_step(join, _Draft(message, {}, message.message_id))

    def address(self, step: Step, message: PipelineMessage) -> Routed:
        """A message for `step` that already has its identity."""
        return Routed(message, DIRECT_EXCHANGE, step.routing_key, step.queue, step.standing, step=step)

    def _follow(self, draft: _Draft, origin: str, following: Iterable[str]) -> Iterator[Route]:
        for name in following:
            step = self.plan.step(name)
            if step.joins_branches:
                yield BranchArrival(step, origin, draft.message())
            else:
                yield from self._into(step, draft)

    def _into(self, step: Step, draft: _Draft) -> Iterator[Route]:
        """Into the stage, or past it when its `when:` says no."""
        if step.stage.when is None or conditions.holds(step.stage.when, draft.message()):
            yield self._to_step(step, draft)
        else:
            yield from self._follow(draft, step.name, step.following)

    def _to_step(self, step: Step, draft: _Draft) -> Route:
        if self._only_counts(step, draft):
            return JoinArrival(step, draft.message(current_stage=step.name))
        return self.address(step, draft.message(step.name, current_stage=step.name))

    def _only_counts(self, step: Step, draft: _Draft) -> bool:
        said = step.component.only_counts
        if not step.is_join or isinstance(said, bool):
            return step.is_join and bool(said)
        if step.name not in self._counts:
            self._counts[step.name] = pkgutil.resolve_name(said)
        return self._counts[step.name](self.plan.workflow, step.stage, draft.emitted)

    def _to_person(self, step: Step, draft: _Draft, unit_key: str) -> Routed:
        key = step.stage.backoffice_queue
        if key is None:
            raise PermanentError(
                f"stage {step.name!r} sent a unit to the back office but has no backoffice_queue",
                remedy="Add backoffice_queue to the stage and submit the request again",
            )
        queue = self.topology.queue(BACKOFFICE_EXCHANGE, key)
        return Routed(draft.message(key, unit_key=unit_key), BACKOFFICE_EXCHANGE, key, queue)

    def _to_key(self, key: str, draft: _Draft) -> Route:
        queue = self.topology.queue(DIRECT_EXCHANGE, key)
        stage = self.plan.stage_for_key(key)
        if stage is None:  # a component outside the flow answers as the stage that asked it
            return Routed(draft.message(key), DIRECT_EXCHANGE, key, queue)
        step = self.plan.step(stage)
        if self._only_counts(step, draft):
            return JoinArrival(step, draft.message(current_stage=stage))
        message = draft.message(key, current_stage=stage)
        return Routed(message, DIRECT_EXCHANGE, key, queue, step.standing, step=step)


@dataclass(slots=True)
class _Draft:
    """An emitted message before it is addressed: copied once, when everything about it is known."""

    emitted: PipelineMessage
    stamp: dict[str, Any]
    parent: UUID

    def message(self, target: str | None = None, **final: Any) -> PipelineMessage:
        """The message as it will be sent; with `target`, under the id that this output always has."""
        update = {**self.stamp, **final}
        if target is not None:
            unit_key = update.get("unit_key", self.emitted.unit_key)
            generation = update.get("generation", self.emitted.generation)
            update["message_id"] = child_id(self.parent, target, unit_key, generation)
            update["attempt"] = 1
        return self.emitted.model_copy(update=update)


def _stamp(step: Step, handled: PipelineMessage, emitted: PipelineMessage) -> dict[str, Any]:
    """What must survive every hop comes from the handled message, whatever the component built."""
    return {
        "request_id": handled.request_id,
        "trace_id": handled.trace_id,
        "tenant_id": handled.tenant_id,
        "workflow_name": handled.workflow_name,
        "workflow_version": handled.workflow_version,
        "deadline_utc": handled.deadline_utc,
        "current_stage": step.name,
        "source_component": step.stage.component,
        # A join opens generations of its own; everybody else stays in the one they work for.
        "generation": emitted.generation if step.is_join else handled.generation,
        # The component may choose it; one that built a new message without a choice did not mean 5.
        "priority": emitted.priority if "priority" in emitted.model_fields_set else handled.priority,
        "replay_of": None,
        "failure": None,
    }


def child_id(parent: UUID, target: str, unit_key: str, generation: int) -> UUID:
    """The same output of the same message has the same id, however often it is computed."""
    return uuid5(parent, f"{target}:{unit_key}:{generation}")


def _whole(step: Step, handled: PipelineMessage) -> str:
    """The unit that a step works on: for a join the whole group, not the part that came last."""
    return handled.group_key if step.is_join else handled.unit_key


def _unit_key(step: Step, handled: PipelineMessage, emitted: PipelineMessage) -> str:
    base = _whole(step, handled)
    if step.fans_out_to is None:
        return base
    local = emitted.unit_key.removeprefix(base + UNIT_SEPARATOR) if base else emitted.unit_key
    if local in ("", base):
        raise PermanentError(
            f"stage {step.name!r} fans out but emitted a message without a unit_key of its own",
            remedy="Set unit_key on each emitted message, for example f'page:{index}'",
        )
    if UNIT_SEPARATOR in local:
        # It would be read as a part of a part, and counted in a group that nobody opened.
        raise PermanentError(
            f"stage {step.name!r} emitted unit_key {emitted.unit_key!r}, not one level below {base!r}",
            remedy=f"Leave {UNIT_SEPARATOR!r} out of the part's own name",
        )
    return child_key(base, local)


def _place(route: Route) -> Hashable:
    """What tells two outputs apart: the id of a message, the join, branch and unit of an arrival."""
    if isinstance(route, Routed):
        return route.message.message_id
    branch = route.branch if isinstance(route, BranchArrival) else ""
    return route.step.name, branch, route.message.unit_key


def _refuse_twins(step: Step, routes: Sequence[Route]) -> None:
    """Two outputs for one unit would be counted as one at the join: refuse them loudly."""
    places = [_place(route) for route in routes]
    if len(set(places)) != len(places):
        raise PermanentError(
            f"stage {step.name!r} emitted two messages with the same target and unit_key",
            remedy="Give each emitted message a unit_key of its own",
        )
