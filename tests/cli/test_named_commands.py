"""The commands that texts name, each followed from the place and for the kind of reference that was typed."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import zipfile

import pytest

from reenact.analysis.interchange.importers import ImportedRun, keep
from reenact.analysis.views import file_tree
from reenact.core.store.local import LocalStore
from tests.analysis.conftest import does, says
from tests.hints import followed

PYTHON = sys.executable
RUN = ImportedRun("support", [does("fetch_page", {"n": 1}, "a long text " * 200), says("done")])
AGENT = """
    import os, sys, reenact

    @reenact.tool(writes=False)
    def look(order):
        return f"order {order}"

    print(look(7))
    if os.path.exists("stop"):
        os.kill(os.getpid(), 9)
    print(look(8))
"""


def follow(shell, said, module, command, **words):
    """Run the command that an output names, with words of a user in place of those that stand for them."""
    found = followed(said, module, command)
    typed = [words.get(word, word) for word in found]
    return shell.run(*[PYTHON if word == "python" else word for word in typed])


@pytest.fixture
def agent(shell):
    shell.write("agent.py", AGENT)
    return shell


def exported(shell, name="a bug.reenact"):
    """The newest recording as a file, and no longer in the home."""
    assert shell.run("export", "last", "-o", name).status == 0
    assert shell.run("rm", "last", "--yes").status == 0
    return name


def moved(shell):
    """The newest recording in another home; the words that name it."""
    id = shell.last().id
    other = shell.folder / "their home"
    shutil.copytree(shell.home, other)
    assert shell.run("rm", "last", "--yes").status == 0
    return ["--home", str(other), id]


@pytest.fixture(params=["last", "id", "file", "home"])
def refer(request):
    """Gives the words that name the newest recording."""

    def words(shell):
        if request.param in {"last", "id"}:
            return ["last" if request.param == "last" else shell.last().id]
        return [exported(shell)] if request.param == "file" else moved(shell)

    return words


# -- after a run ---------------------------------------------------------------------------------------------------


def test_a_recorded_a_forked_and_a_resumed_run_name_their_replay(agent):
    recorded, _ = agent.record("agent.py")
    replayed = follow(agent, recorded.err, "cli/render/record.py", "replay")
    assert "faithful" in replayed.err
    forked = agent.run("fork", "last", "--at", "2")
    assert "faithful" in follow(agent, forked.err, "cli/render/fork.py", "replay").err
    agent.write("stop", "")
    killed, _ = agent.record("agent.py")
    (agent.folder / "stop").unlink()
    resumed = follow(agent, killed.err, "cli/render/record.py", "resume")
    assert (resumed.status, resumed.out) == (0, "order 8\n") or resumed.out == "order 7\norder 8\n", (
        resumed.err
    )
    assert "faithful" in follow(agent, resumed.err, "cli/render/resume.py", "replay").err


def test_a_run_in_another_home_names_that_home(agent):
    agent.write("stop", "")
    killed = agent.run("record", "--home", "their home", "--", PYTHON, "agent.py")
    (agent.folder / "stop").unlink()
    resumed = follow(agent, killed.err, "cli/render/record.py", "resume")
    assert "faithful" in follow(agent, resumed.err, "cli/render/resume.py", "replay").err


def test_a_run_that_has_ended_is_forked_and_a_file_is_imported(agent):
    agent.record("agent.py")
    ended = agent.run("resume", "last")
    assert "order 8" in follow(agent, ended.err, "run/fork/resumption.py", "fork", STEP="2").out
    words = moved(agent)
    assert agent.run("resume", *words).status == 2
    ended = agent.run("resume", *words)
    assert "order 8" in follow(agent, ended.err, "run/fork/resumption.py", "fork", STEP="2").out


def test_an_exported_file_is_imported_before_it_is_forked_or_resumed(agent):
    agent.record("agent.py")
    name = exported(agent)
    refused = agent.run("fork", "--at", "2", name, env={"REENACT_HOME": "another"})
    assert "--run-foreign" not in refused.err
    assert agent.run(*followed(refused.err, "run/fork/point.py", "import")).status == 0
    assert agent.run("fork", "last", "--at", "2").status == 0
    assert agent.run("rm", agent.run("list", "--json").json[-1]["id"], "--yes").status == 0
    refused = agent.run("resume", name)
    assert agent.run(*followed(refused.err, "run/fork/point.py", "import")).status == 0


FILES = """
    import pathlib, reenact

    @reenact.tool
    def look(order): return order

    for number in range(5):
        pathlib.Path(f"file {number}.txt").touch()
    look(7)
