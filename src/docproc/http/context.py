"""What every endpoint works with: the application, and parameters they share."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import Depends, Path, Request

from docproc.app import App

# No control characters: neither columns nor logs want them.
PLAIN_TEXT = "^[^\\x00-\\x1f\\x7f-\\x9f]*$"


async def _application(request: Request) -> App:
    # Not a plain function: FastAPI would call it in a thread, at the cost of two switches for each request.
    application: App = request.app.state.application
    return application


Application = Annotated[App, Depends(_application)]
RequestId = Annotated[UUID, Path(description="The request's id, as POST /process gave it")]
