"""Weights of an installation: those that cannot be read are named, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from docproc.apps.documents.understanding import models
from docproc.errors import ConfigurationError


@pytest.mark.parametrize("share", [0.0, 0.5, 0.9])
def test_damaged_weights_are_named(tmp_path: Path, share: float) -> None:
    whole = (models.PACKAGED / "classifier.npz").read_bytes()
    (tmp_path / "classifier.npz").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(ConfigurationError, match=r"classifier\.npz cannot be read\. Delete it: the packaged"):
        models.arrays("classifier", tmp_path)


def test_file_that_is_something_else_is_named(tmp_path: Path) -> None:
    (tmp_path / "classifier.npz").write_text("no weights")
    with pytest.raises(ConfigurationError, match="cannot be read"):
        models.arrays("classifier", tmp_path)


def test_folder_that_is_not_there_leaves_the_packaged_weights(tmp_path: Path) -> None:
    assert models.arrays("classifier", tmp_path / "missing").keys() == models.arrays("classifier").keys()
