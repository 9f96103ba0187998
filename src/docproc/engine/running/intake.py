"""Intake: a new request, its row and its first message in one transaction; a repeated one finds the first."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import select
from sqlalchemy.exc import IntegrityError
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.running import quotas
from docproc.engine.running.outbox import Outbox, entering
from docproc.engine.running.quotas import CountUnits
from docproc.engine.running.relay import Relay
from docproc.engine.store import events, rows
from docproc.engine.store.environments import SHADOW
from docproc.engine.store.tables import Request, RequestStatus
from docproc.engine.transport import DIRECT_EXCHANGE, Copy
from docproc.engine.workflow.checkpoints import Checkpoints, checkpoints
from docproc.engine.workflow.definition import Workflow
from docproc.engine.workflow.routing import Route, Routed, Router
from docproc.errors import ReusedKeyError


@dataclass(frozen=True, slots=True)
class Submission:
    """What somebody wants done."""

    workflow: str
    payload: Mapping[str, Any] = field(default_factory=dict)
    priority: int = 5
    channel: str = "api"
    external_id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict)
    tenant_id: str = "default"
    request_id: UUID = field(default_factory=uuid4)
    # What its messages, events and log lines share; None: a new one.
    trace_id: UUID | None = None
    # A flow made for this request, instead of the file of that name.
    definition: Workflow | None = None
    # The routing key of a component that chooses the workflow; None enters the workflow itself.
    via: str | None = None
    uploads: Sequence[Mapping[str, Any]] = ()
    content_hash: str | None = None
    # The client's own key for "this is the same submission"; else its reference and content say so.
    idempotency_key: str | None = None
    reprocess_of: UUID | None = None
    # The request that this one is the shadow of: the same, by a version on trial.
    shadow_of: UUID | None = None
    review: str | None = None
    # Where answers are sent; None: the client fetches them.
    callback_url: str | None = None
    # Who sent it, for the audit; None: nobody was asked.
    by: str | None = None
    # What its first message comes from: the server or the command that took it in.
    source_component: str = "api_gateway"
    # False: nobody waits elsewhere, so the monitor leaves it alone (a command that shows its own progress).
    is_watched: bool = True

    @property
    def content_bytes(self) -> int | None:
        """None where nobody knows, or there are no files."""
        sizes = [size for upload in self.uploads if isinstance(size := upload.get("size"), int)]
        return sum(sizes) if sizes and len(sizes) == len(self.uploads) else None

    @property
    def same_as(self) -> str | None:
        """What two submissions that mean the same request have in common; None: always a new one."""
        if self.idempotency_key is not None:
            said = ("key", self.idempotency_key)
        elif self.external_id is not None and self.content_hash is not None and self.reprocess_of is None:
            said = ("reference", f"{self.channel}\0{self.external_id}\0{self.content_hash}")
        else:
            return None
        return hashlib.sha256("\0".join(said).encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class _Accepted:
    """A submission that may come in, and what is written of it."""

    submission: Submission
    message: PipelineMessage
    times: Checkpoints
    router: Router


_REQUESTS: Any = Request.__table__
# Requests of these channels are trials themselves.
UNSHADOWED = frozenset({SHADOW, "golden"})


class Intake:
    """Accepts requests: once `submit` returns, the request is in the database and will be worked on."""

    def __init__(
        self, outbox: Outbox, relay: Relay, default_sla_seconds: float, units: Sequence[CountUnits] = ()
    ) -> None:
        """`units` are how applications count what their requests take of a tenant's day."""
        self.outbox = outbox
        self.relay = relay
        self.default_sla_seconds = default_sla_seconds
        self.units = units

    async def submit(self, submission: Submission) -> UUID:
        """The id of the request: the submission's own, or the first one's when it came before.

        Raises UnknownWorkflowError or WorkflowError, UnknownTenantError, ReusedKeyError or QuotaError, and
        then nothing is written.
        """
        if known := await self.known(submission):
            return known
        try:
            async with self.outbox.store.writing() as session:
                copies = await self.accept(session, submission)
        except IntegrityError:
            # Two of the same at the same moment: the unique index let one in.
            if known := await self.known(submission):
                return known
            raise
        await self.relay.hand_over(copies)
        return submission.request_id

    async def accept(self, session: AsyncSession, submission: Submission) -> list[Copy]:
        """Write a request and its first message in the caller's transaction; returns what to publish."""
        return await self.accept_all(session, [submission])

    async def accept_all(self, session: AsyncSession, submissions: Sequence[Submission]) -> list[Copy]:
        """The same for several, in as few statements as for one; where one is refused, all are.

        Whoever takes several of different tenants at once has them in the order of the tenants: the rows that
        count what tenants take are locked in this order.
        """
        accepted: list[_Accepted] = []
        copies: list[Copy] = []
        for submission in submissions:
            now = utc_now()
            versions, tenant_id = self.outbox.versions, submission.tenant_id
            # In this transaction: of many at once no more come in than may, and what is refused is not
            # counted.
            tenant = await versions.tenants.active(tenant_id, session)
            if quotas.counts_rows(tenant):  # those before it are counted, too
                copies += await self._write(session, accepted)
                accepted = []
            await quotas.take(session, tenant, self.units, now)
            router = await versions.pin(session, submission.workflow, tenant_id, submission.definition)
            times = checkpoints(now, router.plan.workflow.sla, self.default_sla_seconds)
            accepted.append(_Accepted(submission, _first_message(submission, now, times), times, router))
            accepted += await self._shadow(session, submission, now)
        return copies + await self._write(session, accepted)

    async def _shadow(self, session: AsyncSession, submission: Submission, now: datetime) -> list[_Accepted]:
        """The same once more for a version on trial, with the least priority: nobody gets its answer, it
        takes no quota, and nobody is asked."""
        versions = self.outbox.versions
        if submission.definition is not None or submission.channel in UNSHADOWED:
            return []
        found = await versions.shadow(session, submission.workflow)
        if found is None or random.random() >= found[1]:
            return []
        shadow = replace(
            submission,
            request_id=uuid4(),
            trace_id=None,
            channel=SHADOW,
            priority=0,
            external_id=None,
            idempotency_key=None,
            reprocess_of=None,
            shadow_of=submission.request_id,
            definition=found[0],
            via=None,
            review="flag",
            callback_url=None,
            is_watched=False,
        )
        router = await versions.pin(session, submission.workflow, submission.tenant_id, shadow.definition)
        times = checkpoints(now, router.plan.workflow.sla, self.default_sla_seconds)
        return [_Accepted(shadow, _first_message(shadow, now, times), times, router)]

    async def _write(self, session: AsyncSession, accepted: Sequence[_Accepted]) -> list[Copy]:
        if not accepted:
            return []
        await rows.insert(session, _REQUESTS, [await _row(session, one) for one in accepted])
        await events.record(session, [_note(one.submission) for one in accepted])
        routes: list[tuple[Router, Route]] = []
        for one in accepted:
            routes += [(one.router, route) for route in self._entering(one)]
        return await self.outbox.send_all(session, routes)

    def _entering(self, one: _Accepted) -> list[Route]:
        via = one.submission.via
        if via is None:
            return entering(one.router, one.message)
        queue = self.outbox.topology.queue(DIRECT_EXCHANGE, via)
        return [Routed(one.message, DIRECT_EXCHANGE, via, queue)]

    async def known(self, submission: Submission) -> UUID | None:
        """The request that this submission repeats, if it does; raises ReusedKeyError."""
        if submission.same_as is None:
            return None
        query = select(Request.id, Request.content_hash).where(
            Request.tenant_id == submission.tenant_id, Request.idempotency_key == submission.same_as
        )
        async with self.outbox.store.reading() as session:
            found = (await session.execute(query)).first()
        if found is None:
            return None
        if found.content_hash != submission.content_hash:
            raise ReusedKeyError(
                f"the idempotency key was used before, for another content (request {found.id})",
                remedy="Send a new key with new content",
            )
        return UUID(str(found.id))


