"""`reenact debug --plain`, as scripts and people at a prompt use it."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import subprocess
import sys
import time

import pytest

from tests.conftest import Shell

AGENT = """
    import sys, reenact

    @reenact.tool
    def stock(order): return {"order": order, "left": 3}

    @reenact.tool
    def lookup(order):
        return {**stock(order), "status": "shipped"}

    @reenact.tool
    def cancel(order, reason):
        raise ValueError("it was shipped")

    @reenact.tool(kind="model", name="gpt-4o")
    def ask(messages):
        done = messages[-1]["role"] == "tool"
        message = {"role": "assistant", "content": "It cannot be cancelled."} if done else {
            "role": "assistant", "content": None,
            "tool_calls": [{"id": "c1", "function": {"name": "cancel", "arguments": '{"order": 7}'}}]}
        return {"choices": [{"message": message}], "usage": {"prompt_tokens": 120, "completion_tokens": 34}}

    def main(reason):
        print("looking", lookup(7))
        messages = [{"role": "user", "content": "Cancel 7, 请取消"}]
        message = ask(list(messages))["choices"][0]["message"]
        try:
            cancel(7, reason)
        except ValueError as error:
            print("failed:", error)
            messages += [message, {"role": "tool", "tool_call_id": "c1", "content": str(error)}]
        print("agent:", ask(list(messages))["choices"][0]["message"]["content"])

    if __name__ == "__main__":
        main(*sys.argv[1:] or ["late"])
"""
# Its steps: 1 lookup, 2 stock (inside), 3 model, 4 cancel (an error), 5 model.


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A terminal in whose folder the agent was recorded. No test changes anything there."""
    shell = Shell(tmp_path_factory.mktemp("recorded"))
    shell.write("agent.py", AGENT)
    shell.record("agent.py")
    return shell


@pytest.fixture
def own(shell):
    """The same, for one test alone."""
    shell.write("agent.py", AGENT)
    shell.record("agent.py")
    return shell


def debug(shell, script, *words, **more):
    return shell.run("debug", "last", "--plain", *words, text="\n".join(script) + "\n", **more)


def places(done):
    """The steps at which the program was said to stand."""
    return [int(found) for found in re.findall(r"^ {0,2}(\d+)  \w+:", done.out, re.MULTILINE)]


def test_a_script_walks_the_program_from_question_to_question(recorded):
    done = debug(recorded, ["next", "n", "n", "n"])
    assert places(done) == [1, 3, 4, 5]
    assert "the program has ended\n" in done.out
    assert "faithful: 5 answers served from the recording" in done.out
    assert (done.status, done.ours) == (0, [])


@pytest.mark.thorough
def test_there_is_no_prompt_where_nobody_types(recorded):
    assert "(reenact)" not in debug(recorded, ["where"]).out


@pytest.mark.thorough
def test_what_the_program_writes_stands_where_it_was_written(recorded):
    done = debug(recorded, ["n", "c"])
    assert (
        done.out.index("looking {'order'")
        < done.out.index("  3  model:gpt-4o")
        < done.out.index("failed: it was shipped")
    )
    assert done.out.index("agent: It cannot be cancelled.") < done.out.index("the program has ended")


@pytest.mark.thorough
def test_going_back_writes_nothing_and_output_tells_what_was_written_by_then(recorded):
    done = debug(recorded, ["c", "back", "# here the model is asked again", "output"])
    assert places(done) == [1, 5]
    assert done.out.count("looking {'order'") == 2
    assert done.out.endswith("failed: it was shipped\n")


LISTS_FIRST = """
    import os, reenact

    @reenact.tool(writes=False)
    def ask(number):
        return number

    os.listdir("data")
    ask(1)
    ask(2)
    print(open("data/note").read())
    with open("data/note", "a") as file:
        file.write(" and more")
    ask(3)
    print(open("data/note").read())
    ask(4)
"""


@pytest.mark.thorough
def test_going_back_leaves_a_file_that_was_only_listed_by_then_as_it_was(shell):
    shell.write("data/note", "as it was")
    shell.write("agent.py", LISTS_FIRST)
    shell.record("agent.py")
    (shell.folder / "data" / "note").write_text("changed since, and longer")
    done = debug(shell, ["until 4", "until 2", "c", "output"])
    assert places(done) == [1, 4, 2], done.err
    assert "as it was\nas it was and more\n" in done.out
    assert "faithful" in done.out


@pytest.mark.thorough
def test_a_call_is_looked_into_by_running_it_for_real(recorded):
    done = debug(recorded, ["into", "where", "out"])
    assert places(done) == [1, 2, 2, 3]
    assert "in lookup" in done.out


