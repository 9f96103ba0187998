"""Running over folders: what is asked for, and what the failure of a file means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from docproc.apps.documents.quality.evaluation import asking_for, evaluate
from docproc.apps.documents.quality.labels import Folder, LabelledDocument, LabelledFile
from docproc.apps.documents.quality.understand import How, Understood
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.engine.running.pools import Pools
from docproc.errors import ChildDiedError, ConfigurationError


def labelled(name: str, **fields: str | None) -> LabelledFile:
    document = LabelledDocument(doc_type="policy", page_indices=(0,), fields=fields)
    return LabelledFile(file=name, documents=(document,))


def folder(*files: LabelledFile) -> Folder:
    return Folder("golden", Path("golden"), files)


def test_labelled_fields_without_schema_are_asked_for_by_name() -> None:
    how = How({"policy": [FieldSpec("number", required=True)], "other": []})
    files = folder(labelled("a", number="1", start_date="2026-01-01", premium_amount="9.5", holder=None))
    found = asking_for(files, how).schemas
    assert found["policy"] == [
        FieldSpec("number", required=True),
        FieldSpec("holder"),
        FieldSpec("premium_amount", "decimal"),
        FieldSpec("start_date", "date"),
    ]
    assert found["other"] == []


class Faults(Pools):
    """A pool whose files end as their names say."""

    async def run_in_process(self, function: Any, *args: Any) -> Understood:
        endings: dict[str, Exception] = {
            "dies": ChildDiedError("the child died"),
            "crash": KeyError("bug"),
            "setup": ConfigurationError("not installed"),
        }
        if error := endings.get(args[0].name):
            raise error
        return Understood(problem="fine")


async def problems(*names: str) -> list[str | None]:
    files = folder(*(labelled(name) for name in names))
    done: list[str] = []
    found = await evaluate([files], How({}), Faults(), done.append)
    assert len(done) == len(names)
    return [file.problem for file in found.all]


async def test_one_file_does_not_cost_the_others() -> None:
    assert await problems("good", "dies", "crash") == ["fine", "the child died", "KeyError: 'bug'"]


async def test_when_all_files_crash_it_is_not_their_fault() -> None:
    with pytest.raises(KeyError):
        await problems("crash")


async def test_missing_engine_is_told_at_once() -> None:
    with pytest.raises(ConfigurationError, match="not installed"):
        await problems("good", "setup")
