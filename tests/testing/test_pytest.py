"""The pytest plugin, in test suites of its own."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

import reenact
from tests.conftest import BARE_PYTEST

AGENT = """
    import random
    import reenact

    @reenact.tool
    def price(order):
        with open("live.txt", "a") as file:
            file.write(order + "\\n")
        return random.randint(1, 10**9)

    def agent(order):
        return f"{order} costs {price(order)}"
"""
TEST = """
    import pytest
    from agent import agent

    @pytest.mark.reenact
    def test_price():
        assert agent("ORD-1").startswith("ORD-1 costs")
"""


class Suite:
    """A folder with tests, and a terminal."""

    def __init__(self, folder, environ):
        self.folder = folder
        self.environ = environ

    def write(self, name, text):
        (self.folder / name).write_text(textwrap.dedent(text), encoding="utf-8")

    def run(self, *words, **environ):
        done = subprocess.run(
            [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", *words],
            cwd=self.folder,
            env={**self.environ, **environ},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    @property
    def calls(self):
        """How often the real tool ran."""
        path = self.folder / "live.txt"
        return len(path.read_text().splitlines()) if path.exists() else 0


@pytest.fixture
def suite(shell):
    environ = {name: value for name, value in shell.environ.items() if name != "CI"}
    suite = Suite(shell.folder, environ)
    suite.write("agent.py", AGENT)
    suite.write("test_agent.py", TEST)
    return suite


def test_without_a_recording_a_test_fails_with_the_command_that_makes_one(suite):
    status, said = suite.run()
    assert status == 1
    assert "there is no recording recordings/test_agent/test_price.reenact" in said
    assert "pytest --reenact=record 'test_agent.py::test_price'" in said
    assert suite.calls == 0


@pytest.mark.thorough
def test_a_recorded_test_is_replayed_and_its_tools_do_not_run_again(suite):
    assert suite.run("--reenact=record")[0] == 0
    assert suite.calls == 1
    path = suite.folder / "recordings" / "test_agent" / "test_price.reenact"
    assert [step.call.label for step in reenact.load(path)] == ["tool:price"]
    assert suite.run()[0] == 0
    assert suite.run("--reenact=record")[0] == 0
    assert suite.calls == 1


@pytest.mark.thorough
def test_a_test_that_leaves_its_recording_fails_and_shows_the_changed_word(suite):
    suite.run("--reenact=record")
    suite.write("test_agent.py", TEST.replace('agent("ORD-1")', 'agent("ORD-2").replace("2", "1")'))
    status, said = suite.run()
    assert status == 1
    assert "the test no longer matches its recording: CHANGED at step 1" in said
    assert '"ORD-[-1-]{+2+}"' in said
    assert "pytest --reenact=update 'test_agent.py::test_price'" in said
    assert "Traceback" not in said
    assert suite.calls == 1


@pytest.mark.thorough
def test_update_records_anew(suite):
    suite.run("--reenact=record")
    suite.write("test_agent.py", TEST.replace("ORD-1", "ORD-2"))
    assert suite.run("--reenact=update")[0] == 0
    assert suite.calls == 2
    assert suite.run()[0] == 0


@pytest.mark.thorough
def test_off_runs_without_a_recording_and_makes_none(suite):
    assert suite.run("--reenact=off")[0] == 0
    assert suite.calls == 1
    assert not (suite.folder / "recordings").exists()


@pytest.mark.thorough
def test_a_test_that_asks_for_more_than_was_recorded_is_pointed_at_what_can_be_shown(suite):
    """Behind the last step there is none to be shown; and the failure is told once."""
    suite.run("--reenact=record")
    suite.write("agent.py", AGENT.replace("return f", 'price("ORD-2") if price(order) else None; return f'))
    status, said = suite.run()
    assert status == 1
    assert said.count("EXTRA at step 2") == 2, said  # the failure, and pytest's summary of it
    assert "reenact show recordings/test_agent/test_price.reenact\n" in said


@pytest.mark.thorough
def test_a_test_that_fails_while_it_is_recorded_leaves_no_recording(suite):
    suite.write("test_agent.py", TEST + "        assert False\n")
    assert suite.run("--reenact=record")[0] == 1
    assert not (suite.folder / "recordings").exists()


@pytest.mark.thorough
def test_a_failing_test_that_also_left_its_recording_shows_both(suite):
    suite.run("--reenact=record")
    changed = TEST.replace('agent("ORD-1")', 'agent("ORD-1")[1:]')
    suite.write("test_agent.py", changed)
    status, said = suite.run()
    assert status == 1
    assert "AssertionError" in said
    swallowed = """
    import pytest
    from agent import agent

    @pytest.mark.reenact
    def test_price():
        try:
            agent("ORD-9")
        except BaseException:
            pass
        assert False, "mine"
    """
    suite.write("test_agent.py", swallowed)
    status, said = suite.run()
    assert "mine" in said
    assert "the test no longer matches its recording: CHANGED at step 1" in said


@pytest.mark.thorough
def test_nothing_goes_live_in_ci_by_accident(suite):
    status, said = suite.run("--reenact=record", CI="true")
    assert status == 4
    assert "this is CI; set REENACT_RECORD_IN_CI=1 if that is meant" in said
    assert suite.calls == 0
    assert suite.run("--reenact=record", CI="true", REENACT_RECORD_IN_CI="1")[0] == 0
    assert suite.run(CI="true")[0] == 0


@pytest.mark.thorough
def test_the_ini_file_can_set_the_mode_and_a_wrong_one_is_named(suite):
    suite.write("pytest.ini", "[pytest]\nreenact = off\n")
    assert suite.run()[0] == 0
    suite.write("pytest.ini", "[pytest]\nreenact = rewind\n")
    status, said = suite.run()
    assert status == 4
    assert "reenact = rewind in the ini file: it is one of replay, record, update, off" in said


@pytest.mark.thorough
def test_a_file_options_and_the_fixture_can_be_given(suite):
    suite.write(
        "test_agent.py",
        """
        import pytest
        from agent import price

        @pytest.mark.reenact("kept/one", ignore=["args.order"])
        @pytest.mark.parametrize("order", ["a"])
        def test_price(reenact, order):
            price(order + str(reenact.mode == "replay"))
            if reenact.mode == "replay":
                assert reenact.verdict.rules == ("ignore args.order",)
                assert len(reenact.recording.steps) == 1

        def test_unmarked(reenact):
            pass

        @pytest.mark.reenact(speed="fast")
        def test_wrong():
            pass
        """,
    )
    suite.run("--reenact=record")
    assert (suite.folder / "kept" / "one.reenact").exists()
    status, said = suite.run()
    assert status == 1
    assert "1 passed" in said
    assert "the fixture `reenact` is for tests that are marked" in said
    assert "@pytest.mark.reenact does not take speed; it takes a file, and live, ignore" in said


@pytest.mark.thorough
def test_a_damaged_recording_is_named_in_one_line(suite):
    suite.run("--reenact=record")
    path = suite.folder / "recordings" / "test_agent" / "test_price.reenact"
    path.write_bytes(path.read_bytes()[:50])
    status, said = suite.run()
    assert status == 1
    assert "reenact: " in said
    assert "test_price.reenact" in said
    assert "Traceback" not in said


class Answers(BaseHTTPRequestHandler):
    """Counts."""

    count = 0

    def do_GET(self):
        Answers.count += 1
        body = str(Answers.count).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.mark.thorough
def test_async_tests_over_http_replay_without_the_server_and_in_parallel(suite):
    server = ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    Thread(target=server.serve_forever, daemon=True).start()
    suite.write(
        "pytest.ini", "[pytest]\nasyncio_mode = auto\nasyncio_default_fixture_loop_scope = function\n"
    )
    suite.write(
        "test_agent.py",
        f"""
        import asyncio, httpx, pytest
        pytestmark = pytest.mark.reenact

        class TestIt:
            @pytest.mark.parametrize("n", range(6))
            async def test_get(self, n):
                async with httpx.AsyncClient() as client:
                    one, two = await asyncio.gather(
                        *(client.get("http://127.0.0.1:{server.server_port}/{{n}}") for n in range(2))
                    )
                assert one.text != two.text
        """,
    )
    plugins = BARE_PYTEST["PYTEST_PLUGINS"] + ",xdist.plugin"
    status, said = suite.run("--reenact=record", "-n", "2", PYTEST_PLUGINS=plugins)
    assert status == 0, said
    server.shutdown()
    server.server_close()
    seen = Answers.count
    status, said = suite.run("-n", "2", PYTEST_PLUGINS=plugins)
    assert status == 0, said
    assert "6 passed" in said
    assert Answers.count == seen == 12


def test_a_test_that_is_marked_late_or_by_unittest_runs_on_its_recording(suite):
    suite.write(
        "conftest.py",
        """
        import pytest

        def pytest_collection_modifyitems(items):
            for item in items:
                if "collected" in item.name:
                    item.add_marker(pytest.mark.reenact)

        @pytest.fixture
        def recorded(request):
            request.node.add_marker(pytest.mark.reenact)
        """,
    )
    suite.write(
        "test_agent.py",
        """
        import pytest, unittest
        from agent import agent

        def test_collected():
            agent("ORD-1")

        def test_set_up(recorded):
            agent("ORD-2")

        class TestSync(unittest.TestCase):
            @pytest.mark.reenact
            def test_price(self):
                agent("ORD-3")

        class TestAsync(unittest.IsolatedAsyncioTestCase):
            @pytest.mark.reenact
            async def test_price(self):
                agent("ORD-4")

            @pytest.mark.reenact
            @unittest.skip("not now")
            async def test_skipped(self):
                agent("ORD-5")
        """,
    )
    assert suite.run()[0] == 1
    assert suite.calls == 0
    assert suite.run("--reenact=record")[0] == 0
    assert suite.calls == 4
    status, said = suite.run()
    assert (status, suite.calls) == (0, 4)
    assert "4 passed, 1 skipped" in said


def test_a_marked_test_that_a_plugin_runs_in_its_own_way_fails(suite):
    suite.write(
        "conftest.py",
        """
        def pytest_pyfunc_call(pyfuncitem):
            getattr(pyfuncitem.module, pyfuncitem.originalname)()
            return True
        """,
    )
    status, said = suite.run("--reenact=record")
    assert status == 1
    assert "test_agent.py::test_price ran without its recording" in said


ALIKE = """
    import pytest
    from agent import agent

    @pytest.mark.reenact
    @pytest.mark.parametrize("id", ["a/b", "a-b", "a b", "x" * 300], ids=str)
    def test_price(id):
        agent("ORD-1")

    class TestOne:
        class TestPrice:
            @pytest.mark.reenact
            def test_price(self):
                agent("ORD-1")

    class TestTwo:
        class TestPrice:
            @pytest.mark.reenact
            def test_price(self):
                agent("ORD-1")
