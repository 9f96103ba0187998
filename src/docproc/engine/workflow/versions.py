"""Content-addressed workflow versions: a running request keeps the flow it started with."""

from __future__ import annotations

import time

from pydantic import ValidationError
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.engine.message import PipelineMessage
from docproc.engine.store import environments, rows
from docproc.engine.store.environments import Environment
from docproc.engine.store.promotion_tables import Promotion
from docproc.engine.store.session import Store
from docproc.engine.store.tables import WorkflowVersion
from docproc.engine.store.tenants import DEFAULT
from docproc.engine.workflow.definition import Workflow
from docproc.engine.workflow.loader import WorkflowLoader
from docproc.engine.workflow.plan import Plan, PlanError
from docproc.engine.workflow.routing import Router
from docproc.engine.workflow.tenants import Tenants, adapted
from docproc.errors import PermanentError

# How long a pointer of an environment is trusted before the database is asked again.
POINTER_SECONDS = 1.0
# Plans that a process remembers.
MOST_KEPT = 5000


class Versions:
    """Plans by (name, version), from the files while they are current and from the database after."""

    def __init__(
        self,
        store: Store,
        loader: WorkflowLoader,
        tenants: Tenants | None = None,
        environment: str = Environment.DEVELOPMENT,
    ) -> None:
        """In another environment than development, a version that was promoted goes before the file."""
        self.environment = environment
        self.store = store
        self.loader = loader
        self.tenants = tenants or Tenants(store)
        self._routers: dict[tuple[str, str], Router] = {}
        self._pinned: set[tuple[str, str]] = set()
        self._pointers: dict[tuple[str, str], tuple[float, Promotion | None]] = {}

    async def pin(
        self,
        session: AsyncSession,
        name: str,
        tenant_id: str = DEFAULT,
        definition: Workflow | None = None,
    ) -> Router:
        """The file's current version, recorded so that every process can find it later.

        `definition` is a flow of that name that is in no file; raises PlanError where it cannot work.
        """
        if definition is None:
            router = await self._current(session, name, tenant_id)
        else:
            router = self._made(definition)
        key = (name, router.plan.version)
        if key not in self._pinned:
            await rows.insert(
                session,
                WorkflowVersion.__table__,  # type: ignore[arg-type] # declarative tables are Tables
                [
                    {
                        "name": name,
                        "version": router.plan.version,
                        "definition": router.plan.workflow.model_dump_json(exclude_none=True),
                        # Of the first whose it is: the same content is the same version for everybody.
                        "tenant_id": tenant_id,
                    }
                ],
                on_conflict="nothing",
            )
            # A rollback would make this a lie, so it is noted only once seen committed.
            session.info.setdefault("after_commit", []).append(lambda: self._pinned.add(key))
        return router

    async def router(self, message: PipelineMessage) -> Router:
        """Routing for a message, by the version its request started with."""
        key = (message.workflow_name, message.workflow_version or "")
        known = self._routers.get(key)
        if known is not None:
            return known
        if message.workflow_version is None:
            return self._remember(self.loader.of(message.tenant_id).plan(message.workflow_name))
        # Under the version asked for: another release may compute another one for the same content.
        return self._routers.setdefault(key, self._remember(await self._load(*key)))

    async def workflow(self, message: PipelineMessage) -> Workflow:
        return (await self.router(message)).plan.workflow

    async def _current(self, session: AsyncSession, name: str, tenant_id: str) -> Router:
        """As the tenant's file says today, with the tenant's thresholds, part of the version as all else."""
        plan = await self._promoted(session, name) or self.loader.of(tenant_id).plan(name)
        workflow = adapted(plan.workflow, (await self.tenants.of(tenant_id, session)).settings)
        if workflow is plan.workflow:
            return self._remember(plan)
        known = self._routers.get((name, workflow.content_version))
        return known or self._remember(self.loader.compile_workflow(workflow))

    async def _promoted(self, session: AsyncSession, name: str) -> Plan | None:
        if self.environment == Environment.DEVELOPMENT:
            return None
        pointer = await self._pointer(session, self.environment, name)
        return None if pointer is None else await self._known(name, pointer.version)

    async def shadow(self, session: AsyncSession, name: str) -> tuple[Workflow, float] | None:
        """The version that runs on real requests without answering, and on which share of them."""
        if self.environment == Environment.DEVELOPMENT:
            return None
        pointer = await self._pointer(session, environments.SHADOW, name)
        share = float((pointer.reason or {}).get("share", 0.0)) if pointer else 0.0
        if pointer is None or share <= 0:
            return None
        return (await self._known(name, pointer.version)).workflow, share

    async def _pointer(self, session: AsyncSession, environment: str, name: str) -> Promotion | None:
        fresh_until, found = self._pointers.get((environment, name), (0.0, None))
        if time.monotonic() >= fresh_until:
            found = await environments.current(session, environment, name)
            self._pointers[environment, name] = (time.monotonic() + POINTER_SECONDS, found)
        return found

    async def _known(self, name: str, version: str) -> Plan:
        known = self._routers.get((name, version))
        return known.plan if known else self._remember(await self._load(name, version)).plan

    async def stored(self, name: str, version: str) -> Workflow:
        """A version that some request started with, or that was promoted; raises PermanentError."""
        return (await self._load(name, version)).workflow

    def _made(self, definition: Workflow) -> Router:
        known = self._routers.get((definition.name, definition.content_version))
        if known is None and len(self._routers) > MOST_KEPT:  # clients may make up as many as they like
            self._routers.clear()
            self._pinned.clear()
        return known or self._remember(self.loader.compile_workflow(definition))

    async def _load(self, name: str, version: str) -> Plan:
        async with self.store.reading() as session:
            definition = await session.scalar(
                select(WorkflowVersion.definition).where(
                    WorkflowVersion.name == name, WorkflowVersion.version == version
                )
            )
        if definition is None:
            raise PermanentError(
                f"workflow {name!r} has no version {version!r}", remedy="Submit the request again"
            )
        try:
            return self.loader.compile_workflow(self.loader.model.model_validate_json(definition))
        except (PlanError, ValidationError) as error:
            raise PermanentError(
                f"version {version} of workflow {name!r} does not work with this release: {error}",
                remedy=getattr(error, "remedy", "Upgrade this worker, then replay the dead letter"),
            ) from error

    def _remember(self, plan: Plan) -> Router:
        key = (plan.workflow.name, plan.version)
        if key not in self._routers:
            self._routers[key] = Router(plan, self.loader.topology)
        return self._routers[key]
