"""A mail server with mailboxes in memory: pymap, in a process of its own."""

from __future__ import annotations

import imaplib
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bench.servers import _free_ports

USER, PASSWORD = "office", "s3cret"
_MAIN = "from pymap.main import main; main()"


@dataclass(frozen=True)
class ImapServer:
    port: int

    @property
    def url(self) -> str:
        return f"imap://{USER}:{PASSWORD}@127.0.0.1:{self.port}/INBOX"

    def connected(self) -> imaplib.IMAP4:
        server = imaplib.IMAP4("127.0.0.1", self.port, timeout=20)
        server.login(USER, PASSWORD)
        return server

    def put(self, content: bytes) -> None:
        """As a mail server does that has received a mail."""
        with self.connected() as server:
            answer, said = server.append("INBOX", None, None, content)
            assert answer == "OK", said

    def count(self, folder: str) -> int:
        with self.connected() as server:
            answer, said = server.select(folder, readonly=True)
            return int(said[0] or 0) if answer == "OK" else -1


@contextmanager
def imap_server() -> Iterator[ImapServer]:
    (port,) = _free_ports(1)
    process = subprocess.Popen(
        [
            sys.executable, "-c", _MAIN, "--host", "127.0.0.1", "--port", str(port), "--no-tls",
            "dict", "--demo-user", USER, "--demo-password", PASSWORD,
        ],
        stdout=subprocess.DEVNULL,
    )  # fmt: skip
    server = ImapServer(port)
    try:
        until = time.monotonic() + 30
        while True:
            try:
                server.connected().logout()
                break
            except (OSError, imaplib.IMAP4.abort):
                assert process.poll() is None and time.monotonic() < until, "pymap does not answer"
                time.sleep(0.1)
        yield server
    finally:
        process.terminate()
        process.wait(10)
