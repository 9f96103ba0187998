"""Views: what applications add to the API's answers about requests."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property, reduce
from operator import or_
from typing import Annotated, Any, ClassVar
from uuid import UUID

from pydantic import BaseModel, GetCoreSchemaHandler, GetJsonSchemaHandler, create_model
from pydantic_core import CoreSchema, core_schema
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.app import App
from docproc.application import load
from docproc.engine.store.tables import Request
from docproc.errors import ConfigurationError
from docproc.http.models import (
    DetailTail,
    RequestList,
    Status,
    StatusHead,
    StatusTail,
    SummaryHead,
    SummaryTail,
)


class DescribedAs:
    """Has the OpenAPI document say that a value is one of these models, or anything else."""

    def __init__(self, models: Sequence[type[BaseModel]]) -> None:
        self.models = models

    def __get_pydantic_core_schema__(self, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Whatever it is passes, in and out; the models are kept for the description."""
        return core_schema.no_info_wrap_validator_function(
            lambda value, _check: value,
            handler.generate_schema(reduce(or_, self.models)),
            serialization=core_schema.plain_serializer_function_ser_schema(
                lambda value: value, return_schema=core_schema.any_schema()
            ),
        )

    def __get_pydantic_json_schema__(
        self, schema: CoreSchema, handler: GetJsonSchemaHandler
    ) -> dict[str, Any]:
        # As items of a list: only inside something else does a model become a reference to its own entry.
        models: Any = schema["schema"]
        return {"anyOf": [handler(core_schema.list_schema(models))["items"], {}]}


class Nothing(BaseModel):
    """No fields."""


class RequestView:
    """What an application tells of a request beyond the engine's own fields; its manifest names one.

    Requests of other applications are asked about, too: say None there.
    """

    # The fields that join `GET /status/{id}`, every line of `GET /requests` and `GET /requests/{id}`.
    status_model: ClassVar[type[BaseModel]] = Nothing
    # What `result` is in its answers, for the OpenAPI document; answers are sent as they are stored.
    result_model: ClassVar[type[BaseModel] | None] = None
    # Those of `GET /requests/{id}` alone; one may take the place of an engine's field, with more inside.
    detail_model: ClassVar[type[BaseModel]] = Nothing

    async def status(
        self, session: AsyncSession, request_ids: Sequence[UUID]
    ) -> Mapping[UUID, Mapping[str, Any]]:
        """The fields of `status_model`, by request; one that is left out has none. Reads only."""
        return {}

    async def detail(
        self, session: AsyncSession, request: Request, known: Mapping[str, Any]
    ) -> Mapping[str, Any]:
        """The fields of `detail_model`; `known` is what the engine says. Reads only."""
        return {}


class Shapes:
    """The API's models, with what the loaded applications add to them."""

    def __init__(self, views: Sequence[RequestView]) -> None:
        self.views = views
        _refuse_twice(views)

    # Fields come in the order of the bases, the last one first: those of applications stand in the middle.

    @cached_property
    def status(self) -> type[BaseModel]:
        bases = (StatusTail, self._added_model, StatusHead)
        return create_model("Status", __base__=bases, __doc__=Status.__doc__, **self._result_field)

    @property
    def _result_field(self) -> dict[str, Any]:
        """Described, not checked: answers of older versions and of others' flows are sent as they are."""
        models = [view.result_model for view in self.views if view.result_model is not None]
        if not models:
            return {}
        return {"result": (Annotated[Any, DescribedAs(models)], StatusTail.model_fields["result"])}

    @cached_property
    def detail(self) -> type[BaseModel]:
        """Everything about a request but its history."""
        fields = _fields([view.detail_model for view in self.views])
        return create_model("RequestDetail", __base__=(DetailTail, self.status), **fields)

    @cached_property
    def list(self) -> type[BaseModel]:
        line = create_model("RequestSummary", __base__=(SummaryTail, self._added_model, SummaryHead))
        lines: Any = list[line]
        return create_model("RequestList", __base__=RequestList, requests=(lines, ...))

    @cached_property
    def _added_model(self) -> type[BaseModel]:
        return create_model("Added", **self._status_fields)

    @property
    def _status_fields(self) -> dict[str, Any]:
        return _fields([view.status_model for view in self.views])

    async def added(self, session: AsyncSession, request_ids: Sequence[UUID]) -> dict[UUID, dict[str, Any]]:
        """What applications say of requests; a field that none of them knows is None."""
        unknown = dict.fromkeys(self._status_fields)
        found: dict[UUID, dict[str, Any]] = {request_id: dict(unknown) for request_id in request_ids}
        for view in self.views:
            for request_id, said in (await view.status(session, request_ids)).items():
                found[request_id].update(said)
        return found

    async def details(
        self, session: AsyncSession, request: Request, known: Mapping[str, Any]
    ) -> dict[str, Any]:
        found = dict(known)
        for view in self.views:
            found.update(await view.detail(session, request, found))
        return found


def shapes_of(application: App) -> Shapes:
    """The shapes of a process, made once."""
    return application.shared(_make)


async def status_of(shapes: Shapes, session: AsyncSession, request: Request) -> dict[str, Any]:
    """A request as `GET /status/{id}` tells of it."""
    return (await statuses_of(shapes, session, [request]))[request.id]


async def statuses_of(
    shapes: Shapes, session: AsyncSession, requests: Sequence[Request]
) -> dict[UUID, dict[str, Any]]:
    added = await shapes.added(session, [request.id for request in requests])
    found = {}
    for request in requests:
        values = {**Status.model_validate(request).model_dump(), **added[request.id]}
        found[request.id] = {name: values[name] for name in shapes.status.model_fields}
    return found


def _make(application: App) -> Shapes:
    paths = [one.views.requests for one in application.applications.all if one.views.requests]
    return Shapes([load(path) for path in paths])


def _fields(models: Sequence[type[BaseModel]]) -> dict[str, Any]:
    return {name: (field.annotation, field) for model in models for name, field in model.model_fields.items()}


def _refuse_twice(views: Sequence[RequestView]) -> None:
    names = [
        name for view in views for name in (*view.status_model.model_fields, *view.detail_model.model_fields)
    ]
    for name in names:
        if names.count(name) > 1:
            raise ConfigurationError(
                f"two applications add the field {name!r} to the API's answers about requests",
                remedy="Name the applications to load in DOCPROC_APPLICATIONS, without one of them",
            )
