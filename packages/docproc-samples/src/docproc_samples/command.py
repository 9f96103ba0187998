"""What this distribution adds to the `docproc` program, which reads it for every help: contract only."""

from __future__ import annotations

from docproc.application import Command

samples = Command(
    "samples",
    "docproc_samples.cli:samples",
    "Write invented Spanish and English documents, and what is on them as `labels.jsonl`.",
)
