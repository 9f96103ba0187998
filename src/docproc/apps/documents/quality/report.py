"""The evaluation as one page to look at: figures, reliability, and the wrong values on their pages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from docproc import __version__
from docproc.apps.documents.quality.evaluation import Evaluation
from docproc.apps.documents.quality.labels import ALL
from docproc.apps.documents.quality.measure import DocumentVerdict, FieldVerdict, FileVerdict
from docproc.apps.documents.quality.pictures import Picture, cut_out
from docproc.engine.message import utc_now
from docproc.engine.running.pools import Pools
from docproc.errors import ChildDiedError

MOST_PICTURES = 80  # some forty kilobytes each
_SIDE = 180  # of a reliability diagram, in pixels


@dataclass(frozen=True)
class Mistake:
    """A wrong field and the picture of where it stands, if there is room for one."""

    folder: str
    field: FieldVerdict
    picture: Picture | None


async def write(path: Path, evaluation: Evaluation, pools: Pools) -> None:
    """One file without anything outside it."""
    text = render(evaluation, await _mistakes(evaluation, pools))
    await asyncio.to_thread(path.write_text, text, encoding="utf-8")


def render(evaluation: Evaluation, mistakes: Sequence[Mistake]) -> str:
    environment = Environment(
        loader=PackageLoader("docproc.apps.documents.quality", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"number": _number, "percent": _percent, "dots": _dots}
    summaries = evaluation.summaries()
    if len(evaluation.folders) == 1:  # then `all` says the same
        summaries.pop(ALL)
    return environment.get_template("report.html.j2").render(
        summaries=summaries,
        mistakes=mistakes,
        pages=[
            (name, page)
            for name, files in evaluation.folders.items() for file in files for page in file.pages
            if not page.right
        ],
        splits=[(name, one) for name, files in evaluation.folders.items() for one in _wrongly_split(files)],
        side=_SIDE,
        version=__version__,
        now=utc_now(),
    )  # fmt: skip


async def _mistakes(evaluation: Evaluation, pools: Pools) -> list[Mistake]:
    """The surest first: nobody would have looked at them."""
    wrong = [
        (name, file, field)
        for name, files in evaluation.folders.items()
        for file in files
        for document in file.documents
        for field in document.fields
        if not field.right
    ]
    wrong.sort(key=lambda each: -each[2].confidence)
    shown = await asyncio.gather(*(_picture(file, field, pools) for _, file, field in wrong[:MOST_PICTURES]))
    pictures = [*shown, *[None] * (len(wrong) - len(shown))]
    return [Mistake(name, field, picture) for (name, _, field), picture in zip(wrong, pictures, strict=True)]


async def _picture(file: FileVerdict, field: FieldVerdict, pools: Pools) -> Picture | None:
    if field.page >= len(file.rotations):
        return None
    page = field.page if field.value is not None or field.seen_at is None else field.seen_at[0]
    truth = field.seen_at[1] if field.seen_at and field.seen_at[0] == page else None
    try:
        picture: Any = await pools.run_in_process(
            cut_out, field.file, page, file.rotations[page], (field.box, truth)
        )
    except ChildDiedError:
        return None
    assert picture is None or isinstance(picture, Picture)
    return picture


def _wrongly_split(files: Sequence[FileVerdict]) -> list[tuple[FileVerdict, DocumentVerdict]]:
    return [(file, one) for file in files for one in file.documents if one.pages != one.found_pages]


def _number(value: float | None) -> str:
    return "–" if value is None else f"{value:.3f}"


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f} %"


def _dots(bins: Sequence[dict[str, Any]]) -> list[tuple[float, float, float]]:
    """Of a reliability diagram: across, down, radius; a larger dot stands for more answers."""
    most = max((each["n"] for each in bins), default=1)
    return [
        (
            round(each["confidence"] * _SIDE, 1),
            round((1 - each["accuracy"]) * _SIDE, 1),
            round(2 + 4 * (each["n"] / most) ** 0.5, 1),
        )
        for each in bins
    ]
