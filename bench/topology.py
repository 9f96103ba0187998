"""docker-compose.yml without Docker: its services as processes of this machine, verified from outside.

    python bench/topology.py                  # documents: start, pass the six steps of §17, stop
    python bench/topology.py --profile orchestrator --profile materials --profile video

Every service is started with the command, environment, secrets and volumes that the file says. Each has a
network namespace of its own where the machine allows it (root): services listen on the ports that the file
says, find each other by their names and reach nothing else, and the whole run is in a namespace without a way
out. Elsewhere each has a loopback address of its own. PostgreSQL, RabbitMQ and Redis are real servers,
started for the run.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

from bench.compose import ComposeFile, Service
from bench.networks import Network, best_network, go_inside
from bench.servers import PostgresServer, RabbitServer
from bench.video_deployment import PrivateRedis, Running, until

ROOT = Path(__file__).parents[1]
FILE = ROOT / "docker-compose.yml"
# Servers of others: run as they are here, not from the file's images.
FOREIGN = ("postgres", "rabbitmq", "redis", "mongo")
READY_SECONDS = 180.0


class ManagedRabbit(RabbitServer):
    """With RabbitMQ's own pages, as the image of the compose file has them."""

    port_count = RabbitServer.port_count + 1

    @property
    def management_port(self) -> int:
        return self._ports[-1]

    def _create(self) -> None:
        super()._create()
        (self.home / "enabled_plugins").write_text("[rabbitmq_management].\n")
        with (self.home / "rabbitmq.conf").open("a") as conf:
            conf.write(f"management.tcp.ip = 127.0.0.1\nmanagement.tcp.port = {self.management_port}\n")


class Topology:
    """The services that `docker compose up` would start, in the order in which it would."""

    def __init__(
        self, folder: Path, network: Network, profiles: Sequence[str] = (), **variables: str
    ) -> None:
        self.folder = folder
        self.network = network
        applications = ["documents", *(one for one in profiles if one != "video")]
        self.file = ComposeFile(FILE, {"DOCPROC_APPLICATIONS": ",".join(applications), **variables})
        self.names = [one for one in self.file.started(*profiles) if one not in FOREIGN]
        self.running: dict[str, Running] = {}
        self.ending = ExitStack()

    def start_servers(self, profiles: Sequence[str]) -> None:
        """They listen on loopback; each gets a door in the network under the name the file gives it."""
        postgres, rabbit = PostgresServer(), ManagedRabbit()
        for server in (postgres, rabbit):
            server.start()
            self.ending.callback(server.close)
        plain = postgres.url.replace("+asyncpg", "")
        for statement in (
            "CREATE ROLE docproc LOGIN PASSWORD 'docproc'",
            "CREATE DATABASE docproc OWNER docproc",
        ):
            subprocess.run(["psql", "--quiet", "--command", statement, plain], check=True, timeout=30)
        self.network.door("postgres", 5432, postgres.port)
        self.network.door("rabbitmq", 5672, rabbit.port)
        self.network.door("rabbitmq", 15672, rabbit.management_port)
        if {"orchestrator", "video"} & set(profiles):
            folder = self.folder / "redis"
            folder.mkdir()
            redis = PrivateRedis(folder, self.file.service("redis").command[1:])
            redis.start()
            self.ending.callback(redis.kill)
            self.network.door("redis", 6379, redis.port)

    def start(self) -> None:
        """Migrations first, to their end; then all others at once, until each is well."""
        migrate = self.launch("migrate")
        if migrate.process.wait(120) != 0:
            raise SystemExit(f"migrate failed:\n{migrate.said()[-3000:]}")
        others = [name for name in self.names if name != "migrate"]
        for name in others:
            self.launch(name)
        for name in others:
            until(lambda name=name: self.is_well(name), f"{name} is well", READY_SECONDS)

    def service(self, name: str) -> Service:
        """With this machine's folders and addresses in place of the container's."""
        replaced = self.network.replaced(name) | self.folders(name)
        return self.file.service(name, replaced)

    def folders(self, name: str) -> dict[str, str]:
        """Path in the container -> folder here; a volume is shared by all that name it."""
        told = self.file.service(name)
        found = {}
        for path, source in told.volumes.items():
            if source.startswith("."):
                found[path] = str((ROOT / source).resolve())
                continue
            (self.folder / "volumes" / source).mkdir(parents=True, exist_ok=True)
            found[path] = str(self.folder / "volumes" / source)
        return dict(sorted(found.items(), key=lambda one: -len(one[0])))

    def launch(self, name: str, source: Path | None = None) -> Running:
        """The image's entry point with the service's command. `source`: the tree of another release."""
        service = self.service(name)
        environment = {
            "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
            "HOME": str(self.folder),
            "PYTHONPATH": str(source or ROOT / "src"),
            # What the Dockerfile sets.
            "DOCPROC_HOME": str(self.folder / "homes" / name),
            "DOCPROC_HOST": self.network.listens(name),
            "DOCPROC_LOG_FORMAT": "json",
            "DOCPROC_WORKFLOWS_DIR": str(ROOT / "config/workflows"),
            "DOCPROC_SECRETS_DIR": str(self.secrets(service)),
            **service.environment,
        }
        log = self.folder / f"{name}.log"
        with log.open("ab") as file:
            process = subprocess.Popen(
                [*self.network.prefix(name), sys.executable, "-m", "docproc", *service.command],
                env=environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
            )  # fmt: skip
        self.running[name] = Running(process, log)
        return self.running[name]

    def secrets(self, service: Service) -> Path:
        """The files of the secrets, with the names of servers as this network has them."""
        folder = self.folder / "secrets" / service.name
        folder.mkdir(parents=True, exist_ok=True)
        for name, file in service.secrets.items():
            text = (ROOT / file).read_text(encoding="utf-8")
            for before, after in self.network.replaced(service.name).items():
                text = text.replace(before, after)
            (folder / Path(name).name).write_text(text, encoding="utf-8")
        return folder

    def is_well(self, name: str) -> bool:
        """As Docker asks: the health check's command, inside the container's network."""
        running, service = self.running[name], self.service(name)
        if running.process.poll() is not None:
            raise SystemExit(f"{name} ended:\n{running.said()[-3000:]}")
        if not service.health:
            return True
        environment = {"PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}", **service.environment}
        command = [*self.network.prefix(name), *service.health]
        asked = subprocess.run(
            command, env=environment, cwd=ROOT / "src", capture_output=True, timeout=60, check=False
        )
        return asked.returncode == 0

    def verify(self) -> dict[str, Any]:
        """The six steps, by the script that is run against containers, too."""
        told = [
            sys.executable,
            str(ROOT / "deploy/verify.py"),
            "--file",
            str(ROOT / "tests/fixtures/packet.pdf"),
        ]
        told += ["--api", f"http://{self.network.address('api-gateway')}:8000"]
        told += ["--backoffice", f"http://{self.network.address('backoffice')}:8001"]
        told += [
            "--management",
            f"http://{self.network.address('rabbitmq')}:15672",
            "--seconds",
            "300",
            "--json",
        ]
        done = subprocess.run(told, stdout=subprocess.PIPE, text=True, timeout=600, check=False)
        if done.returncode != 0:
            raise SystemExit(done.returncode)
        found: dict[str, Any] = json.loads(done.stdout)
        expected = json.loads((ROOT / "tests/fixtures/packet.expected.json").read_text(encoding="utf-8"))
        _compare(found["status"]["result"]["documents"], expected["documents"])
        return found

    def close(self) -> None:
        for one in reversed(self.running.values()):
            if one.process.poll() is None:
                one.kill()
        self.ending.close()


