"""The hot folder: files that people and scanners put into a folder become requests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from typing import IO
from uuid import UUID

import orjson
import structlog
from sqlalchemy import select
from sqlalchemy.exc import SQLAlchemyError

from docproc.app import App
from docproc.doors import notes
from docproc.doors.door import Door
from docproc.doors.inbox import ChangedError, Inbox, Seen
from docproc.doors.refusals import PASSING, refusal, wait_seconds
from docproc.doors.turns import Turns
from docproc.engine.blobs import CHUNK
from docproc.engine.store.deliveries import Due
from docproc.engine.store.tables import AnswerDelivery
from docproc.errors import ConfigurationError
from docproc.harmless import text_for_logs
from docproc.http.callbacks.schedule import Reply
from docproc.http.callbacks.sender import Posts
from docproc.http.problems import Problem
from docproc.http.reception import PASSWORD, Accepted, Incoming

log = structlog.get_logger(__name__)

# Looked at in one round, and taken at once. More would only wait for each other's writes.
BATCH, AT_ONCE = 200, 8
SWEEP_SECONDS = 3600.0


class InboxDoor(Door):
    """Looks after inboxes: of the hot folder, and of SFTP, whose homes are inboxes."""

    def __init__(self, application: App, inboxes: Sequence[Inbox]) -> None:
        super().__init__(application)
        self.inboxes = {inbox.tenant_id: inbox for inbox in inboxes}
        self._turns = Turns(application.store, application.worker_id)
        # Set when files came, so that nobody waits for the next look.
        self.news = asyncio.Event()

    async def prepare(self) -> None:
        for inbox in self.inboxes.values():
            await asyncio.to_thread(_prepare, inbox)

    async def run(self) -> None:
        try:
            await self._look_after_all()
        finally:
            await self._turns.end()

    async def _look_after_all(self) -> None:
        sweep_due = 0.0
        loop = asyncio.get_running_loop()
        while True:
            self.is_ready = True
            took = [await self._look(inbox) for inbox in list(self.inboxes.values())]
            if loop.time() >= sweep_due:
                await self._sweep()
                sweep_due = loop.time() + SWEEP_SECONDS
            if not any(took):
                await self._wait(self.settings.inbox_poll_seconds)

    async def _wait(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(seconds):
                await self.news.wait()
        except TimeoutError:
            pass
        self.news.clear()

    async def _look(self, inbox: Inbox) -> bool:
        """Whether anything was taken, so that there may be more."""
        try:
            # Two that look into one folder would do everything twice, though to no harm.
            if not await self._turns.mine(f"door {inbox.scheme} {inbox.tenant_id}"):
                return False
            ready = await asyncio.to_thread(inbox.ready, BATCH)
        except (SQLAlchemyError, OSError) as error:
            log.warning("door_waits", door=self.name, problem=text_for_logs(error))
            return False
        places = asyncio.Semaphore(AT_ONCE)
        took = await asyncio.gather(*(self._take(inbox, seen, places) for seen in ready))
        return any(took)

    async def _take(self, inbox: Inbox, seen: Seen, places: asyncio.Semaphore) -> bool:
        async with places:
            try:
                return await self._taken(inbox, seen)
            except ChangedError:
                return False
            except (Problem, *PASSING) as error:
                why = refusal(error)
                if why is None:
                    log.warning("door_waits", door=self.name, file=seen.path, problem=text_for_logs(error))
                    inbox.leave_alone(seen, wait_seconds(error))
                    return False
                log.warning("door_refused", door=self.name, file=seen.path, code=why.code)
                await asyncio.to_thread(inbox.refused, seen, why.as_json())
                return True

    async def _taken(self, inbox: Inbox, seen: Seen) -> bool:
        """Raises ChangedError, and what the reception raises."""
        beside = await asyncio.to_thread(inbox.notes, seen)
        said = notes.read(beside) if beside is not None else notes.Notes()
        place = await asyncio.to_thread(inbox.free_place, seen.path)
        arrival = notes.arrival(
            said,
            channel=self.channel,
            tenant_id=inbox.tenant_id,
            external_id=seen.path,
            workflow=self.settings.door_workflow,
            answer_to=inbox.address(place) if self.settings.door_answers == "on" else None,
        )
        file = await asyncio.to_thread(inbox.open, seen)
        try:
            name = seen.path.rpartition("/")[2]
            accepted = await self.reception.take([Incoming(name, _read(inbox, file, seen))], arrival)
        finally:
            await asyncio.to_thread(file.close)
        if not accepted.is_new:
            place = await self._known_place(inbox, accepted, place)
        await asyncio.to_thread(inbox.accepted, seen, place, keep_notes=PASSWORD not in said.metadata)
        if not accepted.is_new:
            await self._answer_again(inbox, accepted.request_id, place)
        return True

    async def _known_place(self, inbox: Inbox, accepted: Accepted, place: str) -> str:
        """Of what came before: where its answers are written."""
        known = (await self.reception.find(accepted.request_id)).callback_url or ""
        return inbox.place_of(known)[1] if known.startswith(inbox.address("")) else place

    async def _answer_again(self, inbox: Inbox, request_id: UUID, place: str) -> None:
        """Whoever sends a file twice may have lost the answer."""
        query = (
            select(AnswerDelivery.body)
            .where(AnswerDelivery.request_id == request_id)
            .order_by(AnswerDelivery.version.desc())
            .limit(1)
        )
        async with self.application.store.reading() as session:
            body = await session.scalar(query)
        if body is not None:
            await asyncio.to_thread(inbox.answered, place, body, has_failed=_has_failed(body))

    async def _sweep(self) -> None:
        for inbox in self.inboxes.values():
            removed = await asyncio.to_thread(inbox.sweep, self.settings.inbox_keep_days)
            if removed:
                log.info("door_swept", door=self.name, files=removed)

    def poster(self) -> tuple[Posts, Sequence[str]] | None:
        return InboxPoster(self), [f"{self.channel}://"]


class HotFolder(InboxDoor):
    name = "folder_door"
    channel = "folder"

    def __init__(self, application: App) -> None:
        super().__init__(application, ())
        settle = self.settings.inbox_settle_seconds
        for tenant_id, path in self.settings.inbox_folder.items():
            root = path.expanduser().absolute()
            self.inboxes[tenant_id] = Inbox(tenant_id, root, self.channel, settle)
        if not self.inboxes:
            raise ConfigurationError(
                "no folder is named to take files from", remedy="Set DOCPROC_INBOX_FOLDER to a folder"
            )


class InboxPoster:
    """Writes answers beside the files they are about. Writing one twice writes the same file again."""

    timeout_seconds = 30.0

    def __init__(self, door: InboxDoor) -> None:
        self.door = door

    async def post(self, due: Due) -> Reply:
        tenant_id, place = Inbox.place_of(due.url)
        inbox = self.door.inboxes.get(tenant_id)
        if inbox is None:
            return Reply(error=f"there is no folder of the tenant {tenant_id}")
        try:
            await asyncio.to_thread(inbox.answered, place, due.body, has_failed=_has_failed(due.body))
        except OSError as error:
            return Reply(error=error.strerror or type(error).__name__)
        return Reply(is_delivered=True)


def _has_failed(body: str) -> bool:
    return bool(orjson.loads(body)["status"] == "failed")


def _prepare(inbox: Inbox) -> None:
    """Raises ConfigurationError."""
    try:
        inbox.prepare()
    except OSError as error:
        raise ConfigurationError(
            f"{inbox.root} cannot be used as an inbox: {error.strerror}",
            remedy="Name a folder that this user may write to in DOCPROC_INBOX_FOLDER",
        ) from error


async def _read(inbox: Inbox, file: IO[bytes], seen: Seen) -> AsyncIterator[bytes]:
    """The content; raises ChangedError at its end when it was written to meanwhile."""
    while chunk := await asyncio.to_thread(file.read, CHUNK):
        yield chunk
    inbox.check(file, seen)
