"""Shadow mode: a version on trial runs on a share of real requests, answers nobody, and is compared."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import select
from sqlalchemy.orm import aliased

from docproc.app import App
from docproc.engine.store import environments
from docproc.engine.store.environments import SHADOW
from docproc.engine.store.tables import Request
from docproc.errors import UsageError
from docproc.promotion.cases import comparable_of
from docproc.promotion.comparing import differences

# The newest pairs that are compared, and how many differences are shown.
MOST_PAIRS = 1000
SHOWN = 5


@dataclass(frozen=True, slots=True)
class ShadowReport:
    """How often the version on trial answered as the live one did."""

    version: str
    share: float
    compared: int
    agreed: int
    failed: int
    # Of the newest requests that differ: the request, and the places.
    examples: tuple[tuple[str, str], ...]


async def begin(app: App, name: str, share: float, *, by: str) -> str:
    """Try the workflow's file on a share of real requests, 0 to end it; the version on trial."""
    candidate = app.loader.load(name)
    async with app.store.writing() as session:
        await app.versions.pin(session, name, definition=candidate)
        await environments.point(
            session, SHADOW, name, candidate.content_version, by=by, kind="shadow", reason={"share": share}
        )
    return candidate.content_version


async def report(app: App, name: str) -> ShadowReport:
    """Compare what both versions answered; raises UsageError where nothing is on trial."""
    shadow, live = aliased(Request), aliased(Request)
    async with app.store.reading() as session:
        pointer = await environments.current(session, SHADOW, name)
        if pointer is None:
            raise UsageError(
                f"no version of {name!r} is on trial", remedy="Begin with: docproc promote --shadow 10%"
            )
        query = (
            select(shadow.status, shadow.result_payload, live.id, live.result_payload)
            .join(live, live.id == shadow.linked_to)
            .where(
                shadow.channel == SHADOW,
                shadow.workflow_name == name,
                shadow.workflow_version == pointer.version,
                shadow.completed_at.is_not(None),
                live.completed_at.is_not(None),
            )
            .order_by(shadow.created_at.desc())
            .limit(MOST_PAIRS)
        )
        pairs = list(await session.execute(query))
    comparable = comparable_of(app, name)
    failed, examples = 0, []
    for status, tried, request_id, given in pairs:
        if status == "failed":
            failed += 1
        elif found := differences(comparable(given), comparable(tried)):
            examples.append((str(request_id), "; ".join(map(str, found[:3]))))
    share = float((pointer.reason or {}).get("share", 0.0))
    agreed = len(pairs) - failed - len(examples)
    return ShadowReport(pointer.version, share, len(pairs), agreed, failed, tuple(examples[:SHOWN]))
