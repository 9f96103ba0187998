"""Requests followed live: their events over Server-Sent Events and WebSocket, resumed without a gap."""

from __future__ import annotations

import re
from collections.abc import Awaitable
from contextlib import aclosing, suppress
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Header, Response, WebSocket, WebSocketDisconnect
from sqlalchemy.exc import SQLAlchemyError
from starlette.types import Receive, Scope, Send

from docproc.engine.store.events import BEGINNING, Position
from docproc.errors import UnknownRequestError
from docproc.http.access import scopes
from docproc.http.context import RequestId
from docproc.http.following import Follower, Hub, TheHub, until_gone
from docproc.http.looks import Look
from docproc.http.models import EventInfo
from docproc.http.problems import PROTOCOL, Problem, documented
from docproc.http.requests import POSITION, After, position_of

router = APIRouter(tags=["requests"])

# When a browser comes again after a broken connection.
RETRY_MS = 2000
END = '{"kind":"end"}'

NORMAL, GIVEN_UP, RESTART, LATER = 1000, 1006, 1012, 1013
UNKNOWN, INVALID = 4404, 4422

# Not None by default: a header has no way to say that.
LastEventId = Annotated[
    str, Header(description="The `id` of the last event; wins over `after`", pattern=f"{POSITION}|^$")
]


class EventStream(Response):
    """Server-Sent Events to the request's end, or 204 for a client that has had it: browsers then stay away.

    Everything happens while it is sent, so that a follower is always let go of; what is refused is refused
    before the first byte.
    """

    media_type = "text/event-stream"

    def __init__(self, hub: Hub, request_id: UUID, after: Position) -> None:
        self.status_code = 200
        self.background = None
        self.hub, self.request_id, self.after = hub, request_id, after
        # A proxy that gathers bytes before it passes them on would make it anything but live.
        self.init_headers({"Cache-Control": "no-cache", "X-Accel-Buffering": "no"})

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        with self.hub.following(self.request_id) as follower:
            first = await self.hub.look(self.request_id, self.after)
            if first.is_end and not first.events and self.after != BEGINNING:
                return await Response(status_code=204)(scope, receive, send)
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await self._send_body(follower, first, receive, send)

    async def _send_body(self, follower: Follower, first: Look, receive: Receive, send: Send) -> None:
        async def put(text: str, *, more: bool = True) -> None:
            # Waits while the client does not read: nothing is gathered for it here.
            await send({"type": "http.response.body", "body": text.encode(), "more_body": more})

        looks = aclosing(self.hub.follow(follower, first))
        async with follower.until(lambda: until_gone(receive)), looks as found:
            await put(f"retry: {RETRY_MS}\n\n")
            async for look in found:
                await put(as_sse(look))
            await put("", more=False)


def as_sse(look: Look) -> str:
    """A look as the format has it; one without news is a comment, which keeps the connection open."""
    parts = [
        f"id: {_place(row)}\nevent: {row.kind}\ndata: {EventInfo.model_validate(row).model_dump_json()}\n\n"
        for row in look.events
    ]
    if look.is_end:
        parts.append(f"event: end\ndata: {END}\n\n")
    return "".join(parts) or ": nothing new\n\n"


def _place(row: Any) -> str:
    return f"{row.transaction_id}.{row.id}"


@router.get(
    "/requests/{request_id}/stream",
    summary="Follow a request live",
    response_class=Response,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "Its events, as they happen"},
        204: {"description": "The request is over, and the client has had all of it"},
        **documented(404, 422, 503),
    },
)
@scopes.needs(scopes.Scope.READ)
async def stream(
    hub: TheHub,
    request_id: RequestId,
    after: After = None,
    last_event_id: LastEventId = "",
) -> Response:
    """Server-Sent Events: `id` is the place to resume at, `event` the kind, `data` the event as JSON.

    The last event is `end`. Nothing is left out or told twice to a client that resumes.
    """
    return EventStream(hub, request_id, position_of(last_event_id or after))


@router.websocket("/ws/requests/{request_id}")
@scopes.needs(scopes.Scope.READ)
async def socket(websocket: WebSocket, hub: TheHub, request_id: str, after: str = "") -> None:
    """The same events, each as a JSON text with its `id`; the last one is `{"kind": "end"}`."""
    # Else a browser is told no reason. One that offers protocols wants one of them.
    await websocket.accept(PROTOCOL if PROTOCOL in websocket.scope.get("subprotocols", ()) else None)
    with suppress(WebSocketDisconnect):
        code, reason = await _served(websocket, hub, request_id, after)
        await _sent(websocket.close(code, reason[:100]))


async def _served(websocket: WebSocket, hub: Hub, request_id: str, after: str) -> tuple[int, str]:
    """Why it is over, as a closing code and a reason."""
    try:
        wanted, position = UUID(request_id), _checked(after)
    except ValueError as error:
        return INVALID, str(error)
    try:
        return await _send_events(websocket, hub, wanted, position)
    except UnknownRequestError as error:
        return UNKNOWN, str(error.args[0])
    except Problem as problem:
        return LATER, problem.detail
    except (SQLAlchemyError, OSError):
        return LATER, "the database is out of reach"


def _checked(after: str) -> Position:
    if after and not re.fullmatch(POSITION, after):
        raise ValueError("after is no id of an event")
    return position_of(after)


async def _sent(sending: Awaitable[None]) -> None:
    try:
        await sending
    except RuntimeError as error:  # the server had given it up already: no answer to its pings
        raise WebSocketDisconnect(GIVEN_UP) from error


async def _send_events(websocket: WebSocket, hub: Hub, request_id: UUID, after: Position) -> tuple[int, str]:

    async def until_closed() -> None:
        while (await websocket.receive())["type"] != "websocket.disconnect":
            pass

    with hub.following(request_id) as follower:
        looks = aclosing(hub.follow(follower, await hub.look(request_id, after)))
        async with follower.until(until_closed), looks as found:
            async for look in found:
                for row in look.events:
                    await _sent(websocket.send_text(as_message(row)))
                if look.is_end:
                    await _sent(websocket.send_text(END))
                    return NORMAL, ""
    return RESTART, "the server stops"


def as_message(row: Any) -> str:
    return f'{{"id":"{_place(row)}",{EventInfo.model_validate(row).model_dump_json()[1:]}'
