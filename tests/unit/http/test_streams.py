"""Events as a stream writes them down."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from types import SimpleNamespace
from typing import Any

from docproc.engine.store.events import BEGINNING
from docproc.http.looks import Look
from docproc.http.streams import as_message, as_sse

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def event(number: int, **values: Any) -> Any:
    empty = dict.fromkeys(("stage", "unit_key", "attempt", "outcome", "worker_id", "data"))
    fixed = {"transaction_id": 741, "id": number, "kind": "status", "started_at": NOON, "finished_at": NOON}
    return SimpleNamespace(**{**empty, **fixed, **values})


def test_event_has_its_place_its_kind_and_one_line_of_data() -> None:
    text = as_sse(Look([event(12, data={"text": "two\nlines\r\n\u2028"})], BEGINNING))
    place, kind, data, *rest = text.split("\n")
    assert (place, kind, rest) == ("id: 741.12", "event: status", ["", ""])
    assert json.loads(data.removeprefix("data: "))["data"] == {"text": "two\nlines\r\n\u2028"}
    assert "\r" not in text


def test_end_comes_last_with_data_and_without_a_place() -> None:
    text = as_sse(Look([event(12)], BEGINNING, is_over=True))
    assert text.endswith('}\n\nevent: end\ndata: {"kind":"end"}\n\n')
    assert text.count("id: ") == 1


def test_request_that_is_over_but_has_more_to_tell_goes_on() -> None:
    assert "end" not in as_sse(Look([event(12)], BEGINNING, is_over=True, has_more=True))


def test_look_without_news_is_a_comment() -> None:
    assert as_sse(Look([], BEGINNING)) == ": nothing new\n\n"


def test_message_of_a_socket_is_the_event_and_its_place() -> None:
    message = json.loads(as_message(event(12, outcome="received")))
    assert list(message)[:2] == ["id", "kind"]
    assert (message["id"], message["kind"], message["outcome"]) == ("741.12", "status", "received")
