"""What `mkdocs build` does beyond turning pages into HTML: a hook that mkdocs.yml names.

Pages link to files outside docs/ (`../../bench/README.md`) so that they work on GitHub; on the site such
links lead to the repository. Three things are generated from code, because nothing compares them with it: the
OpenAPI documents, the JSON schema of workflow files, and the list of components. The README is the first
page."""

from __future__ import annotations

import json
import os
import re
import tempfile
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).parents[1]
LINK = re.compile(r"(\]\()([^)#\s:]+)([^)\s]*\))")


def on_files(files: Files, config: MkDocsConfig) -> Files:
    generated = {
        "index.md": _front(),
        "reference/openapi.json": _json(_openapi("gateway")),
        "reference/openapi-backoffice.json": _json(_openapi("station")),
        "reference/workflow.schema.json": _json(_workflow_schema()),
        "reference/openapi.md": _endpoints(),
        "reference/components.md": _components(),
    }
    for path, content in generated.items():
        files.append(File.generated(config, path, content=content))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Links that leave docs/ lead to the repository."""
    here = (ROOT / "docs" / page.file.src_uri).parent

    def there(found: re.Match[str]) -> str:
        target = Path(os.path.normpath(here / found[2]))
        if target.is_relative_to(ROOT / "docs") or not target.exists():
            return found[0]  # a page, or one that --strict tells as missing
        kind = "tree" if target.is_dir() else "blob"
        return f"{found[1]}{config.repo_url}/{kind}/main/{target.relative_to(ROOT)}{found[3]}"

    return LINK.sub(there, markdown)


def _front() -> str:
    """The README, whose links are relative to the repository's root."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    # The picture that GitHub draws from text needs a script from elsewhere; the site has the drawn one.
    text = re.sub(r"```mermaid\n.*?```", "![architecture](pictures/architecture.svg)", text, flags=re.DOTALL)
    text = text.replace("](docs/", "](")
    return re.sub(r"\]\((bench/README\.md|CONTRIBUTING\.md)", r"](../\1", text)


def _json(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, sort_keys=True)


def _application() -> Any:
    """All installed applications, embedded in an empty folder; nothing is opened."""
    from docproc.app import App
    from docproc.settings import Settings

    home = Path(tempfile.gettempdir()) / "docproc-docs"
    return App(Settings.load(_env_file=None, home=home, workflows_dir=ROOT / "config/workflows"))


def _openapi(server: str) -> dict[str, Any]:
    from docproc.console import servers

    found: dict[str, Any] = getattr(servers, server)(_application()).openapi()
    return found


def _workflow_schema() -> dict[str, Any]:
    found: dict[str, Any] = _application().applications.workflow_model.model_json_schema()
    return found


def _endpoints() -> str:
    lines = [
        "# OpenAPI",
        "",
        "For tools: [the API](openapi.json) and [the review station](openapi-backoffice.json), as "
        "`GET /openapi.json` of a running server has them. [HTTP](http.md) and "
        "[review station](review-station.md) say the same for people.",
        "",
        "JSON schema of workflow files, for editors: [workflow.schema.json](workflow.schema.json) "
        "([what the keys mean](workflow.md)).",
    ]
    for title, server in (("API", "gateway"), ("Review station", "station")):
        lines += ["", f"## {title}", "", "| endpoint | what it does |", "|---|---|"]
        for path, methods in sorted(_openapi(server)["paths"].items()):
            for method, about in methods.items():
                lines.append(f"| `{method.upper()} {path}` | {about.get('summary', '')} |")
    return "\n".join(lines) + "\n"


def _components() -> str:
    from docproc.cli.serve import SERVICES
    from docproc.registry import declared

    lines = [
        "# Components",
        "",
        "What `DOCPROC_COMPONENT_NAME` may say, from the manifests of the applications. Each is a container "
        "of the one image "
        "([how to](../how-to/deploy-with-compose.md)).",
        "",
        "| component | application | queue | routing key | takes | gives | status |",
        "|---|---|---|---|---|---|---|",
    ]
    applications = _application().applications.all
    owner = {spec.name: one.name for one in applications for spec in one.components}
    for name, spec in sorted(declared(applications).items(), key=lambda one: (owner.get(one[0], ""), one[0])):
        takes = spec.takes if isinstance(spec.takes, str) else " or ".join(spec.takes or ())
        cells = [f"`{name}`", owner.get(name, "engine"), f"`{spec.input_queue}`", f"`{spec.routing_key}`"]
        lines.append("| " + " | ".join([*cells, takes, spec.gives or "", str(spec.status or "")]) + " |")
    lines += [f"| `{name}` | engine | | | | | |" for name in SERVICES]
    return "\n".join(lines) + "\n"
