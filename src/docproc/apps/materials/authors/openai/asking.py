"""Asking a model: the answer that is kept, else a call; a reply that cannot be used is sent back, a few
times."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from typing import TypeVar

from docproc.apps.materials.answers import Completion, KeptAnswers
from docproc.apps.materials.authors.openai import prompts
from docproc.apps.materials.authors.openai.client import Model
from docproc.apps.materials.authors.openai.replies import BadReplyError, Reply, parsed
from docproc.apps.materials.errors import MaterialError

R = TypeVar("R", bound=Reply)
T = TypeVar("T")


class Asker:
    """One material's questions to one model."""

    def __init__(self, model: Model, kept: KeptAnswers, repairs: int) -> None:
        self.model = model
        self.kept = kept
        self.repairs = repairs

    async def ask(
        self, step: str, messages: Sequence[prompts.Message], kind: type[R], make: Callable[[R], T]
    ) -> T:
        """What `make` makes of the reply; it may raise BadReplyError for what the shape does not show.

        Raises MaterialError (`bad_answer`) when the last repair is of no use either, and what the model
        raises.
        """
        said = list(messages)
        problem = ""
        for _ in range(self.repairs + 1):
            completion = await self._completion(step, said, kind)
            try:
                return make(parsed(completion.text, kind, is_cut_off=completion.is_cut_off))
            except BadReplyError as error:
                problem = str(error)
                said = prompts.repair(messages, completion.text, problem)
        # They are paid for and of no use: whoever tries again must not get the same ones.
        await self.kept.discard(step)
        raise MaterialError(
            f"the model's answers cannot be used ({step}): {problem}",
            code="bad_answer",
            remedy="Try again, or set another DOCPROC_MATERIALS_MODEL",
        )

    async def _completion(
        self, step: str, messages: Sequence[prompts.Message], kind: type[Reply]
    ) -> Completion:
        schema = kind.model_json_schema()
        return await self.kept.ask(
            step, self._prompt_hash(messages), lambda: self.model.complete(messages, schema)
        )

    def _prompt_hash(self, messages: Sequence[prompts.Message]) -> str:
        """Of all that the answer depends on: another model or prompt is another question."""
        said = {**self.model.parameters(messages, {}), "url": self.model.settings.materials_model_url}
        return hashlib.sha256(json.dumps(said, sort_keys=True).encode()).hexdigest()
