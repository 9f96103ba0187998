"""Private PostgreSQL and RabbitMQ servers on free ports, for tests and benches that restart and kill them."""

from __future__ import annotations

import atexit
import contextlib
import functools
import os
import pwd
import random
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Self

HOST = "127.0.0.1"
REMEDY = "install Debian's postgresql and rabbitmq-server (apt-get install postgresql rabbitmq-server)"
# Below Linux's usual ephemeral range (32768 up): inside it, a client that keeps dialling a dead server's port
# can be given that very port as its own, connect to itself, and so keep the server from coming back.
# Above 25672, RabbitMQ's usual distribution port, so that the machine's own broker never finds it taken.
PORTS = range(26000, 32000)
# A variable only a private RabbitMQ node and its helpers carry, by which a dead node's helpers are found.
MARK = "DOCPROC_PRIVATE_SERVER"


class ServerError(RuntimeError):
    """A private server is missing, would not start, or would not stop; the message names the remedy."""


class _Server(ABC):
    """What both servers share: their folder, their process, and the order of starting and ending it."""

    label: ClassVar[str]
    stop_signal: ClassVar[signal.Signals]
    port_count: ClassVar[int] = 1
    start_seconds: ClassVar[float] = 90.0
    stop_seconds: ClassVar[float] = 60.0

    def __init__(self, folder: Path | None = None) -> None:
        """Take free ports; `folder` is kept afterwards, whereas without one a temporary folder is removed."""
        self.user: str | None = None
        # Added to its processes' environment: what is preloaded into them to make their machine a bad one.
        self.variables: Mapping[str, str] = {}
        self._ports = _free_ports(self.port_count)
        self._parent = folder
        self._home: Path | None = None
        self._process: subprocess.Popen[bytes] | None = None

    @staticmethod
    @abstractmethod
    def available() -> str | None:
        """Say why this server cannot run here, or None when it can."""

    @property
    @abstractmethod
    def url(self) -> str:
        """Give the address DocProc's settings take; it stays the same over restarts."""

    @property
    def port(self) -> int:
        """Give the port clients connect to."""
        return self._ports[0]

    @property
    def pid(self) -> int | None:
        """Give the process id of the postmaster or the Erlang machine while it runs."""
        return self._process.pid if self._process is not None and self._process.poll() is None else None

    @property
    def home(self) -> Path:
        """Give this server's own folder, which holds its data and its log."""
        if self._home is None:
            raise ServerError(f"{self.label} has no folder before start()")
        return self._home

    @property
    def log(self) -> Path:
        """Give the file which holds everything the server wrote."""
        return self.home / "server.log"

    def start(self) -> None:
        """Start the server and return once it answers clients."""
        if self.pid is not None:
            raise ServerError(f"{self.label} already runs on port {self.port}: stop() or restart() it")
        if reason := self.available():
            raise ServerError(reason)
        # After a crash nobody reported through kill(), backends may still hold the data folder or the port.
        self._clean_up()
        self._check_ports()
        self._prepare()
        # A bench that ends without stop() must not leave servers behind.
        atexit.register(self.close)
        try:
            self._process = self._spawn()
            self._await_answer()
        except BaseException:
            self.kill()
            raise

    def stop(self) -> None:
        """Shut down in order, ending clients' connections; do nothing when already stopped."""
        if self._process is not None:
            self._process.send_signal(self.stop_signal)
            try:
                self._process.wait(self.stop_seconds)
            except subprocess.TimeoutExpired:
                self.kill()
                raise ServerError(
                    f"{self.label} had to be killed: no stop in {self.stop_seconds} s"
                ) from None
        self._clean_up()

    def kill(self) -> None:
        """Crash: SIGKILL the main process, then whatever it leaves running."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._clean_up()

    def restart(self) -> None:
        """Stop in order and start again with the same data, port and url."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop for good, and remove the folder when it was a temporary one."""
        atexit.unregister(self.close)
        try:
            self.stop()
        finally:
            if self._parent is None and self._home is not None:
                shutil.rmtree(self._home, ignore_errors=True)
                self._home = None

    def __enter__(self) -> Self:
        """Start; a failed start removes what it made, because __exit__ is then never called."""
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        """Stop for good."""
        self.close()

    @abstractmethod
    def _create(self) -> None:
        """Fill a new folder with data and configuration."""

    @abstractmethod
    def _spawn(self) -> subprocess.Popen[bytes]:
        """Start the server's main process as a direct child, so that its pid is certain."""

    @abstractmethod
    def _answers(self) -> bool:
        """Say whether a client would be served now."""

    @abstractmethod
    def _leftovers(self) -> list[int]:
        """List the processes the dead main process left running."""

    def _prepare(self) -> None:
        """Create this server's own folder once; a new one, so that two servers may share the given one."""
        if self._home is not None:
            return
        parent = self._parent or Path(tempfile.gettempdir())
        parent.mkdir(parents=True, exist_ok=True)
        self._home = Path(tempfile.mkdtemp(prefix=f"docproc-{self.label.lower()}-", dir=parent.resolve()))
        try:
            self._create()
        except BaseException:
            # A half-made folder must not pass for a finished one at the next start().
            shutil.rmtree(self._home, ignore_errors=True)
            self._home = None
            raise

    def _check_ports(self) -> None:
        """Refuse ports somebody took since they were chosen: another server's answer would pass for ours."""
        if taken := [port for port in self._ports if not _is_free(port)]:
            raise ServerError(
                f"{self.label} cannot start, another program took port {taken}: make a new server"
            )

    def _run(self, command: Sequence[str | Path], env: Mapping[str, str]) -> subprocess.Popen[bytes]:
        """Start a child that writes to the log, in its own session so that a test's Ctrl-C spares it."""
        account = pwd.getpwnam(self.user) if self.user else None
        with self.log.open("ab") as log:
            return subprocess.Popen(
                command,
                env={**env, **self.variables},
                cwd=self.home,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                user=account.pw_uid if account else None,
                group=account.pw_gid if account else None,
                extra_groups=[] if account else None,
            )

    def _await_answer(self) -> None:
        """Return once the server answers; raise with its last words when it ended or stays silent."""
        answered = _until(lambda: self.pid is None or self._answers(), self.start_seconds)
        if self.pid is None or not answered:
            raise ServerError(
                f"{self.label} did not start on port {self.port}, saying:\n{self._last_words()}"
            )

    def _last_words(self) -> str:
        """Give the end of the log, which usually names the cause."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-15:])

    def _clean_up(self) -> None:
        """After the main process ended, end what it left and wait until its ports are free."""
        if self._process is None:
            return
        if not _until(self._nothing_left, self.stop_seconds):
            raise ServerError(
                f"{self.label} left processes {self._leftovers()} or ports {self._ports} behind"
            )
        self._process = None

    def _nothing_left(self) -> bool:
        """Kill any process left over, and say whether none is and every port can be bound again."""
        pids = self._leftovers()
        for pid in pids:
            _kill_quietly(pid)
        return not pids and all(_is_free(port) for port in self._ports)


class PostgresServer(_Server):
    """A PostgreSQL cluster of one's own; as root it runs as the `postgres` user, since it refuses root."""

    label = "PostgreSQL"
    # SIGINT is PostgreSQL's fast shutdown: SIGTERM would wait for every client to leave.
    stop_signal = signal.SIGINT

    def __init__(self, folder: Path | None = None, *, fsync: bool = True) -> None:
        """Prepare a cluster; `fsync=False` is faster and still survives kill(), though not a power cut."""
        super().__init__(folder)
        self._fsync = fsync
        self.user = "postgres" if os.geteuid() == 0 else None

    @staticmethod
    def available() -> str | None:
        """Say why PostgreSQL cannot run here, or None when it can."""
        if _postgres_bin() is None:
            return f"PostgreSQL's initdb and postgres were not found: {REMEDY}"
        if os.geteuid() == 0 and not _user_exists("postgres"):
            return f"PostgreSQL refuses to run as root and there is no user 'postgres': {REMEDY}"
        return None

    @property
    def url(self) -> str:
        """Give the SQLAlchemy address of the database `postgres`."""
        return f"postgresql+asyncpg://postgres@{HOST}:{self.port}/postgres"

    def kill(self) -> None:
        """Crash, and free the shared memory a killed cluster leaves on the machine, as a reboot would."""
        segments = _shared_memory(self._leftovers()) if self.pid is not None else set()
        super().kill()
        _free_shared_memory(segments)

    @property
    def _data(self) -> Path:
        """Give the cluster's data folder."""
        return self.home / "data"

    def _create(self) -> None:
        """Run initdb and add the settings of a private server."""
        self._hand_over()
        # --no-sync: only a power cut, which these tests do not make, could lose the fresh files.
        options = ["--username=postgres", "--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync"]
        initdb = self._run([self._binary("initdb"), "-D", self._data, *options], _environment())
        if initdb.wait(self.start_seconds) != 0:
            raise ServerError(f"initdb failed in {self._data}:\n{self._last_words()}")
        with (self._data / "postgresql.conf").open("a") as conf:
            conf.write(self._settings())

    def _hand_over(self) -> None:
        """Give the folder to the user the server runs as, who must also be able to reach it."""
        if self.user is None:
            return
        shutil.chown(self.home, self.user)
        if self._run(["test", "-w", self.home], _environment()).wait() != 0:
            raise ServerError(
                f"user '{self.user}' cannot reach {self.home}: give a folder whose parents all may enter, "
                "such as one under /tmp or /var/tmp"
            )

    def _settings(self) -> str:
        """Compose the lines added to postgresql.conf."""
        # A unix socket's path is limited to 107 bytes; without one the server still listens on TCP.
        sockets = self._data if len(f"{self._data}/.s.PGSQL.{self.port}") <= 107 else ""
        fsync = "on" if self._fsync else "off"
        return (
            f"\nlisten_addresses = '{HOST}'\nport = {self.port}\nunix_socket_directories = '{sockets}'\n"
            f"max_connections = 200\nfsync = {fsync}\nlogging_collector = off\n"
        )

    def _spawn(self) -> subprocess.Popen[bytes]:
        """Start the postmaster."""
        return self._run([self._binary("postgres"), "-D", self._data], _environment())

    def _answers(self) -> bool:
        """Ask pg_isready, which says no while crash recovery still runs."""
        command: list[str | Path] = [self._binary("pg_isready"), "-q", "-h", HOST, "-p", str(self.port)]
        return subprocess.run(command, env=_environment()).returncode == 0

    def _leftovers(self) -> list[int]:
        """List this cluster's processes: each has its own session, but all work in the data folder."""
        if self._home is None:
            return []
        return [
            pid
            for pid in _pids()
            if _link(pid, "cwd") == str(self._data) and Path(_link(pid, "exe")).name.startswith("postgres")
        ]

    def _binary(self, name: str) -> Path:
        """Give the path of one of PostgreSQL's programs."""
        folder = _postgres_bin()
        if folder is None:
            raise ServerError(f"PostgreSQL's {name} was not found: {REMEDY}")
        return folder / name


