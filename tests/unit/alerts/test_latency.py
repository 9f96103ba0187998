"""Percentiles of counted classes: right to within the width of a class, whatever is added up."""

from __future__ import annotations

import random
import sqlite3
from collections import Counter

import pytest

from docproc.alerts.latency import EDGES, bucket_of, bucket_of_sql, percentile


@pytest.mark.parametrize("share", [0.5, 0.95, 0.99])
def test_percentile_is_close_to_the_exact_one(share: float) -> None:
    chance = random.Random(1)
    values = sorted(chance.lognormvariate(0, 1) for _ in range(5000))
    counts = Counter(map(bucket_of, values))
    exact = values[int(share * len(values))]
    assert percentile(counts, share) == pytest.approx(exact, rel=0.13)


def test_of_nothing_there_is_none() -> None:
    assert percentile({}, 0.95) is None


def test_what_takes_longer_than_the_last_class_is_not_lost() -> None:
    assert percentile({bucket_of(1e6): 3}, 0.95) == pytest.approx(EDGES[-1])


def test_databases_put_durations_into_the_same_classes() -> None:
    values = [0.0, 0.001, 0.0010001, 0.5, 1.0, 59.9, 3600.0, 1e6]
    connection = sqlite3.connect(":memory:")
    for value in values:
        [found] = connection.execute(f"SELECT {bucket_of_sql('x')} FROM (SELECT ? AS x)", (value,)).fetchone()
        assert found == bucket_of(value)
    connection.close()