"""


@pytest.mark.sampled
def test_files_that_are_not_listed_are_listed(shell, refer, run, monkeypatch):
    shell.write("agent.py", FILES)
    shell.record("agent.py")
    words = refer(shell)
    monkeypatch.setattr(file_tree, "_FILES", 2)
    _, out, err = run("show", *words, "--files")
    status, listed, _ = run(*followed(out + err, "cli/render/files.py", "files"))
    assert (status, set(re.findall(r"file (\d)", listed))) == (0, set("01234"))


BY_HASH = """
    import reenact

    @reenact.tool
    def look(city): return city

    def main():
        for city in {"Ulm", "Bonn", "Kiel", "Jena", "Hof", "Celle", "Trier", "Halle"}:
            look(city)

    if __name__ == "__main__":
        main()
"""


@pytest.mark.sampled(every=10)
def test_a_recording_that_makes_a_flaky_test_is_proved(shell, refer):
    shell.write("agent.py", BY_HASH)
    shell.record("agent.py")
    refused = shell.run("keep", *refer(shell), "--as", "tests/test_it.py", "--run-foreign", "--times", "2")
    assert refused.status == 2
    proved = follow(shell, refused.err, "verbs/keep.py", "prove {2}")
    assert (proved.status, "depart" in proved.out + proved.err) == (1, True), proved.err


BLOCK = """
    import reenact

    @reenact.tool
    def look(city): return city

    def main():
        with reenact.record("block"):
            look("Ulm")

    if __name__ == "__main__":
        main()
