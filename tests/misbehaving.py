"""A package with filters that are slow or fail, as somebody else would install one."""

from __future__ import annotations

from pathlib import Path

PLUGIN = """
import os, signal, time
from typing import ClassVar
from docproc.apps.video.filters.filter import Filter, Parameters

class Said(Parameters):
    seconds: float = 0.0

def number(image):
    bits = [image[7:13, 7 + bit * 12 : 11 + bit * 12].mean() > 127 for bit in range(14)]
    return sum(1 << bit for bit, white in enumerate(bits) if white)

class Slow(Filter[Said]):
    name: ClassVar[str] = "slow"
    parameters_model = Said
    def apply(self, frames):
        time.sleep(self.parameters.seconds)
        return 255 - frames[-1]

class Faulty(Filter[Said]):
    name: ClassVar[str] = "faulty"
    parameters_model = Said
    def apply(self, frames):
        place = number(frames[-1])
        if place == 3:
            raise ValueError("not this one")
        if place == 5:
            os.kill(os.getpid(), signal.SIGKILL)
        if place == 7:
            time.sleep(60)
        return 255 - frames[-1]
"""
POINTS = "[docproc.video_filters]\nslow = misbehaving:Slow\nfaulty = misbehaving:Faulty\n"


def install(folder: Path) -> None:
    """As pip would leave it there."""
    metadata = folder / "misbehaving-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: misbehaving\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(POINTS)
    (folder / "misbehaving.py").write_text(PLUGIN)
