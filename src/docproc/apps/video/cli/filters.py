"""`docproc video filters`: what there is, and what it takes."""

from __future__ import annotations

from typing import Any

from rich.table import Table

from docproc.apps.video.cli.options import AsJson
from docproc.terminal.output import console, load_settings, print_json


def filters(as_json: bool = AsJson) -> None:
    """List the installed filters and their parameters."""
    from docproc.apps.video.filters.chain import installed

    load_settings()
    found = {name: kind.parameters_model.model_json_schema() for name, kind in sorted(installed().items())}
    if as_json:
        return print_json(found)
    table = Table("filter", "parameter", "default", "what it may be", box=None, header_style="bold")
    for name, schema in found.items():
        for place, (key, said) in enumerate(schema["properties"].items()):
            default = said.get("default")
            table.add_row("" if place else name, key, "" if default is None else str(default), _range(said))
    console.print(table)


def _range(said: dict[str, Any]) -> str:
    options = said.get("anyOf", [said])
    one = next((each for each in options if each.get("type") != "null"), said)
    if "enum" in one:
        return ", ".join(map(str, one["enum"]))
    least = one.get("minimum", one.get("exclusiveMinimum", one.get("minLength")))
    most = one.get("maximum", one.get("exclusiveMaximum", one.get("maxLength")))
    kind = {"string": "text of length"}.get(one.get("type", ""), one.get("type", ""))
    return kind if least is None and most is None else f"{kind} {least} to {most}"