class RabbitServer(_Server):
    """A RabbitMQ node of one's own, with its own name, cookie, data and port mapper (epmd)."""

    label = "RabbitMQ"
    # RabbitMQ answers SIGTERM with an orderly stop, without rabbitmqctl's second Erlang machine.
    stop_signal = signal.SIGTERM
    # For AMQP, for Erlang's distribution, and for epmd.
    port_count = 3

    def __init__(self, folder: Path | None = None) -> None:
        """Prepare a node."""
        super().__init__(folder)
        self._epmd: subprocess.Popen[bytes] | None = None

    @staticmethod
    def available() -> str | None:
        """Say why RabbitMQ cannot run here, or None when it can."""
        if _rabbit_script() is None:
            return f"rabbitmq-server was not found: {REMEDY}"
        if _which("erl") is None or _which("epmd") is None:
            return f"Erlang's erl and epmd were not found: {REMEDY}"
        return None

    @property
    def url(self) -> str:
        """Give the AMQP address of the default virtual host."""
        return f"amqp://guest:guest@{HOST}:{self.port}/"

    @property
    def node(self) -> str:
        """Give the Erlang node name, unique because the port is."""
        return f"docproc-{self.port}@localhost"

    def environment(self) -> dict[str, str]:
        """Give the variables that keep the node, and a rabbitmqctl run with them, to its own folder."""
        home = str(self.home)
        return _environment() | {
            "HOME": home,  # where Erlang keeps its cookie
            "ERL_CRASH_DUMP": f"{home}/erl_crash.dump",
            "ERL_EPMD_ADDRESS": HOST,
            "ERL_EPMD_PORT": str(self._ports[2]),
            "RABBITMQ_ADVANCED_CONFIG_FILE": f"{home}/advanced.config",
            "RABBITMQ_CONFIG_FILE": f"{home}/rabbitmq.conf",
            "RABBITMQ_CONFIG_FILES": f"{home}/conf.d",
            "RABBITMQ_CONF_ENV_FILE": f"{home}/rabbitmq-env.conf",
            "RABBITMQ_DIST_PORT": str(self._ports[1]),
            "RABBITMQ_ENABLED_PLUGINS_FILE": f"{home}/enabled_plugins",
            "RABBITMQ_LOGS": "-",  # to our log, so that early and late messages stand in one file
            "RABBITMQ_LOG_BASE": f"{home}/log",
            "RABBITMQ_MNESIA_BASE": f"{home}/mnesia",
            "RABBITMQ_NODENAME": self.node,
            "RABBITMQ_NODE_IP_ADDRESS": HOST,
            "RABBITMQ_NODE_PORT": str(self.port),
            "RABBITMQ_PID_FILE": f"{home}/pid",
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": "-kernel inet_dist_use_interface {127,0,0,1}",
        }

    def control(self, *arguments: str) -> None:
        """Run rabbitmqctl on the node; not the one on the PATH, which becomes another user."""
        script = _rabbit_script()
        if script is None:
            raise ServerError(f"rabbitmq-server was not found: {REMEDY}")
        command: list[str | Path] = [script.resolve().with_name("rabbitmqctl"), "-n", self.node, *arguments]
        done = subprocess.run(
            command, env=self.environment(), capture_output=True, text=True, timeout=60, check=False
        )
        if done.returncode:
            raise ServerError(f"rabbitmqctl {' '.join(arguments)} failed: {done.stderr or done.stdout}")

    def _create(self) -> None:
        """Write the configuration; the empty files stand in for the machine's own in /etc/rabbitmq."""
        for folder in ("mnesia", "log", "conf.d"):
            (self.home / folder).mkdir()
        (self.home / "rabbitmq.conf").write_text(f"listeners.tcp.local = {HOST}:{self.port}\n")
        (self.home / "rabbitmq-env.conf").write_text("")
        (self.home / "advanced.config").write_text("[].\n")
        (self.home / "enabled_plugins").write_text("[].\n")

    def _spawn(self) -> subprocess.Popen[bytes]:
        """Start the node; RABBITMQ_ALLOW_INPUT makes the script become the Erlang machine, not its parent."""
        self._start_epmd()
        script = _rabbit_script()
        if script is None:
            raise ServerError(f"rabbitmq-server was not found: {REMEDY}")
        return self._run(
            [script, "-noinput"], self.environment() | {"RABBITMQ_ALLOW_INPUT": "true", MARK: str(self.home)}
        )

    def _start_epmd(self) -> None:
        """Start the node's own port mapper: a shared one would tie it to the machine's, or outlive it."""
        port = self._ports[2]
        command = ["epmd", "-address", HOST, "-port", str(port)]
        self._epmd = self._run(command, self.environment())
        if not _until(lambda: _accepts(port), self.start_seconds):
            self._end_epmd()
            raise ServerError(f"epmd did not start on port {port}; {self.log} ends:\n{self._last_words()}")

    def _end_epmd(self) -> None:
        """End the port mapper; it holds no state worth an orderly stop."""
        if self._epmd is not None:
            self._epmd.kill()
            self._epmd.wait()
            self._epmd = None

    def _clean_up(self) -> None:
        """End the port mapper along with the node."""
        self._end_epmd()
        super()._clean_up()

    def _answers(self) -> bool:
        """Open an AMQP 0-9-1 handshake: a ready broker replies with a method frame, connection.start."""
        try:
            with socket.create_connection((HOST, self.port), timeout=5) as link:
                link.sendall(b"AMQP\x00\x00\x09\x01")
                return link.recv(1) == b"\x01"
        except OSError:
            return False

    def _leftovers(self) -> list[int]:
        """List the node's helpers, such as erl_child_setup: each has its own session, all carry a mark."""
        mark = f"{MARK}={self._home}".encode()
        return [pid for pid in _pids() if mark in _environ(pid)]