"""


def test_tests_with_similar_names_have_recordings_of_their_own(suite):
    suite.write("test_agent.py", ALIKE)
    assert suite.run("--reenact=record")[0] == 0
    assert suite.calls == 6
    assert len(list((suite.folder / "recordings" / "test_agent").iterdir())) == 6
    assert suite.run()[0] == 0
    assert suite.calls == 6


def test_a_recording_under_the_name_of_an_earlier_version_is_used_by_the_test_that_made_it(suite):
    suite.write("test_agent.py", ALIKE)
    assert suite.run("--reenact=record", "test_agent.py::test_price[a/b]")[0] == 0
    (made,) = (suite.folder / "recordings" / "test_agent").iterdir()
    made.rename(made.with_name("test_price[a-b].reenact"))
    assert suite.run("test_agent.py::test_price[a/b]")[0] == 0
    status, said = suite.run("test_agent.py::test_price[a b]")
    assert status == 1
    assert "there is no recording" in said
    assert suite.calls == 1


def test_what_pytest_itself_reads_is_not_the_test_s_however_it_is_started(suite):
    suite.write(
        "test_agent.py",
        """
        import os, pytest

        @pytest.mark.reenact
        def test_variable(monkeypatch):
            monkeypatch.setenv("COLOUR", "red")
            assert os.environ["COLOUR"] == "red"
        """,
    )
    script = [Path(sys.executable).with_name("pytest"), "-p", "no:cacheprovider", "-q", "--reenact=record"]
    subprocess.run(script, cwd=suite.folder, env=suite.environ, timeout=120, check=True)
    status, said = suite.run()
    assert status == 0, said


def test_a_departure_of_a_test_that_may_fail_is_a_failure(suite):
    text = TEST.replace("    @pytest.mark.reenact\n", "    @pytest.mark.reenact\n    @pytest.mark.xfail\n")
    suite.write("test_agent.py", text)
    assert "1 xpassed" in suite.run("--reenact=record")[1]
    suite.write("test_agent.py", text.replace('"ORD-1")', '"ORD-2")'))
    status, said = suite.run()
    assert status == 1
    assert "the test no longer matches its recording: CHANGED at step 1" in said


XFAIL = """
    import pytest
    from agent import agent

    @pytest.mark.reenact
    @pytest.mark.xfail{strict}
    def test_price():
        assert agent("ORD-1") == "{price}"

    @pytest.mark.reenact
    def test_by_hand():
        agent("ORD-2")
        pytest.xfail("not yet")

    @pytest.mark.reenact
    def test_without_a_mark():
        assert not agent("ORD-3")
