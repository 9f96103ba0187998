"""Flows for these tests: workflow text in, plan out, over tiny components."""

from __future__ import annotations

import textwrap
from uuid import UUID

import yaml
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import BaseComponent, Emission, JoinComponent, spec_of
from docproc.engine.components.collect import Collect
from docproc.engine.message import PipelineMessage
from docproc.engine.store.fan_in import Join
from docproc.engine.transport import Topology
from docproc.engine.workflow.definition import Workflow
from docproc.engine.workflow.plan import Plan, check_backoffice_routes, compile_plan
from docproc.installed import find_applications
from docproc.loaded import Applications
from docproc.registry import QUEUE_BINDINGS
from tests.components import CLASSES

REQUEST = UUID("00000000-0000-4000-8000-000000000001")

LINEAR = """
    stages:
      - {name: cut, component: split}
      - {name: read, component: work}
      - {name: ask, component: ask, backoffice_queue: task.classification}
      - {name: all, component: gather}
      - {name: end, component: heavy}
"""


class Unrun(BaseComponent):
    """A component that is planned and routed, never run."""

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        raise NotImplementedError


class UnrunJoin(JoinComponent):
    async def after_join(self, join: Join, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        raise NotImplementedError


class SplitLines(Unrun):
    component_name = "split_lines"
    takes = "item"
    gives = "line"


class GatherLines(UnrunJoin):
    component_name = "gather_lines"
    takes = "line"
    gives = "item"


class Judge(UnrunJoin):
    """A join that may ask a person about the whole."""

    component_name = "judge"
    asks_people = True


class Sift(UnrunJoin):
    """A join that gives the same kind of unit again."""

    component_name = "sift"
    takes = "item"
    gives = "item"


class Either(Unrun):
    component_name = "either"
    takes = ("item", "pair")


ALL: tuple[type[BaseComponent], ...] = (*CLASSES, Collect, SplitLines, GatherLines, Judge, Sift, Either)
COMPONENTS = {c.component_name: spec_of(c) for c in ALL}
TOPOLOGY = Topology.of(COMPONENTS.values(), QUEUE_BINDINGS)
# Workflow files as they are with every installed application.
MODEL = Applications(find_applications().applications).workflow_model


def workflow_of(text: str) -> Workflow:
    """`stages:` as YAML, without the name."""
    return MODEL.model_validate({"name": "flow", **yaml.safe_load(textwrap.dedent(text))})


def plan_of(text: str) -> Plan:
    plan = compile_plan(workflow_of(text), COMPONENTS, TOPOLOGY)
    check_backoffice_routes(plan, TOPOLOGY)
    return plan


def message(stage: str = "", unit_key: str = "", **fields: object) -> PipelineMessage:
    return PipelineMessage.model_validate(
        {"request_id": REQUEST, "current_stage": stage, "unit_key": unit_key, **fields}
    )
