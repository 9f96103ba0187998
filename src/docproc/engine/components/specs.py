"""The engine's own components, as routing knows them."""

from __future__ import annotations

from docproc.engine.component_spec import REQUEST_UNIT, ComponentSpec

_HERE = "docproc.engine.components"

COMPONENTS = (
    ComponentSpec("collect", f"{_HERE}.collect:Collect", joins=True, only_counts=True, keeps_bodies=True),
    ComponentSpec(
        "workflow_router",
        f"{_HERE}.workflow_router:WorkflowRouter",
        routing_key="request.new",
        takes=REQUEST_UNIT,
    ),
)
