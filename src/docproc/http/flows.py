"""`GET /workflows`: what a client can ask for by name."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter
from pydantic import BaseModel, Field

from docproc.engine.workflow.definition import Workflow
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import Application
from docproc.http.problems import documented

router = APIRouter(tags=["workflows"])


class StageInfo(BaseModel):
    name: str
    component: str


class WorkflowInfo(BaseModel):
    """A flow that requests can name."""

    name: str = Field(examples=["default"])
    description: str
    version: str = Field(description="Of its content: changes whenever the flow does")
    accepts: str | None = Field(description="Which requests that name no workflow are its own")
    sla_seconds: float = Field(description="How long after reception the deadline is")
    stages: list[StageInfo]


class WorkflowList(BaseModel):
    workflows: list[WorkflowInfo] = Field(description="By name; those whose file has a mistake are left out")


@router.get("/workflows", summary="The workflows there are", responses=documented(503))
@needs(Scope.READ)
async def list_workflows(application: Application, caller: TheCaller) -> WorkflowList:
    """Those of the caller's tenant, and the common ones."""
    loader = application.loader.of(caller.tenant_id)
    found = await asyncio.to_thread(loader.usable)
    default = application.settings.default_sla_seconds
    return WorkflowList(workflows=[_info(one, default) for one in found])


def _info(workflow: Workflow, default_seconds: float) -> WorkflowInfo:
    said = workflow.sla.deadline_seconds if workflow.sla else None
    return WorkflowInfo(
        name=workflow.name,
        description=workflow.description,
        version=workflow.content_version,
        accepts=workflow.accepts,
        sla_seconds=default_seconds if said is None else said,
        stages=[StageInfo(name=stage.name, component=stage.component) for stage in workflow.stages],
    )
