"""Performing: a component called with messages, and what it returned checked."""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Sequence
from typing import Any, cast

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import BaseComponent, Emission, JoinComponent
from docproc.engine.message import PipelineMessage
from docproc.engine.running.work import Outcome, Work
from docproc.errors import PermanentError


def is_streaming(component: BaseComponent) -> bool:
    """Whether it is an async generator, for a large fan-out."""
    return inspect.isasyncgenfunction(component.process_message)


async def perform(component: BaseComponent, works: Sequence[Work], session: AsyncSession) -> None:
    """Have messages handled together by a component that is no stream; the works say what came of it."""
    if isinstance(component, JoinComponent):
        # Only a join says more than what it emits: which joins these messages completed.
        joined = await component.join([work.message for work in works], session)
        for work, one in zip(works, joined, strict=True):
            work.emissions, work.fired = _checked(component, work, one.emissions), one.fired
    elif len(works) == 1:
        produced = component.process_message(works[0].message, session)
        works[0].emissions = _checked(component, works[0], await cast(Awaitable[Any], produced))
    else:
        produced_by_all = await component.process_messages([work.message for work in works], session)
        for work, emissions in zip(works, produced_by_all, strict=True):
            work.emissions = _checked(component, work, emissions)
    for work in works:
        work.together = len(works)
        work.ended(Outcome.DONE)


def _checked(component: BaseComponent, work: Work, produced: Any) -> list[Emission]:
    """What a component returned, if it is what it should be; a slip must not become a riddle, or a hang."""
    is_list = isinstance(produced, list) and all(
        isinstance(item, tuple)
        and len(item) == 2
        and isinstance(item[0], str)
        and isinstance(item[1], PipelineMessage)
        for item in produced
    )
    if not is_list:
        raise PermanentError(
            f"component {component.component_name!r} returned {type(produced).__name__}, not a list of "
            "(target, message)",
            remedy="Return, for example, [(NEXT, message.model_copy(update={'payload': {...}}))]",
        )
    may_be_empty = component.waits or isinstance(component, JoinComponent)
    if not produced and work.step and not work.step.fans_out_to and not may_be_empty:
        unit = work.message.unit_key or "the request"
        raise PermanentError(
            f"component {component.component_name!r} emitted nothing, so {unit} would never arrive",
            remedy="Emit the message to NEXT, or skip the stage with `when:`",
        )
    return cast(list[Emission], produced)
