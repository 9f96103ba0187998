"""How commands say who they are to a server."""

from __future__ import annotations

from pathlib import Path

import pytest

from docproc.errors import ConfigurationError
from docproc.settings import Settings
from docproc.terminal.server import _who


def test_key_comes_from_the_settings_or_a_file_and_nothing_is_said_without_one(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text("dp_filed\n")
    assert _who(Settings.load(_env_file=None)) == {}
    assert _who(Settings.load(_env_file=None, api_key="dp_set")) == {"Authorization": "Bearer dp_set"}
    assert _who(Settings.load(_env_file=None, api_key_file=file)) == {"Authorization": "Bearer dp_filed"}
    with pytest.raises(ConfigurationError, match="DOCPROC_API_KEY_FILE"):
        _who(Settings.load(_env_file=None, api_key_file=tmp_path / "none"))