def _compare(documents: list[dict[str, Any]], expected: list[dict[str, Any]]) -> None:
    read = [{"doc_type": one["doc_type"], "page_indices": one["page_indices"]} for one in documents]
    printed = [{key: one[key] for key in ("doc_type", "page_indices")} for one in expected]
    if read != printed:
        raise SystemExit(f"other documents were found than are there: {read}")


@contextmanager
def deployed(profiles: Sequence[str] = (), **variables: str) -> Iterator[Topology]:
    with tempfile.TemporaryDirectory(prefix="docproc-topology-") as folder, best_network() as network:
        topology = Topology(Path(folder), network, profiles, **variables)
        try:
            topology.start_servers(profiles)
            yield topology
        finally:
            topology.close()


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--profile", action="append", default=[], choices=["materials", "orchestrator", "video"]
    )
    parser.add_argument("--json", action="store_true")
    told = parser.parse_args()
    go_inside()
    begun = time.monotonic()
    # No MongoDB can be had everywhere: materials are kept in the database.
    with deployed(told.profile, DOCPROC_MATERIALS_MONGODB_URL="") as topology:
        topology.start()
        ready = time.monotonic() - begun
        found = topology.verify()
        results = [
            {"system": "docker-compose.yml", "metric": "services", "value": len(topology.names), "unit": "1"},
            {"system": "docker-compose.yml", "metric": "until_ready", "value": round(ready, 1), "unit": "s"},
        ]
        network = type(topology.network).__name__
    if told.json:
        print(
            json.dumps({"results": results, "ratios": {}, "network": network, "verified": found["statuses"]})
        )
    else:
        print(f"{len(topology.names)} services ready after {ready:.0f} s on {network}: {found['statuses']}")


if __name__ == "__main__":
    main()
