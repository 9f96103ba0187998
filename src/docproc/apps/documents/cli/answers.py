"""A request's answer as people read it: documents, their fields, what is doubtful and what is missing.

Works on the status object (`GET /status/{id}`), wherever it came from. Pages are counted from 1 here, as
people do; the JSON counts from 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from docproc.terminal.view import Status, heading

DOUBTFUL, MISSING = "?", "✗"
# What `needs_review` names beside fields: its word here, and the figure that says how sure it is.
OF_DOCUMENTS = {
    "doc_type": ("type", "doc_type_confidence"),
    "boundary": ("boundary", "boundary_confidence"),
}
# Sources whose values stand on no page.
NOT_PRINTED = {
    "memory": "remembered",
    "embedded": "attached data",
    "operator": "a person said so",
    "component": "a component said so",
}


def render(name: str, status: Status) -> RenderableType:
    """Everything there is to say about one request."""
    result = status["result"] or {}
    parts = heading(name, status, _counted(status["page_count"], "page"))
    parts += _files(result.get("files") or [])
    parts += _missing(result.get("missing") or [])
    for number, document in enumerate(result.get("documents") or [], start=1):
        parts += [_document(number, document), _fields(document)]
    return Group(*parts)


def _counted(number: int | None, what: str) -> str:
    return "" if number is None else f"{number} {what}{'' if number == 1 else 's'}"


def _files(files: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    """Which pages are whose, where there are several files; problems and notes always."""
    first = 0
    for file in files:
        count = file["page_count"]
        line = Text.assemble("  ", file["name"])
        if len(files) > 1 and count:
            line.append(f"  {pages(range(first, first + count))}", style="dim")
        if file["problem"]:
            line.append(f"  {file['problem']}", style="red")
        if file["notes"]:
            line.append(f"  {'; '.join(file['notes'])}", style="dim")
        if len(files) > 1 or file["problem"] or file["notes"]:
            yield line
        first += count


def _missing(missing: Sequence[Mapping[str, Any]]) -> Iterator[Text]:
    asked: dict[str, list[str]] = {}
    for item in missing:
        unit = readable_unit(str(item["unit"]))
        if item.get("field"):
            asked.setdefault(unit, []).append(str(item["field"]))
            continue
        why = item.get("detail") or str(item["reason"]).replace("_", " ")
        yield Text(f"  {MISSING} no result for {unit}: {why}", style="red")
    for unit, fields in asked.items():
        yield Text(f"  {DOUBTFUL} a person is asked about {unit}: {', '.join(fields)}", style="yellow")


def readable_unit(unit: str) -> str:
    """`page:0` is page 1 for people, `document:0-1` the document on pages 1–2; anything else stays."""
    kind, _, rest = unit.partition(":")
    first, _, last = rest.partition("-")
    if kind == "page" and rest.isdecimal():
        return f"page {int(rest) + 1}"
    if kind == "document" and first.isdecimal() and last.isdecimal():
        return f"the document on {pages(range(int(first), int(last) + 1))}"
    return unit


def pages(indices: Sequence[int]) -> str:
    """`pages 1–3`, from indices that count from 0."""
    if not indices:
        return "no page"
    first, last = indices[0] + 1, indices[-1] + 1
    if first == last:
        return f"page {first}"
    if last - first + 1 == len(indices):
        return f"pages {first}–{last}"
    return "pages " + ", ".join(str(index + 1) for index in indices)


def _document(number: int, document: Mapping[str, Any]) -> Text:
    line = Text.assemble(f"  {number}. ", (str(document["doc_type"] or "unknown"), "bold cyan"))
    line.append(f"  {pages(document['page_indices'])}")
    if document["extraction_confidence"] is not None:
        line.append(f"  {percent(document['extraction_confidence'])}", style="dim")
    if document["status"] != "completed":
        line.append(f"  {document['status']}", style="red")
    elif document["needs_review"]:
        line.append("  to be checked", style="yellow")
    for doubt in doubts_of(document):
        line.append(f"  {DOUBTFUL} {doubt}", style="yellow")
    return line


def doubts_of(document: Mapping[str, Any]) -> list[str]:
    """What is doubtful about the document itself, and how sure it is: `type 55 %`, `boundary 62 %`."""
    told = []
    for name, (word, key) in OF_DOCUMENTS.items():
        if name in (document["needs_review"] or ()):
            sure = document.get(key)
            told.append(word if sure is None else f"{word} {percent(sure)}")
    return told


def percent(confidence: float) -> str:
    # Rounded down: only what is certain says 100 %.
    return f"{int(confidence * 100 + 1e-9)} %"


def _fields(document: Mapping[str, Any]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(width=6, justify="right")
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_column(justify="right", no_wrap=True)
    table.add_column(style="dim")
    for row in field_rows(document):
        table.add_row(*row)
    return table


def _readable(value: Any) -> str:
    """A table in as many words as fit on a line; the JSON has its rows."""
    return _counted(len(value), "row") if isinstance(value, list) else str(value)


def _place(field: Mapping[str, Any]) -> str:
    page = "" if field["page"] is None else pages([field["page"]])
    return page if field.get("box") else NOT_PRINTED.get(str(field.get("source")), page)


def field_rows(document: Mapping[str, Any]) -> Iterator[tuple[Text, Text, Text, Text, Text]]:
    """Mark, field, value, confidence, and page and reason for doubt of every field that was asked for."""
    fields, doubtful = document["fields"] or {}, set(document["needs_review"] or [])
    named = [*(document["extracted_data"] or {}), *fields]
    for name in dict.fromkeys([*named, *sorted(doubtful - set(OF_DOCUMENTS))]):
        field = fields.get(name)
        if field is None:
            is_required = name in doubtful
            style = "red" if is_required else "dim"
            mark, value = (MISSING, "not found") if is_required else ("", "–")
            yield Text(mark, style), Text(name, style), Text(value, style), Text(), Text()
        else:
            style = "yellow" if name in doubtful else ""
            mark = DOUBTFUL if name in doubtful else ""
            confidence, page = percent(field["confidence"]), _place(field)
            why = f"{page}  {field['reason']}" if field.get("reason") else page
            yield (
                Text(mark, style), Text(name), Text(_readable(field["value"]), style or "bold"),
                Text(confidence, style), Text(why),
            )  # fmt: skip
