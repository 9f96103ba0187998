"""Files that a client names by address: fetched from the public internet, as answers are sent there.

What is checked of an address is checked of every redirect, and what was checked is what is connected to: a
client must not be able to have this server read what only this server can reach.
"""

from __future__ import annotations

import asyncio
import re
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import unquote

import httpx

from docproc import __version__
from docproc.app import App
from docproc.errors import CallbackError, DownloadError, TooLargeError
from docproc.http.callbacks.addresses import checked_url, host_of
from docproc.http.callbacks.resolver import RefusedAddressError, Resolver
from docproc.http.reception import Incoming
from docproc.settings import Settings

MOST_REDIRECTS = 5
_CONNECT_SECONDS = 10.0
_PORTS = {"http": 80, "https": 443}
_ALLOW = "DOCPROC_DOWNLOAD_ALLOW_PRIVATE"
_CHECK = "Check that the address works without signing in, or send the file itself"
_NAMED = re.compile(r"filename\*?=(?:UTF-8'[^']*')?\"?([^\";]+)", re.IGNORECASE)


def downloads_of(application: App) -> Downloads:
    """Those of a process, made once."""
    return application.shared(_make)


def _make(application: App) -> Downloads:
    made = Downloads(application.settings)
    application.at_close(made.resolver.close)
    return made


class Downloads:
    def __init__(self, settings: Settings, resolver: Resolver | None = None) -> None:
        self.settings = settings
        self.resolver = resolver or Resolver(allow_private=settings.download_allow_private)
        self._tls: ssl.SSLContext | None = None

    @asynccontextmanager
    async def opened(self, url: str) -> AsyncIterator[Incoming]:
        """The file, to be read inside the block. Raises DownloadError or TooLargeError, also while it is
        read."""
        try:
            async with asyncio.timeout(self.settings.download_timeout_seconds), self._client() as client:
                for _ in range(MOST_REDIRECTS + 1):
                    address = self._checked(url)
                    async with self._response(client, address) as response:
                        if response.is_redirect:
                            url = str(address.join(response.headers.get("location", "")))
                            continue
                        self._check(response)
                        yield Incoming(_name(response, address), response.aiter_bytes())
                        return
        except TimeoutError:
            seconds = self.settings.download_timeout_seconds
            raise DownloadError(f"the file did not come within {seconds:g} s", remedy=_CHECK) from None
        except RefusedAddressError as error:
            remedy = f"Name a public address, or have {_ALLOW} set to true"
            raise DownloadError("url leads to a private address", remedy=remedy) from error
        except (httpx.HTTPError, httpx.InvalidURL, OSError, UnicodeError) as error:
            # The kind only: what a foreign server says must not come back through us.
            raise DownloadError(
                f"the file could not be fetched ({type(error).__name__})", remedy=_CHECK
            ) from error
        raise DownloadError(f"the address redirects more than {MOST_REDIRECTS} times", remedy=_CHECK)

    def _client(self) -> httpx.AsyncClient:
        if self._tls is None:
            self._tls = httpx.create_ssl_context()
        return httpx.AsyncClient(
            verify=self._tls,
            trust_env=False,
            follow_redirects=False,
            timeout=httpx.Timeout(self.settings.download_timeout_seconds, connect=_CONNECT_SECONDS),
            headers={"User-Agent": f"DocProc/{__version__}", "Accept-Encoding": "identity"},
        )

    def _checked(self, url: str) -> httpx.URL:
        private = self.settings.download_allow_private
        try:
            return httpx.URL(checked_url(url, allow_private=private, what="url", allow=_ALLOW))
        except CallbackError as error:
            raise DownloadError(str(error.args[0]), remedy=error.remedy) from error

    @asynccontextmanager
    async def _response(self, client: httpx.AsyncClient, url: httpx.URL) -> AsyncIterator[httpx.Response]:
        """Connected to an address that was checked; the server and its certificate go by the name."""
        found = await self.resolver.addresses(host_of(url), url.port or _PORTS[url.scheme])
        request = client.build_request(
            "GET",
            url.copy_with(host=found[0]),
            headers={"Host": url.netloc.decode("ascii")},
            extensions={"sni_hostname": host_of(url)},
        )
        response = await client.send(request, stream=True)
        try:
            yield response
        finally:
            await response.aclose()

    def _check(self, response: httpx.Response) -> None:
        if response.status_code != 200:
            raise DownloadError(f"the address answered {response.status_code}", remedy=_CHECK)
        said, most = response.headers.get("content-length", ""), self.settings.max_upload_mb
        if said.isdecimal() and int(said) > most * 1024 * 1024:
            remedy = "Send it in parts, or raise DOCPROC_MAX_UPLOAD_MB"
            raise TooLargeError(f"the file is larger than {most:g} MB", remedy=remedy)


def _name(response: httpx.Response, url: httpx.URL) -> str:
    if named := _NAMED.search(response.headers.get("content-disposition", "")):
        return unquote(named[1]).strip()
    return unquote(url.path.rpartition("/")[2]) or "download"
