"""Calibration: how long the stages of a workflow take on one kind of machine, measured and kept in a file."""

from __future__ import annotations

import os
import platform
import statistics
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from docproc.errors import UsageError


class _Model(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ServiceTime(_Model):
    """Seconds of work that one message takes in a stage, and how much they vary."""

    seconds: float = Field(ge=0)
    # Squared coefficient of variation, variance / mean²: 0 is constant, 1 is exponential.
    scv: float = Field(default=0.0, ge=0)
    messages: int = Field(default=1, ge=1)

    @classmethod
    def of(cls, seconds: Sequence[float]) -> ServiceTime:
        mean = statistics.fmean(seconds)
        variance = statistics.pvariance(seconds, mean) if len(seconds) > 1 else 0.0
        return cls(seconds=mean, scv=variance / mean**2 if mean > 0 else 0.0, messages=len(seconds))


class StageTimes(_Model):
    """One stage: which component does it, for which unit, and how long each message takes."""

    stage: str
    component: str
    # `request`, or what the flow fans out into (`page`, `document`, …).
    unit: str
    time: ServiceTime


class RequestKind(_Model):
    """Requests that cost about the same, such as digital or scanned files."""

    requests: int = Field(ge=1)
    # How many units of each kind a measured request had.
    units: Mapping[str, float]
    # In the order of the flow.
    stages: tuple[StageTimes, ...] = Field(min_length=1)
    # From acceptance to the answer, less the work itself: hand-over, commits, waking up.
    overhead_seconds: float = Field(default=0.0, ge=0)


class Machine(_Model):
    """Where it was measured: another processor needs another calibration."""

    processor: str
    cores: int

    @classmethod
    def this_one(cls) -> Machine:
        return cls(processor=platform.processor() or platform.machine(), cores=os.cpu_count() or 1)


class Calibration(_Model):
    """What `docproc capacity calibrate` keeps."""

    made_at: datetime
    workflow: str
    machine: Machine
    kinds: Mapping[str, RequestKind] = Field(min_length=1)

    @classmethod
    def load(cls, path: Path) -> Calibration:
        """Raises UsageError, with what to do, where there is none or it cannot be read."""
        remedy = "Measure this machine with: docproc capacity calibrate FILES"
        if not path.exists():
            raise UsageError(f"nothing was measured yet: {path} does not exist", remedy=remedy)
        try:
            return cls.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise UsageError(
                f"{path} is no calibration: {error.errors()[0]['msg']}", remedy=remedy
            ) from error

    def save(self, path: Path) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(self.model_dump_json(indent=2), encoding="utf-8")
