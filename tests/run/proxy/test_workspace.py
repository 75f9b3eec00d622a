"""A scripted coding agent behind the proxy: edits, tests and git commands, a turn each, and its workspace at each turn."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.systems import OVERLAYS

AGENT = '''
    """A coding agent that speaks Anthropic's protocol, and sees the world by one tool: a shell."""
    import json, os, subprocess, urllib.request

    messages = [{"role": "user", "content": "Make the tests pass."}]
    while True:
        asked = {"model": "claude-test", "max_tokens": 100, "messages": messages}
        request = urllib.request.Request(
            os.environ["ANTHROPIC_BASE_URL"] + "/v1/messages",
            json.dumps(asked).encode(),
            {"content-type": "application/json", "x-api-key": os.environ.get("ANTHROPIC_API_KEY", "k")},
        )
        with urllib.request.urlopen(request) as answer:
            said = json.load(answer)
        messages.append({"role": "assistant", "content": said["content"]})
        calls = [part for part in said["content"] if part["type"] == "tool_use"]
        if not calls:
            print(said["content"][0]["text"])
            break
        results = []
        for call in calls:
            done = subprocess.run(["sh", "-c", call["input"]["command"]], capture_output=True, text=True)
            result = {"type": "tool_result", "tool_use_id": call["id"], "content": done.stdout + done.stderr}
            if done.returncode:
                result |= {"content": f"Exit code {done.returncode}\\n{result['content']}", "is_error": True}
            results.append(result)
        messages.append({"role": "user", "content": results})
