"""What the program's own code writes to standard error is recorded and compared."""

import logging
import os
import sys
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor

import pytest

import reenact
from reenact.run.error_output import compare_errors

AGENT = """
import logging, os, sys, threading, time, traceback, warnings
import reenact

@reenact.tool
def look(place):
    print("looking at", place, file=sys.stderr)
    return os.stat(place).st_mode

logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(thread)d %(pathname)s:%(lineno)d %(message)s")
look("/")
print("begins", file=sys.stderr)
logging.getLogger("agent").info("logged")
warnings.warn("deprecated")
try:
    try:
        {}["x"]
    except KeyError as error:
        raise ValueError("no such order") from error
except ValueError:
    traceback.print_exc()
for part in range(3):
    print(f"\\r{part}: {time.perf_counter()}", end="", file=sys.stderr)
print(file=sys.stderr)
print("ends in 3.5 s", file=sys.stderr)
"""


@pytest.fixture
def recorded(shell):
    shell.write("agent.py", AGENT)
    done, recording = shell.record("agent.py")
    assert done.status == 0, done.err
    return recording


def test_a_program_writes_the_same_to_standard_error(shell, recorded):
    text = recorded.logs[0].sealed["stderr"]["text"]
    assert [line for line in text.splitlines() if "logged" in line]
    assert "Traceback" not in text
    assert "KeyError" not in text
    assert "looking at" not in text
    verdict = shell.replay("--json").json["verdict"]
    assert verdict["faithful"], verdict
    # From Python 3.13 on, its lines in a traceback are read by code of Python.
    assert [part for part in verdict["compared"] if part != "files"] == [
        "calls",
        "standard output",
        "standard error",
    ]


def test_a_program_that_cannot_be_compiled_is_reported_as_without_a_recording(shell):
    shell.write("agent.py", "import reenact\nthis is no program\n")
    done = shell.run("record", "--", sys.executable, "agent.py")
    assert "SyntaxError: invalid syntax" in done.err
    assert "this is no program" in done.err


def test_a_comment_and_another_folder_change_nothing(shell, recorded, tmp_path_factory):
    shell.write("agent.py", f"# a comment\n{AGENT}")
    assert shell.replay("--json").json["verdict"]["faithful"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ('"begins"', '"starts"'),
        ('"logged"', '"said"'),
        ('"deprecated"', '"obsolete"'),
        ('"no such order"', '"no such user"'),
        ("print(file=sys.stderr)", "print(1, file=sys.stderr)"),
    ],
)
@pytest.mark.sampled
def test_another_line_is_a_divergence(shell, recorded, old, new):
    shell.write("agent.py", AGENT.replace(old, new))
    done = shell.replay("--json")
    (found,) = done.json["verdict"]["divergences"]
    assert (done.status, found["address"]) == (1, "main/stderr")
    assert found["mismatches"]


def test_standard_error_may_be_left_out(shell, recorded):
    shell.write("agent.py", AGENT.replace("begins", "starts"))
    verdict = shell.replay("--ignore", "stderr", "--json").json["verdict"]
    assert verdict["faithful"]
    assert verdict["rules"] == ["ignore stderr"]
    assert "standard error" not in verdict["compared"]


def written(program):
    """Return what a block writes, as it is recorded; an unchanged block's replay must be faithful."""
    with reenact.record() as recording:
        program()
    with reenact.replay(recording.id) as replay:
        program()
    assert replay.verdict.faithful, str(replay.verdict)
    assert "standard error" in replay.verdict.compared
    return recording.load().logs[0].sealed["stderr"]["text"]


def test_the_traceback_that_ends_a_program_is_printed_whole(shell):
    shell.write("agent.py", 'raise ValueError("no such order")')
    done, _ = shell.record("agent.py")
    assert "Traceback (most recent call last)" in done.err
    assert "ValueError: no such order" in done.err
    assert "lost sys.stderr" not in done.err
    assert shell.replay("--json").json["verdict"]["faithful"]


def test_a_block_counts_what_its_own_code_writes():
    assert written(lambda: print("hello", file=sys.stderr)) == "hello\n"


def test_the_lines_of_libraries_do_not_count():
    handler = logging.StreamHandler(sys.stderr)
    library = logging.getLogger("concurrent.futures")
    library.addHandler(handler)

    def broken(_):
        raise RuntimeError("in a callback")

    def program():
        with ThreadPoolExecutor(1) as pool:
            pool.submit(int).add_done_callback(broken)
        print("over", file=sys.stderr)

    try:
        assert written(program) == "over\n"
    finally:
        library.removeHandler(handler)


