"""The GitHub action, on a local stand-in of GitHub's API, with real recordings in a real Git repository."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import subprocess
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "action" / "report.py"
AGENT = """
    import reenact

    @reenact.tool
    def status(order):
        return "the order has been shipped to the customer"

    print(status("ORD-1"))
"""


class GitHub:
    """The comments of one pull request, by GitHub's REST API.

    Attributes:
        comments: The comments.
        asked: Each request's method and path.
        refuses: Requests that write get this status.
    """

    def __init__(self):
        github = self
        self.comments, self.asked, self.refuses = [], [], 0

        class Handler(BaseHTTPRequestHandler):
            def answer(self, status, tree):
                data = json.dumps(tree).encode()
                self.send_response(status)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def reply(self):
                github.asked.append((self.command, self.path))
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                if self.headers["Authorization"] != "Bearer token-of-the-run":
                    return self.answer(401, {"message": "Bad credentials"})
                if self.command != "GET" and github.refuses:
                    return self.answer(github.refuses, {"message": "Resource not accessible by integration"})
                if found := re.fullmatch(
                    r"/repos/ann/shop/issues/7/comments\?per_page=(\d+)&page=(\d+)", self.path
                ):
                    size, page = int(found[1]), int(found[2])
                    return self.answer(200, github.comments[size * (page - 1) : size * page])
                if (self.command, self.path) == ("POST", "/repos/ann/shop/issues/7/comments"):
                    github.add(json.loads(body)["body"], "Bot")
                    return self.answer(201, github.comments[-1])
                if found := re.fullmatch(r"/repos/ann/shop/issues/comments/(\d+)", self.path):
                    one = next(each for each in github.comments if each["id"] == int(found[1]))
                    one["body"] = json.loads(body)["body"]
                    return self.answer(200, one)
                return self.answer(404, {"message": "Not Found"})

            def do_GET(self):
                self.reply()

            def do_POST(self):
                self.reply()

            def do_PATCH(self):
                self.reply()

            def log_message(self, *_): ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_port}"

    def add(self, body, kind="User"):
        self.comments.append({"id": 100 + len(self.comments), "body": body, "user": {"type": kind}})

    def stop(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def github():
    github = GitHub()
    yield github
    github.stop()


@pytest.fixture
def pull(shell, github):
    """A repository with one recording on its main branch; `pull()` runs the action as a pull request does."""

    def git(*words):
        done = subprocess.run(
            ["git", "-c", "user.name=ann", "-c", "user.email=ann@example.com", *words],
            cwd=shell.folder, capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    def record(name):
        assert shell.run("record", "--name", name, "--", sys.executable, "agent.py").status == 0
        (shell.folder / "recordings").mkdir(exist_ok=True)
        assert shell.run("export", "last", "-o", f"recordings/{name}.reenact").status == 0

    shell.write("agent.py", AGENT)
    record("old")
    git("init", "-q")
    git("add", "agent.py", "recordings")
    git("commit", "-qm", "one")
    base = git("rev-parse", "HEAD")
    event = shell.folder / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7, "base": {"sha": base}}}))

    def pull(**inputs):
        environ = {
            **shell.environ,
            "GITHUB_API_URL": github.url, "GITHUB_REPOSITORY": "ann/shop", "GITHUB_EVENT_PATH": str(event),
            "GITHUB_SERVER_URL": "https://github.com", "GITHUB_RUN_ID": "42",
            "GITHUB_STEP_SUMMARY": str(shell.folder / "summary.md"), "GITHUB_OUTPUT": str(shell.folder / "output"),
            "TOKEN": "token-of-the-run", "PROVE": "false", **inputs,
        }  # fmt: skip
        done = subprocess.run(
            [sys.executable, str(SCRIPT)], cwd=shell.folder, env=environ, capture_output=True, text=True, check=False, timeout=300,
        )  # fmt: skip
        assert "token-of-the-run" not in done.stdout + done.stderr
        return done

    pull.git, pull.record, pull.folder = git, record, shell.folder
    return pull


def test_recordings_that_run_as_recorded_are_counted(pull, github):
    done = pull()
    assert done.returncode == 0, done.stderr
    assert "1 of 1 run as recorded." in github.comments[0]["body"]
    assert ET.parse(pull.folder / "reenact-report" / "junit.xml").getroot().get("tests") == "1"
    assert (pull.folder / "summary.md").read_text() == (
        pull.folder / "reenact-report" / "comment.md"
    ).read_text()
    assert (pull.folder / "output").read_text().splitlines()[0] == "status=0"


@pytest.mark.thorough
def test_a_difference_is_commented_word_by_word_with_a_page(pull, github):
    agent = pull.folder / "agent.py"
    agent.write_text(agent.read_text().replace("shipped", "delivered"))
    done = pull()
    assert done.returncode == 1
    body = github.comments[0]["body"]
    assert "the order has been [-shipped-]{+delivered+} to the customer" in body
    assert "recordings/old.reenact: diverged at step 1" in body
    assert "https://github.com/ann/shop/actions/runs/42#artifacts" in body
    page = (pull.folder / "reenact-report" / "recordings-old.reenact.html").read_text(encoding="utf-8")
    assert "has been shipped" in page
    assert "status=1" in (pull.folder / "output").read_text()


def test_a_file_that_the_replay_read_as_recorded_is_named_if_the_pull_request_changes_it(pull, github):
    pull.folder.joinpath("prompt.txt").write_text("Be polite.")
    agent = pull.folder / "agent.py"
    agent.write_text(agent.read_text() + "\nopen('prompt.txt').read()\n")
    pull.record("prompted")
    pull.git("add", ".")
    pull.git("commit", "-qm", "two")
    base = pull.git("rev-parse", "HEAD")
    pull.folder.joinpath("prompt.txt").write_text("Be short.")
    pull.git("commit", "-qam", "three")
    pull.folder.joinpath("event.json").write_text(
        json.dumps({"pull_request": {"number": 7, "base": {"sha": base}}})
    )
    done = pull(RECORDINGS="recordings/prompted.reenact")
    sentence = "prompted.reenact was replayed with its recorded prompt.txt, which this pull request changes"
    assert f"::warning::recordings/{sentence}" in done.stdout
    assert sentence in github.comments[0]["body"]


@pytest.mark.thorough
def test_a_second_run_replaces_its_own_comment_and_no_other(pull, github):
    for _ in range(101):
        github.add("hello")
    github.add("<!-- reenact: recordings -->\nnot of the action")
    pull()
    pull()
    assert [each["user"]["type"] for each in github.comments[101:]] == ["User", "Bot"]
    assert github.comments[101]["body"].endswith("not of the action")
    assert ("PATCH", f"/repos/ann/shop/issues/comments/{github.comments[102]['id']}") in github.asked


@pytest.mark.thorough
def test_a_new_recording_is_proved_and_an_old_one_is_not(pull, github):
    pull.record("new")
    pull.git("add", "recordings")
    pull.git("commit", "-qm", "two")
    done = pull(PROVE="true")
    assert done.returncode == 0, done.stdout
    body = github.comments[0]["body"]
    assert "2 of 2 run as recorded." in body
    assert re.search(r"New: `recordings/new\.reenact`: `proved 5 times", body)
    assert "New: `recordings/old" not in body


@pytest.mark.thorough
def test_without_a_right_to_comment_the_summary_has_the_report(pull, github):
    github.refuses = 403
    done = pull()
    assert done.returncode == 0
    assert (
        "::warning::the comment was not written: POST /repos/ann/shop/issues/7/comments: 403" in done.stdout
    )
    assert "1 of 1 run as recorded." in (pull.folder / "summary.md").read_text()


@pytest.mark.thorough
def test_without_a_pull_request_nothing_is_sent(pull, github):
    assert pull(GITHUB_EVENT_PATH=os.devnull).returncode == 0
    assert github.asked == []


@pytest.mark.thorough
def test_a_foreign_recording_is_refused_unless_it_is_allowed(pull, tmp_path):
    elsewhere = {
        "REENACT_HOME": str(tmp_path / "other"),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "COMMENT": "false",
    }
    done = pull(**elsewhere)
    assert done.returncode == 2
    assert "0 of 1 run as recorded." in done.stdout
    assert "refused" in done.stdout
    assert pull(RUN_FOREIGN="true", **elsewhere).returncode == 0


def test_a_folder_without_recordings_is_named(pull):
    done = pull(RECORDINGS="nothing", COMMENT="false")
    assert done.returncode == 2
    assert "no recordings (.reenact) in nothing" in done.stdout


# -- hostile texts -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def script():
    found = importlib.util.spec_from_file_location("report", SCRIPT)
    module = importlib.util.module_from_spec(found)
    sys.modules["report"] = module
    found.loader.exec_module(module)
    return module


HOSTILE = (
    "</details> ```\n````\n@ann [x](http://e.example) ![i](http://e.example/i.png) <img src=x> `` ` \x1b[31m"
)


def test_recorded_texts_cannot_leave_their_blocks(script):
    report = script.Report(problems=[HOSTILE], proofs=[(HOSTILE, {"result": HOSTILE})])
    mismatch = {"path": HOSTILE, "recorded": HOSTILE, "actual": {"text": HOSTILE}}
    divergence = {"kind": "CHANGED", "address": HOSTILE, "detail": HOSTILE, "mismatches": [mismatch]}
    outcome = {"status": "diverged", "step": 1, "detail": "", "verdict": {"divergences": [divergence]}}
    report.outcomes = [(HOSTILE, outcome)]
    text = script.written(report)
    assert "\x1b" not in text
    fence = re.search(r"^(`{5,})text$", text, re.MULTILINE)[1]
    outside = re.sub(rf"(?ms)^{fence}text$.*?^{fence}$", "", text)
    outside = re.sub(r"(?s)(?<!`)(`+)(?!`).*?(?<!`)\1(?!`)", "", outside)
    for sign in ("@ann", "](http", "<img"):
        assert sign not in outside


def test_a_long_report_is_cut_and_says_so(script):
    outcome = {"status": "broken", "step": None, "detail": "x" * 9_000, "verdict": None}
    text = script.written(script.Report(outcomes=[(f"{number}.reenact", outcome) for number in range(50)]))
    assert len(text) < 65_536
    assert "more are in the artifact" in text


def test_long_values_are_compared_in_a_short_time(script):
    old, new = "a b " * 100_000, "b a " * 100_000
    assert len(script.words(old, new)) < 100_000


def test_a_difference_at_the_end_of_a_long_text_is_shown(script):
    rules = "Answer in a short way.\n" * 900
    assert "never [-promise-]{+offer+} it" in script.words(
        f"{rules}never promise it", f"{rules}never offer it"
    )
    assert "{+!+}" in script.words("x" * 90_000, "x" * 90_000 + "!")


def test_every_input_of_the_action_reaches_the_script_and_is_documented():
    text = (ROOT / "action.yml").read_text(encoding="utf-8")
    inputs = re.findall(r"^  ([\w-]+): \{ description: .*default: ", text, re.MULTILINE)
    page = (ROOT / "docs" / "ci.md").read_text(encoding="utf-8")
    source = SCRIPT.read_text(encoding="utf-8")
    assert len(inputs) == 8
    assert [name for name in inputs if f"| `{name}` |" not in page] == []
    assert [
        name for name in inputs if f"inputs.{name} }}" not in text.replace("inputs.install != ''", "")
    ] == []
    for name in inputs:
        if name != "install":
            assert f'"{name.replace("-", "_").upper()}"' in source
    # In the text of a command an input could be a command.
    assert not re.search(r"run: .*\$\{\{", text)
