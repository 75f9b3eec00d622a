"""Sessions of coding agents are imported with the files of each turn: from the log, and from Git's commits."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reenact.analysis.interchange.importers.repository import Repository
from reenact.analysis.views.file_tree import blobs_of, files_view
from reenact.core.files.trees import has_files, states_at
from reenact.errors import UsageError
from tests.analysis.interchange.importers.sessions import ClaudeLog, GitFolder, codex_log

CANARY = "CANARY-not-to-be-stored"


def files(recording, step):
    """Return the texts of the files after a step; None for one without kept bytes."""
    blob = blobs_of(recording)
    return {
        str(path): state.content(blob).decode() if state.blob else state.target or None
        for path, state in states_at(recording, step).items()
        if state.kind in ("file", "link")
    }


@pytest.fixture
def joined(bring, tmp_path):
    """Import a log with the repository in a folder; return the recording, and its files by step."""

    def joined(log, folder):
        path = log.write(tmp_path / "s.jsonl") if isinstance(log, ClaudeLog) else log
        _, (recording,) = bring(path, joins=lambda _: Repository(folder))
        top = f"{Repository(folder).top}/"
        return recording, lambda step: {k.removeprefix(top): v for k, v in files(recording, step).items()}

    return joined


def test_each_turn_shows_the_files_of_its_commit_and_the_edits_since(joined, tmp_path):
    repository = GitFolder(tmp_path / "w")
    repository.commit(-50, **{"old.py": "1\n", "lib__a.py": "a\n"})
    top = str(repository.path)
    log = ClaudeLog(top)
    log.edit(f"{top}/old.py", "1\n", "1", "2")  # steps 1 and 2
    log.bash("git commit -am two")  # steps 3 and 4, from second 4 to 5
    log.create(f"{top}/new.py", "n\n")  # steps 5 and 6
    log.bash("make")  # steps 7 and 8, to second 9
    log.bash("git commit -am three")  # steps 9 and 10, from second 10 to 11
    repository.commit(4, **{"old.py": "2\n"})
    repository.commit(10, **{"new.py": "n\n", "built.txt": "b\n", "lib__a.py": None})
    recording, after = joined(log, repository.path)
    assert after(1) == {"old.py": "1\n", "lib/a.py": "a\n"}
    assert after(2) == after(4) == {"old.py": "2\n", "lib/a.py": "a\n"}
    assert after(6) == after(9) == {"old.py": "2\n", "lib/a.py": "a\n", "new.py": "n\n"}
    assert after(10) == {"old.py": "2\n", "new.py": "n\n", "built.txt": "b\n"}
    assert any("the next commit" in note for note in recording.notes)
    assert {file.path.removeprefix(f"{top}/"): file.change for file in files_view(recording, 10).files} == {
        "old.py": "changed", "new.py": "added", "built.txt": "added", "lib/a.py": "removed",
    }  # fmt: skip


@pytest.mark.thorough
def test_what_was_checked_out_counts_and_not_the_branch_alone(joined, tmp_path):
    repository = GitFolder(tmp_path / "w")
    first = repository.commit(-50, a="1")
    repository.commit(-40, a="2")
    log = (
        ClaudeLog(str(repository.path))
        .bash("git checkout first")
        .bash("ls")
        .bash("git checkout main")
        .bash("ls")
    )
    repository.git("checkout", first, second=2)
    repository.git("checkout", "main", second=6)
    _, after = joined(log, repository.path)
    assert [after(step)["a"] for step in (1, 2, 4, 6, 8)] == ["2", "1", "1", "2", "2"]


def test_a_clone_has_no_memory_of_what_was_checked_out_and_its_branch_counts(joined, tmp_path):
    repository = GitFolder(tmp_path / "w")
    repository.commit(-50, a="1")
    repository.git("checkout", "-b", "work")
    repository.commit(2, a="2")
    repository.git("checkout", "main")
    repository.git("clone", "-b", "main", str(repository.path), str(tmp_path / "clone"), second=5000)
    clone = tmp_path / "clone"
    log = ClaudeLog("/elsewhere/w", branch="work").bash("git commit").bash("ls")
    _, after = joined(log, clone)
    assert [after(step) for step in (1, 4)] == [{"a": "1"}, {"a": "1"}]
    GitFolder(clone).git("branch", "work", "origin/work")
    _, after = joined(log, clone)
    assert [after(step) for step in (1, 2, 4)] == [{"a": "1"}, {"a": "2"}, {"a": "2"}]


def test_the_session_s_folder_may_have_another_path_here(joined, tmp_path):
    repository = GitFolder(tmp_path / "w")
    repository.commit(-50, **{"inner__a.txt": "1\n"})
    log = ClaudeLog("/elsewhere/w/inner")
    log.edit("/elsewhere/w/inner/a.txt", "1\n", "1", "2")
    _, after = joined(log, repository.path / "inner")
    assert after(2) == {"inner/a.txt": "2\n"}


def test_without_a_repository_the_log_alone_tells_files(bring, tmp_path):
    log = ClaudeLog("/w")
    log.read("/w/a.txt", "one\ntwo")
    log.edit("/w/a.txt", "one\ntwo\n", "two", "three")
    log.create("/w/b.txt", "b")
    log.tool("Edit", {}, {"filePath": "/w/b.txt", "oldString": "b", "newString": "c", "originalFile": "b",
                          "userModified": True, "structuredPatch": [{"oldStart": 1, "oldLines": 1, "newStart": 1,
                          "newLines": 1, "lines": ["-b", "\\ No newline at end of file", "+by hand"]}]})  # fmt: skip
    _, (recording,) = bring(log.write(tmp_path / "s.jsonl"))
    assert files(recording, 1) == {"/w/a.txt": "one\ntwo\n"}
    assert files(recording, 4) == {"/w/a.txt": "one\nthree\n"}
    assert files(recording, 6) == {"/w/a.txt": "one\nthree\n", "/w/b.txt": "b"}
    assert files(recording, 8) == {"/w/a.txt": "one\nthree\n", "/w/b.txt": "by hand\n"}


def test_what_changed_between_two_tellings_is_there_when_it_is_told(bring, tmp_path):
    log = ClaudeLog("/w")
    log.create("/w/a", "1\n").bash("sed -i s/1/5/ a").edit("/w/a", "5\n", "5", "6")
    _, (recording,) = bring(log.write(tmp_path / "s.jsonl"))
    assert [files(recording, step)["/w/a"] for step in (2, 4, 5, 6)] == ["1\n", "1\n", "5\n", "6\n"]


def test_a_failed_edit_changes_nothing(bring, tmp_path):
    log = ClaudeLog("/w").create("/w/a", "1\n")
    log.tool("Edit", {"file_path": "/w/a"}, "Error: not read yet", "not read yet", failed=True)
    _, (recording,) = bring(log.write(tmp_path / "s.jsonl"))
    assert files(recording, 4) == {"/w/a": "1\n"}


def test_a_log_of_talk_has_no_files(bring, tmp_path):
    _, (recording,) = bring(ClaudeLog("/w").bash("ls").write(tmp_path / "s.jsonl"))
    assert not has_files(recording)


def test_files_with_ends_of_lines_of_windows_keep_them(joined, tmp_path):
    repository = GitFolder(tmp_path / "w")
    repository.git("config", "core.autocrlf", "false")
    repository.commit(-50, **{"a.txt": b"one\r\ntwo\r\n"})
    path = f"{repository.path}/a.txt"
    _, after = joined(ClaudeLog(str(repository.path)).edit(path, "one\ntwo\n", "two", "2"), repository.path)
    assert (after(1), after(2)) == ({"a.txt": "one\r\ntwo\r\n"}, {"a.txt": "one\r\n2\r\n"})


PATCH = """*** Begin Patch
*** Update File: a.py
@@ def two():
-    return 1
+    return 2
*** Add File: made/b.py
+b
+c
*** Delete File: old.py
*** Update File: moved.py
*** Move to: new.py
 m
