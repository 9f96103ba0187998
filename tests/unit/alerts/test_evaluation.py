"""Which alerts fire and which are over."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as some

from docproc.alerts.actions import LEAST_PER_MINUTE, limits_of
from docproc.alerts.configuration import AlertSettings, changed
from docproc.alerts.evaluation import Changes, Key, Memory, evaluate
from docproc.alerts.past import Past, Usual
from docproc.alerts.rules import Above, AboveSameHour, Below, Condition, Deviates, Level, Rule, TimesUsual
from docproc.alerts.samples import Sample, labels_of, series_of
from docproc.errors import ConfigurationError
from docproc.settings import Settings

DEEP = Rule("deep", "queue.depth", ("queue",), Above(1000), Level.MEDIUM)
FLOOD = Rule("flood", "queue.depth", ("queue",), Above(5000), Level.HIGH, "throttle")


def sample(value: float, **labels: str) -> Sample:
    return Sample("queue.depth", value, labels or {"queue": "q"}, 100)


class Watching:
    """Rounds of the evaluation, ten seconds apart, with what is open in between."""

    def __init__(self, *rules: Rule) -> None:
        self.rules = rules
        self.memory = Memory()
        self.open: set[Key] = set()
        self.now = 0.0

    def look(self, *samples: Sample, is_complete: bool = True) -> Changes:
        self.now += 10
        changes = evaluate(self.rules, samples, {}, self.open, self.memory, self.now, is_complete=is_complete)
        self.open |= {(one.rule.name, one.sample.series) for one in changes.fired}
        self.open -= set(changes.resolved)
        return changes


def names(changes: Changes) -> list[str]:
    return [one.rule.name for one in changes.fired]


def test_it_fires_once_and_goes_on() -> None:
    watching = Watching(DEEP)
    assert names(watching.look(sample(1000))) == []
    assert names(watching.look(sample(1001))) == ["deep"]
    again = watching.look(sample(1500))
    assert (names(again), dict(again.going_on)) == ([], {("deep", "queue=q"): 1500})


def test_it_is_over_when_its_condition_stays_gone() -> None:
    watching = Watching(DEEP)
    watching.look(sample(2000))
    assert [watching.look(sample(1)).resolved for _ in range(3)] == [[], [], []]
    watching.look(sample(2000))  # it comes back: the wait begins anew
    assert [watching.look(sample(1)).resolved for _ in range(4)][-1] == [("deep", "queue=q")]
    assert names(watching.look(sample(2000))) == ["deep"]


def test_a_series_that_is_gone_is_over_unless_nobody_could_look() -> None:
    watching = Watching(DEEP)
    watching.look(sample(2000))
    for _ in range(9):
        assert watching.look(is_complete=False).resolved == []
    assert [watching.look().resolved for _ in range(4)][-1] == [("deep", "queue=q")]


def test_of_several_thresholds_the_gravest_counts() -> None:
    watching = Watching(DEEP, FLOOD)
    assert names(watching.look(sample(9000))) == ["flood"]
    assert names(watching.look(sample(2000))) == ["deep"]


def test_each_series_is_an_alert_of_its_own() -> None:
    watching = Watching(DEEP)
    found = watching.look(sample(2000, queue="a"), sample(2000, queue="b"), sample(5, queue="c"))
    assert [one.sample.series for one in found.fired] == ["queue=a", "queue=b"]


def test_a_rule_concerns_samples_with_exactly_its_labels() -> None:
    only = Rule(
        "ours", "queue.depth", ("application", "queue"), Above(0), Level.LOW, only={"application": "a"}
    )
    watching = Watching(only)
    found = watching.look(
        sample(1, queue="q"),
        sample(1, queue="q", application="b"),
        sample(1, queue="q", application="a", tenant="t"),
        sample(1, queue="q", application="a"),
    )
    assert [one.sample.series for one in found.fired] == ["application=a,queue=q"]


def test_some_conditions_must_last() -> None:
    watching = Watching(Rule("slow", "queue.depth", ("queue",), Above(1), Level.LOW, for_seconds=20))
    assert [names(watching.look(sample(2))) for _ in range(3)] == [[], [], ["slow"]]


def test_a_share_of_few_says_nothing() -> None:
    rule = Rule("errors", "queue.depth", ("queue",), Above(0), Level.LOW, least_count=101)
    assert names(Watching(rule).look(sample(1))) == []


USUAL = Past(day=Usual(mean=10, deviation=1, number=200), same_hour=Usual(mean=100, deviation=0, number=4))


@pytest.mark.parametrize(
    ("condition", "value", "holds"),
    [
        (Below(0.99), 0.98, True),
        (Below(0.99), 0.99, False),
        (TimesUsual(2), 20.5, True),
        (TimesUsual(2), 20, False),
        (AboveSameHour(0.4), 141, True),
        (AboveSameHour(0.4), 139, False),
        (Deviates(3), 13.5, True),
        (Deviates(3), 6.5, True),
        (Deviates(3), 12.5, False),
    ],
)
def test_conditions_compare_with_the_past(condition: Condition, value: float, holds: bool) -> None:
    assert condition.holds(sample(value), USUAL) is holds
    if condition.needs_past:
        assert not condition.holds(sample(1e9), None)
        assert not condition.holds(sample(1e9), Past())


@given(some.dictionaries(some.sampled_from(["queue", "tenant", "service"]), some.text()))
def test_labels_survive_being_written_down(labels: dict[str, str]) -> None:
    assert labels_of(series_of(labels)) == labels


def test_a_flood_is_halved_and_nobody_is_kept_out() -> None:
    limits = limits_of({"acme": 1001, "quiet": 2}, None)
    assert limits == {"acme": 501, "quiet": LEAST_PER_MINUTE, "*": LEAST_PER_MINUTE}
    assert limits_of({"acme": 1000, "quiet": 2}, "acme") == {"acme": 500}


def test_a_file_changes_rules(tmp_path: Path) -> None:
    path = tmp_path / "alerts.yaml"
    path.write_text("rules: {deep: {threshold: 7, level: high, action: throttle}, flood: {enabled: false}}")
    [found] = changed([DEEP, FLOOD], path, ["throttle"])
    assert found.condition == Above(7)
    assert (found.level, found.action) == (Level.HIGH, "throttle")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("rules: {dep: {threshold: 7}}", "no rule 'dep'"),
        ("rules: {deep: {thershold: 7}}", "thershold"),
        ("rules: {deep: {action: dance}}", "no action 'dance'"),
        ("rules: {odd: {threshold: 7}}", "odd has no threshold"),
        ("- 1", "the file"),
        ("rules: {", "cannot be read"),
    ],
)
def test_a_mistake_in_the_file_is_told(tmp_path: Path, text: str, problem: str) -> None:
    path = tmp_path / "alerts.yaml"
    path.write_text(text)
    odd = Rule("odd", "queue.depth", ("queue",), Deviates(), Level.LOW)
    with pytest.raises(ConfigurationError, match=problem):
        changed([DEEP, odd], path, ["throttle"])


def test_settings_are_checked() -> None:
    given = {"alert_mail_to": "a@b.example, c@d.example", "alert_smtp_url": "smtp://mail:25"}
    settings = Settings.load(_env_file=None, **given).section(AlertSettings)
    assert settings.alert_mail_to == ("a@b.example", "c@d.example")
    for name, value in (("alert_webhook_url", "ftp://x"), ("alert_smtp_url", "mail:25")):
        with pytest.raises(ConfigurationError, match="write it as"):
            Settings.load(_env_file=None, **{name: value}).section(AlertSettings)
