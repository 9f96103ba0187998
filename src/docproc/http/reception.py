"""Reception: what every gateway does with files: store them, then submit one request, once."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import AsyncIterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID, uuid4

import prometheus_client
import structlog
from sqlalchemy import select

from docproc.app import App
from docproc.engine.blobs import BlobStore, safe_name
from docproc.engine.running.intake import Intake, Submission
from docproc.engine.store import requests
from docproc.engine.store.session import Store, is_passing
from docproc.engine.store.tables import Request
from docproc.engine.workflow.tenants import Tenants
from docproc.errors import (
    CallbackError,
    DeadlineAtRiskError,
    EmptyFileError,
    QuotaError,
    RequestConflictError,
    TooLargeError,
    UnknownRequestError,
)
from docproc.http.admission import Admission, Expectation
from docproc.http.callbacks.addresses import WEB, checked_url
from docproc.http.callbacks.secret import can_sign
from docproc.settings import Settings

log = structlog.get_logger(__name__)

REQUESTS = prometheus_client.Counter(
    "docproc_requests_total", "Requests that came in, by tenant", ["tenant_id", "outcome"]
)
ROUTER_KEY = "request.new"
DEFAULT_WORKFLOW = "default"
# Kept out of the request's row: it opens the file once, and is nobody's business after that.
PASSWORD = "password"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that lies in the blob store."""

    key: str
    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Incoming:
    """A file that is still elsewhere; `chunks` is read once."""

    name: str
    chunks: AsyncIterable[bytes]


@dataclass(frozen=True, slots=True)
class Arrival:
    """What came with the files, or instead of them; without a `workflow`, the router chooses one."""

    workflow: str | None = None
    channel: str = "api"
    external_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    # What the first stage is given besides; for requests that are no files.
    payload: Mapping[str, Any] = field(default_factory=dict)
    idempotency_key: str | None = None
    priority: int = 5
    tenant_id: str = "default"
    # "ask" a person about doubts, or "flag" them; None: as the workers are set.
    review: str | None = None
    # Where answers are sent; None: where the tenant's are, else the client fetches them.
    callback_url: str | None = None
    # Where a door delivers them itself, unless the client named an address (docproc.doors); no client can
    # say it.
    answer_to: str | None = None
    # Who sent it, for the audit.
    by: str | None = None
    # False: the monitor leaves it alone (engine/running/intake.py).
    is_watched: bool = True
    source_component: str = "api_gateway"


@dataclass(frozen=True, slots=True)
class Accepted:
    """The request that stands for the submission; not new when it came before."""

    request_id: UUID
    is_new: bool
    # When it will be done, as things stand.
    expected: Expectation


def tell_received(accepted: Accepted, arrival: Arrival, uploads: Sequence[Upload]) -> None:
    """The log line of every submission with files, whatever the way it came."""
    log.info(
        "request_received",
        request_id=str(accepted.request_id),
        tenant_id=arrival.tenant_id,
        channel=arrival.channel,
        workflow=arrival.workflow,
        files=len(uploads),
        bytes=sum(upload.size for upload in uploads),
        repeated=not accepted.is_new,
    )


def reception_of(application: App) -> Reception:
    """The reception of a process, made once."""
    return application.shared(_make)


def _make(application: App) -> Reception:
    settings = application.settings
    admission = Admission(application.forecaster, application.loader, settings.default_sla_seconds)
    return Reception(
        settings, application.store, application.blobs, application.intake, admission, application.tenants
    )


