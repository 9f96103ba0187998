"""Group commit: whoever comes while a commit is under way shares the next; errors stay everybody's own."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

import pytest
from sqlalchemy.exc import DBAPIError

from docproc.engine.running.grouping import Grouping
from docproc.errors import DatabaseDownError


class Commits:
    """Notes the groups; each waits until it may go on, and what is `bad` fails its group."""

    def __init__(self, bad: dict[str, Exception] | None = None) -> None:
        self.groups: list[list[str]] = []
        self.bad = bad or {}
        self.may_go_on = asyncio.Event()

    async def __call__(self, items: Sequence[str]) -> int:
        self.groups.append(list(items))
        await self.may_go_on.wait()
        for item in items:
            if item in self.bad:
                raise self.bad[item]
        return len(self.groups)


async def _outcomes(commits: Commits, first: str, others: Sequence[str], most: int = 100) -> list[object]:
    """`first` is being committed when the others come."""
    grouping = Grouping(commits, most)
    tasks = [asyncio.create_task(grouping.add(first))]
    while not commits.groups:
        await asyncio.sleep(0)
    tasks += [asyncio.create_task(grouping.add(one)) for one in others]
    await asyncio.sleep(0)
    commits.may_go_on.set()
    return list(await asyncio.gather(*tasks, return_exceptions=True))


async def test_those_who_come_during_a_commit_share_the_next() -> None:
    commits = Commits()
    assert await _outcomes(commits, "a", "bcd") == [1, 2, 2, 2]
    assert commits.groups == [["a"], ["b", "c", "d"]]


async def test_a_group_is_no_larger_than_allowed() -> None:
    commits = Commits()
    await _outcomes(commits, "a", "bcdef", most=2)
    assert commits.groups == [["a"], ["b", "c"], ["d", "e"], ["f"]]


async def test_one_that_fails_fails_alone() -> None:
    commits = Commits({"c": ValueError("c")})
    found = await _outcomes(commits, "a", "bcd")
    assert commits.groups == [["a"], ["b", "c", "d"], ["b"], ["c"], ["d"]]
    assert [type(one) for one in found] == [int, int, ValueError, int]


async def test_nobody_is_committed_again_where_the_commit_may_have_gone_through() -> None:
    commits = Commits({"c": DatabaseDownError("gone")})
    found = await _outcomes(commits, "a", "bcd")
    assert commits.groups == [["a"], ["b", "c", "d"]]
    assert [type(one) for one in found] == [int, *[DatabaseDownError] * 3]


class _Deadlock(Exception):
    sqlstate = "40P01"


async def test_a_group_that_was_in_the_way_of_another_goes_on_one_by_one() -> None:
    deadlock = DBAPIError("", None, _Deadlock())
    commits = Commits({"c": deadlock})
    found = await _outcomes(commits, "a", "bcd")
    assert commits.groups[2:] == [["b"], ["c"], ["d"]]
    assert [found[0], found[1], found[3]] == [1, 3, 5]


async def test_who_gave_up_waiting_is_left_out() -> None:
    commits = Commits()
    grouping = Grouping(commits)
    first = asyncio.create_task(grouping.add("a"))
    while not commits.groups:
        await asyncio.sleep(0)
    gone = asyncio.create_task(grouping.add("b"))
    await asyncio.sleep(0)
    gone.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone
    commits.may_go_on.set()
    await first
    assert await grouping.add("c") == 2
    assert commits.groups == [["a"], ["c"]]