"""


def test_a_test_that_fails_as_marked_is_recorded_and_replayed(suite):
    suite.write("test_agent.py", XFAIL.format(strict="", price="wrong"))
    kept = suite.folder / "kept"
    kept.mkdir()
    assert "1 failed, 2 xfailed" in suite.run("--reenact=record", TMPDIR=str(kept))[1]
    assert not list(kept.glob("reenact-*"))
    folder = suite.folder / "recordings" / "test_agent"
    assert sorted(path.stem for path in folder.iterdir()) == ["test_by_hand", "test_price"]
    assert reenact.load(folder / "test_price.reenact").status == "error"
    live = (suite.folder / "live.txt").read_text()
    status, said = suite.run("-k", "price or hand")
    assert (status, "2 xfailed" in said) == (0, True), said
    assert (suite.folder / "live.txt").read_text() == live


@pytest.mark.parametrize(
    ("strict", "status", "word"), [("", 0, "1 xpassed"), ("(strict=True)", 1, "1 failed")]
)
def test_a_recorded_failure_that_no_longer_fails_is_for_pytest_to_judge(suite, strict, status, word):
    suite.write("test_agent.py", XFAIL.format(strict=strict, price="wrong"))
    suite.run("--reenact=record", "-k", "price")
    (step,) = reenact.load(suite.folder / "recordings" / "test_agent" / "test_price.reenact").steps
    suite.write("test_agent.py", XFAIL.format(strict=strict, price=f"ORD-1 costs {step.output}"))
    found, said = suite.run("-k", "price")
    assert (found, word in said) == (status, True), said
    assert "no longer matches" not in said


def test_a_test_that_may_fail_is_a_failure_without_its_recording(suite):
    suite.write("test_agent.py", XFAIL.format(strict="", price="wrong"))
    status, said = suite.run("-k", "price")
    assert status == 1
    assert "there is no recording" in said


@pytest.mark.thorough
def test_a_suite_without_marked_tests_loads_no_more_than_the_plugin(suite):
    suite.write(
        "test_agent.py",
        """
        import sys
        def test_plain():
            assert "reenact.testing.pytest" in sys.modules
            assert "reenact.testing.pytest.taped" not in sys.modules
        """,
    )
    # Pytest finds it by itself.
    for name in BARE_PYTEST:
        del suite.environ[name]
    assert suite.run()[0] == 0


@pytest.mark.thorough
def test_the_configuration_file_sets_options_of_the_replay_and_the_marker_wins(suite):
    suite.write("agent.py", AGENT)
    suite.write("test_agent.py", TEST)
    assert suite.run("--reenact=record")[0] == 0
    suite.write("agent.py", AGENT.replace("def agent(order):", "def agent(order):\n        price('new')"))
    suite.write("reenact.toml", '[replay]\non-divergence = "realign"\ninserted = "live"')
    code, out = suite.run()
    assert code == 1
    assert "reenact.toml:3:12: replay.inserted: it is for files that you trust" in out
    suite.write("reenact.toml", "[replay]\nignore = ['args']\n")
    suite.write("agent.py", AGENT.replace("price(order)}", "price(order + '-B')}"))
    assert suite.run()[0] == 0
    suite.write("test_agent.py", TEST.replace("mark.reenact", "mark.reenact(ignore=[])"))
    code, out = suite.run()
    assert (code, "no longer matches its recording" in out) == (1, True)
