"""`docproc learn`: what is better is kept and used at once, what is worse is not."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import numpy
import pytest

from docproc.apps.documents.quality import labels, learning, verdicts
from docproc.apps.documents.quality.fitting import fields, scoring
from docproc.apps.documents.quality.labels import Folder, LabelledDocument, LabelledFile
from docproc.apps.documents.quality.learning import Kind, Learner, Material
from docproc.apps.documents.quality.measure import FileVerdict, PageVerdict
from docproc.apps.documents.quality.understand import How
from docproc.apps.documents.understanding import classify, models
from docproc.apps.documents.understanding.extract import calibrate
from docproc.apps.documents.understanding.extract.scorer import Weights
from docproc.apps.documents.understanding.extract.spec import FieldSpec
from docproc.engine.running.pools import Pools
from docproc.errors import UsageError
from docproc.reading.page import PageText, unpack
from tests import papers

SCHEMAS = {"invoice": [FieldSpec("total_amount", "decimal")]}


@pytest.fixture
async def pools() -> AsyncIterator[Pools]:
    pools = Pools(workers=1)
    yield pools
    pools.close()


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    """Two invoices and a letter."""
    place = tmp_path / "labelled"
    place.mkdir()
    invoice = LabelledDocument(doc_type="invoice", page_indices=(0,), fields={"total_amount": "121.00"})
    letter = LabelledDocument(doc_type="other", page_indices=(0,))
    files = []
    for name, lines, document in (
        ("a.pdf", papers.INVOICE, invoice),
        ("b.pdf", (*papers.INVOICE, "Gracias"), invoice),
        ("c.pdf", papers.LETTER, letter),
    ):
        (place / name).write_bytes(papers.pdf(lines))
        files.append(LabelledFile(file=name, documents=(document,)))
    (place / "labels.jsonl").write_text("".join(f"{file.model_dump_json()}\n" for file in files))
    return Folder("labelled", place, tuple(files))


def write(folder: Path, sign: float) -> None:
    stored = models.arrays(classify.MODEL)
    folder.mkdir(parents=True, exist_ok=True)
    numpy.savez(folder / "classifier.npz", **{**stored, "weights": stored["weights"] * sign})  # type: ignore[arg-type] # arrays only


def unlearn(_folders: Sequence[Path], into: Path, _readings: Path | None) -> str:
    write(into, -1.0)
    return "all is the other way round"


def relearn(_folders: Sequence[Path], into: Path, _readings: Path | None) -> str:
    write(into, 1.0)
    return "as it was packaged"


async def test_worse_weights_are_dropped_and_better_ones_used(
    folder: Folder, pools: Pools, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    material = Material((folder,), (folder,))
    installed = tmp_path / "models"

    async def learn(train: learning.Trainer, work: str) -> learning.Learnt:
        monkeypatch.setattr(learning, "KINDS", (Kind("classifier", train, verdicts.of_classifier, 1),))
        how = How(SCHEMAS, keep=tmp_path / "readings")
        learner = Learner(how, pools, tmp_path / work, installed, lambda _: None)
        learnt = await learner.learn(material, learning.known_types(installed))
        learning.install(learner.candidate, installed, learnt)
        return learnt

    (trial,) = (await learn(unlearn, "one")).trials
    assert not trial.decision.kept and "page accuracy" in trial.decision.why
    assert not installed.exists()

    write(installed, -1.0)  # a bad day
    page = _invoice(tmp_path / "readings")
    with models.using(installed):
        assert classify.classify(page).doc_type != "invoice"
    learnt = await learn(relearn, "two")
    assert [(trial.name, trial.decision.kept) for trial in learnt.trials] == [("classifier", True)]
    # No restart: the same process reads them anew.
    with models.using(installed):
        assert classify.classify(page).doc_type == "invoice"
    assert "as it was packaged" in (installed / learning.HISTORY).read_text()


def _invoice(readings: Path) -> PageText:
    pages = [unpack(path.read_bytes()) for path in readings.glob("*.words")]
    return next(page for page in pages if "TOTAL FACTURA" in page.text)


async def test_with_few_documents_weights_are_left_alone(
    folder: Folder, pools: Pools, tmp_path: Path
) -> None:
    learner = Learner(How(SCHEMAS), pools, tmp_path / "work", None, lambda _: None)
    learnt = await learner.learn(Material((folder,), (folder,)), ("invoice", "other"))
    assert [(trial.figures, trial.decision.kept) for trial in learnt.trials] == [((), False), ((), False)]
    assert all("too few" in trial.decision.why for trial in learnt.trials)


def test_files_that_one_of_the_two_could_not_read_do_not_count() -> None:
    def verdict(name: str, found: str | None) -> FileVerdict:
        page = PageVerdict(Path(name), 0, "invoice", found, 0.9, None)
        problem = None if found else "the child died"
        none: dict[str, Any] = {"documents": (), "found": (), "rotations": ()}
        return FileVerdict(file=Path(name), pages=(page,), problem=problem, **none)

    before = [verdict("a", "other"), verdict("b", None)]
    after = [verdict("a", "invoice"), verdict("b", "invoice")]
    old, new = learning.compared(before, after)
    assert (old["pages"]["n"], old["pages"]["accuracy"]) == (1, 0.0)
    assert (new["pages"]["n"], new["pages"]["accuracy"]) == (1, 1.0)


# --- what is learnt from, and what is measured on -------------------------------------------------------


def test_golden_files_are_not_learnt_from(folder: Folder, tmp_path: Path) -> None:
    golden = tmp_path / "golden"
    golden.mkdir()
    (golden / "other-name.pdf").write_bytes((folder.path / "a.pdf").read_bytes())
    line = LabelledFile(file="other-name.pdf", documents=folder.files[0].documents).model_dump_json()
    (golden / "labels.jsonl").write_text(line)
    material = learning.gather([folder.path], [golden], tmp_path / "work")
    assert [file.file for each in material.learnt for file in each.files] == ["b.pdf", "c.pdf"]
    assert [each.path for each in material.golden] == [golden]
    with pytest.raises(UsageError, match="nothing is left"):
        learning.gather([folder.path], [folder.path], tmp_path / "more")


def test_every_fourth_file_is_held_back_whatever_comes_beside(tmp_path: Path) -> None:
    def files(count: int) -> Folder:
        made = []
        for number in range(count):
            (tmp_path / f"{number}.txt").write_text(str(number))
            document = LabelledDocument(doc_type="other", page_indices=(0,))
            made.append(LabelledFile(file=f"{number}.txt", documents=(document,)))
        return Folder("some", tmp_path, tuple(made))

    few = files(7)
    assert learning.divide(few, few.files) == (list(few.files), [])
    many = files(16)
    learnt, apart = learning.divide(many, many.files)
    assert (len(learnt), len(apart)) == (12, 4)
    assert learning.divide(many, many.files[::-1])[1] == apart[::-1]


def test_divided_folders_can_be_read_again(folder: Folder, tmp_path: Path) -> None:
    (made,) = learning._written(folder, folder.files[:2], tmp_path / "part")
    assert labels.read([made.path])[0].files == folder.files[:2]


# --- confidences ----------------------------------------------------------------------------------------


def test_new_fields_can_be_learnt_without_packaged_weights(folder: Folder, tmp_path: Path) -> None:
    told = fields.train([folder.path], tmp_path / "models", None)
    assert "2 documents, 2 fields" in told
    stored = models.arrays("extraction", tmp_path / "models")
    assert tuple(stored["signals"]) == calibrate.SIGNALS


def test_values_that_were_wrong_lower_all_confidences(folder: Folder, tmp_path: Path) -> None:
    known = [*scoring.examples(fields.documents([folder.path], None))]
    chosen = [
        (example, ranking, False) for example, ranking, _ in (scoring.chosen(e, _none()) for e in known)
    ]
    plain = fields._calibration({})
    lowered = fields.shift(chosen * 10, plain)
    before, after = ({kind: row[0] for kind, row in each.items()} for each in (plain, lowered))
    assert all(after[kind] < before[kind] - 0.3 for kind in before)
    assert fields.shift([], plain) == plain


def _none() -> Weights:
    return Weights({}, {})
