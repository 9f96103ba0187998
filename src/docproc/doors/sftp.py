"""The SFTP server: each tenant has a home, and what is put there becomes a request."""

from __future__ import annotations

import asyncio
from pathlib import Path

import asyncssh
import structlog
from sqlalchemy.exc import SQLAlchemyError

from docproc.app import App
from docproc.doors.hot_folder import InboxDoor
from docproc.doors.inbox import Inbox
from docproc.doors.sftp_home import Home
from docproc.engine.message import utc_now
from docproc.errors import ConfigurationError
from docproc.harmless import text_for_logs
from docproc.http.access import keys
from docproc.http.access.scopes import Scope
from docproc.private import private_folder

log = structlog.get_logger(__name__)

HOST_KEY = "sftp_host_key"
# A client that says nothing for so long is asked, and gone when it does not answer.
ALIVE_SECONDS, ALIVE_TIMES = 15, 4
SIGN_IN_SECONDS = 30


class SftpDoor(InboxDoor):
    """The user's name is the tenant's; the password an API key of it that may submit, or a public key."""

    name = "sftp_door"
    channel = "sftp"

    def __init__(self, application: App) -> None:
        super().__init__(application, ())
        home = application.settings.home.expanduser().absolute()
        self.home = home
        self.root = (self.settings.sftp_folder or home / "sftp").expanduser().absolute()
        if self.settings.sftp_port is None:
            raise ConfigurationError("the SFTP server has no port", remedy="Set DOCPROC_SFTP_PORT")
        self._server: asyncssh.SSHAcceptor | None = None

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.get_port())

    async def prepare(self) -> None:
        try:
            key = await asyncio.to_thread(self._host_key)
            for tenant_id in await asyncio.to_thread(self._known_homes):
                self.inbox_of(tenant_id)
            await super().prepare()
        except OSError as error:
            raise ConfigurationError(
                f"{self.root} cannot be used for homes: {error.strerror}",
                remedy="Name a folder that this user may write to in DOCPROC_SFTP_FOLDER",
            ) from error
        host, port = self.application.settings.host, self.settings.sftp_port
        try:
            self._server = await asyncssh.listen(
                host,
                port,
                server_factory=lambda: Visitor(self),
                server_host_keys=[key],
                sftp_factory=self._home,
                allow_scp=False,
                x11_forwarding=False,
                agent_forwarding=False,
                login_timeout=SIGN_IN_SECONDS,
                keepalive_interval=ALIVE_SECONDS,
                keepalive_count_max=ALIVE_TIMES,
                server_version="DocProc",
            )
        except OSError as error:
            raise ConfigurationError(
                f"the SFTP server cannot listen on {host}:{port}: {error.strerror or error}",
                remedy="Set DOCPROC_SFTP_PORT to a free port",
            ) from error
        log.info("door_listening", door=self.name, host=host, port=self.port)

    async def run(self) -> None:
        assert self._server is not None
        try:
            await super().run()
        finally:
            self._server.close()
            await self._server.wait_closed()

    def inbox_of(self, tenant_id: str) -> Inbox:
        """A tenant's home, made when it is first used. Its files are complete when they have their names."""
        if tenant_id not in self.inboxes:
            inbox = Inbox(tenant_id, self.root / tenant_id, self.channel, settle_seconds=0)
            private_folder(inbox.root)
            inbox.prepare()
            self.inboxes[tenant_id] = inbox
        return self.inboxes[tenant_id]

    def _home(self, channel: asyncssh.SSHServerChannel[bytes]) -> Home:
        tenant_id = channel.get_connection().get_extra_info("username")
        largest = int(self.application.settings.max_upload_mb * 1024 * 1024)
        return Home(channel, self.inbox_of(tenant_id).root, largest, self.news.set)

    def _known_homes(self) -> list[str]:
        private_folder(self.root)
        return [path.name for path in self.root.iterdir() if path.is_dir() and not path.name.startswith(".")]

    def _host_key(self) -> asyncssh.SSHKey:
        """Made once and kept: clients remember it and refuse another."""
        path = private_folder(self.home) / HOST_KEY
        if not path.exists():
            made = asyncssh.generate_private_key("ssh-ed25519")
            unfinished = path.with_suffix(".part")
            unfinished.touch(mode=0o600)
            made.write_private_key(str(unfinished))
            unfinished.replace(path)
        return asyncssh.read_private_key(str(path))


class Visitor(asyncssh.SSHServer):
    """Somebody at the door, until they have said who they are."""

    def __init__(self, door: SftpDoor) -> None:
        self.door = door
        self.application = door.application

    async def begin_auth(self, username: str) -> bool:
        return True

    def password_auth_supported(self) -> bool:
        return True

    async def validate_password(self, username: str, password: str) -> bool:
        """An API key of the tenant that the name says, with the scope `submit`."""
        try:
            async with self.application.store.reading() as session:
                key = await keys.find(session, password)
        except (SQLAlchemyError, OSError) as error:
            log.warning("door_waits", door=self.door.name, problem=text_for_logs(error))
            return False
        is_good = (
            key is not None
            and key.tenant_id == username
            and keys.standing(key, utc_now()) == "active"
            and Scope.SUBMIT in key.scopes
            and await self._is_active(username)
        )
        if not is_good:
            log.warning("door_turned_away", door=self.door.name, user=username[:100])
        return is_good

    def public_key_auth_supported(self) -> bool:
        return self.door.settings.sftp_keys is not None

    async def validate_public_key(self, username: str, key: asyncssh.SSHKey) -> bool:
        allowed = await asyncio.to_thread(self._allowed, username)
        if allowed is None or not await self._is_active(username):
            return False
        return any(one.convert_to_public() == key.convert_to_public() for one in allowed)

    def _allowed(self, username: str) -> list[asyncssh.SSHKey] | None:
        folder = self.door.settings.sftp_keys
        if folder is None or Path(username).name != username or username.startswith("."):
            return None
        try:
            return list(asyncssh.read_public_key_list(str(folder / username)))
        except FileNotFoundError:
            return None
        except (OSError, asyncssh.KeyImportError) as error:
            log.warning("door_waits", door=self.door.name, problem=text_for_logs(error))
            return None

    async def _is_active(self, tenant_id: str) -> bool:
        found = await self.application.tenants.find(tenant_id)
        return found is not None and found.is_active
