"""Learns from what people said: trains, measures old weights against new ones, and keeps the better."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import orjson

from docproc.apps.documents.quality import evaluation, labels, verdicts
from docproc.apps.documents.quality.fitting import classifier, fields, packed
from docproc.apps.documents.quality.labels import LABELS_FILE, Folder, LabelledFile
from docproc.apps.documents.quality.measure import FileVerdict
from docproc.apps.documents.quality.summary import Summary, summarise
from docproc.apps.documents.quality.understand import How
from docproc.apps.documents.quality.verdicts import Decision, Figure
from docproc.apps.documents.understanding import classify, models
from docproc.engine.message import utc_now
from docproc.engine.running.pools import Pools
from docproc.errors import UsageError
from docproc.private import open_private, private_file, private_folder

HELD_BACK = 4  # every fourth file is not learnt from, but measured on …
_ENOUGH_TO_HOLD_BACK = 8  # … where there are that many
HISTORY = "history.jsonl"

Say = Callable[[str], None]
Trainer = Callable[[Sequence[Path], Path, Path | None], str]
Judge = Callable[[Mapping[str, Any], Mapping[str, Any]], tuple[Figure, list[Figure], list[Figure]]]


@dataclass(frozen=True, slots=True)
class Kind:
    """A set of weights that can be learnt: how, and by which figures it is judged."""

    name: str
    train: Trainer
    judge: Judge
    least: int  # labelled documents to begin with


KINDS = (
    Kind("classifier", classifier.train, verdicts.of_classifier, 20),
    Kind("extraction", fields.train, verdicts.of_extraction, 5),
)


@dataclass(frozen=True, slots=True)
class Trial:
    """What became of one kind of weights."""

    name: str
    trained: str
    figures: tuple[Figure, ...]
    decision: Decision

    def as_json(self) -> dict[str, Any]:
        figures = [{"name": f.name, "before": f.before, "after": f.after, "n": f.n} for f in self.figures]
        return {"name": self.name, "trained": self.trained, "figures": figures, **asdict(self.decision)}


@dataclass(frozen=True, slots=True)
class Learnt:
    """How much there was to learn from and to measure on, and what came of it."""

    documents: int
    golden: int
    new_types: tuple[str, ...]
    trials: tuple[Trial, ...]

    def as_json(self) -> dict[str, Any]:
        return {
            "documents": self.documents,
            "golden": self.golden,
            "new_types": list(self.new_types),
            "trials": [trial.as_json() for trial in self.trials],
        }


@dataclass(frozen=True, slots=True)
class Material:
    """Folders to learn from and folders to measure on; no file is in both."""

    learnt: tuple[Folder, ...]
    golden: tuple[Folder, ...]

    @property
    def documents(self) -> int:
        return sum(len(file.documents) for folder in self.learnt for file in folder.files)

    @property
    def types(self) -> set[str]:
        files = [file for folder in self.learnt for file in folder.files]
        return {document.doc_type for file in files for document in file.documents}


def gather(given: Sequence[Path], golden: Sequence[Path], work: Path) -> Material:
    """Divide what there is. Without golden folders every fourth file is held back, beside drawn samples."""
    folders = labels.read(given)
    measured = labels.read(golden) if golden else []
    known = {_digest(folder.path_of(file)) for folder in measured for file in folder.files}
    learnt = []
    for number, folder in enumerate(folders):
        files = [file for file in folder.files if _digest(folder.path_of(file)) not in known]
        kept, apart = (files, []) if golden else divide(folder, files)
        learnt += _written(folder, kept, work / "learn" / str(number))
        measured += _written(folder, apart, work / "golden" / str(number))
    if not golden:
        packed.unpack_golden(work / "samples")
        measured += labels.read([work / "samples"])
    if not learnt:
        raise UsageError(
            "nothing is left to learn from: all files are golden", remedy="Name folders of other documents"
        )
    return Material(tuple(learnt), tuple(measured))


def divide(folder: Folder, files: Sequence[LabelledFile]) -> tuple[list[LabelledFile], list[LabelledFile]]:
    """To learn from, and held back: always the same, whatever else is in the folder."""
    if len(files) < _ENOUGH_TO_HOLD_BACK:
        return list(files), []
    ordered = sorted(files, key=lambda file: _digest(folder.path_of(file)))
    apart = {file.file for file in ordered[::HELD_BACK]}
    return [f for f in files if f.file not in apart], [f for f in files if f.file in apart]


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _written(folder: Folder, files: Sequence[LabelledFile], into: Path) -> list[Folder]:
    """A folder with some of the files, as training and evaluation take it."""
    if not files:
        return []
    into.mkdir(parents=True)
    for file in files:
        place = into / file.file
        place.parent.mkdir(parents=True, exist_ok=True)
        place.symlink_to(folder.path_of(file))
    lines = [orjson.dumps(file.model_dump()) + b"\n" for file in files]
    (into / LABELS_FILE).write_bytes(b"".join(lines))
    return [Folder(folder.name, into, tuple(files))]


@dataclass(frozen=True)
class Learner:
    """One run. `current`: the folder of weights in use (None: the packaged ones); `work`: for scratch."""

    how: How
    pools: Pools
    work: Path
    current: Path | None
    say: Say

    async def learn(self, material: Material, known_types: Sequence[str]) -> Learnt:
        """Try each kind of weights on top of those kept before; nothing is installed."""
        self._begin()
        news = sorted(material.types - set(known_types))
        trials: list[Trial] = []
        before = await self._measured(material, "as it is")
        for kind in KINDS:
            trial, before = await self._try(kind, material, before, news if kind.name == "classifier" else [])
            trials.append(trial)
        golden = sum(len(folder.files) for folder in material.golden)
        return Learnt(material.documents, golden, tuple(news), tuple(trials))

    @property
    def candidate(self) -> Path:
        """Where the best weights so far lie."""
        return self.work / "models"

    def _begin(self) -> None:
        self.candidate.mkdir(parents=True)
        for path in self.current.glob("*.npz") if self.current and self.current.is_dir() else ():
            shutil.copyfile(path, self.candidate / path.name)

    async def _try(
        self, kind: Kind, material: Material, before: Sequence[FileVerdict], news: Sequence[str]
    ) -> tuple[Trial, Sequence[FileVerdict]]:
        if material.documents < kind.least and not news:
            few = Decision(False, f"too few documents: {material.documents}, and it takes {kind.least}")
            return Trial(kind.name, "", (), few), before
        self.say(f"learning: {kind.name}")
        attempt = self.work / f"attempt-{kind.name}"
        shutil.copytree(self.candidate, attempt)
        paths = [folder.path for folder in material.learnt]
        trained = await self.pools.run_in_process(kind.train, paths, attempt, self.how.keep)
        after = await self._measured(material, f"with the new {kind.name}", attempt)
        main, beside, by_type = kind.judge(*compared(before, after))
        decision = verdicts.decide(main, beside, by_type, news)
        if decision.kept:
            shutil.rmtree(self.candidate)
            attempt.rename(self.candidate)
        figures = (main, *beside, *(figure for figure in by_type if figure.gain))
        return Trial(kind.name, str(trained), figures, decision), after if decision.kept else before

    async def _measured(
        self, material: Material, what: str, weights: Path | None = None
    ) -> Sequence[FileVerdict]:
        total = sum(len(folder.files) for folder in material.golden)
        done = 0

        def step(_name: str) -> None:
            nonlocal done
            done += 1
            self.say(f"measuring {what}: {done}/{total}")

        how = replace(self.how, models=weights or self.candidate)
        return (await evaluation.evaluate(material.golden, how, self.pools, step)).all


def compared(before: Sequence[FileVerdict], after: Sequence[FileVerdict]) -> tuple[Summary, Summary]:
    """The figures of both on the files that both could read: a child that died says nothing of weights."""
    readable = {each.file for each in before if not each.problem} & {e.file for e in after if not e.problem}
    old, new = ([each for each in files if each.file in readable] for files in (before, after))
    return _figures(old), _figures(new)


def _figures(files: Sequence[FileVerdict]) -> Summary:
    return {**summarise(files), "by_type_pages": pages_by_type(files)}


def known_types(folder: Path | None) -> tuple[str, ...]:
    """The types that the weights in use tell apart."""
    return classify.unpacked(models.arrays(classify.MODEL, folder)).classes


def pages_by_type(files: Sequence[FileVerdict]) -> dict[str, tuple[int, int]]:
    """Right pages and all pages of each labelled type."""
    counts: dict[str, tuple[int, int]] = {}
    for page in (page for file in files for page in file.pages):
        right, whole = counts.get(page.truth, (0, 0))
        counts[page.truth] = right + page.right, whole + 1
    return counts


def install(fitted: Path, folder: Path, learnt: Learnt) -> list[str]:
    """Put the weights that were kept where the components look; they read them anew at once."""
    kept = [trial.name for trial in learnt.trials if trial.decision.kept]
    if not kept:
        return []
    private_folder(folder)
    for path in sorted(fitted.glob("*.npz")):
        temporary = folder / f".{path.name}.{os.getpid()}"
        shutil.copyfile(path, private_file(temporary))
        temporary.replace(folder / path.name)  # whole or not at all: components read while we write
    with open_private(folder / HISTORY, "ab") as history:
        history.write(orjson.dumps({"at": utc_now().isoformat(), **learnt.as_json()}) + b"\n")
    return kept
