"""What an answer changes, for the audit: of each thing that was spoken of, before and after."""

from __future__ import annotations

from collections.abc import Iterator

from docproc.apps.documents.review.classification import SplitAnswer, TypeAnswer
from docproc.apps.documents.review.extraction import FieldsAnswer
from docproc.apps.documents.review.retyping import RetypeAnswer
from docproc.engine.store.task_tables import BackofficeTask
from docproc.people.audit import Change, change
from docproc.people.kinds import asked


def of(task: BackofficeTask, answer: TypeAnswer | SplitAnswer | FieldsAnswer | RetypeAnswer) -> list[Change]:
    """What the machine had said, and what the person said; also where they agree."""
    return list(_of(task, answer))


def _of(
    task: BackofficeTask, answer: TypeAnswer | SplitAnswer | FieldsAnswer | RetypeAnswer
) -> Iterator[Change]:
    if isinstance(answer, RetypeAnswer):
        yield change("doc_type", asked(task).get("doc_type"), answer.doc_type)
    elif isinstance(answer, TypeAnswer):
        yield change("doc_type", asked(task).get("suggested_type"), answer.doc_type)
    elif isinstance(answer, SplitAnswer):
        suggested = {int(doubt["pages"][1]): bool(doubt["suggested"]) for doubt in asked(task)["splits"]}
        for page, begins in answer.begins.items():
            yield change(f"begins:{page}", suggested.get(page), begins)
    else:
        fields = asked(task).get("fields") or {}
        for name, value in answer.values.items():
            yield change(name, (fields.get(name) or {}).get("value"), value)
