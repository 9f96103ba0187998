"""Serving: takes envelopes from a port, has functions work on them, and brings their answers back."""

from __future__ import annotations

import asyncio
import inspect
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, Final
from uuid import UUID, uuid5

import structlog

from docproc.apps.orchestrator.envelope import reading
from docproc.apps.orchestrator.envelope.errors import EnvelopeError
from docproc.apps.orchestrator.envelope.models import Envelope, Status
from docproc.apps.orchestrator.sdk.task import (
    BusinessError,
    RetryLater,
    ServiceFailure,
    ServiceTask,
    ToolNeeded,
    answer_to,
)
from docproc.apps.orchestrator.services.port import LEASE_SECONDS, ServicePort, Taken
from docproc.apps.orchestrator.services.wire import WireError
from docproc.engine.message import utc_now
from docproc.engine.running.grouping import Grouping
from docproc.engine.store.session import is_passing
from docproc.harmless import text_for_logs

log = structlog.get_logger(__name__)

Function = Callable[[ServiceTask], Any]
_WAIT_SECONDS: Final = 5.0
_PAUSE_SECONDS: Final = 0.5
# Answers that are remembered: an envelope that comes again is answered, not worked on, again.
_MOST_KEPT: Final = 1000


class Serving:
    """One service process: `run` until `stop`."""

    def __init__(
        self,
        port: ServicePort,
        queues: Sequence[str],
        functions: Mapping[str, Function],
        *,
        at_once: int = 10,
    ) -> None:
        """`functions` by type (`agent.execute`), by domain (`agent`), or `*` for everything else."""
        self._port = port
        self._queues = queues
        self._functions = functions
        self._at_once = at_once
        self._working: dict[Taken, asyncio.Task[None]] = {}
        self._free = asyncio.Semaphore(at_once)
        self._stopping = asyncio.Event()
        # What is done while answers are on their way goes with the next ones.
        self._answers = Grouping(self._bring, is_somebodys_own=lambda error: isinstance(error, EnvelopeError))
        # Call -> the highest number that was worked on, and what was answered to it.
        self._answered: OrderedDict[UUID, tuple[int, Envelope]] = OrderedDict()

    def stop(self) -> None:
        """Take nothing more; what is under way finishes."""
        self._stopping.set()

    async def run(self) -> None:
        await self._port.open()
        renewing = asyncio.create_task(self._renew())
        try:
            await self._take_until_stopped()
            if self._working:
                await asyncio.wait(self._working.values())
        finally:
            renewing.cancel()
            left = list(self._working)
            for task in self._working.values():
                task.cancel()
            await asyncio.gather(renewing, *self._working.values(), return_exceptions=True)
            if left:
                await self._port.give_back(left)
            await self._port.close()

    async def _take_until_stopped(self) -> None:
        stopped = asyncio.create_task(self._stopping.wait())
        try:
            while not self._stopping.is_set():
                await self._free.acquire()  # a place first, then an envelope
                self._free.release()
                taking = asyncio.create_task(self._take())
                await asyncio.wait({taking, stopped}, return_when=asyncio.FIRST_COMPLETED)
                if not taking.done():
                    taking.cancel()
                    await asyncio.gather(taking, return_exceptions=True)
                    return
                for taken in taking.result():
                    await self._begin(taken)
        finally:
            stopped.cancel()

    async def _take(self) -> Sequence[Taken]:
        room = max(1, self._at_once - len(self._working))
        try:
            return await self._port.take(self._queues, room, _WAIT_SECONDS)
        except Exception as error:
            if not (is_passing(error) or isinstance(error, WireError)):
                raise
            log.warning("service_waits", problem=text_for_logs(error))
            await asyncio.sleep(_PAUSE_SECONDS)
            return ()

    async def _begin(self, taken: Taken) -> None:
        await self._free.acquire()
        task = asyncio.create_task(self._serve(taken))
        self._working[taken] = task

        def over(_: object) -> None:
            self._working.pop(taken, None)
            self._free.release()

        task.add_done_callback(over)

    async def _serve(self, taken: Taken) -> None:
        try:
            envelope = reading.parsed(taken.body)
        except EnvelopeError as error:  # a newer orchestrator's: not for this process
            log.error("envelope_unreadable", queue=taken.queue, problem=str(error))
            return await self._port.give_back([taken])
        try:
            answer = await self._answer(envelope)
            await self._answers.add((taken, None if answer is None else answer.encode()))
        except EnvelopeError as error:  # the call is over: somebody else answered, or nobody waits any more
            log.warning("answer_refused", queue=taken.queue, problem=str(error))
            await self._port.settle([taken])
        except Exception as error:
            if not (is_passing(error) or isinstance(error, WireError)):
                raise
            log.warning("answer_waits", queue=taken.queue, problem=text_for_logs(error))
            await asyncio.sleep(_PAUSE_SECONDS)  # the lease ends, and the envelope comes again

    async def _bring(self, done: Sequence[tuple[Taken, bytes | None]]) -> None:
        bodies = [body for _, body in done if body is not None]
        await self._port.answer(bodies, [taken for taken, _ in done])

    async def _answer(self, envelope: Envelope) -> Envelope | None:
        """None: nobody waits for it."""
        call, fencing = envelope.metadata.call_id, envelope.metadata.fencing or 0
        if call is None or envelope.is_expired(utc_now()):
            return None
        number, before = self._answered.get(call, (0, None))
        if number > fencing:
            return None  # an older envelope, late
        if number == fencing and before is not None:
            return before
        answer = await self._work(envelope)
        self._answered[call] = (fencing, answer)
        while len(self._answered) > _MOST_KEPT:
            self._answered.popitem(last=False)
        return answer

    async def _work(self, envelope: Envelope) -> Envelope:
        task = ServiceTask(envelope, lambda body: self._port.say([body]))
        # Always the same for this envelope: an answer that comes twice is known by its id.
        own_id = uuid5(envelope.message_id, "answer")
        try:
            async with asyncio.timeout(_seconds_left(envelope)):
                found = await self._called(self._function(envelope), task)
        except ToolNeeded as needed:
            asked = {"tool_request": needed.request}
            return answer_to(envelope, Status.PROCESSING, asked, message_id=own_id)
        except BusinessError as error:
            return _failed(envelope, own_id, {"code": error.code, "message": str(error)})
        except ServiceFailure as error:
            return _failed(envelope, own_id, error.error)
        except RetryLater as error:
            said = {"code": "BUSY", "status": 429, "retry_after_seconds": error.seconds}
            return _failed(envelope, own_id, {**said, "message": str(error)})
        except TimeoutError:
            said = {"code": "TIMEOUT", "kind": "response_timeout"}
            return _failed(envelope, own_id, {**said, "message": "the service took too long"})
        except Exception as error:
            log.exception(
                "service_failed", type=envelope.type.name, correlation_id=str(envelope.correlation_id)
            )
            said = {"code": "INTERNAL_ERROR", "status": 500, "message": type(error).__name__}
            return _failed(envelope, own_id, said)
        if isinstance(found, Envelope):
            return found
        payload = found if isinstance(found, Mapping) else {"value": found}
        return answer_to(envelope, Status.COMPLETED, payload, message_id=own_id)

    def _function(self, envelope: Envelope) -> Function:
        for name in (envelope.type.name, envelope.type.domain, "*"):
            if name in self._functions:
                return self._functions[name]
        raise BusinessError(f"this service knows nothing of {envelope.type.name}", code="UNKNOWN_TYPE")

    async def _called(self, function: Function, task: ServiceTask) -> Any:
        if inspect.iscoroutinefunction(function):
            return await function(task)
        found = await asyncio.to_thread(function, task)
        return await found if isinstance(found, Awaitable) else found

    async def _renew(self) -> None:
        """The heartbeat: while this process lives, nobody else works on what it took."""
        while True:
            await asyncio.sleep(LEASE_SECONDS / 3)
            if self._working:
                try:
                    await self._port.renew(list(self._working))
                except Exception as error:
                    if not (is_passing(error) or isinstance(error, WireError)):
                        raise
                    log.warning("renewing_waits", problem=text_for_logs(error))


def _seconds_left(envelope: Envelope) -> float | None:
    if envelope.expires_at is None:
        return None
    return max(0.0, (envelope.expires_at - utc_now()).total_seconds())


def _failed(envelope: Envelope, message_id: UUID, error: Mapping[str, Any]) -> Envelope:
    return answer_to(envelope, Status.FAILED, {}, error=error, message_id=message_id)
