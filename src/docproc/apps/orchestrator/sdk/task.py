"""What a service's function is given: the envelope, and how to report, ask for a tool, and refuse."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any
from uuid import UUID, uuid4

from docproc.apps.orchestrator.envelope.models import Envelope, Status
from docproc.engine.message import utc_now

Say = Callable[[bytes], Awaitable[None]]


class BusinessError(Exception):
    """The service understood and says no: `code` and text reach the client, and nobody tries again."""

    def __init__(self, message: str, *, code: str = "BUSINESS_ERROR") -> None:
        super().__init__(message)
        self.code = code


class RetryLater(Exception):
    """The service is too busy: to be called again after so many seconds, without counting an attempt."""

    def __init__(self, message: str = "the service is busy", *, seconds: float = 1.0) -> None:
        super().__init__(message)
        self.seconds = seconds


class ServiceFailure(Exception):
    """The work failed; `error` is what the answer says of it: `code`, `message`, and `status` or `kind`."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message") or error.get("code")))
        self.error = dict(error)


class ToolError(Exception):
    """The tool that was asked for failed; `error` says how."""

    def __init__(self, error: Mapping[str, Any]) -> None:
        super().__init__(str(error.get("message") or error.get("code") or "the tool failed"))
        self.error = dict(error)


class ToolNeeded(BaseException):
    """The function cannot go on before a tool has answered. It is called again then, from its beginning, with
    the answer at hand. No Exception: a function that catches those must not swallow it."""

    def __init__(self, request: dict[str, Any]) -> None:
        super().__init__(request)
        self.request = request


class ServiceTask:
    """One envelope, while a function works on it."""

    def __init__(self, envelope: Envelope, say: Say) -> None:
        self.envelope = envelope
        self._say = say
        self._tools = 0

    @property
    def payload(self) -> dict[str, Any]:
        return self.envelope.payload

    @property
    def inputs(self) -> dict[str, Any]:
        """What the steps before this one found, by their names."""
        found: dict[str, Any] = self.payload.get("inputs", {})
        return found

    @property
    def tenant_id(self) -> str:
        return self.envelope.tenant_id

    @property
    def idempotency_key(self) -> str:
        """The same for every attempt at this call: to be handed to others, so that effects happen once."""
        return str(self.envelope.metadata.call_id)

    async def say(self, body: bytes) -> None:
        """Bring an envelope to the orchestrator as it is."""
        await self._say(body)

    async def progress(self, percent: float, message: str = "") -> None:
        """Clients see it; only what is more than before counts."""
        said = {"progress": percent, **({"message": message} if message else {})}
        await self._say(answer_to(self.envelope, Status.PROCESSING, said).encode())

    async def tool(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        *,
        service: str | None = None,
        key: str | None = None,
    ) -> Any:
        """The answer of a tool. Raises ToolError where that failed.

        The function ends here the first time, and is called again with the answer: what it did before is
        done twice, so effects belong after the last tool, or carry `idempotency_key`. Tools are told apart by
        their order, or by `key`.
        """
        self._tools += 1
        key = key or f"{name}:{self._tools}"
        known = self.payload.get("tool_results", {})
        if key not in known:
            request = {"key": key, "tool": name, "arguments": dict(arguments or {})}
            raise ToolNeeded({**request, **({"service": service} if service else {})})
        found = known[key]
        if isinstance(found, dict) and set(found) == {"error"}:
            raise ToolError(found["error"])
        return found


def answer_to(
    envelope: Envelope,
    status: Status,
    payload: Mapping[str, Any],
    error: Mapping[str, Any] | None = None,
    message_id: UUID | None = None,
) -> Envelope:
    """What a service says of an envelope: the same ids, sender and receiver exchanged."""
    return envelope.model_copy(
        update={
            "message_id": message_id or uuid4(),
            "created_at": utc_now(),
            "expires_at": None,
            "status": status,
            "source_service": envelope.target_service,
            "target_service": envelope.source_service,
            "payload": dict(payload),
            "error": dict(error) if error else None,
        }
    )
