"""Broken files are read in children with limits; a hundred here, five thousand in bench/mutated.py."""

from __future__ import annotations

from bench import mutated


async def test_mutated_files_are_read_or_refused_and_leave_nothing_behind() -> None:
    told = await mutated.run(100, seed=7)
    counted = {row["metric"]: row["value"] for row in told["results"] if row["unit"] == "files"}
    assert sum(counted.values()) == 100
    assert set(counted) <= {"read", "refused", "child_died"}, counted
    assert counted["read"] > 10 and counted["refused"] > 10
