"""Runs the pipeline over labelled folders, in child processes, and measures what comes out."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from docproc.apps.documents.quality import matching
from docproc.apps.documents.quality.labels import ALL, Folder, LabelledFile
from docproc.apps.documents.quality.measure import FileVerdict, judge
from docproc.apps.documents.quality.summary import Summary, summarise
from docproc.apps.documents.quality.understand import How, Understood, understand
from docproc.apps.documents.schemas import schemas_of
from docproc.apps.documents.settings import DocumentsSettings, models_folder
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.engine.running.pools import Pools
from docproc.engine.workflow.definition import Workflow
from docproc.errors import ChildDiedError, ConfigurationError
from docproc.settings import Settings

Progress = Callable[[str], None]
LONGEST_SECONDS = 1800  # for one file, which may have a hundred pages to recognise


@dataclass(frozen=True)
class Evaluation:
    """The verdicts by folder."""

    folders: dict[str, list[FileVerdict]]

    @property
    def all(self) -> list[FileVerdict]:
        return [file for files in self.folders.values() for file in files]

    def summaries(self) -> dict[str, Summary]:
        """`all` first, then each folder."""
        return {ALL: summarise(self.all)} | {name: summarise(files) for name, files in self.folders.items()}


def how_of(flow: Workflow, settings: Settings, *, engine: str | None = None, keep: Path | None = None) -> How:
    """What the workflow's stages and schemas, and the settings, say of reading, types and fields."""
    stages = {stage.component: stage for stage in flow.stages}
    ocr = stages["ocr"].options if "ocr" in stages else {}
    grouping = stages["classification_aggregator"].options if "classification_aggregator" in stages else {}
    threshold = stages["extractor"].confidence_threshold if "extractor" in stages else None
    schemas = schemas_of(flow)
    return How(
        schemas={name: [field.spec for field in schema.fields] for name, schema in schemas.items()},
        keywords={name: schema.told_by for name, schema in schemas.items() if schema.told_by},
        types={name: schema.known for name, schema in schemas.items() if schema.known},
        rules={name: schema.rules for name, schema in schemas.items()},
        asked={name: schema.fields for name, schema in schemas.items()},
        threshold=settings.section(DocumentsSettings).extraction_confidence_threshold
        if threshold is None
        else threshold,
        engine=engine or ocr.get("engine") or settings.section(DocumentsSettings).ocr_engine,
        mode=ocr.get("mode", "auto"),
        given_type=grouping.get("doc_type"),
        keep=keep,
        only_engine=engine,
        models=models_folder(settings),
    )


def asking_for(folder: Folder, how: How) -> How:
    """Fields that are labelled but in no schema are asked for all the same, by their names."""
    schemas: dict[str, Sequence[FieldSpec]] = dict(how.schemas)
    documents = [document for file in folder.files for document in file.documents]
    for doc_type in sorted({document.doc_type for document in documents}):
        values: dict[str, list[str]] = {}
        for document in documents:
            for name, value in document.fields.items() if document.doc_type == doc_type else ():
                values.setdefault(name, []).extend([value] if value else [])
        known = list(schemas.get(doc_type, ()))
        new = sorted(values.keys() - {spec.name for spec in known})
        schemas[doc_type] = [*known, *(FieldSpec(name, matching.type_of(name, values[name])) for name in new)]
    return replace(how, schemas=schemas)


async def evaluate(folders: Sequence[Folder], how: How, pools: Pools, progress: Progress) -> Evaluation:
    """`progress` is told each file that is done.

    A file that fails counts as not understood: in production it would be a dead letter. When all of them
    fail for no known reason, it is not their fault, and the first error is raised.
    """
    work = _Work(pools, progress)
    try:
        async with asyncio.TaskGroup() as group:
            tasks = {
                folder.name: [group.create_task(work.judge(folder, file, own)) for file in folder.files]
                for folder, own in ((folder, asking_for(folder, how)) for folder in folders)
            }
    except ExceptionGroup as failed:  # one is enough to say, such as an engine that is not installed
        raise failed.exceptions[0] from failed
    if len(work.crashes) == sum(len(folder.files) for folder in folders):
        raise work.crashes[0]
    return Evaluation({name: [task.result() for task in started] for name, started in tasks.items()})


class _Work:
    """Files under way, as many as there are children: what waits here has not begun to use up its time."""

    def __init__(self, pools: Pools, progress: Progress) -> None:
        self.pools = pools
        self.progress = progress
        self.crashes: list[Exception] = []
        self._free = asyncio.Semaphore(pools.workers)

    async def judge(self, folder: Folder, file: LabelledFile, how: How) -> FileVerdict:
        path = folder.path_of(file)
        async with self._free:
            understood = await self._understood(path, how)
        self.progress(f"{folder.name}/{file.file}")
        return judge(path, file, understood, how.schemas)

    async def _understood(self, path: Path, how: How) -> Understood:
        try:
            async with asyncio.timeout(LONGEST_SECONDS):
                understood: Understood = await self.pools.run_in_process(understand, path, how)
                return understood
        except ChildDiedError as error:
            return Understood(problem=str(error))
        except TimeoutError:
            return Understood(problem=f"it was given up after {LONGEST_SECONDS / 60:g} minutes")
        except ConfigurationError:
            raise
        except Exception as error:  # noqa: BLE001 # one file must not cost the figures of all others
            self.crashes.append(error)
            return Understood(problem=f"{type(error).__name__}: {error}")
