"""Errors as clients see them: always JSON, with a code for programs and a remedy for people."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from http import HTTPStatus
from typing import Any

import structlog
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse, Response
from sqlalchemy.exc import SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect
from starlette.routing import Match
from starlette.websockets import WebSocket

from docproc.engine import disk
from docproc.engine.store.session import is_full, is_passing
from docproc.engine.workflow.loader import WorkflowLoader
from docproc.errors import (
    CallbackError,
    ChildDiedError,
    ConfigurationError,
    DamagedBlobError,
    DatabaseDownError,
    DeadlineAtRiskError,
    DocProcError,
    DownloadError,
    EmptyFileError,
    InvalidAnswerError,
    NoChildError,
    NotAllowedError,
    PermanentError,
    QuotaError,
    RequestConflictError,
    ReusedKeyError,
    StorageDownError,
    TaskConflictError,
    TooLargeError,
    TransientError,
    UnknownRequestError,
    UnknownTaskError,
    UnknownTenantError,
    UnknownWorkflowError,
    UnusableStorageError,
    WorkflowError,
)
from docproc.harmless import text_for_logs
from docproc.http.models import ProblemAnswer

log = structlog.get_logger(__name__)

RETRY_SECONDS = 5
SOCKET_CODES = 4000
# The protocol of our WebSockets, for clients that name any.
PROTOCOL = "docproc"

Handler = Callable[[Any, Exception], Awaitable[Response]]

# The first that fits decides: subclasses before their families.
KINDS: tuple[tuple[type[DocProcError], int, str], ...] = (
    (UnknownRequestError, 404, "unknown_request"),
    (UnknownTenantError, 403, "no_tenant"),
    (QuotaError, 429, "quota_exceeded"),
    (UnknownWorkflowError, 404, "unknown_workflow"),
    (UnknownTaskError, 404, "unknown_task"),
    (NotAllowedError, 403, "not_allowed"),
    (RequestConflictError, 409, "conflict"),
    (TaskConflictError, 409, "conflict"),
    (InvalidAnswerError, 422, "invalid_answer"),
    (DeadlineAtRiskError, 429, "deadline_at_risk"),
    (TooLargeError, 413, "too_large"),
    (EmptyFileError, 400, "empty_file"),
    (DownloadError, 422, "download_failed"),
    (ReusedKeyError, 409, "reused_key"),
    (CallbackError, 422, "invalid_callback_url"),
    (WorkflowError, 503, "workflow_unusable"),
    (DatabaseDownError, 503, "unavailable"),
    (StorageDownError, 503, "unavailable"),
    (ConfigurationError, 503, "unavailable"),
    (ChildDiedError, 503, "unavailable"),
    (NoChildError, 503, "unavailable"),
    (DamagedBlobError, 503, "unavailable"),
    (TransientError, 503, "unavailable"),  # an application's own store or service
    (PermanentError, 422, "unreadable"),
)

MEANINGS = {
    400: "The form, its metadata or a file is malformed or empty",
    401: "Nobody said who is asking, or not so that it can be believed",
    403: "A foreign web page sent it, or the key may not do this",
    404: "There is no such request, page or workflow",
    408: "The body came too slowly, or not at all",
    409: "The request is not in a state for that",
    413: "Larger than allowed",
    415: "Not multipart/form-data",
    422: "A parameter or field has a value that cannot be used",
    429: "The workflow takes nothing it cannot answer in time, or the tenant has taken what it may",
    503: "The database, the storage or the workflow cannot be used now",
    507: "The storage is full",
}


class Problem(HTTPException):
    """A refusal that this gateway itself decides on."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        remedy: str = "",
        *,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, message, headers=headers)
        self.code = code
        self.remedy = remedy


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The error answers of an endpoint, for OpenAPI."""
    return {status: {"model": ProblemAnswer, "description": MEANINGS[status]} for status in statuses}


def register(app: FastAPI) -> None:
    """Whatever is raised, a client reads one shape."""
    app.add_exception_handler(HTTPException, tell)
    app.add_exception_handler(RequestValidationError, _invalid)
    app.add_exception_handler(ClientDisconnect, _gone)
    app.add_exception_handler(DocProcError, _also_for_sockets(_known))
    app.add_exception_handler(SQLAlchemyError, _also_for_sockets(_database))
    app.add_exception_handler(OSError, _storage)


def _also_for_sockets(handle: Handler) -> Handler:
    """A WebSocket that is refused before its endpoint is told by a closing code: 4000 and the status."""

    async def handled(connection: Any, error: Exception) -> Any:
        said = await handle(connection, error)
        if not isinstance(connection, WebSocket):
            return said
        socket = connection
        offered = socket.scope.get("subprotocols", ())
        await socket.accept(PROTOCOL if PROTOCOL in offered else None)  # else a browser hears no reason
        reason = str(json.loads(bytes(said.body))["error"]["message"])
        await socket.close(SOCKET_CODES + said.status_code, reason[:100])
        return None

    return handled


async def tell(connection: Any, error: Exception) -> Any:
    """What was refused, to whoever asked."""
    return await _also_for_sockets(_http)(connection, error)


def answer(
    status: int,
    code: str,
    message: str,
    remedy: str = "",
    *,
    details: list[dict[str, Any]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> JSONResponse:
    error: dict[str, Any] = {"code": code, "message": message, "remedy": remedy}
    if details is not None:
        error["details"] = details
    return JSONResponse({"error": error}, status_code=status, headers=dict(headers or {}))


def internal() -> JSONResponse:
    """The log gets everything, the client nothing of it."""
    return answer(500, "internal", "something went wrong here", "Try again; the server's log says more")


async def _http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    if isinstance(error, Problem):
        return answer(error.status_code, error.code, error.detail, error.remedy, headers=error.headers)
    phrase = HTTPStatus(error.status_code).phrase
    remedy = "GET /openapi.json lists what there is" if error.status_code in (404, 405) else ""
    code = phrase.lower().replace(" ", "_")
    headers = {"Allow": _allowed(request)} if error.status_code == 405 else error.headers
    return answer(error.status_code, code, phrase.lower(), remedy, headers=headers)


def _allowed(request: Request) -> str:
    """Every method of the path: Starlette names those of the first route that has it."""
    methods = set[str]()
    for route in request.app.routes:
        if route.matches(request.scope)[0] is not Match.NONE:
            methods |= getattr(route, "methods", None) or set()
    return ", ".join(sorted(methods))


async def _invalid(_request: Request, error: Exception) -> Response:
    assert isinstance(error, RequestValidationError)
    details = [{"where": _where(item["loc"]), "problem": item["msg"]} for item in error.errors()]
    message = "; ".join(f"{item['where']}: {item['problem']}" for item in details[:3])
    return answer(422, "invalid", message, "Correct the values named", details=details)


def _where(location: tuple[int | str, ...]) -> str:
    kind, *names = (str(part) for part in location)
    return ".".join(names) or kind


async def _gone(_request: Request, _error: Exception) -> Response:
    return Response(status_code=400)  # nobody reads it


async def _known(request: Request, error: Exception) -> Response:
    assert isinstance(error, DocProcError)
    found = next(((status, code) for kind, status, code in KINDS if isinstance(error, kind)), None)
    if found is None:
        raise error
    status, code = found
    wait = error.retry_seconds if isinstance(error, DeadlineAtRiskError | QuotaError) else RETRY_SECONDS
    headers = {"Retry-After": str(wait)} if code == "unavailable" or status == 429 else None
    if status >= 500:
        log.warning("http_request_refused", path=request.url.path, problem=text_for_logs(error))
    details = None
    if isinstance(error, InvalidAnswerError):
        details = [{"where": where, "problem": problem} for where, problem in error.problems.items()]
    text, remedy = _message(error), _remedy(error, request)
    return answer(status, code, text, remedy, details=details, headers=headers)


def _message(error: DocProcError) -> str:
    """Without the folders of this machine, which are the operator's business."""
    text = str(error.args[0]) if error.args else str(error)
    if isinstance(error, DatabaseDownError):
        return "the database is out of reach"
    if isinstance(error, StorageDownError | UnusableStorageError | DamagedBlobError):
        return "the storage of files is out of reach"  # which bucket it is, is nobody's business here
    if isinstance(error, WorkflowError) and error.file is not None:
        return f"{error.file.name}:{error.line}: {text}" if error.line else f"{error.file.name}: {text}"
    return text


