"""The end-to-end verification of a deployment (specification §17): `verify.py --file packet.pdf`.

Needs nothing but Python, so that it runs wherever Docker does. Each step is said; the first that fails ends
it with exit code 1 and what to look at."""

from __future__ import annotations

import argparse
import json
import sys
import time
import urllib.error
import urllib.request
import uuid
from base64 import b64encode
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

STATUSES = ("received", "routing", "splitting", "processing", "extracting", "consolidating", "completed")
ENDED = ("completed", "failed", "sla_breached")


class Failed(Exception):
    """A step did not show what it should."""


def call(url: str, data: bytes | None = None, headers: dict[str, str] | None = None) -> Any:
    request = urllib.request.Request(url, data=data, headers=headers or {})
    try:
        with urllib.request.urlopen(request, timeout=30) as answer:
            body = answer.read()
            is_json = answer.headers.get_content_type() == "application/json"
    except urllib.error.HTTPError as error:
        raise Failed(f"{url} answered {error.code}: {error.read()[:500].decode(errors='replace')}") from error
    except OSError as error:
        raise Failed(f"{url} is out of reach: {error}") from error
    return json.loads(body) if is_json else body.decode(errors="replace")


def upload(api: str, file: Path, fields: dict[str, str]) -> dict[str, Any]:
    """As `curl --form` sends it."""
    boundary = uuid.uuid4().hex
    parts = [
        f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        for name, value in fields.items()
    ]
    head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="{file.name}"\r\n\r\n'
    body = b"".join([*parts, head.encode(), file.read_bytes(), f"\r\n--{boundary}--\r\n".encode()])
    answer: dict[str, Any] = call(
        f"{api}/process", body, {"Content-Type": f"multipart/form-data; boundary={boundary}"}
    )
    return answer


class Verification:
    def __init__(self, told: argparse.Namespace) -> None:
        self.api, self.backoffice, self.management = told.api, told.backoffice, told.management
        self.file, self.seconds, self.operator = told.file, told.seconds, told.operator
        self.seen: list[str] = []
        self.answered = 0

    def run(self) -> dict[str, Any]:
        self.say(1, "services answer", self.services_answer())
        self.say(2, "tables are there", self.ready())
        # Whoever is present is asked; a person who never came cannot answer in time.
        call(f"{self.backoffice}/?{urlencode({'operator': self.operator})}")
        request_id = self.submit()
        self.say(3, "a document is received", request_id)
        status = self.follow(request_id)
        self.say(4, "it goes through its states", " → ".join(self.seen))
        self.say(5, "questions are answered", f"{self.answered} by {self.operator}")
        self.say(6, "queues are there", self.queues())
        return {"request_id": request_id, "statuses": self.seen, "answered": self.answered, "status": status}

    @staticmethod
    def say(step: int, what: str, found: str) -> None:
        print(f"{step}. {what}: {found}", file=sys.stderr)

    def services_answer(self) -> str:
        for url in (self.api, self.backoffice):
            if call(f"{url}/health") != {"status": "ok"}:
                raise Failed(f"{url}/health does not say ok")
        return f"{self.api}, {self.backoffice}"

    def ready(self) -> str:
        return str(call(f"{self.api}/ready")["status"])

    def submit(self) -> str:
        fields = {"metadata": '{"client": "test"}', "channel": "api", "workflow": "default"}
        answer = upload(self.api, self.file, fields)
        if set(answer) < {"request_id", "status"} or answer["status"] != "received":
            raise Failed(f"POST /process answered {answer}")
        return str(uuid.UUID(answer["request_id"]))

    def follow(self, request_id: str) -> dict[str, Any]:
        """Until it is completed and nobody is asked anything more about it."""
        end = time.monotonic() + self.seconds
        while True:
            status: dict[str, Any] = call(f"{self.api}/status/{request_id}")
            self._note(status["status"])
            pending = self.pending(request_id)
            if status["status"] in ENDED and not pending:
                if status["status"] == "completed":
                    return status
                raise Failed(f"the request ended as {status['status']}: {status['error']}")
            for task in pending:
                self.answer(task)
            if time.monotonic() > end:
                raise Failed(
                    f"the request is still {status['status']} after {self.seconds:.0f} s; see which "
                    "component is not ready (docker compose ps) and where messages wait (RabbitMQ's pages)"
                )
            time.sleep(0.05)

    def _note(self, status: str) -> None:
        if not self.seen or self.seen[-1] != status:
            self.seen.append(status)
        known = [STATUSES.index(one) for one in self.seen if one in STATUSES]
        if known != sorted(known):
            raise Failed(f"a state came back: {self.seen}")

    def pending(self, request_id: str) -> list[dict[str, Any]]:
        asked = urlencode({"status": "pending", "operator": self.operator})
        tasks = call(f"{self.backoffice}/api/tasks?{asked}")["tasks"]
        return [task for task in tasks if task["request_id"] == request_id]

    def answer(self, task: dict[str, Any]) -> None:
        """As an operator does: claim, look, say what it is."""
        url = f"{self.backoffice}/tasks/{task['id']}"
        try:
            call(f"{url}/claim", urlencode({"operator": self.operator}).encode())
        except Failed as error:
            if "409" in str(error):  # the answer came without it, or the task was withdrawn
                return
            raise
        given = {"operator": self.operator, **answer_to(task["task_type"], task["input_data"])}
        call(f"{url}/submit", urlencode(given).encode())
        self.answered += 1

    def queues(self) -> str:
        if not self.management:
            return "not looked at (--management '')"
        access = b64encode(b"guest:guest").decode()
        found = call(f"{self.management}/api/queues", headers={"Authorization": f"Basic {access}"})
        names = {queue["name"] for queue in found}
        if missing := {"q.workflow_router", "q.ocr", "q.backoffice.classification", "q.dead_letters"} - names:
            raise Failed(f"RabbitMQ has no queue {', '.join(sorted(missing))}")
        waiting = {queue["name"]: queue.get("messages", 0) for queue in found if queue.get("messages")}
        return f"{len(names)}, waiting: {waiting or 'nothing'}"


def answer_to(task_type: str, shown: dict[str, Any]) -> dict[str, str]:
    """What was read stands; what is missing and required gets a value of its type."""
    if shown.get("kind") == "split":
        return {"splits": json.dumps({str(one["pages"][-1]): one["suggested"] for one in shown["splits"]})}
    if task_type == "classification":
        return {"doc_type": str(shown.get("suggested_type") or "invoice")}
    samples = {"string": "-", "decimal": "1.00", "date": "2026-01-31"}
    values = {}
    for field in shown["schema"]:
        if field["name"] in shown["review"]:
            read = (shown["fields"].get(field["name"]) or {}).get("value")
            values[field["name"]] = samples.get(field["type"]) if read is None and field["required"] else read
    return {"extracted_data": json.dumps(values)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--file", type=Path, required=True, help="what is sent")
    parser.add_argument("--api", default="http://localhost:8000")
    parser.add_argument("--backoffice", default="http://localhost:8001")
    parser.add_argument(
        "--management", default="http://localhost:15672", help="RabbitMQ's; empty: not looked at"
    )
    parser.add_argument("--operator", default="operador1")
    parser.add_argument("--seconds", type=float, default=120, help="how long a request may take")
    parser.add_argument("--json", action="store_true", help="print what was seen as one object")
    told = parser.parse_args()
    try:
        found = Verification(told).run()
    except Failed as error:
        sys.exit(f"failed: {error}")
    if told.json:
        print(json.dumps(found))


if __name__ == "__main__":
    main()
