"""The official client of a DocProc server: `Client` for plain programs, `AsyncClient` for asyncio.

from docproc.client import Client

with Client("https://docproc.example", key="dp_…") as docproc:
    request = docproc.submit("invoice.pdf", metadata={"customer": "ACME"})
    answer = docproc.wait(request["request_id"])
    print(answer["result"]["documents"])
"""

from docproc.client.asynchronous import AsyncClient
from docproc.client.calls import Refused, Unreachable
from docproc.client.synchronous import Client
from docproc.client.webhooks import WebhookError, verify

__all__ = ["AsyncClient", "Client", "Refused", "Unreachable", "WebhookError", "verify"]
