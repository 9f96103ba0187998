"""The figures of an evaluation as tables for people, and the wrong fields as rows for machines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

if TYPE_CHECKING:
    from docproc.apps.documents.quality.evaluation import Evaluation
    from docproc.apps.documents.quality.measure import FieldVerdict, FileVerdict

NONE = "–"


def render(name: str, summary: Mapping[str, Any]) -> RenderableType:
    """One folder: the main figures, then a line for each field."""
    parts: list[RenderableType] = [Text(name, style="bold"), _overview(summary)]
    if summary["fields"]["by_type"]:
        parts.append(_fields(summary["fields"]["by_type"]))
    if summary["errors"]:
        causes = " · ".join(f"{cause} {n}" for cause, n in summary["errors"].items())
        parts.append(Text(f"  wrong fields by cause: {causes}"))
    if confusion := summary["pages"]["confusion"]:
        parts.append(Text("  wrong types: " + " · ".join(f"{pair} {n}" for pair, n in confusion.items())))
    if note := summary["automation"].get("note"):
        parts.append(Text(f"  {note}", style="dim"))
    parts += [Text(f"  {problem}", style="red") for problem in summary.get("problems", ())]
    parts += [Text(f"  warning: {warning}", style="yellow") for warning in summary["warnings"]]
    return Group(*parts, Text())


def _overview(summary: Mapping[str, Any]) -> Table:
    pages, documents, automation = summary["pages"], summary["documents"], summary["automation"]
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_row(
        "  pages", str(pages["n"]), "accuracy", _percent(pages["accuracy"]), _range(pages["accuracy_ci"])
    )
    table.add_row("", "", "macro F1", _number(pages["macro_f1"]))
    table.add_row("  documents", str(documents["n"]), "split F1", _number(documents["split_f1"]))
    table.add_row("", "", "typed split F1", _number(documents["typed_split_f1"]))
    table.add_row("", "", "all right", _percent(documents["right"]))
    table.add_row("  fields", str(summary["fields"]["n"]), "F1", _number(summary["fields"]["f1"]))
    for stage, of in summary["calibration"].items():
        table.add_row(
            f"  {stage}", str(of["n"]), "ECE · AUROC", f"{_number(of['ece'])} · {_number(of['auroc'])}"
        )
    for target in ("99", "95"):
        share = _percent(automation[f"at_{target}"])
        table.add_row(
            "  straight through" if target == "99" else "",
            "",
            f"at {target} %",
            share,
            _range(automation.get(f"at_{target}_ci")),
        )
    cpu = summary["cpu_s_per_page"]
    table.add_row("  CPU", "", "per page", NONE if cpu is None else f"{cpu:.2f} s")
    return table


def _fields(by_type: Mapping[str, Mapping[str, Any]]) -> Table:
    table = Table(
        "  type", "field", "n", "F1", "precision", "recall", "similarity", box=None, header_style="dim"
    )
    for column in table.columns[2:]:
        column.justify = "right"
    for kind, fields in by_type.items():
        for place, (name, of) in enumerate(fields.items()):
            figures = (_number(of[key]) for key in ("f1", "precision", "recall", "similarity"))
            table.add_row("" if place else f"  {escape(kind)}", escape(name), str(of["n"]), *figures)
    return table


def render_wrong(files: Sequence[FileVerdict]) -> Table:
    table = Table(
        "file", "page", "field", "cause", "labelled", "found", "confidence", box=None, header_style="dim"
    )
    for column in table.columns:
        column.overflow = "fold"  # a name that is cut names nothing
    for field in _wrong(files):
        table.add_row(
            escape(field.file.name),
            str(field.page + 1),
            escape(field.name),
            field.cause,
            escape(field.truth or NONE),
            escape(field.value or NONE),
            _number(field.confidence),
        )
    return table


def wrong_fields(evaluation: Evaluation) -> dict[str, dict[str, Any]]:
    """By folder, under `wrong`."""
    return {
        name: {"wrong": [_row(each) for each in _wrong(files)]} for name, files in evaluation.folders.items()
    }


def _wrong(files: Sequence[FileVerdict]) -> list[FieldVerdict]:
    """The surest mistakes first: they are the ones nobody would look at."""
    fields = (field for file in files for document in file.documents for field in document.fields)
    return sorted((field for field in fields if not field.right), key=lambda field: -field.confidence)


def _row(field: FieldVerdict) -> dict[str, Any]:
    return {
        "file": field.file.name,
        "doc_type": field.doc_type,
        "found_type": field.found_type,
        "field": field.name,
        "cause": field.cause,
        "labelled": field.truth,
        "found": field.value,
        "confidence": round(field.confidence, 4),
        "similarity": round(field.similarity, 4),
        "page": field.page,
        "box": field.box and [round(edge, 4) for edge in field.box],
    }


def _number(value: float | None) -> str:
    return NONE if value is None else f"{value:.3f}"


def _percent(value: float | None) -> str:
    return NONE if value is None else f"{100 * value:.1f} %"


def _range(interval: Sequence[float] | None) -> str:
    return f"[dim]{100 * interval[0]:.1f}–{100 * interval[1]:.1f} %[/]" if interval else ""