@pytest.mark.thorough
def test_breakpoints_stop_it_in_both_directions(recorded):
    done = debug(recorded, ["break tool:cancel", "b", "continue", "c", "reverse", "clear tool:cancel", "r"])
    assert "break tool:cancel\nat step 4\n" in done.out
    assert places(done) == [1, 4, 4, 1]
    assert "(breakpoint tool:cancel)" in done.out


@pytest.mark.thorough
def test_breakpoints_are_taken_from_the_command_line_too(recorded):
    done = debug(recorded, ["c", "c"], "--break", "error", "-b", "5")
    assert places(done) == [1, 4, 5]


@pytest.mark.thorough
def test_until_goes_on_and_back(recorded):
    assert places(debug(recorded, ["until 5", "until 3", "until 2"])) == [1, 5, 3, 2]


@pytest.mark.thorough
def test_print_shows_arguments_and_answer_or_a_part_of_them(recorded):
    done = debug(recorded, ["p", "until 4", "p args.reason", "p", "p actual.order", "p output.x"])
    assert "args       order = 7" in done.out
    assert "\nlate\n" in done.out
    assert "raised     ValueError: it was shipped" in done.out
    assert "\n7\n" in done.out
    assert done.ours == [
        "reenact: line 6: there is no output.x here (or it is null); try one of args.order, args.reason, output, error, actual"
    ]


@pytest.mark.thorough
def test_messages_are_what_the_model_saw_and_what_is_new_in_it(recorded):
    done = debug(recorded, ["m", "until 5", "m", "m all", "until 4", "m"])
    whole, before = done.out.split("2 messages known already\n")[1].split("as of step 3")
    assert whole.startswith("tool cancel \n           it was shipped\n")
    assert "user       Cancel 7, 请取消\ncalls      cancel(order=7)\ntool cancel" in whole
    assert "user       Cancel 7" in before
    assert done.ours == ["reenact: line 1: no model call up to here"]


@pytest.mark.thorough
def test_list_marks_the_place_the_breakpoints_and_the_edits(recorded):
    done = debug(recorded, ["b 4", "edit 3 = {}", "l", "list 4-", "l error"])
    text = done.out.split("edited\n")[1]
    assert text.splitlines()[0].startswith(">    1  tool:lookup")
    assert text.splitlines()[1].startswith("       2  tool:stock")
    assert text.splitlines()[2].startswith("  e  3  model:gpt-4o")
    assert [line.split()[1] for line in text.splitlines() if line.startswith(" *")] == ["4", "4", "4"]


@pytest.mark.thorough
def test_an_edited_answer_reaches_the_program(recorded):
    done = debug(recorded, ['edit 1 = {"status": "lost"}', "n", "undo 1", "c"])
    assert "step 1: its answer is edited" in done.out
    assert "looking {'status': 'lost'}" in done.out
    assert "step 1: its recorded answer again" in done.out
    assert "looking {'order': 7, 'left': 3, 'status': 'shipped'}" in done.out


@pytest.mark.thorough
def test_an_editor_edits_it_too_and_what_it_spoils_costs_a_line(own):
    editor = own.write(
        "editor.py",
        "import sys; p = sys.argv[1]; t = open(p).read(); open(p, 'w').write(t.replace('shipped', 'lost'))",
    )
    spoiler = own.write("spoiler.py", "import sys; open(sys.argv[1], 'w').write('{')")
    done = debug(own, ["edit", "n"], env={"EDITOR": f"{sys.executable} {editor}"})
    assert "'status': 'lost'" in done.out
    done = debug(own, ["edit", "n"], env={"VISUAL": f"{sys.executable} {spoiler}"})
    assert "line 1: line 1, column " in done.ours[0]
    assert "this is no JSON" in done.ours[0]
    assert "'status': 'shipped'" in done.out, "the session goes on"
    done = debug(own, ["edit", "n"], env={"VISUAL": "no-such-editor"})
    assert "the editor `no-such-editor` cannot be run" in done.ours[0]


@pytest.mark.thorough
def test_a_step_can_be_let_fail(recorded):
    done = debug(recorded, ["raise TimeoutError: too slow", "c"])
    assert "TimeoutError: too slow" in done.out
    assert done.status == 1


@pytest.mark.thorough
def test_a_program_that_leaves_its_recording_stops_there_and_says_how(recorded):
    done = debug(
        recorded, ["c", "where", "p actual.reason", "verdict", "c"], "--", sys.executable, "agent.py", "other"
    )
    assert "CHANGED  step 4  main/tool:cancel#0" in done.out
    assert 'recorded  "late"\n    actual    "other"' in done.out
    assert "\nother\n" in done.out
    assert "diverged: " in done.out
    assert done.status == 1