def _first_message(submission: Submission, now: datetime, times: Checkpoints) -> PipelineMessage:
    return PipelineMessage(
        request_id=submission.request_id,
        trace_id=submission.trace_id or uuid4(),
        tenant_id=submission.tenant_id,
        workflow_name=submission.workflow,
        priority=submission.priority,
        created_at=now,
        deadline_utc=times.deadline_utc,
        payload=dict(submission.payload),
        review=submission.review,
        source_component=submission.source_component,
    )


async def _row(session: AsyncSession, accepted: _Accepted) -> dict[str, Any]:
    submission, message, times = accepted.submission, accepted.message, accepted.times
    earlier, link = await _link(session, submission)
    return {
        "id": submission.request_id,
        "trace_id": message.trace_id,
        "tenant_id": submission.tenant_id,
        "external_id": submission.external_id,
        "channel": submission.channel,
        "workflow_name": submission.workflow,
        "workflow_version": accepted.router.plan.version,
        "status": RequestStatus.RECEIVED.value,
        "priority": submission.priority,
        "band": submission.priority,
        "deadline_utc": times.deadline_utc,
        "sla_seconds": times.sla_seconds,
        "warn_at": times.warn_at,
        "escalate_at": times.escalate_at,
        "next_check_at": times.warn_at if submission.is_watched else None,
        "callback_url": submission.callback_url,
        "metadata": dict(submission.metadata),
        "uploads": [dict(upload) for upload in submission.uploads] or None,
        "content_bytes": submission.content_bytes,
        "idempotency_key": submission.same_as,
        "content_hash": submission.content_hash,
        "linked_to": earlier,
        "link": link,
        "created_at": message.created_at,
    }


def _note(submission: Submission) -> events.Event:
    return events.Event(
        submission.request_id,
        "status",
        tenant_id=submission.tenant_id,
        outcome=RequestStatus.RECEIVED,
        data={"by": submission.by} if submission.by else None,
    )


async def _link(session: AsyncSession, submission: Submission) -> tuple[UUID | None, str | None]:
    """The request this one follows: the one to be processed again, or the last of its reference."""
    if submission.shadow_of is not None:
        return submission.shadow_of, SHADOW
    if submission.reprocess_of is not None:
        return submission.reprocess_of, "reprocess"
    if submission.external_id is None or submission.content_hash is None:
        return None, None
    query = (
        select(Request.id)
        .where(
            Request.tenant_id == submission.tenant_id,
            Request.channel == submission.channel,
            Request.external_id == submission.external_id,
        )
        .order_by(Request.created_at.desc())
        .limit(1)
    )
    earlier = await session.scalar(query)
    return earlier, "revision" if earlier else None
