"""A server that plays the model: it answers as OpenAI's API does, and misbehaves as it is told to."""

from __future__ import annotations

import json
import re
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
# Of a call: the body of the request -> what is sent back.
Play = Callable[["Model", Body], "Answer"]


class Answer:
    """An HTTP answer; `seconds` late."""

    def __init__(
        self, status: int, body: Any, headers: dict[str, str] | None = None, seconds: float = 0.0
    ) -> None:
        self.status = status
        self.body = json.dumps(body).encode()
        self.headers = headers or {}
        self.seconds = seconds


class Model:
    """Plays what stands in `script`, one entry a call, and answers properly after that."""

    def __init__(self, port: int = 0) -> None:
        self.calls: list[Body] = []
        self.script: deque[Play] = deque()
        # Held back while it is not set: a call is under way for as long as a test wants.
        self.open = threading.Event()
        self.open.set()
        self.waiting = threading.Semaphore(0)
        # What every answer takes besides.
        self.seconds = 0.0
        model = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                model.serve(self)

            def log_message(self, *said: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
        self.server.daemon_threads = True
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server.server_port}/v1"

    def steps(self) -> list[str]:
        """What each call asked for."""
        return [step_of(call) for call in self.calls]

    def of(self, material: str) -> list[Body]:
        """The calls whose text has this in it."""
        return [call for call in self.calls if material in call["messages"][1]["content"]]

    def reset(self) -> None:
        self.calls.clear()
        self.script.clear()
        self.waiting = threading.Semaphore(0)  # nobody's of the test before
        self.open.set()

    def serve(self, handler: BaseHTTPRequestHandler) -> None:
        size = int(handler.headers.get("Content-Length", 0))
        body = json.loads(handler.rfile.read(size))
        body["headers"] = {name.lower(): value for name, value in handler.headers.items()}
        self.calls.append(body)
        play = self.script.popleft() if self.script else proper
        if not self.open.is_set():
            self.waiting.release()
            self.open.wait(60)
        answer = play(self, body)
        time.sleep(self.seconds + answer.seconds)
        try:
            handler.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                handler.send_header(name, value)
            handler.send_header("Content-Length", str(len(answer.body)))
            handler.end_headers()
            handler.wfile.write(answer.body)
        except OSError:
            pass  # who asked has gone

    def close(self) -> None:
        self.open.set()
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def serving() -> Iterator[Model]:
    model = Model()
    try:
        yield model
    finally:
        model.close()


def step_of(body: Body) -> str:
    """By what the instructions ask for; the material has no say in it."""
    system = body["messages"][0]["content"]
    for step, mark in (("notes", '"points"'), ("quiz", '"distractors"'), ("summary", '"glossary"')):
        if mark in system:
            return step
    raise AssertionError(system)


# --- plays ------------------------------------------------------------------------------------------------


def completion(text: str, *, reason: str = "stop", seconds: float = 0.0) -> Answer:
    choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": reason}
    usage = {"prompt_tokens": 1000, "completion_tokens": 500, "total_tokens": 1500}
    said = {"id": "c", "object": "chat.completion", "created": 0, "model": "played", "choices": [choice]}
    return Answer(200, {**said, "usage": usage}, seconds=seconds)


def proper(model: Model, body: Body) -> Answer:
    return completion(json.dumps(written(body)))


def proper_and_then_holds(model: Model, body: Body) -> Answer:
    """The next call is held back. Said here, because that one may come sooner than a test can look."""
    model.open.clear()
    return proper(model, body)


def instant(model: Model, body: Body) -> Answer:
    return proper(model, body)


def says(text: str, reason: str = "stop") -> Play:
    return lambda model, body: completion(text, reason=reason)


def changed(change: Callable[[Body], object]) -> Play:
    """The proper answer with something done to it."""

    def play(model: Model, body: Body) -> Answer:
        reply = written(body)
        change(reply)
        return completion(json.dumps(reply))

    return play


def fenced(model: Model, body: Body) -> Answer:
    return completion(f"```json\n{json.dumps(written(body))}\n```")


def cut_off(model: Model, body: Body) -> Answer:
    return completion(json.dumps(written(body))[:300], reason="length")


def refuses(status: int, code: str = "", **headers: str) -> Play:
    error = {"error": {"message": "played", "type": code, "code": code or None}}
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return lambda model, body: Answer(status, error, named)


def late(seconds: float) -> Play:
    def play(model: Model, body: Body) -> Answer:
        answer = proper(model, body)
        answer.seconds = seconds
        return answer

    return play


# --- what it writes ---------------------------------------------------------------------------------------


def written(body: Body) -> Body:
    """A valid answer to the question, every quotation taken from the material."""
    step = step_of(body)
    sentences = sentences_of(json.loads(body["messages"][1]["content"])["material"])
    if step == "summary":
        return summary(sentences)
    if step == "quiz":
        return quiz(sentences)
    return {"points": sentences[:5], "terms": [], "quotes": sentences[:5] + sentences[-3:]}


def sentences_of(material: Any) -> list[str]:
    if isinstance(material, list):  # notes of parts
        return [quote for part in material for quote in part["quotes"]]
    text = " ".join(str(material).split())
    return [one for one in re.split(r"(?<=[.])\s", text) if 40 <= len(one) <= 400]


def summary(sentences: list[str]) -> Body:
    return {
        "title": "La célula",
        "sections": [
            {
                "title": f"Parte {number}",
                "content": f"En esta parte se explica lo siguiente: {_of(sentences, number)}",
                "difficulty": "basic",
                "estimated_time_minutes": 3,
                "quotes": [_of(sentences, number)],
            }
            for number in range(5)
        ],
        "glossary": [
            {"term": f"término {number}", "definition": _of(sentences, number), "quotes": []}
            for number in range(10)
        ],
        "reflection_questions": [f"¿Por qué importa la parte {number}?" for number in range(5)],
    }


def quiz(sentences: list[str]) -> Body:
    return {
        "title": "Cuestionario",
        "questions": [
            {
                "text": f"¿Qué se dice en el texto, según la frase número {number + 1}?",
                "difficulty": "medium",
                "correct": _of(sentences, number)[:60],
                "distractors": [f"{_of(sentences, number)[:50]} {word}" for word in ("a", "b", "c")],
                "feedback": {"correct": "Así es.", "incorrect": "Lee de nuevo la página."},
                "quote": _of(sentences, number),
            }
            for number in range(6)
        ],
    }


def _of(sentences: list[str], number: int) -> str:
    return sentences[number % len(sentences)]
