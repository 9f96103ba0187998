"""A running DocProc over HTTP, as the commands that talk to one see it."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import httpx
import typer

from docproc.errors import ConfigurationError, PermanentError, TransportError, UsageError
from docproc.settings import Settings
from docproc.terminal.output import load_settings

CONNECT_SECONDS = 5.0
# Of silence; a large upload may be checked for a while before the answer comes.
ANSWER_SECONDS = 120.0

# A name, and what is read from.
Part = tuple[str, Any]

ServerOption = typer.Option(
    None, "--server", help="Where DocProc runs (default DOCPROC_SERVER, http://127.0.0.1:8000)"
)


class Server:
    """Every method raises TransportError when nobody answers, PermanentError when it is refused."""

    def __init__(self, client: httpx.Client, url: str) -> None:
        self.url = url
        self._client = client

    def send(self, path: str, parts: Sequence[Part], fields: Mapping[str, str]) -> dict[str, Any]:
        """A form with files, streamed; the fields go first, so that bad ones are told at once."""
        files: list[tuple[str, Any]] = [(name, (None, value)) for name, value in fields.items()]
        files += [("file", (name, file)) for name, file in parts]
        return self._call("POST", path, files=files)

    def post(self, path: str, said: Mapping[str, Any]) -> dict[str, Any]:
        """A body of JSON."""
        return self._call("POST", path, json=dict(said))

    def put(self, path: str, said: Mapping[str, Any]) -> dict[str, Any]:
        return self._call("PUT", path, json=dict(said))

    def get(self, path: str) -> dict[str, Any]:
        return self._call("GET", path)

    def status(self, request_id: UUID) -> dict[str, Any]:
        return self._call("GET", f"/status/{request_id}")

    def detail(self, request_id: UUID) -> dict[str, Any]:
        return self._call("GET", f"/requests/{request_id}")

    def cancel(self, request_id: UUID) -> dict[str, Any]:
        return self._call("POST", f"/requests/{request_id}/cancel")

    def _call(self, method: str, path: str, **content: Any) -> dict[str, Any]:
        try:
            answer = self._client.request(method, path, **content)
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            remedy = "Start one with: docproc up"
            raise TransportError(f"no DocProc answers at {self.url}", remedy=remedy) from error
        except httpx.HTTPError as error:
            problem = str(error) or type(error).__name__
            remedy = "Try again; the server's log may say more"
            raise TransportError(f"{self.url} broke off: {problem}", remedy=remedy) from error
        return _checked(answer, self.url)


def _checked(answer: httpx.Response, url: str) -> dict[str, Any]:
    try:
        body = answer.json()
    except ValueError:
        body = None
    if answer.is_success and isinstance(body, dict):
        return body
    problem = body.get("error") if isinstance(body, dict) else None
    if not isinstance(problem, dict):
        raise PermanentError(
            f"what answers at {url} is no DocProc (HTTP {answer.status_code})",
            remedy="Check --server or DOCPROC_SERVER",
        )
    raise PermanentError(str(problem.get("message")), remedy=str(problem.get("remedy") or ""))


@contextmanager
def connected(url: str | None) -> Iterator[Server]:
    """The server that is named, else the one of the settings."""
    settings = load_settings()
    url = (url or settings.server).rstrip("/")
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        parsed = httpx.URL("")
    if parsed.scheme not in ("http", "https") or not parsed.host:
        raise UsageError(f"{url!r} is no server's address", remedy="Write it as http://127.0.0.1:8000")
    timeout = httpx.Timeout(ANSWER_SECONDS, connect=CONNECT_SECONDS)
    # A proxy of the environment is for other machines.
    trust = not _is_loopback(parsed.host)
    headers = _who(settings)
    with httpx.Client(base_url=url, timeout=timeout, trust_env=trust, headers=headers) as client:
        yield Server(client, url)


def _who(settings: Settings) -> dict[str, str]:
    """The key that the settings have, if any. Raises ConfigurationError when its file cannot be read."""
    key = settings.api_key.get_secret_value() if settings.api_key else ""
    if not key and settings.api_key_file is not None:
        try:
            key = settings.api_key_file.expanduser().read_text(encoding="ascii").strip()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigurationError(
                f"the key's file {settings.api_key_file} cannot be read: {error}",
                remedy="Check DOCPROC_API_KEY_FILE",
            ) from error
    return {"Authorization": f"Bearer {key}"} if key else {}


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
