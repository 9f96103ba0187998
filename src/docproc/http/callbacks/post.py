"""One attempt: a signed POST to an address that was checked, and what came of it."""

from __future__ import annotations

import asyncio
from types import TracebackType

import httpx

from docproc import __version__
from docproc.engine.message import utc_now
from docproc.engine.store.deliveries import Due
from docproc.http.callbacks import signature
from docproc.http.callbacks.addresses import host_of
from docproc.http.callbacks.resolver import RefusedAddressError, Resolver
from docproc.http.callbacks.schedule import Reply
from docproc.retry_after import wait_seconds

_PORTS = {"http": 80, "https": 443}
_CONNECT_SECONDS = 5.0


class Poster:
    """Sends; never follows a redirect, knows no proxy, and reads nothing but the head of an answer."""

    def __init__(self, key: bytes, resolver: Resolver, timeout_seconds: float) -> None:
        self.key = key
        self.resolver = resolver
        self.timeout_seconds = timeout_seconds
        self._client = httpx.AsyncClient(
            verify=httpx.create_ssl_context(),
            trust_env=False,
            follow_redirects=False,
            timeout=httpx.Timeout(timeout_seconds, connect=min(_CONNECT_SECONDS, timeout_seconds)),
            # Connections are told apart by address, and two hosts may share one: none is used twice.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            headers={"User-Agent": f"DocProc/{__version__}", "Content-Type": "application/json"},
        )

    async def __aenter__(self) -> Poster:
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._client.aclose()
        self.resolver.close()

    async def post(self, due: Due) -> Reply:
        """Never raises what a receiver or the way to it can cause."""
        try:
            async with asyncio.timeout(self.timeout_seconds):
                return await self._post(httpx.URL(due.url), due)
        except TimeoutError:
            return Reply(error=f"no answer within {self.timeout_seconds:g} s")
        except RefusedAddressError as error:
            return Reply(error=str(error))
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
            return Reply(error=_said(error))

    async def _post(self, url: httpx.URL, due: Due) -> Reply:
        port = url.port or _PORTS[url.scheme]
        *others, last = await self.resolver.addresses(host_of(url), port)
        for address in others:
            try:
                return await self._post_to(address, url, due)
            except (httpx.ConnectError, httpx.ConnectTimeout):
                pass  # nothing was sent: the next address may answer
        return await self._post_to(last, url, due)

    async def _post_to(self, address: str, url: httpx.URL, due: Due) -> Reply:
        """Connected to the address that was checked; the receiver and its certificate go by the name."""
        now, body = utc_now(), due.body.encode()
        key = signature.key_of_tenant(self.key, due.tenant_id)
        headers = signature.headers(key, str(due.id), int(now.timestamp()), body)
        async with self._client.stream(
            "POST",
            url.copy_with(host=address),
            content=body,
            headers={"Host": url.netloc.decode("ascii"), **headers},
            extensions={"sni_hostname": host_of(url)},
        ) as response:
            # The status is all that counts; a body could be endless.
            return Reply(
                response.status_code, wait_seconds=wait_seconds(response.headers.get("retry-after"), now)
            )


def _said(error: Exception) -> str:
    """Short, and never what the receiver wrote, nor the address, which may be a secret."""
    if isinstance(error, httpx.ProtocolError | httpx.InvalidURL | UnicodeError):  # they quote it
        return type(error).__name__
    return (str(error) or type(error).__name__).splitlines()[0][:200]
