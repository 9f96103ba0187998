"""classification_aggregator: classified pages come together and become documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.documents.components import asking, doubts
from docproc.apps.documents.components.asking import Ask, Question
from docproc.apps.documents.components.doubts import Thresholds
from docproc.apps.documents.components.page_groups import BEGINS, Made, group_pages
from docproc.apps.documents.counting import SPLITS, STAGGERED
from docproc.apps.documents.settings import models_folder
from docproc.apps.documents.store import documents, pages
from docproc.apps.documents.store.documents import NewDocument
from docproc.engine.component import BACKOFFICE, NEXT, Emission, JoinComponent, Unfinished
from docproc.engine.message import PipelineMessage, child_key, utc_now
from docproc.engine.store import tasks
from docproc.engine.store.fan_in import Join
from docproc.engine.workflow.definition import Stage

TASK_TYPE = "classification"
# In the input of a task: it asks where documents begin, not of what type a page is.
SPLIT = "split"


@dataclass(frozen=True, slots=True)
class Doubt:
    """A place between two pages where nobody is sure whether a document ends."""

    before: int
    page: int
    begins: float

    @property
    def pages(self) -> tuple[int, int]:
        return self.before, self.page

    @property
    def sure(self) -> float:
        """Of what is more likely."""
        return max(self.begins, 1 - self.begins)

    def as_seen(self) -> dict[str, Any]:
        suggested = self.begins >= 0.5
        return {"pages": list(self.pages), "suggested": suggested, "confidence": round(self.sure, 4)}


class ClassificationAggregator(JoinComponent):
    """Stage options: `staggered: true` sends a document to extraction as soon as its neighbours are known;
    `doc_type: invoice` makes each file one document of that type, in a flow that does not classify.

    Where the stage has a `backoffice_queue`, a person is asked about boundaries below `confidence_threshold`
    (else the setting) before documents go out; they come back as a late page with `splits` in its payload.
    Where nobody can answer in time, documents go out as grouped, and the late page amends.
    """

    component_name = "classification_aggregator"
    takes = "page"
    gives = "document"
    collects = "classification"
    only_counts = "docproc.apps.documents.counting:counts_pages"
    asks_people = True

    async def before_join(
        self, messages: Sequence[PipelineMessage], session: AsyncSession
    ) -> list[list[Emission]]:
        emissions: list[list[Emission]] = [[] for _ in messages]
        for message in messages:
            await _keep_answers(session, message)
        # Once per request, for the last of its pages in this batch.
        for place in {message.request_id: i for i, message in enumerate(messages)}.values():
            message = messages[place]
            stage = await self.stage_of(message)
            if stage.options.get(STAGGERED):
                made = await self._documents(session, message, stage)
                doubted = {index for doubt in self._doubts(message, stage, made) for index in doubt.pages}
                final = [one for one in made if one.is_final and doubted.isdisjoint(one.page_indices)]
                emissions[place] = await self._send_new(session, message, final, total=None)
        return emissions

    async def after_join(self, join: Join, message: PipelineMessage, session: AsyncSession) -> list[Emission]:
        stage = await self.stage_of(message)
        made = await self._documents(session, message, stage)
        notices, waits = await self._ask_about(session, join, Question(message, stage), made)
        if waits:
            # Documents go out when the person has answered: the fan-out is not over.
            return Unfinished(notices)
        emissions = await self._send_new(session, message, made, total=len(made))
        ids = {one.document_id(message.request_id) for one in made}
        gone = await documents.known(session, message.request_id) - ids
        await tasks.withdraw_amendments(session, gone, "regrouped")
        await documents.remove(session, message.request_id, gone)
        await documents.set_count(session, message.request_id, len(made))
        return emissions

    async def _send_new(
        self, session: AsyncSession, message: PipelineMessage, made: Sequence[Made], total: int | None
    ) -> list[Emission]:
        """Documents that are not there yet; those that are were sent before, and only how sure they are can
        have changed: a person said something, or a neighbour came."""
        flow = await self.workflow_of(message)
        thresholds = Thresholds.of(self.settings, flow, flow.stage(message.current_stage))
        standing = {one.document_id(message.request_id): one.standing.row(thresholds) for one in made}
        known = await documents.restate(session, message.request_id, standing) if made else set()
        new = [one for one in made if one.document_id(message.request_id) not in known]
        rows = [
            NewDocument(one.doc_type, one.page_indices, standing[one.document_id(message.request_id)])
            for one in new
        ]
        await documents.insert(session, message.tenant_id, message.request_id, rows)
        indices = [index for one in new for index in one.page_indices]
        texts = await pages.texts(session, message.request_id, indices) if new else {}
        return [_emission(message, one, texts, total) for one in new]

    async def _documents(self, session: AsyncSession, message: PipelineMessage, stage: Stage) -> list[Made]:
        rows = await pages.of_request(session, message.request_id)
        return group_pages(rows, stage.options.get("doc_type"), models_folder(self.settings))

    def _doubts(self, message: PipelineMessage, stage: Stage, made: Sequence[Made]) -> list[Doubt]:
        """What a person must be asked about, if anyone can be."""
        if not self.may_ask(message, stage):
            return []
        threshold = doubts.page_threshold(self.settings, stage)
        unsayable = {index for one in made for index in one.unsayable}
        return [
            place
            for place in places(made)
            if place.page not in unsayable and doubts.is_below(place.sure, threshold)
        ]

    async def _ask_about(
        self, session: AsyncSession, join: Join, question: Question, made: Sequence[Made]
    ) -> tuple[list[Emission], bool]:
        """Ask about doubtful places that nobody was asked about; and whether documents wait for an answer."""
        doubtful = self._doubts(question.message, question.stage, made)
        asked = await _asked(session, question.message.request_id) if doubtful else {}
        waits = any(asked.get(doubt.pages) is Ask.BEFORE for doubt in doubtful)
        fresh = [doubt for doubt in doubtful if doubt.pages not in asked]
        if not fresh:
            return [], waits
        (ask,) = await asking.decide(session, TASK_TYPE, [question], utc_now())
        notice = await self._ask(session, join, question.message, fresh, amends=ask is Ask.AFTER)
        return ([], waits) if ask is Ask.AFTER else ([notice], True)

    async def _ask(
        self,
        session: AsyncSession,
        join: Join,
        message: PipelineMessage,
        doubtful: Sequence[Doubt],
        *,
        amends: bool,
    ) -> Emission:
        """One task for all doubtful places; what goes on when it is answered is the page after the first."""
        before = await self._stage_before(message)
        index = doubtful[0].page
        update = {
            "current_stage": before,
            "unit_key": child_key(join.group_key, f"page:{index}"),
            "page_index": index,
            "payload": {SPLITS: {}},
        }
        seen = {"kind": SPLIT, "splits": [doubt.as_seen() for doubt in doubtful]}
        task_id = await tasks.create(
            session,
            message.model_copy(update=update),
            task_type=TASK_TYPE,
            reference_id=pages.page_id(message.request_id, index),
            input_data=seen,
            amends=amends,
        )
        return BACKOFFICE, message.model_copy(update={"payload": {**seen, "task_id": str(task_id)}})

    async def _stage_before(self, message: PipelineMessage) -> str:
        """The stage that pages come from: a page that goes on from it arrives here again."""
        flow = await self.workflow_of(message)
        stage = flow.stage(message.current_stage)
        names = [one.name for one in flow.stages]
        return stage.after[0] if stage.after else names[names.index(stage.name) - 1]


def places(made: Sequence[Made]) -> list[Doubt]:
    """Every place between two pages, with the probability that a document begins after it."""
    pairs = [
        (index, chance) for one in made for index, chance in zip(one.page_indices, one.begins, strict=True)
    ]
    # The first page of a file begins a document for sure.
    return [Doubt(before, index, chance) for (before, _), (index, chance) in pairwise(pairs) if chance < 1.0]


async def _asked(session: AsyncSession, request_id: UUID) -> dict[tuple[int, int], Ask]:
    """The places that open tasks ask about: a correction elsewhere must not ask again."""
    by_pages: dict[tuple[int, int], Ask] = {}
    for seen in await tasks.open_inputs(session, request_id, TASK_TYPE):
        ask = Ask.AFTER if seen.get(tasks.AMENDS) else Ask.BEFORE
        if seen.get("kind") == SPLIT:
            by_pages |= {(split["pages"][0], split["pages"][1]): ask for split in seen["splits"]}
    return by_pages


async def _keep_answers(session: AsyncSession, message: PipelineMessage) -> None:
    """A person said where documents begin: it stands with the pages, for this and every later grouping."""
    said: dict[str, Any] = message.payload.get(SPLITS) or {}
    if not said:
        return
    answers = {int(index): None if begins is None else bool(begins) for index, begins in said.items()}
    rows = [row for row in await pages.of_request(session, message.request_id) if row.page_index in answers]
    await pages.change_many(
        session,
        [{"id": row.id, "marks": {**(row.marks or {}), BEGINS: answers[row.page_index]}} for row in rows],
    )


def _emission(message: PipelineMessage, made: Made, texts: dict[int, str], total: int | None) -> Emission:
    first, last = made.page_indices[0], made.page_indices[-1]
    emitted = message.model_copy(
        update={
            "unit_key": f"document:{first}-{last}",
            "page_index": None,
            "file_index": None,
            "document_id": made.document_id(message.request_id),
            "document_count": total,
            "payload": {
                "doc_type": made.doc_type,
                "page_indices": list(made.page_indices),
                "boundary_confidence": round(made.standing.boundary, 4),
                "ocr_texts": [texts.get(index, "") for index in made.page_indices],
            },
        }
    )
    return NEXT, emitted
