"""collect and export --otlp, as from a terminal: what one sends the other keeps."""

from __future__ import annotations

import re
import signal
import socket
import subprocess
from pathlib import Path

import httpx
import pytest

import reenact
from reenact.cli import main
from reenact.core.store.local import LocalStore

TRACES = Path(__file__).parents[1] / "analysis" / "interchange" / "importers" / "traces"


@pytest.fixture
def home(tmp_path, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("OTEL_EXPORTER_OTLP_HEADERS", raising=False)
    monkeypatch.chdir(tmp_path)
    assert main(["import", str(TRACES / "pydantic_ai.pb")]) == 0
    return LocalStore(tmp_path / "home")


def test_a_collector_keeps_what_was_sent_and_ctrl_c_ends_it_with_a_summary(shell, home, capsys):
    command = shell.command("collect", "--port", "0", "--quiet", "600", "--tag", "staging", "--home", "there")
    with subprocess.Popen(
        command, cwd=shell.folder, env=shell.environ, stderr=subprocess.PIPE, text=True
    ) as process:
        first = process.stderr.readline()
        url = re.search(r"http://127\.0\.0\.1:\d+", first)[0]
        assert main(["export", "last", "--otlp", url]) == 0
        assert main(["export", "last", "--otlp", url]) == 0
        assert (
            httpx.post(f"{url}/v1/traces", content=b"x", headers={"content-type": "text/plain"}).status_code
            == 415
        )
        process.send_signal(signal.SIGINT)
        _, rest = process.communicate(timeout=120)
    assert process.returncode == 0, rest
    assert rest.splitlines()[-1] == "10 spans came, 1 recording made"
    there = LocalStore(shell.folder / "there")
    (id,) = there.ids()
    recording = there.load(id)
    assert [step.call.label for step in recording] == ["model:gpt-x", "tool:weather", "model:gpt-x"]
    assert {"staging", "service:pydantic-ai-v6"} <= set(recording.tags)
    assert "sent" in capsys.readouterr().err


def test_a_port_that_is_taken_is_one_line(home, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        assert main(["collect", "--port", str(taken.getsockname()[1])]) == 2
    assert "cannot be listened on" in capsys.readouterr().err


def test_a_trace_is_written_to_a_file_and_imported_again(home, capsys):
    assert main(["export", "last", "--otlp-json", "trace.json"]) == 0
    assert main(["export", "last", "--otlp-json", "trace.json"]) == 2
    assert "--force" in capsys.readouterr().err
    assert main(["export", "last", "--otlp-json", "trace.json", "--force"]) == 0
    first = reenact.load("last")
    assert main(["import", "trace.json", "--home", "other"]) == 0
    again = LocalStore("other").load("last")
    assert [step.call.address for step in again] == [step.call.address for step in first]
    assert main(["export", "last", "--otlp-json", "-"]) == 0
    assert capsys.readouterr().out.startswith('{"resourceSpans":')


def test_an_endpoint_that_is_down_costs_one_line_and_status_2(home, capsys):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    assert main(["export", "last", "--otlp", f"http://127.0.0.1:{port}"]) == 2
    err = capsys.readouterr().err.splitlines()[-1]
    assert err.startswith(f"reenact: http://127.0.0.1:{port}/v1/traces: the trace could not be sent")
    assert main(["export", "last", "x.reenact", "--otlp", "http://127.0.0.1:1"]) == 2
    assert main(["export", "last", "--otlp", "http://127.0.0.1:1", "--otlp-header", "secret"]) == 2
