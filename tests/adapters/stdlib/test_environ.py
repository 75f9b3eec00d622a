"""Environment variables read by the program are the recorded ones; the rest of the environment is the machine's."""

import getpass
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import reenact


@pytest.fixture(autouse=True)
def variables(monkeypatch):
    monkeypatch.setenv("WHO", "me")
    monkeypatch.delenv("NOBODY", raising=False)


READS = {
    "os.environ[...]": lambda: os.environ["WHO"],
    "os.environ.get": lambda: os.environ.get("WHO", "nobody"),
    "os.getenv": lambda: os.getenv("WHO"),
    "in": lambda: "WHO" in os.environ,
    "a missing one": lambda: os.environ.get("NOBODY", "nobody"),
    "a missing one, getenv": lambda: os.getenv("NOBODY"),
    "not in": lambda: "NOBODY" not in os.environ,
    "expandvars": lambda: os.path.expandvars("$WHO and $NOBODY"),
    "expanduser": lambda: os.path.expanduser("~/notes"),
    "Path.home": Path.home,
    "getuser": getpass.getuser,
}


@pytest.mark.sampled
@pytest.mark.parametrize("name", READS)
def test_a_read_gives_the_recorded_value(name, twice, monkeypatch):
    def elsewhere():
        monkeypatch.delenv("WHO")
        monkeypatch.setenv("NOBODY", "somebody")
        monkeypatch.setenv("HOME", "/home/somebody")
        monkeypatch.setenv("LOGNAME", "somebody")

    first, second, verdict = twice(READS[name], between=elsewhere)
    assert first == second
    assert verdict.faithful


def test_a_missing_variable_raises_in_a_replay_too(twice, monkeypatch):
    def work():
        with pytest.raises(KeyError, match="NOBODY"):
            os.environ["NOBODY"]
        return True

    assert twice(work, between=lambda: monkeypatch.setenv("NOBODY", "x"))[2].faithful


