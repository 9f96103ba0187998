"""Services that have an address: their calls go there over REST or WebSocket instead of a queue (§7.1).

An adapter is a service like any other: it takes open calls and hands them on. So leases, fencing, retries
and breakers are what they are for queues.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

import httpx
import structlog

from docproc.apps.orchestrator.envelope import reading
from docproc.apps.orchestrator.envelope.errors import EnvelopeError
from docproc.apps.orchestrator.envelope.models import LARGEST_BYTES, Envelope, Status
from docproc.apps.orchestrator.sdk.serving import Serving
from docproc.apps.orchestrator.sdk.task import ServiceFailure, ServiceTask
from docproc.apps.orchestrator.services.catalogue import Catalogue, Integration, Service
from docproc.apps.orchestrator.services.wires.sql import SqlPort
from docproc.engine.store.session import Store
from docproc.engine.store.workers import new_worker_id

log = structlog.get_logger(__name__)

# A call ends by its own time limit; connecting is given up sooner.
_CONNECT_SECONDS = 5.0


class Adapters:
    """Those of this process, for every service of the catalogue that has an address."""

    def __init__(self, store: Store, catalogue: Catalogue) -> None:
        self._running: list[asyncio.Task[None]] = []
        self._http = httpx.AsyncClient(
            timeout=httpx.Timeout(None, connect=_CONNECT_SECONDS), trust_env=False, follow_redirects=False
        )
        self._made = [
            self._adapter(store, one)
            for one in catalogue.services.values()
            if one.way is not Integration.QUEUE
        ]

    def _adapter(self, store: Store, service: Service) -> tuple[Serving, SqlPort]:
        port = SqlPort(store, name=f"adapter {service.name} {new_worker_id()}")
        call = self._rest if service.way is Integration.REST else _websocket

        async def hand_on(task: ServiceTask) -> Any:
            is_second = task.envelope.metadata.model_extra and task.envelope.metadata.model_extra.get(
                "endpoint"
            )
            url = service.standby_url if is_second == "secondary" and service.standby_url else service.url
            assert url is not None
            return await call(url, task)

        return Serving(port, [service.queue], {"*": hand_on}, at_once=50), port

    async def start(self) -> None:
        for serving, _ in self._made:
            self._running.append(asyncio.create_task(_kept(serving), name="adapter"))

    def wake(self) -> None:
        """Calls were opened in this process."""
        for _, port in self._made:
            port.wake()

    async def stop(self) -> None:
        for serving, _ in self._made:
            serving.stop()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._http.aclose()

    async def _rest(self, url: str, task: ServiceTask) -> Any:
        """The envelope is posted; the answer is an envelope, or the payload of one."""
        headers = {"content-type": "application/json", "x-correlation-id": str(task.envelope.correlation_id)}
        try:
            answer = await self._http.post(url, content=task.envelope.encode(), headers=headers)
        except httpx.ConnectTimeout as error:
            raise _network(error, "connect_timeout") from error
        except httpx.TimeoutException as error:
            raise _network(error, "response_timeout") from error
        except httpx.TransportError as error:
            raise _network(error, "network") from error
        if answer.status_code >= 300:
            raise ServiceFailure(_status(answer))
        return _answered(task.envelope, answer.content)


async def _websocket(url: str, task: ServiceTask) -> Any:
    """The envelope is sent; progress comes back, then the answer."""
    from websockets.asyncio.client import connect
    from websockets.exceptions import WebSocketException

    try:
        async with connect(
            url, open_timeout=_CONNECT_SECONDS, max_size=LARGEST_BYTES, proxy=None
        ) as connection:
            await connection.send(task.envelope.encode().decode())
            async for text in connection:
                body = text if isinstance(text, bytes) else text.encode()
                found = _answered(task.envelope, body)
                is_progress = isinstance(found, Envelope) and found.status is Status.PROCESSING
                if not (is_progress and "tool_request" not in found.payload):
                    return found
                await task.say(body)
    except TimeoutError as error:
        raise _network(error, "connect_timeout") from error
    except (WebSocketException, OSError) as error:
        raise _network(error, "network") from error
    raise ServiceFailure({"code": "NETWORK", "kind": "network", "message": "it hung up without an answer"})


def _answered(asked: Envelope, body: bytes) -> Any:
    """An envelope where it is one, else the payload. Raises ServiceFailure for what is neither."""
    try:
        said = reading.decoded(body or b"{}")
        if "metadata" not in said or "status" not in said:
            return said
        return reading.parsed(body)
    except EnvelopeError as error:
        raise ServiceFailure(
            {"code": error.code, "kind": "validation", "message": f"its answer cannot be used: {error}"}
        ) from error


def _network(error: Exception, kind: str) -> ServiceFailure:
    return ServiceFailure({"code": kind.upper(), "kind": kind, "message": type(error).__name__})


def _status(answer: httpx.Response) -> Mapping[str, Any]:
    found: dict[str, Any] = {"code": f"HTTP_{answer.status_code}", "status": answer.status_code}
    found["message"] = answer.text[:500] or answer.reason_phrase
    if (wait := answer.headers.get("retry-after", "")).isdigit():
        found["retry_after_seconds"] = int(wait)
    return found


async def _kept(serving: Serving) -> None:
    try:
        await serving.run()
    except Exception:  # nobody waits for this task: what ends it must be seen
        log.exception("service_adapter_failed")