'''

GIT = "git -c user.name=a -c user.email=a@b"


def turns(count: int) -> list[str]:
    """The commands of a session: edits, a test, commits, a rename, a deletion, in turn."""
    made = []
    for number in range(count):
        made.append(
            [
                f"printf 'def f():\\n    return {number}\\n' > mod.py",
                f"mkdir -p deep/{number} && echo {number} > deep/{number}/note.txt && chmod 600 deep/{number}/note.txt",
                "grep -c return mod.py; test -f missing",
                f"{GIT} init -q . 2>/dev/null; {GIT} add -A . && {GIT} commit -qm 'turn {number}' && echo committed",
                f"mv readme.txt readme-{number}.txt && echo more >> readme-{number}.txt && cp readme-{number}.txt readme.txt",
                f"rm -rf deep/{number - 4} data.bin; head -c 3000 /dev/zero > zeros.bin",
            ][number % 6]
        )
    return made


class ScriptedModel:
    """Answers each request by the next command, told by the number of messages."""

    def __init__(self, commands):
        self.commands, self.asked = commands, 0
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                outer.asked += 1
                asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
                turn = len(asked["messages"]) // 2
                content = [{"type": "text", "text": "done"}]
                if turn < len(outer.commands):
                    use = {"command": outer.commands[turn]}
                    content = [{"type": "tool_use", "id": f"call_{turn}", "name": "bash", "input": use}]
                body = {
                    "id": "m",
                    "type": "message",
                    "role": "assistant",
                    "model": "claude-test",
                    "content": content,
                }
                body |= {"stop_reason": "end_turn", "usage": {"input_tokens": 1, "output_tokens": 1}}
                data = json.dumps(body).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args): ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


def tree(folder: Path, *, git: bool = True) -> dict[str, tuple[str, int]]:
    """Each file with the digest of its bytes and its mode."""
    return {
        str(path.relative_to(folder)): (hashlib.sha256(path.read_bytes()).hexdigest(), path.stat().st_mode)
        for path in folder.rglob("*")
        if path.is_file() and not {"home", "kept"} & set(path.relative_to(folder).parts)
        if git or ".git" not in path.relative_to(folder).parts
    }


@pytest.fixture
def session(shell, request):
    commands = turns(getattr(request, "param", 8))
    model = ScriptedModel(commands)
    shell.write("agent.py", AGENT)
    shell.write("readme.txt", "read me\n")
    (shell.folder / "data.bin").write_bytes(bytes(range(256)) * 20)
    shell.write(".gitignore", "home\n")
    shell.environ |= {"ANTHROPIC_BASE_URL": model.url, "ANTHROPIC_API_KEY": "key"}
    before = tree(shell.folder)
    done = shell.run("record", "--proxy", "--", sys.executable, "agent.py")
    assert done.status == 0, done.err
    yield shell, model, before, done
    model.close()


LONG = pytest.param(50, marks=pytest.mark.slow)


@OVERLAYS
@pytest.mark.parametrize("session", [8, LONG], indirect=True)
def test_a_session_of_a_coding_agent_replays_on_the_recorded_files(session):
    shell, model, before, _ = session
    recording, asked = shell.last(), model.asked
    assert len(recording.steps) == len(model.commands) + 1
    left = tree(shell.folder)
    # The user goes on: a file is changed, another one is gone.
    (shell.folder / "mod.py").write_text("by hand\n")
    (shell.folder / "zeros.bin").unlink(missing_ok=True)
    mine = tree(shell.folder)
    again = shell.replay("--json")
    assert (again.status, model.asked) == (0, asked), again.err
    assert "files" in again.json["verdict"]["compared"]
    assert tree(shell.folder) == mine
    assert left != before


@pytest.mark.parametrize("session", [8, LONG], indirect=True)
def test_each_turn_has_its_files(session, tmp_path_factory):
    shell, model, _, _ = session
    for step in (1, 2, 5, 8):
        made = tmp_path_factory.mktemp("trees") / "again"
        made.mkdir()
        (made / "readme.txt").write_text("read me\n")
        (made / "data.bin").write_bytes(bytes(range(256)) * 20)
        model_turns = model.commands[:step]
        for command in model_turns:
            shell_run(command, made)
        out = tmp_path_factory.mktemp("out") / "files"
        assert shell.run("files", "last", step, "--out", out).status == 0
        found, wanted = tree(out, git=False), tree(made, git=False)
        changed = {name for name in found if name in wanted}
        assert {name: found[name] for name in changed} == {name: wanted[name] for name in changed}
        # What the run had not touched by then and later is not in the recording.
        assert wanted.keys() - found.keys() <= {"data.bin", "readme.txt", ".gitignore"}
        assert found.keys() <= wanted.keys() | {"agent.py", ".gitignore"}


def shell_run(command, folder):
    import subprocess

    subprocess.run(["sh", "-c", command], cwd=folder, capture_output=True, check=False)


@pytest.mark.thorough
@pytest.mark.parametrize("session", [8, pytest.param(50, marks=pytest.mark.slow)], indirect=True)
def test_a_fork_at_a_turn_goes_on_with_that_turns_files_and_leaves_the_users(session):
    shell, model, _, _ = session
    at = 5 if len(model.commands) < 20 else 20
    asked = model.asked
    (shell.folder / "mod.py").write_text("by hand\n")
    mine = tree(shell.folder)
    model.commands[at - 1 :] = ["echo forked > forked.txt; cat mod.py"]
    # The new folder lies within the one that it is a copy of.
    done = shell.run("fork", "last", "--at", at, "--keep-files", "kept")
    assert done.status == 0, done.err
    assert model.asked == asked + 2
    assert tree(shell.folder) == mine
    kept = shell.folder / "kept"
    assert (kept / "forked.txt").read_text() == "forked\n"
    last = max(number for number in range(at - 1) if number % 6 == 0)
    assert (kept / "mod.py").read_text() == f"def f():\n    return {last}\n"
    child = shell.last()
    assert "return" in str(child.steps[-1].call.called["args"])


@OVERLAYS
def test_a_replay_whose_command_leaves_another_file_is_a_departure(session):
    shell, _, _, _ = session
    program = shell.folder / "agent.py"
    program.write_text(program.read_text() + "\nopen('more.txt', 'w').write('x')\n")
    again = shell.replay()
    assert again.status == 1
    assert "main/file:" in again.err
    assert "more.txt" in again.err
    assert not (shell.folder / "more.txt").exists()


def test_the_commands_of_each_turn_are_shown_with_their_exit_codes(session):
    shell, model, _, _ = session
    shown = shell.run("show", "last").out
    assert f"ran        {model.commands[0]}".splitlines()[0] in shown
    assert f"ran        {model.commands[2]} · exit 1\n" in shown
    steps = [shell.run("show", "last", number, "--json").json for number in (1, 4)]
    assert "commands" not in steps[0]
    assert steps[1]["commands"] == [{"command": model.commands[2], "exit": 1}]


@pytest.mark.thorough
def test_without_files_nothing_of_the_workspace_is_kept(session):
    shell, _, _, _ = session
    done = shell.run("record", "--proxy", "--files", "off", "--", sys.executable, "agent.py")
    assert done.status == 0, done.err
    assert not any(log.files for log in shell.last().logs)