def _environment() -> dict[str, str]:
    """Give the variables every child gets, and none of PG*, RABBITMQ_* or ERL_* the caller may have set."""
    return {"PATH": _search_path(), "LANG": "C.UTF-8"}


def _search_path() -> str:
    """Give PATH with the system's folders, which cron and some CI runners leave out."""
    return os.pathsep.join(
        [os.environ.get("PATH", os.defpath), "/usr/local/sbin", "/usr/sbin", "/usr/bin", "/bin"]
    )


def _which(name: str) -> Path | None:
    """Find a program."""
    found = shutil.which(name, path=_search_path())
    return Path(found) if found else None


@functools.cache
def _postgres_bin() -> Path | None:
    """Find the folder of PostgreSQL's server programs: pg_config's, then Debian's newest, then PATH's."""
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=_version, reverse=True)
    if pg_config := _which("pg_config"):
        answer = subprocess.run([pg_config, "--bindir"], capture_output=True, text=True, env=_environment())
        folders.insert(0, Path(answer.stdout.strip()))
    if postgres := _which("postgres"):
        folders.append(postgres.resolve().parent)
    programs = ("initdb", "postgres", "pg_isready")
    return next((f for f in folders if all((f / name).is_file() for name in programs)), None)


def _version(folder: Path) -> float:
    """Read the version in /usr/lib/postgresql/15/bin, as a number so that 15 comes after 9.6."""
    try:
        return float(folder.parent.name)
    except ValueError:
        return 0.0