"""


def test_a_block_that_is_not_proved_names_the_proof_of_its_program(shell):
    shell.write("agent.py", BLOCK)
    shell.plain("agent.py")
    kept = shell.run("keep", "last", "--as", "tests/test_it.py")
    proved = follow(shell, kept.out + kept.err, "verbs/keep.py", "prove {0}")
    assert (proved.status, "proved" in proved.out) == (0, True), proved.err


# -- a command that cannot be done ---------------------------------------------------------------------------------


def test_a_program_in_another_language_is_recorded_by_the_proxy(shell):
    shell.write("go.sh", "echo done\n")
    refused = shell.run("record", "--", "sh", "go.sh")
    assert "done" in follow(shell, refused.err, "run/launch/__init__.py", "record --proxy").out


def test_a_missing_command_and_an_empty_home_name_the_way_to_record(agent):
    listed, shown, missing = agent.run("list"), agent.run("show"), agent.run("record")
    words = [
        followed(listed.out + listed.err, "cli/render/list.py", "record"),
        followed(shown.err, "core/store/local.py", "record"),
        followed(missing.err, "run/launch/process.py", "record"),
    ]
    for each in words:
        program = [PYTHON, "agent.py"] if each[-1] == "program" else [PYTHON, each[-1]]
        done = agent.run(*each[: each.index("--") + 1], *program)
        assert (done.status, done.out) == (0, "order 7\norder 8\n")


@pytest.mark.parametrize("name", ["support", "my agent", 'the "best" one'])
def test_a_name_in_place_of_an_id_names_the_list_of_that_name(run, home, name):
    ids = {keep(LocalStore(home), ImportedRun(name, RUN.effects)) for _ in range(2)}
    keep(LocalStore(home), ImportedRun("other", RUN.effects))
    _, _, err = run("show", name)
    status, out, _ = run(*followed(err, "core/store/local.py", "list {"), "--json")
    assert (status, set(re.findall(r'"id": ?"(\w+)"', out))) == (0, ids)


def test_a_reference_that_names_nothing_names_the_list(run, home):
    id = keep(LocalStore(home), RUN)
    for typed in ("zzzz", ""):
        _, _, err = run("show", typed)
        assert id in run(*followed(err, "core/store/local.py", "list"))[1]


def test_an_unknown_rule_names_the_list_of_rules(run, home):
    keep(LocalStore(home), RUN)
    _, _, err = run("diagnose", "last", "--rule", "zzzz")
    status, out, _ = run(*followed(err, "analysis/anomalies/config.py", "diagnose --rules"))
    assert (status, "loop" in out) == (0, True)


@pytest.mark.sampled
def test_a_recording_without_steps_names_what_shows_it(shell, refer):
    shell.write("empty.py", "print('nothing')\n")
    shell.record("empty.py")
    words = refer(shell)
    refused = shell.run("diff", *words, words[-1])
    assert refused.status == 2
    shown = follow(shell, refused.err, "analysis/diff/compare.py", "show")
    assert (shown.status, "empty" in shown.out) == (0, True), shown.err


def test_two_runs_without_likeness_name_the_list(run, home):
    keep(LocalStore(home), RUN)
    keep(LocalStore(home), ImportedRun("other", [does("book", {"seat": "9"}, "booked")]))
    first, second = LocalStore(home).ids()[:2]
    _, _, err = run("diff", first, second)
    assert "other" in run(*followed(err, "cli/render/diff.py", "list"))[1]


@pytest.mark.parametrize("kind", ["id", "path", "home"])
def test_what_is_whole_of_a_damaged_recording_is_kept(run, home, tmp_path, kind):
    store = LocalStore(tmp_path / "their home" if kind == "home" else home)
    folder = store.folder(keep(store, RUN))
    events = folder / "events.jsonl"
    lines = events.read_bytes().split(b"\n")
    events.write_bytes(b"\n".join([*lines[:2], lines[2].replace(b"a", b"b", 1), *lines[3:]]))
    words = {"id": [folder.name], "path": [folder], "home": ["--home", store.root, folder.name]}[kind]
    _, _, err = run("show", *words)
    status, out, err = run(*followed(err, "core/store/lines.py", "export {"))
    assert status == 0, err
    assert run("show", re.findall(r"exported to (\S+\.reenact)", out + err)[0])[0] == 0


def test_what_is_whole_of_a_damaged_file_is_kept(run, home, tmp_path):
    keep(LocalStore(home), RUN)
    assert run("export", "last", "whole.reenact")[0] == 0
    with zipfile.ZipFile("whole.reenact") as whole, zipfile.ZipFile("a bug.reenact", "w") as damaged:
        for name in whole.namelist():
            data = whole.read(name)
            if name.endswith("events.jsonl"):
                lines = data.split(b"\n")
                data = b"\n".join([*lines[:2], lines[2].replace(b"a", b"b", 1), *lines[3:]])
            damaged.writestr(name, data)
    for words in (["show", "a bug.reenact"], ["export", "a bug.reenact", "--salvage"]):
        _, _, err = run(*words)
        unzip = re.findall(r"`(unzip [^`]+)`", " ".join(err.split()))[0]
        if shutil.which("unzip"):
            subprocess.run(unzip, shell=True, check=True, capture_output=True)
        else:
            with zipfile.ZipFile("a bug.reenact") as damaged:
                damaged.extractall("unpacked")
        module = "core/store/lines.py" if words[0] == "show" else "core/store/salvage.py"
        if module == "core/store/lines.py":
            named = followed(err, "core/store/lines.py", "export unpacked")
        else:
            named = followed(err, "core/store/salvage.py", "export unpacked")
        status, _, err = run(*named, "--force")
        assert status == 0, err
        shutil.rmtree("unpacked")


@pytest.mark.sampled
def test_the_page_of_a_long_comparison_names_the_one_with_all(shell, refer):
    store = LocalStore(shell.home)
    one = keep(store, ImportedRun("one", [does("look", {"n": n}, f"a{n}") for n in range(700)]))
    keep(store, ImportedRun("two", [does("look", {"n": n}, f"b{n}") for n in range(700)]))
    assert shell.run("export", one, "-o", "one.reenact").status == 0
    words = refer(shell)
    assert shell.run("diff", *words, "one.reenact", "--html", "some.html").status == 1
    page = (shell.folder / "some.html").read_text(encoding="utf-8")
    said = " ".join(re.sub(r"<[^>]+>", "", page).replace("&#x27;", "'").split())
    done = follow(shell, said, "cli/comparing/page.py", "diff")
    assert done.status == 1, done.err
    assert "b699" in (shell.folder / "all.html").read_text(encoding="utf-8")


def test_a_recording_outside_of_the_home_is_imported_before_it_is_pushed(agent):
    agent.record("agent.py")
    name = exported(agent)
    place = {"REENACT_STORE": "postgresql://nowhere.invalid/x"}
    refused = agent.run("push", name, env=place)
    assert follow(agent, refused.err, "verbs/push.py", "import").status == 0, refused.err


def test_a_recording_that_is_there_with_other_content_is_deleted_first(agent):
    agent.record("agent.py")
    assert agent.run("export", "last", "-o", "bug.reenact").status == 0
    events = agent.home / "recordings" / agent.last().id / "events.jsonl"
    events.write_bytes(b"\n".join(events.read_bytes().split(b"\n")[:-2]) + b"\n")
    refused = agent.run("import", "bug.reenact")
    deleted = followed(refused.err, "core/store/bundle.py", "rm")
    assert agent.run(*deleted, "--yes").status == 0
    assert agent.run("import", "bug.reenact").status == 0


def test_a_recording_without_a_browser_session_names_what_shows_it(shell, refer):
    pytest.importorskip("playwright")
    keep(LocalStore(shell.home), RUN)
    refused = shell.run("watch", *refer(shell))
    shown = follow(shell, refused.err, "browser/watch/__init__.py", "show")
    assert (shown.status, "fetch_page" in shown.out) == (0, True), shown.err


def test_a_browser_without_a_terminal_names_the_list(shell):
    pytest.importorskip("textual")
    keep(LocalStore(shell.home), RUN)
    refused = shell.run("browse")
    assert "support" in follow(shell, refused.err, "cli/browsing.py", "list").out


# -- keys, trust, configuration ------------------------------------------------------------------------------------


def test_keys_are_made_and_listed(shell):
    pytest.importorskip("fastapi")
    none = shell.run("keys", "list")
    made = follow(shell, none.out + none.err, "cli/keys.py", "keys add")
    assert made.status == 0, made.err
    refused = shell.run("keys", "rm", "zzzz")
    assert "default" in follow(shell, refused.err, "cli/keys.py", "keys list").out


def test_trusted_keys_are_added_listed_and_removed(shell):
    pytest.importorskip("cryptography")
    key = next(word for word in shell.run("trust").out.split() if word.startswith("ed25519:"))
    none = shell.run("trust", "list")
    added = follow(
        shell, none.out + none.err, "cli/trusting.py", "trust add", NAME="ann", KEY=f"ed25519:{'0' * 64}"
    )
    assert added.status == 0, added.err
    taken = shell.run("trust", "add", "ann", f"ed25519:{'1' * 64}")
    unknown = shell.run("trust", "remove", "zzzz")
    assert "ann" in follow(shell, unknown.err, "core/trust/book.py", "trust list").out
    assert follow(shell, taken.err, "core/trust/book.py", "trust remove").status == 0
    wrong = shell.run("trust", "add", "ann", "ed25519:1")
    assert key in shell.run(*followed(wrong.err, "core/trust/book.py", "trust")).out


def test_recordings_that_wait_for_a_server_are_listed(agent):
    away = {"REENACT_SERVER": "http://127.0.0.1:9"}
    found = []
    for _ in range(20):
        done = agent.run("record", "--", PYTHON, "agent.py", env=away)
        if "ship --status" in done.err:
            found.append(done.err)
            break
    else:
        pytest.fail(done.err)
    status = agent.run(*followed(found[0], "team/ship/starting.py", "ship --status"), env=away)
    assert agent.last().id in status.out + status.err or "wait" in status.out + status.err
    doctor = agent.run("doctor", env=away)
    said = doctor.out + doctor.err
    status = agent.run(*followed(said, "verbs/doctor.py", "ship --status"), env=away)
    assert status.status in {0, 1}


def test_a_file_that_is_not_trusted_names_the_way_to_trust_it(run, tmp_path):
    (tmp_path / "reenact.toml").write_text("[verify]\nentry = 'shop:run'\n")
    _, _, err = run("verify")
    assert run(*followed(err, "core/config/file.py", "config --trust"))[0] == 0
    assert "trust" not in run("verify")[2]


def test_files_of_other_kinds_are_imported(run, home, tmp_path):
    chat = '[{"role": "user", "content": "hi"}, {"role": "assistant", "content": "hello"}]'
    (tmp_path / "chat.json").write_text(chat)
    _, _, err = run("show", str(tmp_path / "chat.json"))
    assert run(*followed(err, "core/store/reading.py", "import"), "chat.json")[0] == 0
    for number, text in enumerate((chat, '{"event": "other"}\n')):
        folder = tmp_path / f"folder {number}"
        folder.mkdir()
        (folder / "events.jsonl").write_text(f"{text}\n")
        _, _, err = run("show", folder)
        assert run(*followed(err, "core/store/lines.py", "import"), "--help")[0] == 0
    (folder / "events.jsonl").write_text("")
    _, _, err = run("show", folder)
    assert run(*followed(err, "core/store/reading.py", "list"))[0] == 0


@pytest.mark.sampled
def test_a_kind_that_did_not_come_names_the_kinds(agent, refer):
    agent.record("agent.py")
    replayed = agent.run("replay", *refer(agent), "--live", "tol", "--run-foreign")
    assert "look" in follow(agent, replayed.err, "cli/render/replay.py", "show").out


TAPED = """
    import pytest, reenact

    @reenact.tool
    def look(order): return order

    @pytest.mark.reenact
    def test_it(): look(7)
