"""Options that commands share."""

from __future__ import annotations

import typer

# Of commands that look: whoever reaches the database sees all of it, unless asked otherwise.
TenantOption = typer.Option(None, "--tenant", help="Only of this tenant")
