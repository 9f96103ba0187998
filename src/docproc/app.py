"""The composition root: a process with everything it needs, wired by its settings.

Transports, blob stores, middleware and components come from what is installed: no concrete class is named.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager, contextmanager, suppress
from functools import cached_property
from typing import Any, TypeVar, cast

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.blobs import BlobStore
from docproc.engine.component import BaseComponent, Context
from docproc.engine.deadlines.forecast import Forecaster
from docproc.engine.message import PipelineMessage
from docproc.engine.running.child import Limits
from docproc.engine.running.erasing import Erasing, Erasure
from docproc.engine.running.intake import Intake
from docproc.engine.running.outbox import Outbox
from docproc.engine.running.pools import Pools
from docproc.engine.running.rehearsal import rehearse
from docproc.engine.running.relay import Relay
from docproc.engine.running.releasing import Releasing
from docproc.engine.running.work import Policies
from docproc.engine.running.worker import Worker
from docproc.engine.store import requests, schema_version
from docproc.engine.store.session import Store
from docproc.engine.store.workers import new_worker_id
from docproc.engine.transport import Topology, Transport, TransportContext
from docproc.engine.workflow.loader import WorkflowLoader
from docproc.engine.workflow.tenants import Tenants
from docproc.engine.workflow.versions import Versions
from docproc.errors import ConfigurationError, StorageDownError
from docproc.harmless import text_for_logs
from docproc.installed import BLOBSTORES, find_applications, load_plugin
from docproc.loaded import Applications, load_middleware
from docproc.private import private_folder
from docproc.registry import Registry
from docproc.settings import TRANSPORTS, Settings

log = structlog.get_logger(__name__)

T = TypeVar("T")


class App:
    """Everything of one process, wired by its settings."""

    def __init__(self, settings: Settings, worker_id: str | None = None) -> None:
        self.settings = settings
        self.worker_id = worker_id or settings.worker_id or new_worker_id()
        self.applications = Applications(find_applications().chosen(settings.applications))
        self.applications.check_settings(settings)
        self.registry = Registry(settings.components, self.applications.all)
        self._shared: dict[Callable[[App], Any], Any] = {}
        self._ending = ExitStack()
        self._telling: set[asyncio.Future[None]] = set()
        self.pools = Pools(workers=settings.prefetch_count, limits=Limits.of(settings))

    @cached_property
    def store(self) -> Store:
        with self.reaching_database():  # SQLite's folder may be forbidden ground
            settings = self.settings
            if settings.is_embedded and not settings.database_url:
                private_folder(settings.home.expanduser().absolute())
            return Store(settings.effective_database_url, connections=settings.database_connections)

    @cached_property
    def blobs(self) -> BlobStore:
        kind = load_plugin(BLOBSTORES, self.settings.effective_blobstore, "DOCPROC_STORAGE_URL")
        store = cast(BlobStore, kind.create(self.settings))
        if not (self.settings.storage_key or self.settings.storage_key_file):
            return store
        sealed = load_plugin(BLOBSTORES, "encrypted", "DOCPROC_STORAGE_KEY")
        return cast(BlobStore, sealed.around(store, self.settings))

    @cached_property
    def topology(self) -> Topology:
        return Topology.of(self.registry.specs.values(), self.registry.bindings)

    @cached_property
    def loader(self) -> WorkflowLoader:
        return WorkflowLoader(
            self.settings.workflows_dir,
            self.registry.specs,
            self.topology,
            model=self.applications.workflow_model,
            packaged=self.applications.workflow_folders,
        )

    @cached_property
    def versions(self) -> Versions:
        return Versions(self.store, self.loader, self.tenants, self.settings.environment)

    @cached_property
    def tenants(self) -> Tenants:
        return Tenants(self.store)

    @cached_property
    def transport(self) -> Transport:
        kind = load_plugin(TRANSPORTS, self.settings.effective_transport, "DOCPROC_TRANSPORT")
        context = TransportContext(self.settings, self.topology, self.store, self.worker_id)
        return cast(Transport, kind.create(context))

    @cached_property
    def outbox(self) -> Outbox:
        return Outbox(
            self.store,
            self.versions,
            self.topology,
            self.worker_id,
            self.releasing,
        )

    @cached_property
    def releasing(self) -> Releasing:
        return Releasing(
            self.transport,
            self.store,
            self.topology,
            self.worker_id,
            is_on=self.settings.fair_order,
            aging_seconds=self.settings.aging_seconds,
        )

    @cached_property
    def relay(self) -> Relay:
        ttl = self.settings.message_ttl_seconds
        relay = Relay(self.transport, self.store, self.topology, self.worker_id, ttl, self.releasing)
        self.store.in_doubt = relay.doubt
        return relay

    @cached_property
    def intake(self) -> Intake:
        return Intake(self.outbox, self.relay, self.settings.default_sla_seconds, self.applications.units)

    @cached_property
    def erasure(self) -> Erasure:
        erasing = Erasing(lambda: self.applications.erasers, lambda: self.applications.units)
        return Erasure(self.store, self.blobs, self.loader, self.tenants, erasing)

    @cached_property
    def forecaster(self) -> Forecaster:
        return Forecaster(self.store, self.versions)

    def shared(self, make: Callable[[App], T]) -> T:
        """What `make` makes of this process, made once: for parts above the engine that each process has one
        of."""
        if make not in self._shared:
            self._shared[make] = make(self)
        return cast(T, self._shared[make])

    def at_close(self, end: Callable[[], object]) -> None:
        """Have it called when this process's part in the work ends."""
        self._ending.callback(end)

    def component(self, name: str) -> BaseComponent:
        context = Context(
            settings=self.settings,
            store=self.store,
            blobs=self.blobs,
            workflow_of=self.versions.workflow,
            announce=self._announce,
            workflows=lambda tenant_id: self.loader.of(tenant_id).usable(),
            run_in_thread=self.pools.run_in_thread,
            run_in_process=self.pools.run_in_process,
            warm_children=self.pools.warm_children,
            wake=self._wake,
            post=self._post,
            worker_id=self.worker_id,
        )
        return self.registry.load(name)(context)

    def _wake(self, queues: Iterable[str]) -> None:
        if self.transport.has_broker:
            return self.relay.nudge()
        telling = asyncio.ensure_future(self.transport.announce(list(queues)))
        self._telling.add(telling)  # else nobody refers to it while it runs
        telling.add_done_callback(self._told)

    async def _post(self, session: AsyncSession, queue: str, posted: Sequence[PipelineMessage]) -> None:
        copies = await self.outbox.post(session, queue, posted)

        def deliver() -> None:
            if not self.transport.has_broker:
                return self._wake([queue])
            publishing = asyncio.ensure_future(self.relay.publish(copies))
            self._telling.add(publishing)
            publishing.add_done_callback(self._told)

        if copies:
            session.info.setdefault("after_commit", []).append(deliver)

    def _told(self, telling: asyncio.Future[None]) -> None:
        """A wake-up that was not heard costs its reader a moment, nothing else."""
        self._telling.discard(telling)
        if not telling.cancelled() and (error := telling.exception()):
            log.warning("wake_up_lost", problem=text_for_logs(error))

    async def _announce(self, message: PipelineMessage) -> None:
        step = (await self.versions.router(message)).plan.step(message.current_stage)
        if step.standing:
            async with self.store.writing() as session:
                await requests.advance(session, [message.request_id], step.standing)

    def worker(self, names: Sequence[str]) -> Worker:
        components = [self.component(name) for name in names]
        policies = Policies(load_middleware(), self.applications.log_fields)
        return Worker(
            self.settings,
            components,
            self.transport,
            self.outbox,
            self.relay,
            policies,
            self.erasure,
            lambda: self.pools.can_work,
            self.pools.warm_up,
        )

    async def prepare(self) -> None:
        """Before a process that stays begins: a database that is late is waited for; of a storage only
        what will not pass is told, the work itself waits for the rest. Raises ConfigurationError."""
        await self.prepare_database(wait=True)
        with suppress(StorageDownError):
            await self.blobs.check()
        await self.rehearse()

    async def rehearse(self) -> None:
        """Have the first request find everything prepared; nothing is left behind."""
        if self.settings.warm_up and (flows := self.loader.usable()):
            await rehearse(self.intake, flows[0].name)

    async def prepare_database(self, *, wait: bool = False) -> None:
        """Migrate an embedded database; elsewhere check that somebody did. `wait` outlasts a late server."""
        pause = 0.2
        while True:
            try:
                return await self._check_database()
            except ConfigurationError as error:
                if not wait:
                    raise
                log.warning("waiting_for_database", problem=text_for_logs(error))
            await asyncio.sleep(pause)
            pause = min(pause * 2, 1.0)  # deadlines do not wait: a monitor must be there soon after it

    async def _check_database(self) -> None:
        with self.reaching_database():
            branches = self.applications.migrations
            if self.settings.is_embedded:
                if not await schema_version.is_head(self.store, branches):
                    from docproc.engine.store import migrate  # imports Alembic

                    await migrate.upgrade(self.store, branches)
            elif not await schema_version.is_current(self.store, branches):
                raise ConfigurationError(
                    "the database is not migrated to this version", remedy="Run: docproc db upgrade"
                )

    @contextmanager
    def reaching_database(self) -> Iterator[None]:
        """Says what drivers and migrations raise in one line, with a remedy."""
        try:
            yield
        except (SQLAlchemyError, OSError) as error:
            lines = str(getattr(error, "orig", None) or error).splitlines() or [type(error).__name__]
            at_home = self.settings.is_embedded and not self.settings.database_url
            raise ConfigurationError(
                f"the database is out of reach: {lines[0]}",
                remedy="Check DOCPROC_HOME" if at_home else "Check DOCPROC_DATABASE_URL and the server",
            ) from error

    async def close(self) -> None:
        self._ending.close()
        self.pools.close()
        if "store" in self.__dict__:  # else it was never opened
            await self.store.close()


@asynccontextmanager
async def open_database(settings: Settings) -> AsyncIterator[App]:
    """An App that only looks: its database is there and migrated, a broker is not needed."""
    app = App(settings)
    try:
        await app.prepare_database()
        yield app
    finally:
        await app.close()


@asynccontextmanager
async def open_client(settings: Settings) -> AsyncIterator[App]:
    """An App that submits and looks: connected, but no worker."""
    async with open_database(settings) as app:
        try:
            await app.transport.open()
            yield app
        finally:
            await app.relay.flush()
            await app.transport.close()
