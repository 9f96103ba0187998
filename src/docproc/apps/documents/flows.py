"""The workflow of a request, for whoever shows or exports what was found in it."""

from __future__ import annotations

from typing import Any

from docproc.app import App
from docproc.engine.message import PipelineMessage
from docproc.engine.workflow.definition import Workflow
from docproc.errors import DocProcError


async def flow_of(application: App, request: Any) -> Workflow | None:
    """As the request, or these columns of one, started with it; None where it can be read no more."""
    message = PipelineMessage(
        request_id=request.id,
        workflow_name=request.workflow_name,
        workflow_version=request.workflow_version,
        tenant_id=request.tenant_id,
    )
    try:
        return await application.versions.workflow(message)
    except DocProcError:
        return None
