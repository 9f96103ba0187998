"""Tiny components for tests: they fan out, work, fail and join on demand."""

from __future__ import annotations

import asyncio
import json
import os
import time
from collections.abc import AsyncIterator, Sequence
from typing import ClassVar
from uuid import NAMESPACE_URL, uuid5

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.component import BACKOFFICE, NEXT, BaseComponent, Emission, JoinComponent, Where
from docproc.engine.message import PipelineMessage
from docproc.engine.store import fan_in
from docproc.engine.store.fan_in import Join
from docproc.engine.store.tables import Request
from docproc.engine.transport import Delivery
from docproc.errors import MessageError, PermanentError, TransientError


def _with(message: PipelineMessage, **payload: object) -> PipelineMessage:
    return message.model_copy(update={"payload": {**message.payload, **payload}})


class Split(BaseComponent):
    """Fans a request out into `payload.n` items."""

    component_name = "split"
    takes = "request"
    gives = "item"
    status = "splitting"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        return [
            (NEXT, _with(message, index=i).model_copy(update={"unit_key": f"item:{i}"}))
            for i in range(message.payload.get("n", 1))
        ]


class StreamSplit(Split):
    """The same, as a stream; `payload.crash_at` kills the stream once."""

    component_name = "stream_split"
    crashed: ClassVar[set[str]] = set()

    async def process_message(  # type: ignore[override] # a generator is allowed
        self, message: PipelineMessage, session: AsyncSession
    ) -> AsyncIterator[Emission]:
        for i in range(message.payload.get("n", 1)):
            if i == message.payload.get("crash_at") and str(message.request_id) not in self.crashed:
                self.crashed.add(str(message.request_id))
                raise TransientError("the stream broke", delay=0.0)
            yield NEXT, _with(message, index=i).model_copy(update={"unit_key": f"item:{i}"})


class Work(BaseComponent):
    """Light work that leaves its stage's name in the payload."""

    component_name = "work"
    status = "processing"
    batch = 100

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        done = [*message.payload.get("done", []), message.current_stage]
        return [(NEXT, _with(message, done=done))]


class Heavy(Work):
    """The same, one message at a time."""

    component_name = "heavy"
    batch = 1


class Choosy(BaseComponent):
    """Even items are light and done together, odd ones alone; `payload.confused` breaks the choice itself."""

    component_name = "choosy"
    batch = 10
    chooses = True

    async def choose(self, messages: Sequence[PipelineMessage]) -> Sequence[PipelineMessage]:
        if messages[0].payload.get("confused"):
            raise RuntimeError("cannot tell")
        if messages[0].payload["index"] % 2:
            return messages[:1]
        return [message for message in messages if message.payload["index"] % 2 == 0]

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        return (await self.process_messages([message], session))[0]

    async def process_messages(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        return [[(NEXT, _with(message, together=len(messages)))] for message in messages]


class Poison(Work):
    """Fails for the items named in `payload.poison`, as `payload.error` says."""

    component_name = "poison"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        if message.payload.get("index") in message.payload.get("poison", []):
            if message.payload.get("error") == "permanent":
                raise PermanentError("cannot ever work")
            if message.attempt < message.payload.get("recovers_at", 99):
                raise TransientError(
                    f"attempt {message.attempt} failed", delay=message.payload.get("delay", 0.0)
                )
        return [(NEXT, message)]


class Substitute(Poison):
    """Offers a substitute when retries are exhausted."""

    component_name = "substitute"

    async def after_exhausted(
        self, message: PipelineMessage, error: Exception, session: AsyncSession
    ) -> list[Emission]:
        return [(NEXT, _with(message, substitute=str(error)))]


class Slow(BaseComponent):
    """Sleeps `payload.sleep` seconds in the loop, a thread or a child process."""

    component_name = "slow"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        await asyncio.sleep(message.payload.get("sleep", 0))
        return [(NEXT, message)]


class Native(BaseComponent):
    """Runs in a killable child: can hang, crash or eat memory."""

    component_name = "native"
    runs_in = Where.PROCESSES

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        found = await self.offload(native, message.payload.get("behave", "well"))
        return [(NEXT, _with(message, found=found))]


def native(behave: str) -> str:
    if behave == "hang":
        time.sleep(600)
    if behave == "die":
        os.kill(os.getpid(), 9)
    if behave == "eat":
        return str(len(bytearray(64 * 2**30)))
    return f"{behave}:{os.getpid()}"


class Ask(BaseComponent):
    """Sends what is in doubt to a person."""

    component_name = "ask"
    asks_people = True

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        doubtful = message.payload.get("index") in message.payload.get("doubtful", [])
        return [(BACKOFFICE if doubtful else NEXT, message)]


class Exclusive(BaseComponent):
    """Paid work: counts how often it was really done."""

    component_name = "exclusive"
    exclusive = True
    calls: ClassVar[list[str]] = []

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        self.calls.append(str(message.message_id))
        await asyncio.sleep(message.payload.get("sleep", 0.05))
        return [(NEXT, message)]


class Gather(JoinComponent):
    """Joins items and tells how many came."""

    component_name = "gather"
    collects = "gathering"
    takes = "item"
    gives = "request"
    status = "consolidating"
    keeps_bodies = True

    async def after_join(self, join: Join, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        found = await fan_in.bodies(session, join)
        result = {
            "generation": join.generation,
            "units": sorted(found),
            "done": {unit: found[unit].payload.get("done") for unit in sorted(found)},
        }
        return [(NEXT, message.model_copy(update={"payload": result}))]


class Regroup(JoinComponent):
    """Joins items and fans out again into pairs."""

    component_name = "regroup"
    takes = "item"
    gives = "pair"

    async def after_join(self, join: Join, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        pairs = (join.expected_count + 1) // 2
        return [(NEXT, message.model_copy(update={"unit_key": f"pair:{i}"})) for i in range(pairs)]


class GatherPairs(Gather):
    component_name = "gather_pairs"
    collects = "pairs"
    takes = "pair"


class Foreign(BaseComponent):
    """Reads another system's events and starts a request for each."""

    component_name = "foreign"
    foreign = True

    def decode(self, delivery: Delivery) -> PipelineMessage:
        try:
            event = json.loads(delivery.body)
        except json.JSONDecodeError as error:
            raise MessageError("not an event", raw=delivery.body) from error
        derived = uuid5(NAMESPACE_URL, event["event_id"])
        return PipelineMessage(message_id=derived, request_id=derived, workflow_name="one", payload=event)

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        if message.payload["event_id"] == "later" and message.attempt == 1:
            raise TransientError("not yet", delay=0.1)
        session.add(Request(id=message.request_id, workflow_name="one", status="received"))
        await session.flush()
        return [(NEXT, message)]


class Unplugged(BaseComponent):
    """Talks to a server of its own that is not there."""

    component_name = "unplugged"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        raise ConnectionRefusedError("nobody listens there")


class Slip(BaseComponent):
    """Returns what a beginner might, as `payload.slip` says."""

    component_name = "slip"

    async def process_message(self, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        slips = {"none": None, "message": message, "empty": [], "bare": [message]}
        return slips[message.payload["slip"]]  # type: ignore[return-value] # the point of it


CLASSES = (
    Split,
    StreamSplit,
    Work,
    Heavy,
    Choosy,
    Poison,
    Substitute,
    Slow,
    Native,
    Ask,
    Exclusive,
    Gather,
    Regroup,
    GatherPairs,
    Foreign,
    Unplugged,
    Slip,
)
PATHS = {c.component_name: f"{c.__module__}.{c.__name__}" for c in CLASSES}
