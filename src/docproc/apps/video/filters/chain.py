"""Chains: filters one after another, made of what a client asks for, checked before anything is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

from pydantic import ValidationError

from docproc.apps.video.errors import Code, VideoError
from docproc.apps.video.filters.filter import ENTRY_POINT_GROUP, Filter, Image, Parameters
from docproc.installed import find_points

CUSTOM = "custom"

# {"name": "blur", "size": 9}: as it travels in handshakes, tasks and answers.
Spec = Mapping[str, Any]


@cache
def installed() -> dict[str, type[Filter[Any]]]:
    """The filters of all installed packages, by name."""
    return {point.name: point.load() for point in find_points(ENTRY_POINT_GROUP)}


class Chain:
    """What is done to each frame of a film."""

    def __init__(self, filters: Sequence[Filter[Any]]) -> None:
        self.filters = tuple(filters)
        # How many earlier frames of the film its last filter sees through the others.
        self.history = sum(one.history for one in self.filters)

    @classmethod
    def of(cls, specs: Sequence[Spec]) -> Chain:
        """Raises VideoError for an unknown filter or parameters it does not take."""
        return cls([_make(spec) for spec in specs])

    @property
    def specs(self) -> list[dict[str, Any]]:
        """As `of` takes it, defaults written out: workers of two releases do the same."""
        return [{"name": one.name, **one.parameters.model_dump()} for one in self.filters]

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.filters]

    def apply(self, frames: Sequence[Image]) -> Image:
        """The filtered last one of `frames`, which are `history` + 1 (fewer where the film begins).

        Every filter compares what the one before it made of the earlier frames, as it would in one process
        that goes through the film.
        """
        images = [frames[0]] * (self.history + 1 - len(frames)) + list(frames)
        for one in self.filters:
            last = range(one.history, len(images))
            images = [one.apply(images[place - one.history : place + 1]) for place in last]
        return images[-1]

    def size(self, width: int, height: int, most_pixels: int | None = None) -> tuple[int, int]:
        """Of its results. Raises VideoError where a frame would become too large on its way."""
        for one in self.filters:
            width, height = one.size(width, height)
            if most_pixels is not None and width * height > most_pixels:
                made = f"{one.name} would make frames of {width} × {height}"
                said = f"{made}, at most {most_pixels} pixels are taken"
                raise VideoError(said, code=Code.RESOLUTION_TOO_LARGE)
        return width, height


def requested(processing: str, filters: Sequence[Any], most: int) -> Chain:
    """The chain that `processing` and `filters` of a handshake or a command mean."""
    specs = [{"name": one} if isinstance(one, str) else one for one in filters]
    if any(not isinstance(one, Mapping) for one in specs):
        raise VideoError("a filter is a name, or an object with a name", code=Code.BAD_PARAMETERS)
    if processing != CUSTOM:
        _check_name(processing)
        specs = specs or [{"name": processing}]
        if [one.get("name") for one in specs] != [processing]:
            raise VideoError(
                f"processing {processing!r} takes the parameters of that filter alone",
                code=Code.BAD_PARAMETERS,
                remedy="Use processing custom for a chain of filters",
            )
    if not specs:
        raise VideoError("processing custom names no filters", code=Code.BAD_PARAMETERS)
    if len(specs) > most:
        raise VideoError(f"{len(specs)} filters, at most {most} are taken", code=Code.TOO_MANY_FILTERS)
    return Chain.of(specs)


def _make(spec: Spec) -> Filter[Any]:
    kind = _check_name(str(spec.get("name", "")))
    model: type[Parameters] = kind.parameters_model
    try:
        parameters = model.model_validate({key: value for key, value in spec.items() if key != "name"})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        where = ".".join(map(str, (kind.name, *first["loc"])))
        said = f"{where}: {first['msg']}"
        raise VideoError(said, code=Code.BAD_PARAMETERS, remedy="See docproc video filters") from error
    return kind(parameters)


def _check_name(name: str) -> type[Filter[Any]]:
    known = installed()
    if name not in known:
        raise VideoError(
            f"there is no filter {name!r}",
            code=Code.UNKNOWN_FILTER,
            remedy=f"Use one of: {', '.join(sorted(known))}, {CUSTOM}",
        )
    return known[name]