+n
*** End Patch"""


def codex_patch(patch, output="Success. Updated the following files:\nM a.py\n", name="apply_patch"):
    call = {"type": "custom_tool_call", "call_id": "c1", "name": name, "input": patch}
    back = {"type": "custom_tool_call_output", "call_id": "c1", "output": output}
    return [("response_item", call), ("response_item", back)]


@pytest.fixture
def patchable(tmp_path):
    repository = GitFolder(tmp_path / "w")
    start = {
        "a.py": "def one():\n    return 1\n\ndef two():\n    return 1\n",
        "old.py": "o",
        "moved.py": "m\n",
    }
    repository.commit(-50, **start)
    return repository


def test_codex_s_patches_are_applied(joined, tmp_path, patchable):
    log = codex_log(tmp_path / "c.jsonl", str(patchable.path), codex_patch(PATCH), branch="main")
    _, after = joined(log, patchable.path)
    assert set(after(1)) == {"a.py", "old.py", "moved.py"}
    assert after(2) == {
        "a.py": "def one():\n    return 1\n\ndef two():\n    return 2\n", "made/b.py": "b\nc\n", "new.py": "m\nn\n",
    }  # fmt: skip


def test_a_patch_that_failed_or_does_not_fit_gives_no_wrong_content(joined, tmp_path, patchable):
    failed = codex_patch(PATCH, "apply_patch verification failed")
    _, after = joined(codex_log(tmp_path / "c.jsonl", str(patchable.path), failed), patchable.path)
    assert after(2) == after(1)
    other = codex_patch(PATCH.replace("return 1", "return 7"))
    _, after = joined(codex_log(tmp_path / "c.jsonl", str(patchable.path), other), patchable.path)
    assert after(2)["a.py"] is None


def test_codex_s_own_events_are_believed_before_its_patches(joined, tmp_path, patchable):
    diff = "@@ -1,2 +1,2 @@\n-def one():\n+def uno():\n     return 1\n"
    changes = {
        str(patchable.path / "a.py"): {"update": {"unified_diff": diff, "move_path": None}},
        str(patchable.path / "c.py"): {"add": {"content": "c\n"}},
        str(patchable.path / "old.py"): {"delete": {"content": "o"}},
    }
    call, back = codex_patch(PATCH)
    event = ("event_msg", {"type": "patch_apply_end", "call_id": "c1", "success": True, "changes": changes})
    log = codex_log(tmp_path / "c.jsonl", str(patchable.path), [call, event, back])
    _, after = joined(log, patchable.path)
    assert after(2) == {
        "a.py": "def uno():\n    return 1\n\ndef two():\n    return 1\n", "c.py": "c\n", "moved.py": "m\n",
    }  # fmt: skip


def test_codex_names_the_commit_that_it_began_with(joined, tmp_path):
    repository = GitFolder(tmp_path / "w")
    first = repository.commit(-50, a="1")
    repository.commit(-40, a="2")
    items = codex_patch("*** Begin Patch\n*** Add File: b\n+b\n*** End Patch")
    _, after = joined(
        codex_log(tmp_path / "c.jsonl", str(repository.path), items, commit_hash=first), repository.path
    )
    assert after(1) == {"a": "1"}


def test_secrets_of_commits_and_logs_are_not_stored(joined, tmp_path, store):
    repository = GitFolder(tmp_path / "w")
    key = "sk-ant-api03-" + "Ab3dEf6hIj" * 8
    repository.commit(
        -50, _dot_env=f"K={CANARY}", plain="p", **{"key.pem": CANARY, "settings.py": f'K = "{key}"\n'}
    )
    repository.commit(3, _dot_env=f"K={CANARY}2")
    (repository.path / ".gitignore").write_text("ignored.txt\n")
    log = ClaudeLog(str(repository.path)).bash("git commit").bash("ls")
    recording, after = joined(log, repository.path)
    assert after(4) == {".env": None, "key.pem": None, "settings.py": None, "plain": "p"}
    stored = b"".join(path.read_bytes() for path in store.root.rglob("*") if path.is_file())
    assert CANARY.encode() not in stored
    assert key.encode() not in stored
    assert {state.why for state in states_at(recording, 4).values()} == {"ignored", "secret", ""}


def test_links_modes_and_odd_names_are_those_of_the_commit(joined, tmp_path):
    repository = GitFolder(tmp_path / "w")
    (repository.path / "run.sh").write_text("#!/bin/sh\n")
    (repository.path / "run.sh").chmod(0o755)
    (repository.path / "link").symlink_to("run.sh")
    (repository.path / "two\nlines\tand ü").write_text("x")
    repository.commit(-50)
    recording, after = joined(ClaudeLog(str(repository.path)).bash("ls"), repository.path)
    assert after(1) == {"run.sh": "#!/bin/sh\n", "link": "run.sh", "two\nlines\tand ü": "x"}
    modes = {path.name: state.mode for path, state in states_at(recording, 1).items()}
    assert modes["run.sh"] == 0o755


@pytest.mark.parametrize(
    "path",
    ["../out", "/etc/passwd", "a/../../out", "/w/../etc", "", "/w", "/w/.git/config", "nul\0", "x" * 5000],
)
def test_paths_of_a_log_that_lead_elsewhere_are_left_out(bring, tmp_path, path):
    log = ClaudeLog("/w").create(path, "x").create("/w/good", "g")
    _, (recording,) = bring(log.write(tmp_path / "s.jsonl"))
    assert files(recording, 4) == {"/w/good": "g"}


@pytest.mark.parametrize(
    "result",
    [
        7, [], {"filePath": 7}, {"filePath": "a", "content": 7}, {"filePath": "a", "structuredPatch": [7, {"lines": 7}]},
        {"filePath": "a", "structuredPatch": [{"oldStart": -5, "lines": ["-a"]}]}, {"file": {"filePath": 7}},
        {"file": {"filePath": "a", "content": 7, "startLine": 1, "numLines": 1, "totalLines": 1}},
        {"filePath": "a", "originalFile": "", "oldString": "", "newString": "x"}, {"filePath": "a\ud800", "content": "x"},
    ],
)  # fmt: skip
@pytest.mark.parametrize("folder", ["/w", "", "relative", "C:\\work", "/w/../x", "/\0"])
def test_hostile_results_and_folders_harm_nothing(bring, tmp_path, result, folder):
    log = ClaudeLog(folder).tool("Edit", {}, result).bash("ls")
    _, (recording,) = bring(log.write(tmp_path / "s.jsonl"))
    assert len(list(recording)) == 4
    files_view(recording, 4)


def test_a_branch_is_no_option_of_git(joined, tmp_path):
    repository = GitFolder(tmp_path / "w")
    repository.git("commit", "--allow-empty", "-m", "x", second=9000)
    made = tmp_path / "made"
    joined(ClaudeLog(str(repository.path), branch=f"--output={made}").bash("ls"), repository.path)
    joined(ClaudeLog(str(repository.path), branch="x\0y").bash("ls"), repository.path)
    assert not made.exists()


@pytest.mark.thorough
def test_nothing_that_a_repository_names_is_run(joined, tmp_path):
    repository = GitFolder(tmp_path / "w")
    head = repository.commit(-50, _dot_gitattributes="* filter=bad diff=bad\n", **{"a.txt": "1\n"})
    repository.commit(3, **{"a.txt": "2\n"})
    made = tmp_path / "made"
    touch = f"touch {made}; cat"
    script = tmp_path / "run.sh"
    script.write_text(f"#!/bin/sh\ntouch {made}\n")
    script.chmod(0o755)
    for name, value in {
        "core.fsmonitor": touch, "core.sshCommand": touch, "core.pager": touch, "core.editor": touch,
        "core.hooksPath": str(tmp_path), "filter.bad.clean": touch, "filter.bad.smudge": touch,
        "filter.bad.process": str(script), "filter.bad.required": "true", "diff.bad.textconv": touch,
        "diff.bad.command": touch, "diff.external": touch, "log.showSignature": "true", "gpg.program": str(script),
        "remote.origin.url": "ssh://a/b", "remote.origin.promisor": "true", "remote.origin.uploadpack": touch,
        "extensions.partialClone": "origin", "protocol.allow": "always", "protocol.ext.allow": "always",
        "pager.rev-list": touch, "alias.rev-list": f"!{touch}", "credential.helper": f"!{touch}",
    }.items():  # fmt: skip
        repository.git("config", name, value)
    for hook in ("post-checkout", "post-index-change", "reference-transaction", "pre-auto-gc"):
        for folder in (tmp_path, repository.path / ".git" / "hooks"):
            (folder / hook).write_text(script.read_text())
            (folder / hook).chmod(0o755)
    gone = repository.git("rev-parse", f"{head}:a.txt").strip()
    (repository.path / ".git" / "objects" / gone[:2] / gone[2:]).unlink()
    made.unlink(missing_ok=True)
    state = {path: path.stat().st_mtime_ns for path in repository.path.rglob("*")}
    log = ClaudeLog(str(repository.path)).bash("git commit").bash("ls")
    _, after = joined(log, repository.path)
    assert after(1)["a.txt"] is None
    assert after(4)["a.txt"] == "2\n"
    assert not made.exists()
    assert {path: path.stat().st_mtime_ns for path in repository.path.rglob("*")} == state


def test_a_folder_without_a_repository_is_refused(tmp_path):
    with pytest.raises(UsageError, match="lies in no Git repository"):
        Repository(tmp_path)
    with pytest.raises(UsageError, match="lies in no Git repository"):
        Repository(tmp_path / "nothing")


# -- the command ---------------------------------------------------------------------------------------------


@pytest.fixture
def session(shell):
    """A repository, and a log of a session in it that lies elsewhere."""
    repository = GitFolder(shell.folder / "w")
    repository.commit(-50, **{"a.txt": "1\n", "sub__b.txt": "b\n"})
    log = ClaudeLog(str(repository.path)).edit(f"{repository.path}/a.txt", "1\n", "1", "2").bash("ls")
    log.write(shell.folder / "s.jsonl")
    return repository


@pytest.mark.thorough
def test_the_repository_that_you_are_in_is_joined_and_its_files_restored(shell, session):
    done = shell.run("import", shell.folder / "s.jsonl", cwd=session.path / "sub")
    assert done.status == 0, done.err
    assert shell.run("files", "last", "1", "--out", shell.folder / "one").status == 0
    assert shell.run("files", "last", "--at", "2", "--out", shell.folder / "two").status == 0
    texts = [(shell.folder / name / "a.txt").read_text() for name in ("one", "two")]
    assert texts == ["1\n", "2\n"]
    assert (shell.folder / "two" / "sub" / "b.txt").read_text() == "b\n"


@pytest.mark.thorough
@pytest.mark.parametrize("words", [(), ("--repository", "off")])
def test_a_repository_that_only_the_log_names_is_not_read(shell, session, words):
    folder = shell.folder if not words else session.path
    assert shell.run("import", shell.folder / "s.jsonl", *words, cwd=folder).status == 0
    assert {Path(file["path"]).name for file in shell.run("files", "last", "--json").json["files"]} == {
        "a.txt"
    }


def test_another_repository_that_you_are_in_is_not_joined(shell, session):
    other = GitFolder(shell.folder / "other")
    other.commit(-50, **{"other.txt": "o"})
    assert shell.run("import", shell.folder / "s.jsonl", cwd=other.path).status == 0
    assert {Path(file["path"]).name for file in shell.run("files", "last", "--json").json["files"]} == {
        "a.txt"
    }


def test_a_named_repository_is_joined_and_one_that_is_none_refused(shell, session):
    os.rename(session.path, shell.folder / "moved")
    done = shell.run("import", shell.folder / "s.jsonl", "--repository", "moved")
    assert done.status == 0, done.err
    names = {Path(file["path"]).name for file in shell.run("files", "last", "--json").json["files"]}
    assert names == {"a.txt", "b.txt"}
    refused = shell.run("import", shell.folder / "s.jsonl", "--repository", shell.folder)
    assert refused.status == 2
    assert "lies in no Git repository" in refused.err


@pytest.mark.thorough
def test_commands_are_shown_with_their_exit_codes_as_the_log_tells_them(shell):
    log = ClaudeLog("/w").bash("pytest -q", "1 failed", code=1).bash("ls", "a")
    log.write(shell.folder / "s.jsonl")
    call = {
        "type": "function_call",
        "call_id": "c",
        "name": "shell",
        "arguments": '{"command": ["bash", "-lc", "make"]}',
    }
    back = {
        "type": "function_call_output",
        "call_id": "c",
        "output": '{"output": "x", "metadata": {"exit_code": 0}}',
    }
    codex_log(shell.folder / "c.jsonl", "/w", [("response_item", call), ("response_item", back)])
    assert shell.run("import", shell.folder / "s.jsonl").status == 0
    shown = shell.run("show", "last").out
    assert shown.count("ran        pytest -q · exit 1\n") == 1
    assert shown.count("ran        ls\n") == 1
    assert shell.run("import", shell.folder / "c.jsonl").status == 0
    assert shell.run("show", "last").out.count("ran        make · exit 0\n") == 1
