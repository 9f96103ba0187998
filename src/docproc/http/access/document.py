"""The OpenAPI document, with who may do what: only where that is asked."""

from __future__ import annotations

from typing import Any

from fastapi import FastAPI
from fastapi.routing import APIRoute

from docproc.http.access.routes import all_routes
from docproc.http.access.scopes import Scope, needed_by
from docproc.http.problems import MEANINGS

SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key (`dp_…`) or a token of the identity provider",
    },
    "key": {"type": "apiKey", "in": "header", "name": "X-API-Key", "description": "An API key (`dp_…`)"},
}
_REFUSALS = (401, 403, 429)


def openapi(app: FastAPI) -> dict[str, Any]:
    schema = FastAPI.openapi(app)
    if app.state.access.is_on and "securitySchemes" not in schema.get("components", {}):
        schema.setdefault("components", {})["securitySchemes"] = SCHEMES
        for path, route in all_routes(app):
            if isinstance(route, APIRoute) and route.include_in_schema:
                _add(schema["paths"][path], route)
    return schema


def _add(path: dict[str, Any], route: APIRoute) -> None:
    scope = needed_by(route.endpoint)
    if not isinstance(scope, Scope):
        return
    for method in route.methods or ():
        operation = path[method.lower()]
        operation["security"] = [{"bearer": []}, {"key": []}]
        operation["x-scope"] = str(scope)
        for status in _REFUSALS:
            answer = {
                "description": MEANINGS[status],
                "content": {"application/json": {"schema": {"$ref": "#/components/schemas/ProblemAnswer"}}},
            }
            operation["responses"].setdefault(str(status), answer)
