"""A scripted operator answers 50 field tasks in a browser by keyboard; keys and seconds are counted.

    python bench/review.py [--quick] [--json]

Every field of every invoice is in doubt (threshold 1.0), so the machine's right values must be confirmed one
by one. The operator knows what each paper says: a right value gets Enter, a wrong one is typed over. Exits 1
when a right field takes more than one key, or sending more than one.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import sys
import tempfile
import time
from dataclasses import asdict, dataclass, field
from decimal import Decimal
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from playwright.sync_api import Page, sync_playwright

from bench.servers import HOST, _free_ports

CHROMIUM = os.environ.get("TEST_CHROMIUM", "/usr/bin/chromium")
TASKS, QUICK_TASKS = 50, 5
FLOW = """
name: review
sla: {deadline_seconds: 7200}
stages:
  - {name: split, component: splitter}
  - {name: ocr, component: ocr, parallel: true}
  - {name: classify, component: classifier, confidence_threshold: 0.0}
  - {name: group, component: classification_aggregator}
  - name: extract
    component: extractor
    confidence_threshold: 1.0
    when_no_time: wait
    backoffice_queue: task.extraction
  - {name: all, component: extraction_aggregator}
  - {name: answer, component: consolidator}
extraction_schemas:
  invoice:
    fields:
      - {name: invoice_number, required: true}
      - {name: date, type: date, required: true}
      - {name: vendor_tax_id, required: true}
      - {name: net_amount, type: decimal, required: true}
      - {name: tax_amount, type: decimal, required: true}
      - {name: total_amount, type: decimal, required: true}
