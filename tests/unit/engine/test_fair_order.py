"""Turns between tenants, as a pure decision."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from docproc.engine.fair_order import AGING_EVERY, FairOrder, Group, Turn


def served(order: FairOrder, groups: Sequence[Group], claims: int, limit: int = 1) -> Counter[str]:
    """What the tenants get of so many claims, with more waiting of each group than anybody takes."""
    got: Counter[str] = Counter()
    for _ in range(claims):
        order.see(groups)
        for turn in order.turns(limit):
            order.took(turn, turn.number)
            got[turn.tenant_id] += turn.number
    return got


def test_equal_weights_get_equal_shares_whatever_a_claim_takes() -> None:
    groups = [Group("a", 5), Group("b", 5)]
    assert served(FairOrder(60), groups, 100) == {"a": 50, "b": 50}
    assert served(FairOrder(60), groups, 10, limit=200) == {"a": 1000, "b": 1000}


def test_three_times_the_weight_gets_three_times_the_turns() -> None:
    got = served(FairOrder(60), [Group("a", 5, 1.0), Group("b", 5, 3.0)], 400)
    assert got == {"a": 100, "b": 300}


def test_many_tenants_share_few_statements_and_all_get_their_part() -> None:
    order = FairOrder(60)
    groups = [Group(f"t{n:02}", 5) for n in range(40)]
    order.see(groups)
    assert len(order.turns(200)) <= 9
    got = served(order, groups, 100, limit=200)
    assert max(got.values()) - min(got.values()) <= 50


def test_tenant_that_was_idle_has_saved_nothing() -> None:
    order = FairOrder(60)
    assert served(order, [Group("a", 5)], 1000) == {"a": 1000}
    got = served(order, [Group("a", 5), Group("b", 5)], 100)
    assert abs(got["a"] - got["b"]) <= 1


def test_tenant_that_was_alone_owes_nothing() -> None:
    order = FairOrder(60)
    served(order, [Group("a", 5)], 1000)
    served(order, [Group("b", 5)], 1)
    got = served(order, [Group("a", 5), Group("b", 5)], 100)
    assert abs(got["a"] - got["b"]) <= 2


def test_more_urgent_band_goes_first_whoever_it_belongs_to() -> None:
    groups = [Group("a", 5), Group("b", 9), Group("b", 5)]
    assert served(FairOrder(60), groups, 50) == {"b": 50}


def test_bands_of_a_tenant_alone_are_taken_in_one_go() -> None:
    order = FairOrder(60)
    order.see([Group("a", 9), Group("a", 5), Group("a", 0)])
    assert order.turns(10) == [Turn("a", 10)]


def test_what_waited_too_long_gets_one_turn_in_sixteen_from_below() -> None:
    groups = [Group("a", 9), Group("b", 5, waited_seconds=61), Group("a", 1, waited_seconds=30)]
    got = served(FairOrder(60), groups, 170)
    assert got["b"] == 170 // (AGING_EVERY + 1)
    assert served(FairOrder(60), groups, 1, limit=160) == {"b": 10, "a": 150}


def test_of_those_below_the_one_that_waited_longest_is_next() -> None:
    order = FairOrder(10)
    order.see([Group("a", 9), Group("b", 5, waited_seconds=20), Group("c", 0, waited_seconds=30)])
    assert order.turns(16)[0] == Turn("c", 1, 0, 0, is_aged=True)


def test_turn_that_found_less_than_it_allowed_leaves_the_rest_to_others() -> None:
    order = FairOrder(60)
    order.see([Group("a", 5), Group("b", 5)])
    first, second = order.turns(10)
    order.took(first, 1)
    assert [turn.tenant_id for turn in order.turns(9)] == [second.tenant_id]
    order.took(second, 0)
    assert order.turns(9) == []


def test_what_was_given_back_is_not_charged() -> None:
    order = FairOrder(60)
    groups = [Group("a", 5), Group("b", 5)]
    order.see(groups)
    for turn in order.turns(2):
        order.took(turn, turn.number)
    order.gave_back("b", 1)
    order.see(groups)
    assert [turn.tenant_id for turn in order.turns(1)] == ["b"]


def test_tenant_behind_its_share_of_what_a_broker_has_goes_first_up_to_it() -> None:
    order = FairOrder(60)
    order.see([Group("a", 5), Group("b", 5, 3.0)])
    assert order.behind({"a": 8}) == [Turn("b", 6, 5, is_behind=True)]
    assert order.behind({"a": 4, "b": 4}) == [Turn("b", 2, 5, is_behind=True)]
    assert order.behind({"a": 2, "b": 6}) == []
    assert order.behind({}) == []


def test_less_urgent_tenant_is_not_behind() -> None:
    order = FairOrder(60)
    order.see([Group("a", 9), Group("b", 5)])
    assert order.behind({"a": 8}) == []
