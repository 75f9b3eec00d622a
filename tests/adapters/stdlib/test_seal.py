"""Input that crosses no boundary is named when recorded, and no connection goes out in a replay."""

import _thread
import asyncio
import contextlib
import multiprocessing.connection
import os
import socket
import socketserver
import sqlite3
import subprocess
import threading
import time
import urllib.request

import pytest

import reenact
from reenact import DivergenceError


@pytest.fixture
def server():
    """A server that counts its visitors and says hello."""

    class Hello(socketserver.BaseRequestHandler):
        def handle(self):
            visits.append(self.client_address)
            self.request.sendall(b"hello")

    visits = []
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Hello) as running:
        running.visits = visits
        thread = threading.Thread(target=running.serve_forever, args=(0.01,))
        thread.start()
        yield running
        running.shutdown()
        thread.join()


def by_hand(address):
    with socket.create_connection(address, timeout=60) as connection:
        return connection.recv(5)


def by_asyncio(address):
    async def talk():
        reader, writer = await asyncio.open_connection(*address)
        try:
            return await reader.readexactly(5)
        finally:
            writer.close()
            await writer.wait_closed()

    return asyncio.run(talk())


def in_a_thread(address):
    found = []
    thread = threading.Thread(target=lambda: found.append(by_hand(address)))
    thread.start()
    thread.join()
    return found[0] if found else None


def in_an_executor(address):
    return asyncio.run(asyncio.to_thread(by_hand, address))


