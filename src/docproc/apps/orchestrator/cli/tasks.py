"""`docproc orchestrator submit`, `list` and `show`: tasks of a running orchestrator."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

import typer
from rich.markup import escape
from rich.table import Table

from docproc.errors import UsageError
from docproc.terminal.output import console, print_json
from docproc.terminal.server import ServerOption, connected

AsJson = typer.Option(False, "--json", help="Machine-readable output")
STATUSES = ("pending", "processing", "completed", "failed")


def submit(
    kind: str = typer.Argument(
        None, metavar="[DOMAIN.ACTION]", help="What to do, such as agent.execute", show_default=False
    ),
    payload: str = typer.Option("{}", "--payload", help="What the service is sent: JSON, or @file"),
    flow: str = typer.Option(None, "--flow", help="A named flow instead of one operation"),
    plan: str = typer.Option(None, "--plan", help="A plan instead of one operation: JSON, or @file"),
    priority: int = typer.Option(None, "--priority", min=0, max=9, help="0 is the most urgent"),
    session: str = typer.Option(None, "--session", help="The session it belongs to"),
    service: str = typer.Option(None, "--service", help="Whom to call (default: whom the type leads to)"),
    server: str = ServerOption,
    as_json: bool = AsJson,
) -> None:
    """Submit a task: one operation, a named flow, or a plan."""
    if sum(one is not None for one in (kind, flow, plan)) != 1:
        raise UsageError(
            "a task is one operation, a flow or a plan", remedy="Write agent.execute, --flow or --plan"
        )
    said: dict[str, Any] = {"payload": _object(payload, "--payload"), "metadata": {"source": "api"}}
    if kind is not None:
        domain, _, action = kind.partition(".")
        said["type"] = {"domain": domain, "action": action}
    wanted = {"flow": flow, "priority": priority, "session_id": session, "target_service": service}
    said |= {name: value for name, value in wanted.items() if value is not None}
    if plan is not None:
        said["plan"] = _object(plan, "--plan")
    with connected(server) as there:
        accepted = there.post("/api/v1/tasks", said)
    if as_json:
        return print_json(accepted)
    console.print(f"{accepted['task_id']}  accepted", highlight=False, soft_wrap=True)


def list_tasks(
    status: str = typer.Option(None, "--status", help=", ".join(STATUSES)),
    session: str = typer.Option(None, "--session", help="Only of this session"),
    limit: int = typer.Option(50, "--limit", min=1, max=200, help="So many at most"),
    server: str = ServerOption,
    as_json: bool = AsJson,
) -> None:
    """List tasks, newest first."""
    if status is not None and status not in STATUSES:
        raise UsageError(f"{status!r} is no status", remedy=f"Use {', '.join(STATUSES)}")
    wanted = {"status": status, "session_id": session, "limit": limit}
    query = urlencode({name: value for name, value in wanted.items() if value is not None})
    with connected(server) as there:
        tasks = there.get(f"/api/v1/tasks?{query}")["tasks"]
    if as_json:
        return print_json(tasks)
    if not tasks:
        return console.print("There are no tasks.")
    table = Table("task", "type", "priority", "status", "%", "session", "since (UTC)", box=None)
    for one in tasks:
        about = (one["task_id"], one["type"], str(one["priority"]), one["status"], str(one["progress"]))
        table.add_row(*about, escape(one["session_id"]), one["created_at"][:19])
    console.print(table)


def show(
    task_id: UUID = typer.Argument(metavar="ID", help="The task's id", show_default=False),
    server: str = ServerOption,
    as_json: bool = AsJson,
) -> None:
    """Show a task: where it stands, and the calls of its plan."""
    with connected(server) as there:
        task = there.get(f"/api/v1/tasks/{task_id}")
    if as_json:
        return print_json(task)
    console.print(f"{task_id}  [bold]{task['status']}[/], {task['progress']} %", highlight=False)
    console.print(f"correlation id     {task['correlation_id']}", highlight=False)
    table = Table("step", "service", "type", "status", "attempt", "%", box=None)
    for one in task["steps"]:
        about = (one["service"], one["type"], one["status"], str(one["attempt"]), str(one["progress"]))
        table.add_row(escape(one["step"]), *about)
    console.print(table)
    for name in ("result", "error"):
        if task[name] is not None:
            console.print(f"{name}  {escape(json.dumps(task[name]))}", highlight=False, soft_wrap=True)


def _object(text: str, option: str) -> dict[str, Any]:
    """JSON that is written out, or in a file."""
    try:
        if text.startswith("@"):
            text = Path(text[1:]).read_text(encoding="utf-8")
        found = json.loads(text)
    except (OSError, ValueError) as error:
        raise UsageError(
            f"{option} cannot be read: {error}", remedy="Write JSON, or @ and the name of a file"
        ) from error
    if not isinstance(found, dict):
        raise UsageError(f"{option} is no object", remedy='Write it as {"prompt": "hello"}')
    return found
