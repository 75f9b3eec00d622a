"""A file that the user has changed since is read as recorded in a replay, and the verdict names it."""

from tests.hints import followed

AGENT = """
from pathlib import Path

import reenact

@reenact.tool
def ask(prompt):
    return len(prompt)

memory = Path("memory.txt")
seen = memory.read_text() if memory.exists() else ""
memory.write_text(seen + "again ")
print(ask(Path("prompt.txt").read_text()), ask(Path("data/terms.txt").read_text()))
"""


def recorded(shell):
    shell.write("agent.py", AGENT)
    shell.write("prompt.txt", "Be kind.")
    shell.write("data/terms.txt", "thirty days")
    done, recording = shell.record("agent.py")
    assert done.status == 0, done
    return recording


def test_the_verdict_names_the_file_and_the_option_that_reads_it_as_it_is(shell):
    recording = recorded(shell)
    shell.write("prompt.txt", "Be brief.")
    replay = shell.replay()
    assert replay.status == 0, replay
    assert (
        "read as recorded, and changed since: prompt.txt; --files live reads what is there now" in replay.err
    )
    assert shell.replay("--json").json["verdict"]["changed_since"] == ["prompt.txt"]
    live = shell.run("replay", recording.id, "--files", "live")
    assert live.status == 1
    assert "Be brief." in live.err


def test_a_file_that_the_run_has_changed_itself_is_not_named(shell):
    recorded(shell)
    replay = shell.replay("--json")
    assert replay.status == 0, replay
    assert replay.json["verdict"]["changed_since"] == []


def test_verify_names_it_once_with_a_command_that_reads_it(shell):
    recorded(shell)
    shell.record("agent.py")
    shell.write("data/terms.txt", "sixty days")
    done = shell.run("verify")
    assert done.status == 0, done
    assert done.out.count("read as recorded, and changed since: data/terms.txt") == 1
    words = followed(done.out, "cli/render/verify.py", "replay")
    assert shell.run(*words).status == 1


READER = """
from pathlib import Path

print(len(Path(__file__).read_text().splitlines()))
print("first")
"""


def test_the_named_script_is_the_users_own_by_any_path(shell):
    shell.write("tools/agent.py", READER)
    (shell.folder / "link.py").symlink_to("tools/agent.py")
    for name in ("tools/../tools/agent.py", "link.py"):
        shell.write("tools/agent.py", READER)
        done, _ = shell.record(name)
        assert done.status == 0, done
        assert shell.replay().status == 0
        shell.write("tools/agent.py", READER.replace("first", "second"))
        replay = shell.replay()
        assert replay.status == 1, replay
        assert "second" in replay.err


MODULES = """
import sys
from pathlib import Path
from subprocess import run

import helper

print([len(path.read_text()) > 3 for path in sorted(Path(".").glob("*.py"))])
print(helper.ANSWER)
run([sys.executable, "child.py"], check=True)
"""


def test_code_that_ran_as_recorded_and_has_changed_since_is_named(shell):
    shell.write("agent.py", MODULES)
    shell.write("helper.py", "ANSWER = 1\n")
    shell.write("child.py", "print('one')\n")
    done, recording = shell.record("agent.py")
    assert done.status == 0, done
    for name, text in {"helper.py": "ANSWER = 20\n", "child.py": "print('three')\n"}.items():
        before = (shell.folder / name).read_text()
        assert shell.replay().status == 0
        shell.write(name, text)
        replay = shell.replay()
        assert replay.status == 1, replay
        assert f"{name} has changed since, and its recorded code ran" in replay.err
        live = shell.run("replay", recording.id, "--files", "live")
        assert live.status == 1, live
        assert "CHANGED" in live.err
        shell.write(name, before)
