"""Pages of materials: read the summary beside its pages, take the quiz, edit its questions."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import HTMLResponse

from docproc.apps.materials.content.evidence import Evidence
from docproc.apps.materials.content.quiz import OPTION_IDS, Quiz
from docproc.apps.materials.exports.export import FORMATS
from docproc.apps.materials.http import shelf
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import PLAIN_TEXT, Application
from docproc.http.pages import pages_of

router = APIRouter(include_in_schema=False)

MaterialId = Annotated[str, Path(max_length=200, pattern=PLAIN_TEXT)]
Version = Annotated[int | None, Query(ge=1, le=1_000_000)]


@router.get("/library")
@needs(Scope.READ)
async def library(request: Request, application: Application, caller: TheCaller) -> HTMLResponse:
    found = await shelf.entries(application, caller.tenant_id)
    return pages_of(request).page(request, "materials/library.html", entries=found)


@router.get("/library/{material_id}")
@needs(Scope.READ)
async def read(
    request: Request,
    application: Application,
    caller: TheCaller,
    material_id: MaterialId,
    page: Annotated[int | None, Query(ge=1, le=1_000_000)] = None,
) -> HTMLResponse:
    """The summary, and beside it a page of the text with what was taken from it marked."""
    found = await shelf.shelved(application, caller.tenant_id, material_id)
    source = await shelf.source_of(application, caller.tenant_id, material_id)
    quoted = _quoted(found)
    number = page or (quoted[0].page if quoted else 1)
    text = (
        shelf.marked(source.page_text(number), [one for one in quoted if one.page == number])
        if source
        else ""
    )
    return pages_of(request).page(
        request,
        "materials/read.html",
        material=found,
        formats=list(FORMATS),
        page_number=number,
        page_count=len(source.pages) if source else 0,
        page_text=text,
    )


@router.get("/library/{material_id}/quiz")
@needs(Scope.READ)
async def take(
    request: Request,
    application: Application,
    caller: TheCaller,
    material_id: MaterialId,
    version: Version = None,
) -> HTMLResponse:
    """The quiz as a form; what was chosen comes back in the address, and the page says what was right."""
    found = await shelf.shelved(application, caller.tenant_id, material_id, version)
    asked = {question.id for question in found.quiz.questions}
    chosen = {
        name: value for name, value in request.query_params.items() if name in asked and value in OPTION_IDS
    }
    return pages_of(request).page(
        request,
        "materials/quiz.html",
        material=found,
        chosen=chosen,
        points=_points(found.quiz, chosen) if chosen else None,
    )


@router.get("/library/{material_id}/edit")
@needs(Scope.SUBMIT)
async def edit(
    request: Request, application: Application, caller: TheCaller, material_id: MaterialId
) -> HTMLResponse:
    """Its questions, each in a form of its own; the page's script sends one to the API."""
    found = await shelf.shelved(application, caller.tenant_id, material_id)
    return pages_of(request).page(request, "materials/edit.html", material=found)


def _quoted(material: shelf.Shelved) -> list[Evidence]:
    sections, glossary = material.summary.sections, material.summary.glossary
    in_sections = [evidence for section in sections for evidence in section.evidence]
    return in_sections + [evidence for term in glossary for evidence in term.evidence]


def _points(quiz: Quiz, chosen: dict[str, str]) -> int:
    return sum(
        question.points for question in quiz.questions if chosen.get(question.id) == question.correct_answer
    )