def _rabbit_script() -> Path | None:
    """Find RabbitMQ's own script, not Debian's wrapper in /usr/sbin, which switches user and folder."""
    places = [Path("/usr/lib/rabbitmq/bin/rabbitmq-server")]
    if found := _which("rabbitmq-server"):
        places.append(found.resolve())
    return next((p for p in places if p.is_file() and (p.parent / "rabbitmq-env").is_file()), None)


def _user_exists(name: str) -> bool:
    """Say whether the machine has this account."""
    return any(account.pw_name == name for account in pwd.getpwall())


def _until(condition: Callable[[], bool], seconds: float) -> bool:
    """Poll until the condition holds; say whether it did before the deadline."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def _free_ports(count: int) -> list[int]:
    """Choose ports nobody listens on; at random, so that test runs side by side seldom choose the same."""
    ports = [port for port in random.sample(PORTS, 200) if _is_free(port)]
    if len(ports) < count:
        raise ServerError(
            f"no {count} free ports between {PORTS.start} and {PORTS.stop}: end old test servers"
        )
    return ports[:count]


def _is_free(port: int) -> bool:
    """Say whether a server could listen on the port; like servers, ignore connections in TIME_WAIT."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError:
            return False
        return True


def _accepts(port: int) -> bool:
    """Say whether something listens on the port."""
    try:
        socket.create_connection((HOST, port), timeout=5).close()
    except OSError:
        return False
    return True


