"""Golden cases: made from requests that people reviewed, and kept with files of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import delete, select

from docproc.app import App
from docproc.application import load
from docproc.engine.store.promotion_tables import GoldenCase, golden_owner
from docproc.engine.store.requests import TERMINAL
from docproc.engine.store.tables import Request
from docproc.errors import RequestConflictError, UnknownRequestError

# What of an answer an application wants compared; what is left out may change from run to run.
Comparable = Callable[[Any], Any]


def comparable_of(app: App, workflow: str) -> Comparable:
    """As the application says whose components the workflow's stages are."""
    components = {stage.component for stage in app.loader.load(workflow).stages}
    for application in app.applications.all:
        if application.golden and components & {spec.name for spec in application.components}:
            found: Comparable = load(application.golden)
            return found
    return lambda result: result


async def add(app: App, request_id: UUID, *, by: str, title: str | None = None) -> GoldenCase:
    """Vouch for a request's answer as it is now; raises UnknownRequestError or RequestConflictError."""
    async with app.store.reading() as session:
        request = await session.scalar(select(Request).where(Request.id == request_id))
    if request is None:
        raise UnknownRequestError(f"there is no request {request_id}", remedy="Check the id")
    answer = request.result_payload
    if request.status not in TERMINAL or not answer or answer.get("partial"):
        raise RequestConflictError(
            f"request {request_id} has no complete answer to vouch for: {request.status}",
            remedy="Wait until it is complete, and correct it at the review station first if it is wrong",
        )
    if not request.uploads:
        raise RequestConflictError(
            f"request {request_id} came without files", remedy="Cases are made from requests with files"
        )
    case_id = uuid4()
    uploads = []
    for index, upload in enumerate(request.uploads):
        key = f"{golden_owner(case_id)}/in/{index}-{upload['key'].rpartition('/')[2]}"
        await app.blobs.copy(upload["key"], key)
        uploads.append({**upload, "key": key})
    case = GoldenCase(
        id=case_id,
        workflow_name=request.workflow_name,
        title=title or ", ".join(upload["name"] for upload in uploads),
        request_id=request_id,
        uploads=uploads,
        metadata_=request.metadata_ or {},
        expected=comparable_of(app, request.workflow_name)(answer),
        made_by=by,
        tenant_id=request.tenant_id,
    )
    async with app.store.writing() as session:
        session.add(case)
    return case


async def cases(app: App, workflow: str | None = None) -> list[GoldenCase]:
    """In the order they were added."""
    query = select(GoldenCase).order_by(GoldenCase.created_at, GoldenCase.id)
    if workflow is not None:
        query = query.where(GoldenCase.workflow_name == workflow)
    async with app.store.reading() as session:
        return list(await session.scalars(query))


async def remove(app: App, case_id: UUID) -> None:
    """A case that is no longer right, for example because the rules changed; its files go with it."""
    async with app.store.writing() as session:
        gone = await session.scalar(
            delete(GoldenCase).where(GoldenCase.id == case_id).returning(GoldenCase.id)
        )
    if gone is None:
        raise UnknownRequestError(f"there is no case {case_id}", remedy="See: docproc golden list")
    await app.blobs.delete(golden_owner(case_id))
