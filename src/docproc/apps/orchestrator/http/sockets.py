"""`/ws`: a client's WebSocket, and the same events over SSE."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Annotated, Any, Final

from fastapi import APIRouter, Header, Path, Request, Response, WebSocket, WebSocketDisconnect
from fastapi.responses import StreamingResponse

from docproc.apps.orchestrator.http.live import MOST_SESSIONS, Listener, Live, live_of
from docproc.apps.orchestrator.tables import Session
from docproc.engine.message import utc_now
from docproc.engine.store.events import BEGINNING, Position
from docproc.http.access.caller import TheCaller
from docproc.http.access.scopes import Scope, needs
from docproc.http.context import Application
from docproc.http.problems import PROTOCOL, Problem, documented
from docproc.http.requests import POSITION, After, position_of

router = APIRouter(tags=["orchestrator"])

# §5.1: a silent connection is pinged, so that neither side nor a proxy takes it for dead.
PING_SECONDS: Final = 30.0
LONGEST_TEXT: Final = 16 * 1024
NORMAL, RESTART, LATER, TOO_LARGE = 1000, 1012, 1013, 1009
SESSION: Final = r"^[!-~]{1,128}$"
SessionId = Annotated[str, Path(description="The session's id", pattern=SESSION)]


@router.websocket("/ws")
@needs(Scope.READ)
async def socket(websocket: WebSocket, caller: TheCaller, session_id: str = "", after: str = "") -> None:
    """Events of sessions, as JSON texts. `{"type": "session.sync", "session_id": …, "after": …}` begins to
    follow one, with what was missed since the event `after`; `session_id` in the address does the same."""
    await websocket.accept(PROTOCOL if PROTOCOL in websocket.scope.get("subprotocols", ()) else None)
    live = live_of(websocket)
    with suppress(WebSocketDisconnect, RuntimeError):  # gone: nobody reads what is left
        try:
            with live.listening() as listener:
                code, reason = await _serve(websocket, live, listener, caller.tenant_id, session_id, after)
        except Problem as problem:
            code, reason = LATER, problem.detail
        await websocket.close(code, reason[:100])


async def _serve(
    websocket: WebSocket, live: Live, listener: Listener, tenant_id: str, session_id: str, after: str
) -> tuple[int, str]:
    """Until one of the two ends it; why, as a closing code and a reason."""
    client = _Client(websocket, live, listener, tenant_id)
    listener.put(_said("connected", tenant_id=tenant_id, ping_seconds=PING_SECONDS))
    sending = asyncio.create_task(_send(websocket, listener))
    receiving = asyncio.create_task(client.receive(session_id, after))
    pinging = asyncio.create_task(_ping(listener))
    tasks = {sending, receiving, pinging}
    try:
        done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    for task in done:
        if error := task.exception():
            raise error
    if listener.is_too_slow:
        return LATER, "too slow: connect again and send session.sync"
    return (RESTART, "the server stops") if sending in done else (NORMAL, "")


class _Client:
    """What a client says."""

    def __init__(self, websocket: WebSocket, live: Live, listener: Listener, tenant_id: str) -> None:
        self._websocket = websocket
        self._live = live
        self._listener = listener
        self._tenant_id = tenant_id

    async def receive(self, session_id: str, after: str) -> None:
        if session_id:
            await self.sync({"session_id": session_id, **({"after": after} if after else {})})
        while True:
            text = await self._websocket.receive_text()
            if len(text) > LONGEST_TEXT:
                self._refuse("VAL_TOO_LARGE", "that is too long", "Send less than 16 KiB")
                continue
            await self._understand(text)

    async def _understand(self, text: str) -> None:
        try:
            said = json.loads(text)
        except (ValueError, RecursionError):
            said = None
        if not isinstance(said, dict):
            return self._refuse("VAL_JSON", "not a JSON object", 'Send {"type": "session.sync", …}')
        match said.get("type"):
            case "session.sync":
                await self.sync(said)
            case "session.leave":
                self._live.leave(self._listener, (self._tenant_id, str(said.get("session_id"))))
            case "ping":
                self._listener.put(_said("pong"))
            case "pong":
                pass
            case _:
                self._refuse("VAL_TYPE", "unknown type", "Use session.sync, session.leave, ping or pong")

    async def sync(self, said: Mapping[str, Any]) -> None:
        session_id, after = said.get("session_id"), said.get("after")
        if not isinstance(session_id, str) or not re.fullmatch(SESSION, session_id):
            return self._refuse("VAL_REQUIRED", "session_id is missing", "Name the session to follow")
        if after is not None and not (isinstance(after, str) and re.fullmatch(POSITION, after or "0.0")):
            return self._refuse("VAL_FORMAT", "after is no id of an event", "Send the last event's id")
        key = (self._tenant_id, session_id)
        if key not in self._listener.following and len(self._listener.following) >= MOST_SESSIONS:
            return self._refuse(
                "VAL_TOO_MANY", f"{MOST_SESSIONS} sessions are followed already", "Send session.leave first"
            )
        position = None if after is None else position_of(after) if after else BEGINNING
        reached = await self._live.follow(self._listener, key, position)
        synced = _said("session.synced", session_id=session_id, position=_text(reached))
        await self._listener.put_patiently(synced)

    def _refuse(self, code: str, message: str, remedy: str) -> None:
        self._listener.put(_said("error", code=code, message=message, remedy=remedy))


def _text(position: Position) -> str:
    return f"{position.transaction_id}.{min(position.id, 10**17)}"


def _said(kind: str, **values: Any) -> str:
    return json.dumps({"type": kind, "at": utc_now().isoformat(), **values})


async def _send(websocket: WebSocket, listener: Listener) -> None:
    async for text in listener.texts():
        await websocket.send_text(text)


async def _ping(listener: Listener) -> None:
    while True:
        await asyncio.sleep(PING_SECONDS)
        listener.put(_said("ping"))


@router.get(
    "/api/v1/sessions/{session_id}/stream",
    summary="Follow a session live",
    response_class=Response,
    responses={
        200: {"content": {"text/event-stream": {}}, "description": "Its events, as they happen, without end"},
        **documented(404, 422, 503),
    },
)
@needs(Scope.READ)
async def stream(
    request: Request,
    application: Application,
    caller: TheCaller,
    session_id: SessionId,
    after: After = None,
    last_event_id: Annotated[
        str, Header(description="The `id` of the last event; wins over `after`", pattern=f"{POSITION}|^$")
    ] = "",
) -> Response:
    """Server-Sent Events, as on `/ws`: `id` is the place to resume at, `event` the type, `data` the event."""
    async with application.store.reading() as session:
        if await session.get(Session, (caller.tenant_id, session_id)) is None:
            raise Problem(404, "unknown_session", "there is no such session", "Submit a task in it first")
    live = live_of(request)
    place = last_event_id or after
    position = position_of(place) if place else None
    headers = {"Cache-Control": "no-cache", "X-Accel-Buffering": "no"}
    texts = _sse(live, (caller.tenant_id, session_id), position)
    return StreamingResponse(texts, media_type="text/event-stream", headers=headers)


async def _sse(live: Live, key: tuple[str, str], position: Position | None) -> Any:
    with live.listening() as listener:
        pinging = asyncio.create_task(_ping(listener))
        following: asyncio.Task[Position] | None = None
        try:
            yield "retry: 2000\n\n"
            following = asyncio.create_task(live.follow(listener, key, position))
            async for text in listener.texts():
                said = json.loads(text)
                if "id" in said:
                    yield f"id: {said['id']}\nevent: {said['type']}\ndata: {text}\n\n"
                else:
                    yield ": still here\n\n"
        finally:
            pinging.cancel()
            if following is not None:
                following.cancel()
