"""Command line of the peer benchmarks: python -m bench.peers --pages 1000 --json [NAME...]."""

import argparse
import json
import signal
import sys

from bench.peers import PEERS, Measurement, available, measure


def main() -> None:
    arguments = _parse()
    # Without this a terminated benchmark would leave its workers running and its scratch space in place.
    signal.signal(signal.SIGTERM, lambda _signal, _frame: sys.exit("terminated"))
    results: list[Measurement] = []
    skipped: dict[str, str] = {}
    for name in arguments.names or PEERS:
        reason = available(name)
        if reason is not None:
            skipped[name] = reason
            continue
        results.append(_best(name, arguments.pages, arguments.runs))
    print(_as_json(results, skipped) if arguments.json else _as_text(results, skipped))


def _best(name: str, pages: int, runs: int) -> Measurement:
    return max((measure(name, pages) for _ in range(runs)), key=lambda one: one.tasks_per_s)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.peers", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(PEERS))
    parser.add_argument("--pages", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=1, help="measure each this often and keep the fastest")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if unknown := [name for name in arguments.names if name not in PEERS]:
        parser.error(f"no such peer: {', '.join(unknown)}")
    return arguments


def _as_json(results: list[Measurement], skipped: dict[str, str]) -> str:
    rows = [
        {"system": one.system, "metric": "tasks_per_s", "value": round(one.tasks_per_s, 1), "unit": "1/s"}
        for one in results
    ]
    return json.dumps({"results": rows, "skipped": skipped})


def _as_text(results: list[Measurement], skipped: dict[str, str]) -> str:
    lines = [f"{one.system:26} {one.tasks_per_s:9.1f} tasks/s {one.seconds:8.3f} s" for one in results]
    return "\n".join([*lines, *(f"{name:26} skipped: {reason}" for name, reason in skipped.items())])


if __name__ == "__main__":
    main()
