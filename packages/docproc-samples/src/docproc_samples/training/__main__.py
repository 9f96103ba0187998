"""Trains every model, from samples and the labelled folders given: `make train DATA="folder …"`."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path

from docproc.apps.documents.quality.fitting import classifier
from docproc.apps.documents.understanding.models import PACKAGED
from docproc_samples.training import boundaries, extraction, packing


def _packed(folders: Sequence[Path], into: Path, readings: Path | None) -> str:
    return packing.pack()


def _boundaries(folders: Sequence[Path], into: Path, readings: Path | None) -> str:
    return boundaries.train(into)


# In this order: the classifier is fitted to what was packed, and boundaries are learnt with the types that
# it says.
MODELS: dict[str, Callable[[Sequence[Path], Path, Path | None], str]] = {
    packing.NAME: _packed,
    classifier.NAME: classifier.train,
    boundaries.NAME: _boundaries,
    extraction.NAME: extraction.train,
}


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m docproc_samples.training", description=__doc__)
    parser.add_argument("folders", nargs="*", type=Path, help="labelled folders to learn from")
    parser.add_argument(
        "--into", type=Path, default=PACKAGED, help="where the weights go (the package's own)"
    )
    parser.add_argument(
        "--readings", type=Path, help="keep what is read here: the next time it is not read again"
    )
    parser.add_argument("--only", choices=list(MODELS), action="append", help="these models; all by default")
    given = parser.parse_args(arguments)
    for name in given.only or MODELS:
        print(f"{name}: {MODELS[name](given.folders, given.into, given.readings)}", flush=True)


if __name__ == "__main__":
    main()