def _pids() -> list[int]:
    """List the machine's processes."""
    return [int(entry.name) for entry in Path("/proc").iterdir() if entry.name.isdigit()]


def _link(pid: int, name: str) -> str:
    """Read one of a process's links in /proc; empty when it ended or belongs to someone else."""
    try:
        return str(Path(f"/proc/{pid}/{name}").readlink())
    except OSError:
        return ""


def _environ(pid: int) -> list[bytes]:
    """Read the variables a process was started with; none when it ended or belongs to someone else."""
    try:
        return Path(f"/proc/{pid}/environ").read_bytes().split(b"\0")
    except OSError:
        return []


def _kill_quietly(pid: int) -> None:
    """SIGKILL a process which may meanwhile have ended by itself."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, signal.SIGKILL)


def _shared_memory(pids: Iterable[int]) -> set[str]:
    """Name PostgreSQL's segments mapped by these processes: a path in /dev/shm, or a System V number."""
    segments = set()
    for pid in pids:
        try:
            maps = [line.split() for line in Path(f"/proc/{pid}/maps").read_text().splitlines()]
        except OSError:
            continue
        # A line's fifth field is the inode, which for System V memory is the segment's number.
        segments |= {m[5] for m in maps if len(m) > 5 and m[5].startswith("/dev/shm/PostgreSQL.")}
        segments |= {m[4] for m in maps if len(m) > 5 and m[5].startswith("/SYSV")}
    return segments


def _free_shared_memory(segments: Iterable[str]) -> None:
    """Remove segments whose processes are all dead; PostgreSQL itself would only do so at its next start."""
    for segment in segments:
        if segment.startswith("/"):
            Path(segment).unlink(missing_ok=True)
        else:
            subprocess.run(["ipcrm", "-m", segment], env=_environment(), stderr=subprocess.DEVNULL)
