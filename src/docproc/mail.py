"""Mail that DocProc sends: one message to a server named by a URL, `smtp://` or `smtps://`."""

from __future__ import annotations

import smtplib
import ssl
from email.message import EmailMessage
from urllib.parse import unquote, urlsplit

TIMEOUT_SECONDS = 20.0
_PORTS = {"smtp": 587, "smtps": 465}


def send(url: str, message: EmailMessage) -> None:
    """Blocking. Encrypted where the server can; a password is never sent in the clear.

    Raises OSError or smtplib.SMTPException.
    """
    parts = urlsplit(url)
    host, context = parts.hostname or "localhost", ssl.create_default_context()
    port = parts.port or _PORTS.get(parts.scheme, 587)
    server: smtplib.SMTP
    if parts.scheme == "smtps":
        server = smtplib.SMTP_SSL(host, port, timeout=TIMEOUT_SECONDS, context=context)
    else:
        server = smtplib.SMTP(host, port, timeout=TIMEOUT_SECONDS)
    with server:
        server.ehlo()
        if parts.scheme != "smtps" and (parts.username or server.has_extn("starttls")):
            server.starttls(context=context)  # raises where the server cannot
            server.ehlo()
        if parts.username:
            server.login(unquote(parts.username), unquote(parts.password or ""))
        server.send_message(message)
