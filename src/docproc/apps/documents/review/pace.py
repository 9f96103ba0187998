"""How long the documents' tasks take a person, before anybody has experience with them."""

from __future__ import annotations

USUAL_SECONDS = {"classification": 45.0, "extraction": 90.0}