WAYS = {
    "by hand": by_hand,
    "asyncio": by_asyncio,
    "in a thread": in_a_thread,
    "in an executor": in_an_executor,
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_raw_connection_is_named_when_recorded_and_refused_in_a_replay(way, server, tmp_path, capfd):
    address = server.server_address
    with reenact.record(home=tmp_path) as recording:
        assert WAYS[way](address) == b"hello"
    place = f"the program connected to 127.0.0.1:{address[1]}"
    assert capfd.readouterr().err.count(place) == 1
    assert [note for note in recording.load().notes if place in note]
    visits = len(server.visits)
    with pytest.raises(DivergenceError, match=place), reenact.replay(recording.id, home=tmp_path):
        WAYS[way](address)
    assert len(server.visits) == visits == 1


def test_one_destination_is_named_once(server, tmp_path, capfd):
    with reenact.record(home=tmp_path):
        for _ in range(3):
            by_hand(server.server_address)
    assert len(capfd.readouterr().err.splitlines()) == 1


def test_a_refusal_that_the_program_swallows_is_still_reported(server, tmp_path):
    with reenact.record(home=tmp_path) as recording:
        pass

    def work():
        try:
            by_hand(server.server_address)
        except BaseException:
            pass

    with (
        pytest.raises(DivergenceError, match=r"socket:127\.0\.0\.1"),
        reenact.replay(recording.id, home=tmp_path),
    ):
        work()
    assert server.visits == []


def test_a_name_is_not_looked_up_in_a_replay(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        pass
    with (
        pytest.raises(DivergenceError, match=r"looked up api\.example\.com"),
        reenact.replay(recording.id, home=tmp_path),
    ):
        socket.getaddrinfo("api.example.com", 443)


def test_what_names_this_machine_may_be_looked_up(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        socket.gethostname()
    with reenact.replay(recording.id, home=tmp_path) as replay:
        for host in (None, "localhost", "127.0.0.1", "::1", socket.gethostname()):
            with contextlib.suppress(OSError):
                socket.getaddrinfo(host, 80)
    assert replay.verdict.faithful


def test_a_datagram_is_not_sent_in_a_replay(tmp_path):
    with reenact.record(home=tmp_path) as recording:
        pass
    with (
        socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender,
        pytest.raises(DivergenceError, match=r"socket:127\.0\.0\.1:9"),
        reenact.replay(recording.id, home=tmp_path),
    ):
        sender.sendto(b"x", ("127.0.0.1", 9))


def test_a_thread_that_was_there_before_may_connect(server, tmp_path):
    go, done, found = threading.Event(), threading.Event(), []

    def outside():
        go.wait()
        found.append(by_hand(server.server_address))
        done.set()

    thread = threading.Thread(target=outside)
    thread.start()
    with reenact.record(home=tmp_path) as recording:
        pass
    with reenact.replay(recording.id, home=tmp_path) as replay:
        go.set()
        done.wait()
    thread.join()
    assert found == [b"hello"]
    assert replay.verdict.faithful


def test_a_thread_that_has_shaken_off_its_scope_is_refused(server, tmp_path):
    def bare(done):
        try:
            by_hand(server.server_address)
        except BaseException:
            pass
        finally:
            done.set()

    def work():
        done = threading.Event()
        _thread.start_new_thread(bare, (done,))
        done.wait(60)

    with reenact.record(home=tmp_path) as recording:
        pass
    with pytest.raises(DivergenceError, match="socket:127"), reenact.replay(recording.id, home=tmp_path):
        work()
    assert server.visits == []


def test_the_loops_own_pipe_and_socket_pairs_are_no_connection(tmp_path, capfd):
    def work():
        async def nothing():
            await asyncio.to_thread(lambda: None)

        asyncio.run(nothing())
        one, other = socket.socketpair()
        one.sendall(b"x")
        assert other.recv(1) == b"x"
        one.close()
        other.close()

    with reenact.record(home=tmp_path) as recording:
        work()
    with reenact.replay(recording.id, home=tmp_path) as replay:
        work()
    assert replay.verdict.faithful
    assert capfd.readouterr().err == ""


def test_a_tool_that_is_let_through_may_connect_and_is_named(server, tmp_path):
    @reenact.tool
    def ask():
        return by_hand(server.server_address)

    with reenact.record(home=tmp_path) as recording:
        assert ask() == b"hello"
    with reenact.replay(recording.id, home=tmp_path):
        assert ask() == b"hello"
    assert len(server.visits) == 1
    with reenact.replay(recording.id, home=tmp_path, live=["tool:ask"]) as replay:
        assert ask() == b"hello"
    assert len(server.visits) == 2
    assert any("connected to 127.0.0.1" in note for note in replay.verdict.notes)


def test_sockets_can_be_let_through(server, tmp_path):
    with reenact.record(home=tmp_path) as recording:
        by_hand(server.server_address)
    with reenact.replay(recording.id, home=tmp_path, live=["socket"]) as replay:
        assert by_hand(server.server_address) == b"hello"
    assert not replay.verdict.faithful


def test_a_replay_gone_live_may_connect(server, tmp_path):
    ask = reenact.tool(lambda: by_hand(server.server_address), name="ask")
    with reenact.record(home=tmp_path) as recording:
        pass
    host = "{}:{}".format(*server.server_address)
    allowed = ["ask=live", f"{host}=live"]
    with reenact.replay(recording.id, home=tmp_path, on_divergence="live", policy=allowed) as replay:
        assert ask() == b"hello"
        assert by_hand(server.server_address) == b"hello"
    assert replay.verdict.divergences


def test_what_only_reports_is_kept_in_without_a_divergence(server, tmp_path, library, capfd):
    sentry = library(
        "sentry_sdk", "import socket\ndef send(address): socket.create_connection(address).close()"
    )
    with reenact.record(home=tmp_path) as recording:
        sentry.send(server.server_address)
    with (
        reenact.replay(recording.id, home=tmp_path) as replay,
        pytest.raises(ConnectionRefusedError, match="sentry_sdk"),
    ):
        sentry.send(server.server_address)
    assert replay.verdict.faithful
    while not server.visits:
        # The server may not have heard yet of the visit while recording.
        time.sleep(0.01)
    assert len(server.visits) == 1
    assert capfd.readouterr().err == ""


def test_a_library_that_connects_is_named(server, tmp_path, library, capfd):
    redis = library("redis", "import socket\ndef get(address): socket.create_connection(address).close()")
    with reenact.record(home=tmp_path):
        redis.get(server.server_address)
    assert "redis connected to 127.0.0.1" in capfd.readouterr().err


def test_processes_of_one_program_may_talk(tmp_path):
    with multiprocessing.connection.Listener(str(tmp_path / "pipe")) as listener:
        thread = threading.Thread(target=lambda: listener.accept().close())
        thread.start()
        with reenact.record(home=tmp_path) as recording:
            pass
        with reenact.replay(recording.id, home=tmp_path) as replay:
            multiprocessing.connection.Client(str(tmp_path / "pipe")).close()
        thread.join()
    assert replay.verdict.faithful


# -- children, databases, files ------------------------------------------------------------------------------


def test_a_child_process_is_named(tmp_path, capfd):
    def work():
        subprocess.run(["true"], check=True, pass_fds=[1])
        shared = [(os.POSIX_SPAWN_DUP2, 1, 1)]
        os.waitpid(os.posix_spawn("/bin/true", ["true"], {}, file_actions=shared), 0)

    with reenact.record(home=tmp_path) as recording:
        work()
    said = capfd.readouterr().err
    assert said.count("the program ran true, which is not recorded: a replay needs --live process:true") == 2
    with reenact.replay(recording.id, home=tmp_path, live=["process:true"]) as replay:
        work()
    assert replay.verdict.live
    assert any(
        "the program ran true: not answered from the recording" in note for note in replay.verdict.notes
    )


def test_what_the_machine_is_asked_about_itself_is_not_named(tmp_path, capfd):
    import platform

    with reenact.record(home=tmp_path):
        platform.processor()
        platform.uname()
    assert capfd.readouterr().err == ""


def test_a_database_is_named_and_one_in_memory_is_not(tmp_path, capfd):
    with reenact.record(home=tmp_path):
        sqlite3.connect(":memory:").close()
        sqlite3.connect(tmp_path / "shop.db").close()
    said = capfd.readouterr().err.splitlines()
    assert len(said) == 1
    assert "shop.db" in said[0]


def test_a_file_that_is_the_same_is_no_matter(tmp_path, twice, capfd):
    (tmp_path / "prompt.txt").write_text("be kind")
    first, second, verdict = twice((tmp_path / "prompt.txt").read_text)
    assert first == second
    assert verdict.faithful
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize(
    ("change", "word"),
    [(lambda path: path.write_text("be rude"), "has changed"), (lambda path: path.unlink(), "is gone")],
)
def test_a_file_that_has_changed_is_named_in_the_verdict(change, word, tmp_path, twice):
    path = tmp_path / "prompt.txt"
    path.write_text("be kind")

    def work():
        try:
            return path.read_text()
        except OSError:
            return None

    _, _, verdict = twice(work, between=lambda: change(path))
    assert f"prompt.txt {word} since the recording" in str(verdict)


def test_files_that_the_program_writes_itself_are_not_watched(tmp_path, twice):
    def work():
        path = tmp_path / "out.txt"
        path.write_text(str(os.urandom(3)))
        return len(path.read_text()) > 0

    assert twice(work)[2].faithful


def test_a_large_file_is_told_by_its_ends(tmp_path, twice):
    path = tmp_path / "large"
    path.write_bytes(b"x" * (3 << 20))
    _, _, verdict = twice(
        lambda: len(path.read_bytes()), between=lambda: path.write_bytes(b"x" * (3 << 20) + b"y")
    )
    assert "has changed" in str(verdict)


def test_with_no_run_active_everything_may_connect(server):
    assert by_hand(server.server_address) == b"hello"
    assert urllib.request.pathname2url("a b") == "a%20b"
