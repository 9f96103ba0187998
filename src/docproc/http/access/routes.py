"""Every route of a server, those of included routers among them, in the OpenAPI document or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from starlette.routing import BaseRoute


def all_routes(router: Any, prefix: str = "") -> Iterator[tuple[str, BaseRoute]]:
    """(path, route); newer FastAPI keeps included routers whole, older ones copy their routes."""
    for route in router.routes:
        included = getattr(route, "original_router", None)
        if included is None:
            yield prefix + str(getattr(route, "path_format", getattr(route, "path", ""))), route
        else:
            yield from all_routes(included, prefix + str(route.include_context.prefix))
