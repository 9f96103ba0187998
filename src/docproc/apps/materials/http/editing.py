"""PUT …/questions/{id}: a person's question, published as the quiz's next version; GET …/files/{format}."""

from __future__ import annotations

import asyncio
from typing import Annotated
from uuid import uuid4

from fastapi import APIRouter, Path, Query, Request, Response
from pydantic import BaseModel, Field, ValidationError

from docproc.apps.materials.content.editing import NoSuchQuestionError, QuestionEdit, edited
from docproc.apps.materials.content.quiz import Quiz
from docproc.apps.materials.content.summary import Summary
from docproc.apps.materials.exports.export import FORMATS
from docproc.apps.materials.http import shelf
from docproc.apps.materials.http.materials import documents_of
from docproc.apps.materials.publishing import ChangedMeanwhileError, UnknownMaterialError, publish, quiz_of
from docproc.http import fields as form_fields
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import PLAIN_TEXT, Application
from docproc.http.problems import Problem, documented

router = APIRouter(tags=["materials"])

MaterialId = Annotated[str, Path(max_length=200, pattern=PLAIN_TEXT, description="As its event called it")]
Version = Annotated[int | None, Query(ge=1, le=1_000_000, description="Of the quiz; without one, the latest")]


class Published(BaseModel):
    version: int = Field(description="Of the quiz as it is in use now", examples=[2])
    total_questions: int


@router.put(
    "/materials/{material_id}/questions/{question_id}",
    summary="Change a question and publish the quiz",
    response_model=Published,
    responses=documented(400, 403, 404, 409, 422, 503),
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": QuestionEdit.model_json_schema()}},
        }
    },
)
@needs(Scope.SUBMIT)
async def change(
    request: Request,
    application: Application,
    caller: TheCaller,
    material_id: MaterialId,
    question_id: Annotated[str, Path(max_length=200, pattern=PLAIN_TEXT, examples=["q1"])],
    version: Annotated[
        int | None, Query(ge=1, le=1_000_000, description="The version that the change was made in")
    ] = None,
) -> Published:
    """The version before it is kept. Where somebody published another one meanwhile, nothing changes: 409."""
    content = await request.body()  # first: one that is too large or too deep is refused whoever asks
    # Whose it is, before what is wanted of it.
    await shelf.shelved(application, caller.tenant_id, material_id)
    wanted = _wanted(content)
    edit_id, questions = f"edit:{uuid4()}", 0

    def changed(quiz: Quiz) -> Quiz:
        nonlocal questions
        after = edited(quiz, question_id, wanted)
        questions = len(after.questions)
        return after

    try:
        async with application.store.writing() as session:
            stored = await publish(
                session,
                documents_of(application),
                caller.tenant_id,
                material_id,
                changed,
                edit_id=edit_id,
                by=caller.by or "",
                base_version=version,
            )
    except UnknownMaterialError as error:
        told = f"there is no material {material_id!r}"
        raise Problem(404, "unknown_material", told, "Check the id") from error
    except NoSuchQuestionError as error:
        told = f"the quiz has no question {question_id!r}"
        raise Problem(404, "unknown_question", told, "Look at the quiz as it is now") from error
    except ChangedMeanwhileError as error:
        raise Problem(409, "changed_meanwhile", str(error), error.remedy) from error
    except ValidationError as error:
        told = str(error.errors(include_url=False)[0]["msg"]).removeprefix("Value error, ")
        raise Problem(422, "invalid_question", told, "Correct the question and send it again") from error
    except ValueError as error:
        raise Problem(
            422, "invalid_question", str(error), "Correct the question and send it again"
        ) from error
    return Published(version=stored.version, total_questions=questions)


def _wanted(body: bytes) -> QuestionEdit:
    said = form_fields.json_object(body, "the body", "invalid_body")
    try:
        return QuestionEdit.model_validate(said)
    except ValidationError as error:
        problems = error.errors(include_url=False)
        told = "; ".join(f"{'.'.join(map(str, one['loc']))}: {one['msg']}" for one in problems)
        raise Problem(422, "invalid_question", told, "Correct the question and send it again") from error


@router.get(
    "/materials/{material_id}/files/{export}",
    summary="The summary and the quiz as a file",
    response_class=Response,
    responses={
        200: {"content": {"application/octet-stream": {}}, "description": "The file"},
        **documented(403, 404, 422, 503),
    },
)
@needs(Scope.READ)
async def file(
    application: Application,
    caller: TheCaller,
    material_id: MaterialId,
    export: Annotated[
        str, Path(max_length=20, description=f"The format: {', '.join(FORMATS)}", examples=["gift"])
    ],
    version: Version = None,
) -> Response:
    """To read, to print, or for Moodle, QTI systems and Anki."""
    if export not in FORMATS:
        raise Problem(
            404, "unknown_format", f"there is no format {export!r}", f"Choose of {', '.join(FORMATS)}"
        )
    found = await shelf.shelved(application, caller.tenant_id, material_id, version)
    summary = Summary.model_validate(found.summary.model_dump(include=set(Summary.model_fields)))
    wanted = FORMATS[export]
    # Milliseconds, but of a PDF tens of them.
    content = await asyncio.to_thread(wanted.write, summary, quiz_of(found.quiz))
    headers = {"Content-Disposition": f'attachment; filename="material{wanted.ending}"'}
    return Response(content, media_type=wanted.media_type, headers=headers)