def test_the_lines_that_a_library_writes_in_threads_may_change_their_order():
    names = ["a", "b"]

    def program():
        for name in names:
            record = logging.makeLogRecord({"msg": f"worker {name}"})
            thread = threading.Thread(target=lambda record=record: logging.lastResort.handle(record))
            thread.start()
            thread.join()
        names.reverse()

    assert written(program) == "worker a\nworker b\n"


def test_a_secret_is_not_recorded():
    assert "correct-horse" not in written(lambda: print("password=correct-horse-7-battery", file=sys.stderr))


def test_the_numbers_of_processes_and_threads_are_left_out():
    def program():
        print(f"in {os.getpid()} and {threading.get_ident()}, not {os.getpid()}0", file=sys.stderr)

    assert written(program) == f"in … and …, not {os.getpid()}0\n"


def test_of_a_chain_of_tracebacks_the_last_exception_counts():
    def program():
        try:
            try:
                raise KeyError("x")
            except KeyError:
                raise ValueError("two\nlines")  # noqa: B904 - both sentences between tracebacks are tried
        except ValueError:
            traceback.print_exc()

    assert written(program) == "ValueError: two\nlines\n"


ENDS = """
import sys, threading, traceback

def worker():
    raise RuntimeError("in a thread")

def group():
    raise ExceptionGroup("two", [ValueError("in a group"), KeyError("other")])

for key in "ab":
    try:
        {}[key]
    except KeyError:
        traceback.print_exc()
for work in (worker, group):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
"""


@pytest.mark.sampled(every=4)
@pytest.mark.parametrize("end", ['raise LookupError("no order")', 'sys.exit("no order")'])
@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        ("no order", "no such order", "no order"),
        ("in a thread", "in the thread", "RuntimeError: in a thread"),
        ("in a group", "in the group", "    | ValueError: in a group"),
        ('"ab"', '"cb"', "KeyError: 'a'"),
        ("(worker, group)", "(group,)", "RuntimeError: in a thread"),
    ],
)
def test_another_error_at_the_end_of_the_program_or_of_a_thread_is_a_divergence(shell, end, old, new, line):
    program = shell.write("agent.py", ENDS + end)
    shell.record("agent.py")
    verdict = shell.replay("--json").json["verdict"]
    assert verdict["faithful"], verdict
    assert not verdict["rules"]
    program.write_text(program.read_text().replace(old, new))
    [found] = shell.replay("--json").json["verdict"]["divergences"]
    assert found["address"] == "main/stderr"
    assert [mismatch for mismatch in found["mismatches"] if line in mismatch["recorded"]], found


ANSWERED = """
import reenact

@reenact.tool(kind="model")
def ask():
    try:
        raise OSError("connection refused")
    except OSError as error:
        raise ConnectionError("no answer from the model") from CAUSE

ask()
"""


@pytest.mark.parametrize("cause", ["error", 'ValueError("never raised")', "None"])
def test_an_answered_error_that_ends_the_program_is_printed_as_recorded(shell, cause):
    program = shell.write("agent.py", ANSWERED.replace("CAUSE", cause))
    assert "no answer from the model" in shell.record("agent.py")[0].err
    verdict = shell.replay("--json").json["verdict"]
    assert verdict["faithful"], verdict
    program.write_text(program.read_text().replace("\nask()", "\nprint('edited')\nask()"))
    assert not shell.replay("--json").json["verdict"]["faithful"]


def test_the_number_of_a_thread_that_an_error_ends_may_differ():
    earlier, now = (
        {
            "text": f"begins\nException in thread Thread-{number} (work):\nKeyError: 1\n",
            "length": 60,
            "sha256": "",
            "bytes": False,
            "errors": True,
        }
        for number in (2, 17)
    )
    assert compare_errors("main", earlier, now) == (None, "")


def test_a_recording_of_an_earlier_version_has_no_errors_that_end_a_program():
    earlier = {"sha256": "", "length": 0, "text": "", "threads": False, "width": 0, "bytes": False}
    now = {**earlier, "text": "ValueError: no order\n", "length": 21, "sha256": "other", "errors": True}
    found, rule = compare_errors("main", earlier, now)
    assert found is None
    assert rule == "ignore stderr (errors that end a program or a thread were not recorded)"
    assert compare_errors("main", {**earlier, "errors": False}, now)[0] is not None
