"""What every component can ask."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any, Literal, cast
from uuid import uuid4

import pytest

from docproc.engine.component import Context
from docproc.engine.message import PipelineMessage
from docproc.engine.workflow.definition import Stage
from tests.components import Work
from tests.harness import settings_for


@pytest.mark.parametrize(
    ("queue", "setting", "of_the_request", "may"),
    [
        ("task.work", "ask", None, True),
        ("task.work", "flag", None, False),
        ("task.work", "flag", "ask", True),
        ("task.work", "ask", "flag", False),
        (None, "ask", "ask", False),
    ],
)
def test_people_are_asked_where_there_is_a_queue_and_review_says_so(
    tmp_path: Path,
    queue: str | None,
    setting: str,
    of_the_request: Literal["ask", "flag"] | None,
    may: bool,
) -> None:
    known: Any = SimpleNamespace(settings=settings_for(tmp_path, review=setting), store=None, blobs=None)
    stage = Stage(name="work", component="work", backoffice_queue=queue)
    message = PipelineMessage(request_id=uuid4(), review=of_the_request)
    assert Work(cast(Context, known)).may_ask(message, stage) is may
