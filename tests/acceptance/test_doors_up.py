"""`docproc up` with doors: a file from a folder, a mail and a client's upload go the whole way."""

from __future__ import annotations

import json
import smtplib
from email.message import EmailMessage
from pathlib import Path

import pytest

from bench.servers import _free_ports
from docproc.client import Client
from tests import papers
from tests.deployments import _processes
from tests.papers import INVOICE
from tests.processes import until

# Another `docproc up` beside those of other tests would only make all of them slow.
pytestmark = pytest.mark.xdist_group("deployment")


@pytest.mark.timeout(300)
def test_files_of_every_door_are_answered(tmp_path: Path) -> None:
    processes = _processes(tmp_path)
    port, backoffice, smtp = _free_ports(3)
    inbox = tmp_path / "inbox"
    service = processes.start(
        "up", "--port", str(port), "--review", "flag", BACKOFFICE_PORT=backoffice, PROCESSES=1,
        INBOX_FOLDER=str(inbox), INBOX_SETTLE_SECONDS="0.3", SMTP_PORT=str(smtp),
        MAIL_SENDERS="@acme.example",
    )  # fmt: skip
    try:
        service.until_status("/ready", 200, 120)
        content = papers.pdf(INVOICE)
        unfinished = inbox / "invoice.pdf.part"
        unfinished.write_bytes(content)
        unfinished.rename(inbox / "invoice.pdf")
        mail = EmailMessage()
        mail["From"], mail["To"], mail["Message-ID"] = (
            "ana@acme.example",
            "docs@here.example",
            "<1@acme.example>",
        )
        mail.set_content("attached")
        mail.add_attachment(content, maintype="application", subtype="pdf", filename="invoice.pdf")
        with smtplib.SMTP("127.0.0.1", smtp, timeout=20) as server:
            server.send_message(mail)
        answer = inbox / "done" / "invoice.pdf.answer.json"
        until(answer.exists, "the answer lies beside the file", 120)
        with Client(f"http://127.0.0.1:{port}") as client:
            sent = client.submit(("invoice.pdf", content))
            results = [
                json.loads(answer.read_text())["result"],
                client.wait(sent["request_id"], 120)["result"],
            ]
            (mailed,) = client.requests(channel="email")["requests"]
            results.append(client.wait(mailed["request_id"], 120)["result"])
        kinds = [[document["doc_type"] for document in result["documents"]] for result in results]
        assert kinds == [["invoice"]] * 3
        assert len({json.dumps(result["documents"][0]["extracted_data"]) for result in results}) == 1
    finally:
        processes.close()
