"""The figures of a set of files, in the form that tools rely on (DESIGN §10), with more beside."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from docproc.apps.documents.quality import metrics
from docproc.apps.documents.quality.measure import (
    Cause,
    DocumentVerdict,
    FieldVerdict,
    FileVerdict,
    PageVerdict,
)

LEAST_AUROC = 0.7  # below, a confidence does not separate right answers from wrong ones (DESIGN §5)
ENOUGH = 10  # least right answers, and least wrong ones, for an AUROC to mean anything
TARGETS = {"99": 0.99, "95": 0.95}

Summary = dict[str, Any]


def summarise(files: Sequence[FileVerdict]) -> Summary:
    pages = [page for file in files for page in file.pages]
    documents = [document for file in files for document in file.documents]
    fields = [field for document in documents for field in document.fields]
    calibration = {
        "classification": _calibration([(page.confidence, page.right) for page in pages if page.found]),
        "extraction": _calibration(
            [(each.confidence, each.right) for each in fields if each.value is not None]
        ),
    }
    summary = {
        "pages": _pages(pages),
        "documents": _documents(files, documents),
        "fields": _fields(fields),
        "calibration": calibration,
        "automation": _automation(documents, fields),
        "errors": _errors(fields),
        "cpu_s_per_page": _cpu(pages),
        "warnings": _warnings(calibration),
    }
    if problems := [f"{file.file.name}: {file.problem}" for file in files if file.problem]:
        summary["problems"] = problems
    return summary


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def _interval(interval: tuple[float, float] | None) -> list[float] | None:
    return None if interval is None else [round(edge, 4) for edge in interval]


def _pages(pages: Sequence[PageVerdict]) -> Summary:
    right = sum(page.right for page in pages)
    confusion = Counter((page.truth, page.found or "none") for page in pages if not page.right)
    return {
        "n": len(pages),
        "accuracy": _rounded(metrics.share(right, len(pages))),
        "accuracy_ci": _interval(metrics.wilson(right, len(pages))),
        "macro_f1": _rounded(metrics.macro_f1([(page.truth, page.found) for page in pages])),
        "confusion": {f"{truth} → {answer}": n for (truth, answer), n in confusion.most_common()},
    }


def _documents(files: Sequence[FileVerdict], documents: Sequence[DocumentVerdict]) -> Summary:
    wanted = [(each.file, each.doc_type, each.pages) for each in documents]
    answered = [(file.file, doc_type, pages) for file in files for doc_type, pages in file.found]
    typed = len(set(wanted) & set(answered))
    split = len({(file, pages) for file, _, pages in wanted} & {(file, pages) for file, _, pages in answered})
    return {
        "n": len(wanted),
        "found": len(answered),
        "split_f1": _rounded(metrics.f1(split, len(answered), len(wanted))),
        "typed_split_f1": _rounded(metrics.f1(typed, len(answered), len(wanted))),
        "right": _rounded(metrics.share(sum(each.right for each in documents), len(documents))),
    }


def _fields(fields: Sequence[FieldVerdict]) -> Summary:
    types = sorted({field.doc_type for field in fields})
    of_type = {kind: [field for field in fields if field.doc_type == kind] for kind in types}
    by_type = {
        kind: {
            name: _scores([field for field in own if field.name == name])
            for name in sorted({field.name for field in own})
        }
        for kind, own in of_type.items()
    }
    f1_by_type = {kind: _scores(own)["f1"] for kind, own in of_type.items()}
    overall = _scores(fields)
    return {
        **overall,
        "macro_f1": _rounded(metrics.mean(f1_by_type.values())),
        "f1_by_type": f1_by_type,
        "by_type": by_type,
    }


def _scores(fields: Sequence[FieldVerdict]) -> Summary:
    """Exact matches: `n` values are labelled; a value where the label says "absent" costs precision."""
    labelled = [field for field in fields if field.truth is not None]
    answered = sum(field.value is not None for field in fields)
    right = sum(field.right for field in labelled)
    return {
        "f1": _rounded(metrics.f1(right, answered, len(labelled))),
        "n": len(labelled),
        "precision": _rounded(metrics.share(right, answered)),
        "recall": _rounded(metrics.share(right, len(labelled))),
        "similarity": _rounded(metrics.mean(field.similarity for field in labelled)),
    }


def _calibration(answers: Sequence[tuple[float, bool]]) -> Summary:
    confidences, right = [sure for sure, _ in answers], [good for _, good in answers]
    bins = metrics.reliability(confidences, right)
    return {
        "ece": _rounded(metrics.ece(confidences, right)),
        "auroc": _rounded(metrics.auroc(confidences, right)),
        "n": len(answers),
        "wrong": right.count(False),
        "bins": [
            {"confidence": round(each.confidence, 4), "accuracy": round(each.accuracy, 4), "n": each.n}
            for each in bins
        ],
    }


def _automation(documents: Sequence[DocumentVerdict], fields: Sequence[FieldVerdict]) -> Summary:
    """Documents that could go straight through, and beside them single fields."""
    whole = [(document.confidence, document.right) for document in documents]
    single = [(field.straight, field.right) for field in fields if field.truth or field.value is not None]
    shares: Summary = {"n": len(whole)}
    for name, target in TARGETS.items():
        shares |= _straight(f"at_{name}", whole, target)
    for name, target in TARGETS.items():
        shares |= _straight(f"fields_at_{name}", single, target)
    proof = metrics.needed(TARGETS["99"])
    if len(whole) < proof:
        few = "1 document" if len(whole) == 1 else f"{len(whole)} documents"
        shares["note"] = f"{few} cannot prove 99 %: that takes {proof} right ones in a row"
    return shares


def _straight(name: str, answers: Sequence[tuple[float, bool]], target: float) -> Summary:
    best = metrics.automation([sure for sure, _ in answers], [good for _, good in answers], target)
    if best is None:
        return {name: None}
    return {
        name: round(best.share, 4),
        f"{name}_ci": _interval(best.interval),
        f"{name}_threshold": _rounded(best.threshold),
        f"{name}_precision_ci": _interval(
            metrics.wilson(round((best.precision or 0) * best.accepted), best.accepted)
        ),
    }


def _errors(fields: Iterable[FieldVerdict]) -> dict[str, int]:
    counts = Counter(field.cause for field in fields if field.cause)
    return {cause.value: counts[cause] for cause in Cause if counts[cause]}


def _cpu(pages: Sequence[PageVerdict]) -> float | None:
    """Over the pages whose reading was measured, now or when it was kept."""
    return _rounded(metrics.mean(page.cpu_seconds for page in pages))


def _warnings(calibration: Summary) -> list[str]:
    warnings = []
    for stage, of in calibration.items():
        enough = min(of["wrong"], of["n"] - of["wrong"]) >= ENOUGH
        if enough and of["auroc"] < LEAST_AUROC:
            warnings.append(
                f"{stage} may not decide alone: its confidence does not tell right from wrong"
                f" (AUROC {of['auroc']:.2f}, below {LEAST_AUROC})"
            )
    return warnings