@pytest.mark.thorough
def test_a_program_that_is_another_one_is_said_to_be_so(own):
    own.write("other.py", "print('hello')")
    done = debug(own, ["verdict"], "--", sys.executable, "other.py")
    assert "hello\nthe program has ended" in done.out
    assert "5 steps not requested" in done.out or "4 steps not requested" in done.out
    assert done.status == 1


@pytest.mark.thorough
def test_an_imported_run_is_walked_without_a_program(shell, home):
    messages = [
        {"role": "user", "content": "Cancel 7"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "c", "type": "function", "function": {"name": "cancel", "arguments": "{}"}}]},
        {"role": "tool", "tool_call_id": "c", "content": "no"},
        {"role": "assistant", "content": "I cannot."},
    ]  # fmt: skip
    file = shell.folder / "chat.json"
    file.write_text(json.dumps(messages))
    assert shell.run("import", file).status == 0
    done = debug(shell, ["s", "b model", "c", "back", "m", "edit = 1", "c"])
    assert "has no recorded program" in done.ours[0]
    assert done.ours[0].endswith("reading only")
    assert places(done) == [1, 2, 3, 2, 3]
    assert "user       Cancel 7" in done.out
    assert "there is no program here that an edited answer could reach" in done.ours[1]


@pytest.mark.thorough
def test_a_recording_can_be_read_without_running_its_program(own):
    (own.folder / "agent.py").write_text("raise SystemExit('it ran')")
    done = debug(own, ["c", "r"], "--read", "-b", "4")
    assert places(done) == [1, 4, 1]
    assert (done.status, done.ours) == (0, [])


@pytest.mark.thorough
def test_a_program_that_is_gone_leaves_its_recording_to_be_read(own):
    (own.folder / "agent.py").unlink()
    done = debug(own, ["s"])
    assert "the program is gone" in done.ours[0]
    assert places(done) == [1, 2]


@pytest.mark.thorough
def test_a_program_that_reads_from_the_terminal_gets_what_it_read(shell):
    shell.write(
        "asks.py",
        "import reenact\n@reenact.tool\ndef look(q): return q\nfor line in iter(input, 'bye'): print(look(line))\n",
    )
    shell.record("asks.py", text="one\ntwo\nbye\n")
    done = debug(shell, ["b tool:look", "c", "c", "c"])
    assert "one\n" in done.out
    assert "faithful" in done.out


@pytest.mark.thorough
def test_a_program_that_dies_is_said_to_have_died_and_can_be_gone_back_into(shell):
    shell.write(
        "dies.py",
        "import os, reenact, sys\n@reenact.tool\ndef look(q): return q\nlook(1); look(2)\nos.kill(os.getpid(), int(sys.argv[1]))\n",
    )
    shell.record("dies.py", "0")
    done = debug(shell, ["b 2", "c", "c", "until 2", "p args.q"], "--", sys.executable, "dies.py", "11")
    assert "the program was ended by SIGSEGV" in done.out
    assert places(done) == [1, 2, 2]
    assert done.out.endswith("2\n")


MISTAKES = {
    "brake 3": "there is no command 'brake'; did you mean `break`?",
    "until 99": "has no step 99: its steps go from 1 to 5",
    "break tool and": "column",
    "b 0": "steps are numbered from 1",
    "clear 3": "there is no breakpoint 3",
    "back": "this is the program's first step",
    "out": "this step is not inside another",
    "undo": "the answer of step 1 has not been edited",
    "edit 9 = 1": "has no step 9",
    "edit x": "`edit` takes a step's number",
    "raise": "`raise` needs an error",
    "raise Nope": "'Nope' is not a built-in exception",
    "list 7-": "there is no step 7-",
    "messages some": "not 'some'",
    "step 3": "`step` takes no argument",
    "pdb": "pdb needs a terminal",
    "help nothing": "there is no command 'nothing'",
}


@pytest.mark.thorough
def test_a_mistake_costs_a_line_and_the_session_goes_on(recorded):
    done = debug(recorded, [*MISTAKES, "n"])
    assert [line.partition(": line")[2].partition(":")[0].strip() for line in done.ours] == [
        str(n + 1) for n in range(len(MISTAKES))
    ]
    assert [says for says in MISTAKES.values() if says not in done.err] == []
    assert places(done)[-1] == 3
    assert done.status == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (("--break", "tool and"), "column"),
        (("-b", "99"), "has no step 99"),
        (("--on-divergence", "shrug"), "it is one of raise, realign, live"),
        (("--ignore", "body"), "a rule is a path that begins with `args`"),
        (("--", "no-such-program"), "no such program: no-such-program"),
    ],
)
@pytest.mark.thorough
def test_a_session_that_cannot_begin_says_why_in_a_line(recorded, words, says):
    done = debug(recorded, ["n"], *words)
    assert (done.status, done.out) == (2, "")
    assert says in done.err


