"""A mail server that keeps what it gets: as much of SMTP as a client needs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from email import message_from_bytes, policy
from email.message import EmailMessage


class Mailbox:
    def __init__(self) -> None:
        self.messages: list[EmailMessage] = []
        self.port = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mailbox\r\n")
        while line := await reader.readline():
            verb = line[:4].upper()
            if verb == b"DATA":
                writer.write(b"354 go on\r\n")
                body = await reader.readuntil(b"\r\n.\r\n")
                found = message_from_bytes(body.removesuffix(b".\r\n"), policy=policy.default)
                assert isinstance(found, EmailMessage)
                self.messages.append(found)
            writer.write(b"221 bye\r\n" if verb == b"QUIT" else b"250 ok\r\n")
            await writer.drain()
            if verb == b"QUIT":
                break
        writer.close()


@asynccontextmanager
async def mailbox() -> AsyncIterator[Mailbox]:
    found = Mailbox()
    server = await asyncio.start_server(found.serve, "127.0.0.1", 0)
    found.port = server.sockets[0].getsockname()[1]
    try:
        yield found
    finally:
        server.close()
        await server.wait_closed()