def test_a_variable_is_recorded_once_in_a_run(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        for _ in range(10):
            assert os.environ["WHO"] == "me"
        worker = threading.Thread(target=lambda: os.environ["WHO"])
        worker.start()
        worker.join()
    log = recording.load().logs[0]
    assert log.draws["main", "env:WHO"] == ["me"]
    assert sum(source == "env:WHO" for _, source in log.draws) == 1


def test_what_the_program_writes_it_reads(twice, monkeypatch):
    def work():
        seen = [os.environ["WHO"]]
        os.environ["WHO"] = "written"
        seen.append(os.environ["WHO"])
        del os.environ["WHO"]
        seen.append(os.environ.get("WHO"))
        os.environ.setdefault("WHO", "default")
        seen.append(os.environ["WHO"])
        os.environ["WHO"] = "me"
        seen.append(os.environ.pop("WHO"))
        return [*seen, "WHO" in os.environ]

    first, second, verdict = twice(work, between=lambda: monkeypatch.setenv("WHO", "you"))
    assert first == second == ["me", "written", None, "default", "me", False]
    assert verdict.faithful


def test_a_recorded_variable_that_is_not_set_here_can_be_removed(twice, monkeypatch):
    first, second, verdict = twice(
        lambda: os.environ.pop("WHO"), between=lambda: monkeypatch.delenv("WHO", raising=False)
    )
    assert first == second == "me"
    assert verdict.faithful


def test_what_a_library_loads_is_recorded(tmp_path, library, monkeypatch):
    loader = library("loader", "import os\ndef load(value): os.environ['WHO'] = value")
    with reenact.record(home=tmp_path) as recording:
        seen = [os.environ["WHO"], loader.load("from a file"), os.environ["WHO"]]
    with reenact.replay(recording.id, home=tmp_path) as replay:
        assert [os.environ["WHO"], loader.load("from another"), os.environ["WHO"]] == seen
    assert replay.verdict.faithful


def test_a_librarys_own_settings_are_not_recorded(drawn, library):
    settings = library(
        "settings", "import os\ndef read(): return os.environ.get('SSL_CERT_FILE'), os.getenv('WHO')"
    )
    assert drawn(settings.read) == []


def test_a_replay_needs_no_key(twice, library, monkeypatch):
    sdk = library(
        "sdk",
        """
        import os
        def client():
            return os.environ["SHOP_API_KEY"], os.environ.get("SHOP_BASE_URL")
        """,
    )
    monkeypatch.setenv("SHOP_API_KEY", "sk-shop-0123456789abcdef0123456789abcdef")
    monkeypatch.setenv("SHOP_BASE_URL", "http://localhost:1/v1")

    def elsewhere():
        monkeypatch.delenv("SHOP_API_KEY")
        monkeypatch.delenv("SHOP_BASE_URL")

    first, second, verdict = twice(sdk.client, between=elsewhere)
    assert first == ("sk-shop-0123456789abcdef0123456789abcdef", "http://localhost:1/v1")
    assert second[0].startswith("[[secret:")
    assert second[1] == first[1]
    assert verdict.faithful


def test_a_secret_is_a_token_in_the_recording_and_whole_for_the_program(tmp_path, monkeypatch):
    monkeypatch.setenv("PAYMENT_SECRET", "correct horse battery staple 42")
    with reenact.record(home=tmp_path) as recording:
        assert os.environ["PAYMENT_SECRET"] == "correct horse battery staple 42"
    assert all(b"horse" not in path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    with reenact.replay(recording.id, home=tmp_path):
        assert os.environ["PAYMENT_SECRET"].startswith("[[secret:")
    with reenact.replay(recording.id, home=tmp_path, live=["http"]):
        # What is let through to the world needs the real one.
        assert os.environ["PAYMENT_SECRET"] == "correct horse battery staple 42"


def test_walking_the_whole_environment_records_nothing(drawn):
    def work():
        assert dict(os.environ) == os.environ.copy() == {**os.environ}
        assert [key for key, value in os.environ.items() if value == "me"] == ["WHO"]
        assert all(os.environ[key] is not None for key in os.environ)
        subprocess.run([sys.executable, "-c", ""], env={**os.environ, "REENACT_JOIN": "1"}, check=True)

    assert drawn(work) == []
    assert drawn(lambda: (list(os.environ), os.environ["WHO"])) == ["env:WHO"]


def test_with_no_run_active_the_environment_is_as_it_was():
    reenact.adapters.install()
    with pytest.raises(TypeError):
        os.environ[1]
    with pytest.raises(KeyError):
        del os.environ["NOBODY"]
    assert os.environb[b"WHO"] == b"me"
    assert os.environ | {"WHO": "you"} == {**os.environ, "WHO": "you"}


def test_letting_the_environment_through_gives_this_machines(twice, monkeypatch):
    first, second, verdict = twice(
        lambda: os.environ["WHO"], between=lambda: monkeypatch.setenv("WHO", "you"), live=["env"]
    )
    assert (first, second) == ("me", "you")
    assert verdict.live == {"env:WHO": 1}
    assert not verdict.faithful


def test_a_clock_that_is_let_through_is_named_in_the_verdict(twice):
    first, second, verdict = twice(lambda: (time.time(), time.time()), live=["clock:time"])
    assert first != second
    assert verdict.live == {"clock:time": 2}
    assert not verdict.faithful


# -- the variables of child processes ----------------------------------------------------------------------

CHILD = "import os, reenact; print(os.environ['MODE'], os.environ['WHO'], 'REENACT_GIVEN' in os.environ, flush=True)"
HEAD = f"""
import multiprocessing, os, subprocess, sys
CHILD = {CHILD!r}

def work():
    exec(CHILD)

if __name__ == "__main__":
"""
GIVEN = {
    "env=": "subprocess.run([sys.executable, 'child.py'], env={**os.environ, 'MODE': 'x'})",
    "os.environ": "os.environ['MODE'] = 'x'; subprocess.run([sys.executable, 'child.py'])",
    "two processes deep": "os.environ['MODE'] = 'x'; subprocess.run([sys.executable, 'between.py'])",
    "a fork": "os.environ['MODE'] = 'x'; child = os.fork(); child or (work(), os._exit(0)); os.waitpid(child, 0)",
    "multiprocessing": "os.environ['MODE'] = 'x'; c = multiprocessing.get_context('spawn').Process(target=work); c.start(); c.join()",
}


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("way", GIVEN)
def test_a_child_process_reads_what_the_program_gives_it(shell, way, monkeypatch):
    monkeypatch.setenv("WHO", "me")
    shell.write("child.py", CHILD)
    shell.write("between.py", "import subprocess, sys; subprocess.run([sys.executable, 'child.py'])")
    shell.write("agent.py", f"{HEAD}    {GIVEN[way]}\n")
    done, _ = shell.record("agent.py")
    assert done.out == "x me False\n", done.err
    monkeypatch.setenv("WHO", "another")
    again = shell.replay("--json")
    assert again.json["verdict"]["faithful"], again.out
    shell.write("agent.py", f"{HEAD}    {GIVEN[way].replace(repr('x'), repr('y'))}\n")
    changed = shell.replay()
    assert (changed.status, "y me False" in changed.out) == (1, True), changed.err
