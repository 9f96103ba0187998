"""Promoting a workflow: the candidate and the live version run the suite, then the pointer moves, or not."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from docproc.app import App
from docproc.engine.store import environments
from docproc.engine.store.environments import Environment
from docproc.engine.workflow.definition import Workflow
from docproc.errors import UsageError
from docproc.promotion import cases
from docproc.promotion.deciding import Verdict, judge
from docproc.promotion.suite import CaseOutcome, run_suite, workers_for


@dataclass(frozen=True, slots=True)
class Promoted:
    """What came of it; `version` is the candidate's."""

    workflow: str
    environment: str
    version: str
    live_version: str | None
    verdict: Verdict


async def promote(
    app: App,
    name: str,
    to: Environment,
    *,
    by: str,
    tell: Callable[[str, CaseOutcome], None] = lambda version, outcome: None,
) -> Promoted:
    """Give an environment the next version of a workflow, if it passes.

    What goes to staging is the file as it is now; what goes to production is what staging runs, or the file
    where nothing was ever promoted to staging. Raises UsageError where there is nothing to promote.
    """
    if to is Environment.DEVELOPMENT:
        raise UsageError(
            "nothing is promoted to development", remedy="There workflows are what their files say"
        )
    candidate = await _candidate(app, name, to)
    live = await version_of(app, to, name)
    version = candidate.content_version
    if live is not None and live.content_version == version:
        raise UsageError(f"{to} runs version {version} of {name!r} already", remedy="Change the file first")
    suite = await cases.cases(app, name)
    flows = [candidate] if live is None else [candidate, live]
    async with workers_for(app, flows):
        new = await run_suite(app, candidate, suite, lambda outcome: tell("candidate", outcome))
        old = await run_suite(app, live, suite, lambda outcome: tell("live", outcome)) if live else None
    verdict = judge(new, old)
    if verdict.accepted:
        async with app.store.writing() as session:
            await app.versions.pin(session, name, definition=candidate)
            reason = {"suite": list(verdict.reasons)}
            await environments.point(session, to, name, version, by=by, reason=reason)
    return Promoted(name, to, version, live.content_version if live else None, verdict)


async def roll_back(app: App, name: str, environment: Environment, *, by: str, reason: object = None) -> str:
    """Put the version before back; returns it. Raises UsageError where there was none."""
    async with app.store.writing() as session:
        now = await environments.current(session, environment, name)
        if now is None or now.previous_version is None:
            raise UsageError(
                f"{environment} had no version of {name!r} before", remedy="See: docproc promote --history"
            )
        await environments.point(
            session, environment, name, now.previous_version, by=by, kind="rolled_back", reason=reason
        )
        return now.previous_version


async def version_of(app: App, environment: Environment, name: str) -> Workflow | None:
    """What an environment runs by its pointer; None where its file decides."""
    async with app.store.reading() as session:
        found = await environments.current(session, environment, name)
    return None if found is None else await app.versions.stored(name, found.version)


async def _candidate(app: App, name: str, to: Environment) -> Workflow:
    if to is Environment.PRODUCTION:
        staged = await version_of(app, Environment.STAGING, name)
        if staged is not None:
            return staged
    return app.loader.load(name)