class Reception:
    """Files first, durable, then the row and its message in one transaction: nothing accepted is lost.

    A crash in between leaves an orphan file, which is swept, and no answer, so the client sends again.
    """

    def __init__(
        self,
        settings: Settings,
        store: Store,
        blobs: BlobStore,
        intake: Intake,
        admission: Admission,
        tenants: Tenants,
    ) -> None:
        self.settings = settings
        self.store = store
        self.blobs = blobs
        self.intake = intake
        self.admission = admission
        self.tenants = tenants

    def new_request_id(self) -> UUID:
        return uuid4()

    async def store_file(
        self,
        request_id: UUID,
        index: int,
        name: str,
        chunks: AsyncIterable[bytes],
        tenant_id: str = "default",
    ) -> Upload:
        """Stream one file into the request's folder; raises TooLargeError. `tenant_id` is the arrival's."""
        key = f"{request_id}/in/{index}-{safe_name(name)}"
        limit = int(self.settings.max_upload_mb * 1024 * 1024)
        blob = await self.blobs.put(key, chunks, max_bytes=limit, tenant=tenant_id)
        return Upload(key, _shown_name(name), blob.size, blob.sha256)

    async def submit(self, request_id: UUID, uploads: Sequence[Upload], arrival: Arrival) -> Accepted:
        """One request for these files, or the earlier one that they repeat (then the files are dropped).

        Raises UnknownWorkflowError, WorkflowError, CallbackError, ReusedKeyError or DeadlineAtRiskError; the
        files are dropped then, too.
        """
        try:
            submission = await self._submission(request_id, uploads, arrival)
            expected = await self._admitted(submission)
            accepted = await self.intake.submit(submission)
        except BaseException as error:  # cancelled, too: what nobody asks for is not kept
            if isinstance(error, QuotaError | DeadlineAtRiskError):
                REQUESTS.labels(arrival.tenant_id, "refused").inc()
            await self.discard(request_id)
            raise
        REQUESTS.labels(arrival.tenant_id, "accepted" if accepted == request_id else "repeated").inc()
        if accepted != request_id:
            await self.discard(request_id)
        else:
            self.admission.accepted(submission, expected)
        return Accepted(accepted, accepted == request_id, expected)

    async def _admitted(self, submission: Submission) -> Expectation:
        """What came before is not refused: its client asks what became of it."""
        expected = await self.admission.expect(submission)
        refused = self.admission.refuses(submission, expected)
        if refused and await self.intake.known(submission) is None:
            raise self.admission.refusal(submission.workflow, expected)
        return expected

    async def callback_url(self, arrival: Arrival) -> str | None:
        """Where its answers will be sent: as it says, else as its door or its tenant has it.

        Raises CallbackError.
        """
        if arrival.answer_to and not arrival.callback_url:
            return arrival.answer_to
        # Not for a command that shows its own progress: it asked for nothing to be sent.
        url = arrival.callback_url or (
            await self._usual_url(arrival.tenant_id) if arrival.is_watched else None
        )
        if url is None:
            return None
        if not can_sign(self.settings):
            raise CallbackError(
                "callback_url cannot be used: there is no secret to sign deliveries with",
                remedy="Have DOCPROC_CALLBACK_SECRET set, or fetch the answer from GET /status/{request_id}",
            )
        return checked_url(url, allow_private=self.settings.callback_allow_private)

    async def _usual_url(self, tenant_id: str) -> str | None:
        own = (await self.tenants.of(tenant_id)).settings.callback_url
        return own or self.settings.callback_urls.get(tenant_id)

    async def take(self, files: Sequence[Incoming], arrival: Arrival) -> Accepted:
        """Store files that lie elsewhere and submit one request for them.

        Raises what `store_file` and `submit` raise, EmptyFileError, and what reading the files raises;
        nothing is kept then.
        """
        request_id = self.new_request_id()
        room = int(self.settings.max_upload_mb * 1024 * 1024)
        uploads: list[Upload] = []
        try:
            for index, file in enumerate(files):
                upload = await self.store_file(request_id, index, file.name, file.chunks, arrival.tenant_id)
                room -= upload.size
                if upload.size == 0:
                    raise EmptyFileError(f"the file {upload.name!r} is empty", remedy="Send one with content")
                if room < 0:
                    limit = self.settings.max_upload_mb
                    remedy = "Send fewer at once, or raise DOCPROC_MAX_UPLOAD_MB"
                    raise TooLargeError(f"the files are larger than {limit:g} MB", remedy=remedy)
                uploads.append(upload)
        except BaseException:  # cancelled, too: what nobody asks for is not kept
            await self.discard(request_id)
            raise
        accepted = await self.submit(request_id, uploads, arrival)
        tell_received(accepted, arrival, uploads)
        return accepted

    async def discard(self, request_id: UUID) -> None:
        """Nothing came of it: its files go."""
        await self.blobs.delete(str(request_id))

    async def cancel(self, request_id: UUID, reason: str = "cancelled by the client") -> None:
        """Raises UnknownRequestError, or RequestConflictError when it is over already."""
        request = await self.find(request_id)
        while True:
            try:
                async with self.store.writing() as session:
                    if await requests.cancel(session, request_id, reason):
                        return
                break
            except Exception as error:
                if not is_passing(error):  # a deadlock with a worker: it is done, try again
                    raise
            await asyncio.sleep(0.05)
        request = await self.find(request_id)
        raise RequestConflictError(f"request {request_id} is over already: {request.status}")

    async def reprocess(self, request_id: UUID, workflow: str | None = None, by: str | None = None) -> UUID:
        """The same files again as a new request of the same tenant, linked to the first one."""
        earlier = await self.find(request_id)
        if not earlier.uploads:
            raise RequestConflictError(f"request {request_id} has no files to process again")
        new_id = self.new_request_id()
        url = earlier.callback_url
        is_web = url is None or url.startswith(WEB)
        try:
            uploads = await self._copied(earlier, new_id)
            arrival = Arrival(
                workflow=workflow or earlier.workflow_name,
                channel=earlier.channel,
                external_id=earlier.external_id,
                metadata=earlier.metadata_ or {},
                priority=earlier.priority,
                tenant_id=earlier.tenant_id,
                callback_url=url if is_web else None,
                answer_to=None if is_web else url,
                by=by,
            )
            submission = await self._submission(new_id, uploads, arrival, reprocess_of=request_id)
            return await self.intake.submit(submission)
        except BaseException:  # cancelled, too: what nobody asks for is not kept
            await self.discard(new_id)
            raise

    async def _copied(self, earlier: Request, new_id: UUID) -> list[Upload]:
        uploads = []
        for index, upload in enumerate(earlier.uploads or ()):
            key = f"{new_id}/in/{index}-{safe_name(upload['name'])}"
            try:
                await self.blobs.copy(upload["key"], key)
            except FileNotFoundError as error:
                raise RequestConflictError(
                    f"the files of request {earlier.id} are no longer kept", remedy="Send them again"
                ) from error
            uploads.append(Upload(key, upload["name"], upload["size"], upload["sha256"]))
        return uploads

    async def find(self, request_id: UUID) -> Request:
        async with self.store.reading() as session:
            found = await session.scalar(select(Request).where(Request.id == request_id))
        if found is None:
            raise UnknownRequestError(f"there is no request {request_id}", remedy="Check the id")
        return found

    async def _submission(
        self,
        request_id: UUID,
        uploads: Sequence[Upload],
        arrival: Arrival,
        reprocess_of: UUID | None = None,
    ) -> Submission:
        files = [
            {"key": upload.key, "name": upload.name, "size": upload.size, "sha256": upload.sha256}
            for upload in uploads
        ]
        metadata = {name: value for name, value in arrival.metadata.items() if name != PASSWORD}
        payload = {
            **arrival.payload,
            "files": files,
            "metadata": metadata,
            "channel": arrival.channel,
            "external_id": arrival.external_id,
            "workflow_named": arrival.workflow is not None,
        }
        if PASSWORD in arrival.metadata:
            payload[PASSWORD] = arrival.metadata[PASSWORD]
        return Submission(
            workflow=arrival.workflow or DEFAULT_WORKFLOW,
            payload=payload,
            priority=arrival.priority,
            channel=arrival.channel,
            external_id=arrival.external_id,
            metadata=metadata,
            tenant_id=arrival.tenant_id,
            request_id=request_id,
            via=ROUTER_KEY,
            uploads=files,
            content_hash=_content_hash(uploads, arrival.payload),
            idempotency_key=arrival.idempotency_key,
            reprocess_of=reprocess_of,
            review=arrival.review,
            callback_url=await self.callback_url(arrival),
            by=arrival.by,
            is_watched=arrival.is_watched,
            source_component=arrival.source_component,
        )


def _content_hash(uploads: Sequence[Upload], payload: Mapping[str, Any]) -> str:
    """Of what the files contain, whose names may differ, and of what came instead of files."""
    parts = [upload.sha256 for upload in uploads]
    if payload:
        parts.append(json.dumps(payload, sort_keys=True))
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()


def _shown_name(name: str) -> str:
    """A file's name as people see it: no folders, nothing unprintable, not endless."""
    last = name.replace("\\", "/").rpartition("/")[2]
    shown = "".join(character for character in last if character.isprintable())
    return shown[:200] or "file"