def _remedy(error: DocProcError, request: Request) -> str:
    if isinstance(error, UnknownWorkflowError):
        return f"Known workflows: {', '.join(_workflows(request))}"
    if isinstance(error, DatabaseDownError | StorageDownError | ChildDiedError | NoChildError):
        return "Try again"
    if isinstance(error, UnusableStorageError | DamagedBlobError):
        return "Tell whoever runs the server; its log says more"
    return error.remedy


def _workflows(request: Request) -> list[str]:
    """Those of the caller's tenant."""
    loader: WorkflowLoader = request.app.state.application.loader
    return loader.of(request.state.caller.tenant_id).names()


async def _database(request: Request, error: Exception) -> Response:
    if is_full(error):
        return _full(request, error)
    if not is_passing(error):
        raise error
    log.warning("http_request_refused", path=request.url.path, problem=text_for_logs(error))
    headers = {"Retry-After": str(RETRY_SECONDS)}
    return answer(503, "unavailable", "the database is out of reach", "Try again", headers=headers)


async def _storage(request: Request, error: Exception) -> Response:
    assert isinstance(error, OSError)
    if error.errno not in disk.FULL:
        raise error
    return _full(request, error)


def _full(request: Request, error: Exception) -> Response:
    log.warning("http_request_refused", path=request.url.path, problem=text_for_logs(error))
    return answer(507, "storage_full", "the storage is full", "Try again later")
