"""Answers of models, kept under (request, step, prompt) before anything follows from them: nothing is paid
twice."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import func, insert, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from docproc.apps.materials.budget import Budget
from docproc.apps.materials.metrics import COST, TOKENS
from docproc.apps.materials.tables import MaterialAnswer
from docproc.engine.message import PipelineMessage, utc_now
from docproc.engine.store.session import Store, until_passed

_DISCARDED = "discarded:"
_TABLE: Any = MaterialAnswer.__table__


@dataclass(frozen=True, slots=True)
class Completion:
    """What a model wrote."""

    text: str
    # The answer ran into the limit of its length.
    is_cut_off: bool
    prompt_tokens: int
    completion_tokens: int


@dataclass(frozen=True, slots=True)
class Spent:
    """What models were asked, and what it cost."""

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0
    model: str = ""

    @property
    def tokens(self) -> int:
        return self.prompt_tokens + self.completion_tokens


class KeptAnswers:
    """The answers of one request. Whoever asks holds its message's lease, so nobody else asks the same."""

    def __init__(self, store: Store, message: PipelineMessage, model: str, budget: Budget) -> None:
        self.store = store
        self.request_id = message.request_id
        self.tenant_id = message.tenant_id
        self.model = model
        self.budget = budget

    async def ask(self, step: str, prompt_hash: str, call: Callable[[], Awaitable[Completion]]) -> Completion:
        """The kept answer to this prompt, else what `call` brings, kept before it is returned.

        That it is being asked is written down first: after a crash this call, and no other, is repeated, and
        `asked` says so. Raises what the budget and the call raise.
        """
        begun = await until_passed(lambda: self._begin(step, prompt_hash))
        if isinstance(begun, Completion):
            return begun
        completion = await call()
        cost = self.budget.cost(completion.prompt_tokens, completion.completion_tokens)
        # However long the database is away: this is paid for.
        await until_passed(lambda: self._keep(begun, completion, cost))
        TOKENS.labels(self.model, "input").inc(completion.prompt_tokens)
        TOKENS.labels(self.model, "output").inc(completion.completion_tokens)
        COST.labels(self.model).inc(cost)
        return completion

    async def discard(self, step: str) -> None:
        """The answers of a step are of no use: they stay in the accounts and answer nothing any more."""

        async def forget() -> None:
            async with self.store.writing() as session:
                await session.execute(
                    update(MaterialAnswer)
                    .where(MaterialAnswer.request_id == self.request_id, MaterialAnswer.step == step)
                    .values(step=func.substr(_DISCARDED + uuid4().hex[:12] + ":" + step, 1, 64))
                )

        await until_passed(forget)

    async def _begin(self, step: str, prompt_hash: str) -> Completion | UUID:
        """What is known, else the row that says that it is being asked, committed before the call. Nobody
        else writes to it: the statements need no transaction around them."""
        query = select(MaterialAnswer).where(
            MaterialAnswer.request_id == self.request_id,
            MaterialAnswer.step == step,
            MaterialAnswer.prompt_hash == prompt_hash,
        )
        async with self.store.writing_each() as session:
            row = await session.scalar(query)
            if row is not None and row.answer is not None:
                return Completion(row.answer, row.is_cut_off, row.prompt_tokens, row.completion_tokens)
            await self.budget.check(session, self.request_id)
            if row is not None:
                asked = {"asked": row.asked + 1, "asked_at": utc_now()}
                await session.execute(update(_TABLE).where(_TABLE.c.id == row.id).values(asked))
                return row.id
            row_id = uuid4()
            await session.execute(
                insert(_TABLE).values(
                    id=row_id,
                    tenant_id=self.tenant_id,
                    request_id=self.request_id,
                    step=step,
                    prompt_hash=prompt_hash,
                    model=self.model,
                )
            )
            return row_id

    async def _keep(self, row_id: UUID, completion: Completion, cost: float) -> None:
        async with self.store.writing_each() as session:
            await session.execute(
                update(_TABLE)
                .where(_TABLE.c.id == row_id)
                .values(
                    answer=completion.text.replace("\0", ""),
                    is_cut_off=completion.is_cut_off,
                    prompt_tokens=completion.prompt_tokens,
                    completion_tokens=completion.completion_tokens,
                    cost_usd=cost,
                    answered_at=utc_now(),
                )
            )


async def spent_by(session: AsyncSession, request_id: UUID, step: str | None = None) -> Spent:
    """By one material so far; by one of its steps, where that is named."""
    query = select(
        func.coalesce(func.sum(MaterialAnswer.asked), 0),
        func.coalesce(func.sum(MaterialAnswer.prompt_tokens), 0),
        func.coalesce(func.sum(MaterialAnswer.completion_tokens), 0),
        func.coalesce(func.sum(MaterialAnswer.cost_usd), 0.0),
        func.max(MaterialAnswer.model),
    ).where(MaterialAnswer.request_id == request_id)
    if step is not None:
        query = query.where(MaterialAnswer.step.startswith(step))
    calls, prompt, completion, cost, model = (await session.execute(query)).one()
    return Spent(int(calls), int(prompt), int(completion), float(cost), model or "")
