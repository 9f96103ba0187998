"""`GET /docs`: the API described for people, by Swagger UI. Its files come from an installed package, so the
page loads nothing from elsewhere."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from pathlib import Path

from fastapi import APIRouter
from fastapi.responses import FileResponse, HTMLResponse, Response

from docproc.http.access.scopes import open_to_all
from docproc.http.problems import Problem

router = APIRouter(include_in_schema=False)

# Brings the files of Swagger UI, and is used for nothing else.
PACKAGE = "fastapi_offline"
FILES = {"swagger-ui-bundle.js": "text/javascript", "swagger-ui.css": "text/css"}
# Swagger UI draws with styles of its own making and pictures inside its style sheet; scripts are files only.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>DocProc API</title>
<link rel="stylesheet" href="docs/swagger-ui.css">
</head>
<body>
<main id="api"><p>The description for programs is <a href="openapi.json">openapi.json</a>.</p></main>
<script src="docs/swagger-ui-bundle.js"></script>
<script src="docs/start.js"></script>
</body>
</html>
"""
START = 'SwaggerUIBundle({url: "openapi.json", dom_id: "#api", deepLinking: true, validatorUrl: null});\n'


@cache
def folder() -> Path | None:
    """Where the files lie; None: the package is not installed. It is not imported."""
    found = find_spec(PACKAGE)
    places = list(found.submodule_search_locations or ()) if found else []
    return Path(places[0]) / "static" if places else None


@router.get("/docs")
@open_to_all
async def page() -> Response:
    if folder() is None:
        raise Problem(404, "not_found", "the page needs a package", "Install it: pip install 'docproc[http]'")
    return HTMLResponse(PAGE, headers={"Content-Security-Policy": POLICY})


@router.get("/docs/start.js")
@open_to_all
async def start() -> Response:
    return Response(START, media_type="text/javascript")


@router.get("/docs/{name}")
@open_to_all
async def file(name: str) -> Response:
    found = folder()
    if name not in FILES or found is None:
        raise Problem(404, "not_found", "there is no such file")
    return FileResponse(found / name, media_type=FILES[name])