"""


@dataclass
class Findings:
    results: list[dict[str, Any]] = field(default_factory=list)
    ratios: dict[str, float] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)

    def add(self, metric: str, value: float, unit: str) -> None:
        self.results.append(
            {"system": "docproc review", "metric": metric, "value": round(value, 3), "unit": unit}
        )


@dataclass
class Tally:
    """What the operator did."""

    tasks: int = 0
    right: int = 0
    wrong: int = 0
    keys_right: int = 0
    keys_wrong: int = 0
    keys_sending: int = 0
    seconds: list[float] = field(default_factory=list)


@dataclass(frozen=True)
class Paper:
    """An invoice and what it says, as a Spanish screen shows it."""

    lines: tuple[str, ...]
    says: dict[str, str]


def paper(chance: random.Random, number: int) -> Paper:
    net = Decimal(chance.randrange(1_000, 900_000)) / 100
    tax = (net * Decimal("0.21")).quantize(Decimal("0.01"))
    day, month = chance.randrange(1, 29), chance.randrange(1, 13)
    # Some numbers are of a kind that machines take for something else.
    name = chance.choice((f"F-2026-{number:04}", f"{number:04}/26", f"AB{number:04}", f"2026{number:04}"))
    says = {
        "invoice_number": name,
        "date": f"{day:02}/{month:02}/2026",
        "vendor_tax_id": "B16596447",
        "net_amount": _comma(net),
        "tax_amount": _comma(tax),
        "total_amount": _comma(net + tax),
    }
    lines = (
        "FACTURA",
        "Suministros Vega, S.L.          CIF: B16596447",
        f"Factura n.º: {name}        Fecha: {says['date']}",
        "Cliente: Gestoría Puerta Nueva, S.A.",
        f"Base imponible                                  {_dotted(net)} €",
        f"IVA 21 %                                        {_dotted(tax)} €",
        f"TOTAL FACTURA                                   {_dotted(net + tax)} €",
    )
    return Paper(lines, says)


def _comma(amount: Decimal) -> str:
    return f"{amount:.2f}".replace(".", ",")


def _dotted(amount: Decimal) -> str:
    return f"{amount:,.2f}".translate(str.maketrans(",.", ".,"))


# --- the operator ---------------------------------------------------------------------------------------


def answer(page: Page, by_file: dict[str, Paper], tally: Tally) -> None:
    """One task, from the page that can be worked with to the page after it."""
    page.locator("#work[data-ready]").wait_for()
    says = by_file[page.locator(".work-bar .file").inner_text().strip()].says
    left = page.locator('.field[data-doubtful="true"]').count()
    began = time.perf_counter()
    for _ in range(left):
        entry = page.locator(".field input:focus")
        name, shown = entry.get_attribute("name"), entry.input_value()
        if shown == says[str(name)]:
            page.keyboard.press("Enter")
            tally.right += 1
            tally.keys_right += 1
        else:
            page.keyboard.type(says[str(name)])
            page.keyboard.press("Enter")
            tally.wrong += 1
            tally.keys_wrong += len(says[str(name)]) + 1
    here = page.url
    page.keyboard.press("Enter")  # the focus is on the button that sends
    tally.keys_sending += 1
    page.wait_for_url(lambda url: url != here, timeout=30_000)
    tally.seconds.append(time.perf_counter() - began)
    tally.tasks += 1


def measure(number: int, findings: Findings) -> Tally:
    # What tests know of running deployments is needed here alone.
    from tests import papers
    from tests.deployments import _processes, _running
    from tests.processes import until

    chance, tally = random.Random(7), Tally()
    by_file = {f"factura-{n:03}.pdf": paper(chance, n) for n in range(number)}
    with tempfile.TemporaryDirectory(prefix="docproc-bench-") as folder:
        processes = _processes(Path(folder))
        (processes.settings.workflows_dir / "review.yaml").write_text(FLOW, encoding="utf-8")
        port, desk = _free_ports(2)
        service = processes.start(
            "up", "--port", str(port), BACKOFFICE_PORT=desk, PROCESSES=1, WARM_UP="false", REVIEW="ask"
        )
        with _running(processes, [service], port) as deployment:
            service.until_status("/ready", 200, 120)
            for name, one in by_file.items():
                deployment.submit((name, papers.pdf(one.lines)), workflow="review")
            count = "SELECT count(*) FROM backoffice_tasks WHERE status = 'pending'"
            until(lambda: deployment.query(count)[0][0] == number, f"{number} tasks wait", 300)
            with sync_playwright() as playwright:
                browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
                page = browser.new_context(locale="es-ES", viewport={"width": 1366, "height": 768}).new_page()
                page.goto(f"http://{HOST}:{desk}/?operator=ana")
                page.locator("#queue[data-ready]").wait_for()
                page.keyboard.press("s")
                for _ in range(number):
                    answer(page, by_file, tally)
                browser.close()
    _report(tally, findings)
    return tally


def _report(tally: Tally, findings: Findings) -> None:
    ordered = sorted(tally.seconds)
    findings.add("tasks", tally.tasks, "number")
    findings.add("right_fields", tally.right, "number")
    findings.add("wrong_fields", tally.wrong, "number")
    findings.add("keys_per_right_field", tally.keys_right / max(1, tally.right), "keys")
    findings.add("keys_per_wrong_field", tally.keys_wrong / max(1, tally.wrong), "keys")
    findings.add("keys_to_send", tally.keys_sending / max(1, tally.tasks), "keys")
    keys = tally.keys_right + tally.keys_wrong + tally.keys_sending
    findings.add("keys_per_task", keys / max(1, tally.tasks), "keys")
    # The script needs no time to read or think: this is what the page and the server take.
    findings.add("seconds_per_task_p50", ordered[len(ordered) // 2], "s")
    findings.add("seconds_per_task_p95", ordered[int(len(ordered) * 0.95)], "s")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true", help="five tasks")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    given = parser.parse_args()
    findings = Findings()
    if not Path(CHROMIUM).exists():
        findings.skipped.append(f"no browser at {CHROMIUM} (set TEST_CHROMIUM)")
        print(json.dumps(asdict(findings)) if given.json else findings.skipped[0])
        return 0
    tally = measure(QUICK_TASKS if given.quick else TASKS, findings)
    if given.json:
        print(json.dumps(asdict(findings)))
    else:
        for row in findings.results:
            print(f"{row['metric']:<24} {row['value']:>10,.6g} {row['unit']}")
    return 0 if tally.keys_right <= tally.right and tally.keys_sending <= tally.tasks else 1


if __name__ == "__main__":
    sys.exit(main())
