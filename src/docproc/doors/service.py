"""Which doors there are, by the names that DOCPROC_COMPONENT_NAME may say, and which of them are open."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from docproc.doors.configuration import DoorSettings
from docproc.settings import Settings

# Each door's name, its class, and the setting that opens it. Imported when it is run: each has packages of
# its own.
DOORS = {
    "folder_door": ("docproc.doors.hot_folder:HotFolder", "inbox_folder"),
    "sftp_door": ("docproc.doors.sftp:SftpDoor", "sftp_port"),
    "smtp_door": ("docproc.doors.smtp:SmtpDoor", "smtp_port"),
    "imap_door": ("docproc.doors.imap:ImapDoor", "imap_url"),
    "bucket_door": ("docproc.doors.bucket:BucketDoor", "inbox_bucket"),
}

Serve = Callable[[Settings, asyncio.Event], Coroutine[Any, Any, int]]


def open_doors(settings: Settings) -> list[str]:
    """Those that the settings open; they are part of `docproc up`."""
    said = settings.section(DoorSettings)
    return [name for name, (_, setting) in DOORS.items() if getattr(said, setting) not in (None, {})]


async def serve(name: str, settings: Settings, stopping: asyncio.Event) -> int:
    from docproc.doors import running  # workers know the doors' names, and import none of them

    return await running.serve(name, settings, stopping)


SERVICES: dict[str, Serve] = {name: partial(serve, name) for name in DOORS}