"""


def test_a_test_that_departs_names_what_shows_its_recording(shell):
    # On a machine of CI no recording is made.
    environ = {name: value for name, value in shell.environ.items() if name != "CI"}
    for mode, text in (("record", TAPED), ("replay", TAPED.replace("7", "8"))):
        shell.write("test_it.py", text)
        done = subprocess.run(
            [PYTHON, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--reenact={mode}", "test_it.py"],
            cwd=shell.folder, env=environ, capture_output=True, text=True, check=False,
        )  # fmt: skip
    shown = follow(shell, done.stdout, "testing/pytest/taped.py", "show")
    assert (shown.status, "order" in shown.out) == (0, True), shown.err


def test_the_examples_of_the_help_run_in_their_order(shell):
    shell.write("agent.py", AGENT.replace("print(look(8))", "[print(look(n)) for n in range(8)]"))
    said = shell.run("--help").out
    for _ in range(2):
        assert follow(shell, said, "cli/overview.py", "record").status == 0
    assert "look" in follow(shell, said, "cli/overview.py", "show").out
    assert follow(shell, said, "cli/overview.py", "diagnose").status == 0
    assert "faithful" in follow(shell, said, "cli/overview.py", "replay").err
    assert follow(shell, said, "cli/overview.py", "fork").status == 0
    ids = [line["id"] for line in shell.run("list", "--json").json]
    compared = follow(shell, said, "cli/overview.py", "diff", A=ids[-1], B=ids[-2])
    assert "same" in compared.out + compared.err, compared.err