@pytest.mark.thorough
def test_the_screen_wants_a_terminal(recorded):
    done = recorded.run("debug", "last", text="")
    assert done.status == 2
    assert "--plain reads commands from standard input" in done.ours[0]


@pytest.mark.thorough
def test_every_command_is_in_the_help(recorded):
    from reenact.run.debugger.commands import COMMANDS

    out = debug(recorded, ["help", "h edit"]).out
    assert [command.name for command in COMMANDS if f"{command.name}" not in out] == []
    assert out.rstrip().splitlines()[-1].startswith("edit, e [STEP] [= JSON or TEXT]")


_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


class Typing:
    """Somebody at a terminal."""

    def __init__(self, shell, *words, env=None, command=("debug", "last")):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            shell.command(*command, *words), cwd=shell.folder, stdin=slave, stdout=slave, stderr=slave,
            env={**shell.environ, "TERM": "xterm-256color", **(env or {})}, start_new_session=True,
            preexec_fn=_own_terminal,  # noqa: PLW1509 - a terminal of its own, as a shell gives it; nothing else runs here
        )  # fmt: skip
        os.close(slave)
        self.seen = ""

    def until(self, text, seconds=120):
        deadline = time.monotonic() + seconds
        while text not in self.seen:
            assert time.monotonic() < deadline, self.seen
            if select.select([self.master], [], [], 0.2)[0]:
                try:
                    self.seen += _COLOUR.sub("", os.read(self.master, 65536).decode("utf-8", "replace"))
                except OSError:
                    assert text in self.seen, self.seen

    def type(self, text):
        self.seen = ""
        os.write(self.master, text.encode())

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.process.kill()
        self.process.wait()

    def end(self):
        while True:
            try:
                if not os.read(self.master, 65536):
                    break
            except OSError:
                break
        os.close(self.master)
        return self.process.wait(120)


def _own_terminal():
    import fcntl
    import termios

    fcntl.ioctl(0, termios.TIOCSCTTY, 0)


@pytest.mark.thorough
def test_at_a_prompt_an_empty_line_repeats_and_pdb_has_the_terminal(recorded):
    with Typing(recorded, "--plain") as typing:
        typing.until("(reenact) ")
        typing.type("n\n")
        typing.until("(reenact) ")
        assert "  3  model:gpt-4o" in typing.seen
        typing.type("\n")
        typing.until("(reenact) ")
        assert "  4  tool:cancel" in typing.seen
        typing.type("pdb\n")
        typing.until("(pdb) ")
        typing.type("p reason\n")
        typing.until("'late'")
        typing.type("c\n")
        typing.until("(reenact) ")
        typing.type("nonsense\n")
        typing.until("there is no command 'nonsense'")
        typing.type("q\n")
        assert typing.end() == 0


@pytest.mark.thorough
def test_ctrl_c_stops_a_program_that_never_asks_again(shell):
    shell.write(
        "hangs.py",
        "import reenact, sys\n@reenact.tool\ndef look(q): return q\nlook(1)\nprint('on it', flush=True)\nwhile sys.argv[1:]: pass\n",
    )
    shell.record("hangs.py")
    with Typing(shell, "--plain", "--", sys.executable, "hangs.py", "x") as typing:
        typing.until("(reenact) ")
        typing.type("c\n")
        typing.until("on it")
        typing.type("\x03")
        typing.until("between questions  (interrupted)")
        typing.type("where\n")
        typing.until("hangs.py:6")
        typing.type("back\n")
        typing.until("  1  tool:look")
        typing.until("(reenact) ")
        typing.type("\x04")
        assert typing.end() == 0


ASKS = """
import reenact

@reenact.tool
def ask(): return 1

ask()
"""
REFUNDS = """
import reenact

@reenact.tool(writes=True)
def refund(order):
    open("done.txt", "a").write(f"{order};")
    return order

refund(7)
"""
EDITED = ("--on-divergence", "realign", "--inserted", "live", "--live", "tool:refund")


@pytest.mark.parametrize(
    ("program", "change", "given", "named"),
    [
        (ASKS, 'open("new.txt", "w").write("mine")', (), "--files live"),
        (REFUNDS, "refund(8)", EDITED, "--policy refund=live"),
    ],
    ids=["files", "policy"],
)
def test_the_option_that_a_stopped_program_names_is_the_debuggers_own(shell, program, change, given, named):
    shell.write("agent.py", program)
    shell.record("agent.py")
    shell.write("agent.py", program + change)
    stopped = shell.run("debug", "last", "--plain", *given, text="c\nq\n")
    assert named in stopped.out, stopped.out
    done = shell.run("debug", "last", "--plain", *given, *named.split(), text="c\nq\n")
    assert "to let it" not in done.out, done.out
    assert "the program has ended" in done.out, done.out
