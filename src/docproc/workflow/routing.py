"""Where emitted messages go: sentinels resolved against the request's own workflow version."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid5

from docproc.component import BACKOFFICE, NEXT, Emission
from docproc.errors import PermanentError
from docproc.message import UNIT_SEPARATOR, PipelineMessage, child_key
from docproc.transport import BACKOFFICE_EXCHANGE, DIRECT_EXCHANGE, Topology
from docproc.workflow import conditions
from docproc.workflow.plan import Plan, Step


@dataclass(frozen=True, slots=True)
class Routed:
    """A message with its address; `status` is what the request's status becomes by sending it."""

    message: PipelineMessage
    exchange: str
    routing_key: str
    queue: str
    status: str | None = None
    held_by: str | None = None


@dataclass(frozen=True, slots=True)
class BranchArrival:
    """A message that has to wait at `step` for the other branches of its unit."""

    step: Step
    branch: str
    message: PipelineMessage


Route = Routed | BranchArrival


class Router:
    """Resolves emissions for one plan."""

    def __init__(self, plan: Plan, topology: Topology) -> None:
        self.plan = plan
        self.topology = topology

    def enter(self, message: PipelineMessage) -> list[Route]:
        """A request comes into the flow: to the first stage, or all of them where it starts in branches."""
        message = message.model_copy(
            update={"workflow_name": self.plan.workflow.name, "workflow_version": self.plan.version}
        )
        return list(self._follow(message, "", self.plan.first, message.message_id))

    def resolve(
        self, handled: PipelineMessage, emissions: Sequence[Emission], generation: int | None = None
    ) -> list[Route]:
        """Address everything that handling `handled` emitted; raises PermanentError when it cannot be.

        `generation` is the one the emitted units will be counted in, where the stage fans out.
        """
        step = self.plan.step(handled.current_stage)
        routes: list[Route] = []
        for target, emitted in emissions:
            message = self._stamp(step, handled, emitted, moves_on=target != BACKOFFICE)
            if generation is not None and target != BACKOFFICE:
                message = message.model_copy(update={"generation": generation})
            if target == NEXT:
                routes.extend(self._follow(message, step.name, step.following, handled.message_id))
            elif target == BACKOFFICE:
                routes.append(self._to_person(step, message, handled.message_id))
            else:
                routes.append(self._to_key(target, message, handled.message_id))
        _refuse_twins(step, routes)
        return routes

    def after(self, message: PipelineMessage) -> list[Route]:
        """The message goes on from its stage without being handled again (a person answered)."""
        step = self.plan.step(message.current_stage)
        return list(self._follow(message, step.name, step.following, message.message_id))

    def arrive_failed(self, message: PipelineMessage, join: Step) -> Routed:
        """A failed unit skips what is left and goes straight to the join that waits for it."""
        return self._to_step(join, message, message.message_id)

    def _follow(
        self, message: PipelineMessage, origin: str, following: Iterable[str], parent: UUID
    ) -> Iterator[Route]:
        for name in following:
            step = self.plan.step(name)
            if step.joins_branches:
                yield BranchArrival(step, origin, message)
            else:
                yield from self._into(step, message, parent)

    def into(self, step: Step, message: PipelineMessage, parent: UUID) -> list[Route]:
        """Into a stage whose branches have met."""
        return list(self._into(step, message, parent))

    def _into(self, step: Step, message: PipelineMessage, parent: UUID) -> Iterator[Route]:
        """Into the stage, or past it when its `when:` says no."""
        if step.stage.when is None or conditions.holds(step.stage.when, message):
            yield self._to_step(step, message, parent)
        else:
            yield from self._follow(message, step.name, step.following, parent)

    def address(self, step: Step, message: PipelineMessage) -> Routed:
        """A message for `step` that already has its identity."""
        return Routed(message, DIRECT_EXCHANGE, step.routing_key, step.queue, step.component.status)

    def _to_step(self, step: Step, message: PipelineMessage, parent: UUID) -> Routed:
        addressed = message.model_copy(
            update={
                "current_stage": step.name,
                "message_id": child_id(parent, step.name, message),
                "attempt": 1,
            }
        )
        return self.address(step, addressed)

    def _to_person(self, step: Step, message: PipelineMessage, parent: UUID) -> Routed:
        key = step.stage.backoffice_queue
        if key is None:
            raise PermanentError(
                f"stage {step.name!r} sent a unit to the back office but has no backoffice_queue",
                remedy="Add backoffice_queue to the stage, then replay the dead letter",
            )
        addressed = message.model_copy(update={"message_id": child_id(parent, key, message), "attempt": 1})
        queue = self.topology.queue(BACKOFFICE_EXCHANGE, key)
        return Routed(addressed, BACKOFFICE_EXCHANGE, key, queue)

    def _to_key(self, key: str, message: PipelineMessage, parent: UUID) -> Routed:
        queue = self.topology.queue(DIRECT_EXCHANGE, key)
        stage = self.plan.stage_for_key(key) or message.current_stage
        update = {"current_stage": stage, "message_id": child_id(parent, key, message), "attempt": 1}
        return Routed(message.model_copy(update=update), DIRECT_EXCHANGE, key, queue)

    def _stamp(
        self, step: Step, handled: PipelineMessage, emitted: PipelineMessage, *, moves_on: bool
    ) -> PipelineMessage:
        """What must survive every hop comes from the handled message, whatever the component built."""
        return emitted.model_copy(
            update={
                "request_id": handled.request_id,
                "trace_id": handled.trace_id,
                "tenant_id": handled.tenant_id,
                "workflow_name": handled.workflow_name,
                "workflow_version": handled.workflow_version,
                "deadline_utc": handled.deadline_utc,
                "current_stage": step.name,
                "source_component": step.stage.component,
                "unit_key": _unit_key(step, handled, emitted) if moves_on else handled.unit_key,
                "replay_of": None,
                "failure": None,
            }
        )


def child_id(parent: UUID, target: str, message: PipelineMessage) -> UUID:
    """The same output of the same message has the same id, however often it is computed."""
    return uuid5(parent, f"{target}:{message.unit_key}:{message.generation}")


def _unit_key(step: Step, handled: PipelineMessage, emitted: PipelineMessage) -> str:
    base = handled.group_key if step.is_join else handled.unit_key
    if step.fans_out_to is None:
        return base
    local = emitted.unit_key
    if local in ("", handled.unit_key, base):
        raise PermanentError(
            f"stage {step.name!r} fans out but emitted a message without a unit_key of its own",
            remedy="Set unit_key on each emitted message, for example f'page:{index}'",
        )
    if base and local.startswith(base + UNIT_SEPARATOR):
        return local
    return child_key(base, local)


def _refuse_twins(step: Step, routes: Sequence[Route]) -> None:
    """Two outputs for one unit would be counted as one at the join: refuse them loudly."""
    ids = [route.message.message_id for route in routes if isinstance(route, Routed)]
    if len(set(ids)) != len(ids):
        raise PermanentError(
            f"stage {step.name!r} emitted two messages with the same target and unit_key",
            remedy="Give each emitted message a unit_key of its own",
        )
