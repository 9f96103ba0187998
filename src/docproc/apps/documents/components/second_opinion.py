"""A language model's second opinion on fields that the rules leave missing or doubtful."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import structlog

from docproc.apps.documents.components.extraction_jobs import Fields, Job, Opened, open_all, settle_all
from docproc.apps.documents.language_model import LanguageModel

log = structlog.get_logger()


class SecondOpinion:
    """Extracts like the rules, then asks; without an answer the rules' result stands.

    Not leased beforehand: a message that is handled twice asks twice, which is rare and harmless.
    """

    def __init__(self, model: LanguageModel, offload: Callable[..., Awaitable[Any]]) -> None:
        self._model = model
        self._offload = offload

    async def extract(self, jobs: Sequence[Job], thresholds: Sequence[float | None]) -> list[Fields]:
        """The fields of each document; the model is asked below its threshold, None: not at all."""
        opened = await self._offload(open_all, jobs, thresholds)
        answers = await asyncio.gather(*map(self._answer, opened))
        settled = await self._offload(settle_all, jobs, opened, answers)
        for _, problem in settled:
            if problem:
                log.warning("language_model_answer_unusable", problem=problem)
        return [fields for fields, _ in settled]

    async def _answer(self, opened: Opened) -> str | None:
        return await self._model.answer(opened.question) if opened.question else None

    async def close(self) -> None:
        await self._model.close()
