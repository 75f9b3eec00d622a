"""What a team's server and its Postgres cost, per event.

    python -m benchmarks.sizing postgresql://… file:///folder [RECORDINGS]

The figures that `benchmarks.machines` calculates with. The Postgres must run on this machine, for its processes' CPU
time is read: seconds of CPU, not of the clock, so that other people's work on the machine matters little. Recordings
are those of `benchmarks.search`, sent to a server (`reenact serve`, a process of its own) as shippers send them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import psycopg
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

from benchmarks.search import fill
from benchmarks.team import requests
from reenact.core.store.local import EVENTS, LocalStore
from reenact.team.ship import upload_format

_USED = """SELECT sum(pg_total_relation_size(oid)) FROM pg_class
WHERE relkind = 'r' AND relnamespace = 'reenact'::regnamespace"""
_SPANS, _BATCHES = 512, 40
_SAID = {"gen_ai.operation.name": "chat", "gen_ai.request.model": "m", "gen_ai.input.messages": "x" * 400}


def main(database: str, objects: str, recordings: int = 200) -> None:
    """Measure, and print."""
    with psycopg.connect(database) as connection:
        row = connection.execute("SHOW data_directory").fetchone()
        assert row is not None
        postgres = Path(row[0])
    print(f"load {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(prefix="reenact-benchmark-") as name:
        folder = Path(name)
        source = LocalStore(folder / "source")
        fill(source, recordings)
        data = {id: (source.folder(id) / EVENTS).read_bytes() for id in source.ids()}
        events = sum(lines.count(b"\n") for lines in data.values())
        size = sum(map(len, data.values()))
        print(f"{recordings} recordings, {events} events, {size / events:.0f} bytes an event")
        for where in ("a folder", "a team's store"):
            team = {"REENACT_STORE": database, "REENACT_OBJECTS": objects} if where != "a folder" else {}
            home = folder / where.replace(" ", "-")
            with _server(home, team) as (client, server):
                before, there = _cpu(server), _postgres(postgres)
                _taken(where, client, server, postgres, data)
                _settled(client, recordings)
                each = (_cpu(server) - before) / events * 1e6
                theirs = (_postgres(postgres) - there) / events * 1e6
                print(
                    f"{where}: until all is in the list, {each:.0f} µs of the server and {theirs:.0f} µs of Postgres "
                    "an event"
                )
                if not team:
                    _traces(client, server)
        with psycopg.connect(database) as connection:
            row = connection.execute(_USED).fetchone()
            assert row is not None
            print(
                f"Postgres: {int(row[0]) / size:.2f} bytes for each byte of lines, of all that was ever in it"
            )


def _taken(where: str, client: httpx.Client, server: int, postgres: Path, data: dict[str, bytes]) -> None:
    events = sum(lines.count(b"\n") for lines in data.values())
    bodies = [upload_format.packed(list(pieces)) for pieces in requests(data)]
    before, used_there, began = _cpu(server), _postgres(postgres), time.perf_counter()
    for body in bodies:
        answer = client.post("/api/v1/uploads", content=body)
        assert {one["status"] for one in answer.json()["pieces"]} == {"ok"}, answer.text
    took, used = time.perf_counter() - began, _cpu(server) - before
    print(
        f"{where}: acknowledged {events / took:,.0f} events/s, one sender; {used / events * 1e6:.0f} µs of the server "
        f"and {(_postgres(postgres) - used_there) / events * 1e6:.0f} µs of Postgres an event"
    )


def _settled(client: httpx.Client, recordings: int) -> None:
    until = time.monotonic() + 600
    while client.get("/api/v1/recordings?limit=1").json()["total"] < recordings:
        assert time.monotonic() < until
        time.sleep(0.2)
    time.sleep(5)


def _traces(client: httpx.Client, server: int) -> None:
    bodies = [_spans(number) for number in range(_BATCHES)]
    before, began = _cpu(server), time.perf_counter()
    for body in bodies:
        answer = client.post("/v1/traces", content=body, headers={"content-type": "application/x-protobuf"})
        assert answer.status_code == 200, answer.text
    took, used, many = time.perf_counter() - began, _cpu(server) - before, _SPANS * _BATCHES
    _until(lambda: 'reenact_traces_waiting{project="default"} 0.0' in client.get("/metrics").text, 300)
    whole = _cpu(server) - before
    print(
        f"OTLP: acknowledged {many / took:,.0f} spans/s, one sender; {used / many * 1e6:.0f} µs of the server a span, "
        f"{whole / many * 1e6:.0f} µs until they are recordings of 16"
    )


def _spans(number: int) -> bytes:
    request = ExportTraceServiceRequest()
    scope = request.resource_spans.add().scope_spans.add()
    for at in range(_SPANS):
        run, step = divmod(at, 16)
        span = scope.spans.add(
            trace_id=(number * 1000 + run + 1).to_bytes(16, "big"), span_id=(at + 1).to_bytes(8, "big"), name="chat m",
            start_time_unix_nano=1_700_000_000_000_000_000, end_time_unix_nano=1_700_000_001_000_000_000,
            parent_span_id=b"" if not step else (run * 16 + 1).to_bytes(8, "big"),
        )  # fmt: skip
        for key, text in (
            ("gen_ai.operation.name", "chat"),
            ("gen_ai.request.model", "m"),
            ("gen_ai.input.messages", "x" * 400),
        ):
            span.attributes.add(key=key).value.string_value = text
    return bytes(request.SerializeToString())


@contextmanager
def _server(home: Path, team: dict[str, str]) -> Iterator[tuple[httpx.Client, int]]:
    words = [sys.executable, "-m", "reenact", "serve", "--port", "0", "--keyless", "--home", str(home)]
    environ = {**os.environ, "REENACT_STORE": "", **team}
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=environ) as process:
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip()
        with httpx.Client(base_url=address, timeout=60) as client:
            _until(lambda: client.get("/ready").status_code == 200)
            yield client, process.pid
        process.terminate()


def _until(holds: Callable[[], bool], patience: float = 60) -> None:
    until = time.monotonic() + patience
    while True:
        try:
            if holds():
                return
        except httpx.HTTPError:
            pass
        assert time.monotonic() < until
        time.sleep(0.2)


def _cpu(pid: int) -> float:
    """Seconds of CPU of a process, or none where it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:
        return 0.0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _postgres(folder: Path) -> float:
    """Seconds of CPU of a Postgres, by the folder of its data: its processes, and those that have ended."""
    main = int((folder / "postmaster.pid").read_text().split()[0])
    fields = Path(f"/proc/{main}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    ended = (int(fields[13]) + int(fields[14])) / os.sysconf("SC_CLK_TCK")
    children = Path(f"/proc/{main}/task/{main}/children").read_text(encoding="utf-8").split()
    return ended + _cpu(main) + sum(_cpu(int(one)) for one in children)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:4]))
