"""What a recipe is.

A recipe is a language, titles (one is chosen, or none) and lines, of which some are left out. `[a|b]` is a
choice, `{amount}` an invention; a line with `*` in front comes several times, `~` starts running text made of
the sentences after it. None of it is copied from anywhere: it is what such papers usually say.
"""

from __future__ import annotations

Recipe = tuple[str, str, str]  # language, titles separated by "|", lines
