"""The configuration file: where it is found, and what is refused of one that another person wrote."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import reenact
from reenact.core import config
from reenact.core.replay.policy import policy_of
from reenact.core.store.local import home
from reenact.errors import UsageError
from tests.systems import POSIX


@pytest.fixture
def project(tmp_path, monkeypatch):
    monkeypatch.delenv("REENACT_HOME", raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "own"))
    below = tmp_path / "project" / "src" / "deep"
    below.mkdir(parents=True)
    monkeypatch.chdir(below)
    return tmp_path / "project"


def test_the_file_of_a_folder_above_is_found(project):
    (project / "reenact.toml").write_text('home = "recs"')
    assert config.found().path == project / "reenact.toml"
    assert home() == project / "recs"


def test_the_nearest_file_counts(project):
    (project / "reenact.toml").write_text('home = "far"')
    (project / "src" / "pyproject.toml").write_text('[tool.reenact]\nhome = "near"')
    assert home() == project / "src" / "near"


def test_reenact_toml_comes_before_pyproject_toml(project):
    (project / "reenact.toml").write_text('home = "first"')
    (project / "pyproject.toml").write_text('[tool.reenact]\nhome = "second"')
    assert home() == project / "first"


@pytest.mark.parametrize("text", ["[project]\nname = 'x'", "[tool.other]\na = 1", "# reenact\n[tool]\nx = 1"])
def test_a_pyproject_without_the_table_is_passed_over(project, text):
    (project / "reenact.toml").write_text('home = "above"')
    (project / "src" / "pyproject.toml").write_text(text)
    assert home() == project / "above"


def test_the_search_ends_at_the_repository(project):
    (project / "reenact.toml").write_text('home = "outside"')
    (project / "src" / ".git").mkdir()
    assert config.found() is None
    assert home() == Path(".reenact").absolute()


def test_the_environment_wins_over_the_file(project, monkeypatch):
    (project / "reenact.toml").write_text("home = [broken")
    monkeypatch.setenv("REENACT_HOME", "/elsewhere")
    assert home() == Path("/elsewhere").absolute()


def test_a_home_outside_of_the_folder_needs_trust(project):
    (project / "reenact.toml").write_text('home = "../../elsewhere"')
    with pytest.raises(
        UsageError, match=r"\.\.[/\\]\.\.[/\\]reenact\.toml:1:8: home: it puts recordings outside"
    ):
        home()
    config.trust(config.found())
    assert home() == project / "../../elsewhere"


@POSIX
def test_a_home_that_is_a_link_to_the_outside_needs_trust(project, tmp_path):
    (project / "recs").symlink_to(tmp_path)
    (project / "reenact.toml").write_text('home = "recs"')
    with pytest.raises(UsageError, match="outside of the file's folder"):
        home()


def test_trust_ends_when_the_content_changes_or_the_file_moves(project):
    file = project / "reenact.toml"
    file.write_text('home = "/elsewhere"')
    config.trust(config.found())
    assert home() == Path("/elsewhere").absolute()
    file.write_text('home = "/elsewhere/2"')
    with pytest.raises(UsageError, match="is not trusted"):
        home()
    file.rename(project / "src" / "reenact.toml")
    with pytest.raises(UsageError, match="is not trusted"):
        home()


@POSIX
def test_a_list_of_trusted_files_that_others_may_write_is_not_believed(project, tmp_path):
    (project / "reenact.toml").write_text('home = "/elsewhere"')
    config.trust(config.found())
    (tmp_path / "own" / "reenact" / "configurations.jsonl").chmod(0o666)
    with pytest.raises(UsageError, match="is not trusted"):
        home()


@POSIX
def test_a_file_of_another_user_is_refused(project, monkeypatch):
    Path("reenact.toml").write_text('home = "recs"', encoding="utf-8")
    monkeypatch.setattr(os, "geteuid", lambda: 1234)
    # What belongs to root may be read by all users, and the tests may run as root.
    owned = os.stat_result((0, 0, 0, 0, 4321, *[0] * 5))
    monkeypatch.setattr(Path, "stat", lambda _, **__: owned)
    with pytest.raises(UsageError, match=r"reenact\.toml:1:1: this file belongs to another user"):
        config.found()


@pytest.mark.parametrize(
    ("data", "place", "reason"),
    [
        (b"home = ", "1:8", "Invalid value"),
        (b"a = 1\nb = ]", "2:5", "Invalid value"),
        (b"[policy", "1:8", "Expected"),
        (b"a = 1\r\na = 2", "2:6", "Cannot overwrite a value"),
        (b"x = '\xff'", "1:1", "not UTF-8"),
        (b"home = 'a'\nx = " + b"9" * 5000, "2:5", "a number has too many digits"),
        (b"[a.b]\n[c]\n[a.b]\n", "3:5", "the table [a.b] is there already"),
        (b"a = " + b"[" * 5000 + b"]" * 5000, "1:1", "nested too deeply"),
        (b"#" * (1 << 20) + b"\n\n", "1:1", "at most 1 MB"),
    ],
)
def test_a_file_that_is_no_toml_is_one_line_with_its_place(project, data, place, reason):
    (project / "reenact.toml").write_bytes(data)
    with pytest.raises(UsageError) as caught:
        config.found()
    text = str(caught.value)
    assert text.startswith(f"{Path('../../reenact.toml')}:{place}: ")
    assert reason in text
    assert "\n" not in text


@POSIX
def test_a_pipe_in_the_place_of_the_file_is_no_file(project):
    os.mkfifo(project / "reenact.toml")
    assert config.found() is None


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (
            '[policy]\nrefund = "refse"',
            "2:10: policy.refund: policy 'refund=refse': there is no mode 'refse'; did you mean",
        ),
        ("[policy]\nrefund = 3", "2:10: policy.refund: one of recorded, live"),
        ('policy = "refuse"', "1:1: policy: a table is expected"),
        ('[policy]\n"a=live" = "refuse"', "2:12: policy.a=live: 'a=live' cannot be a target"),
        ('[policy]\nrefund = "live"', "2:10: policy.refund: it lets calls run for real, and"),
    ],
)
def test_a_policy_that_is_not_valid_is_named_with_its_place(project, text, told):
    (project / "reenact.toml").write_text(text)
    with pytest.raises(UsageError) as caught:
        policy_of(config.found())
    assert f"reenact.toml:{told}" in str(caught.value)


def test_a_policy_is_kept_in_its_order(project):
    (project / "reenact.toml").write_text('[policy]\n"*.example.com" = "refuse"\nrefund = "ask"')
    assert policy_of(config.found()) == ("*.example.com=refuse", "refund=ask")


def test_a_file_that_is_not_valid_costs_a_recording_a_warning_and_not_the_run(project, capfd):
    (project / "reenact.toml").write_text("home = 3")
    with reenact.record("run") as recording:
        recording.output = 1
    assert "reenact.toml:1:8: home: the name of a folder in quotes is expected" in capfd.readouterr().err
    assert Path(recording.path).parent.parent == Path(".reenact").absolute()


def test_a_recording_is_made_where_the_file_says(project):
    (project / "reenact.toml").write_text('home = "recs"')
    with reenact.record("run") as recording:
        recording.output = 1
    assert reenact.load("last").id == recording.id
    assert Path(recording.path).parent.parent == project / "recs"


def test_a_replay_takes_the_policy_of_the_file_before_its_own(project):
    with reenact.record("run") as recording:
        recording.output = 1
    (project / "reenact.toml").write_text('[policy]\nrefund = "refuse"')
    replay = reenact.replay(recording.path, policy=["refund=ask"])
    assert replay._options["acts"]["words"] == ("refund=refuse", "refund=ask")
    (project / "reenact.toml").write_text('[policy]\nrefund = "live"')
    for run in (reenact.replay, lambda path: reenact.fork(path, at=1)):
        with pytest.raises(UsageError, match="lets calls run for real"):
            run(recording.path)


def test_a_mark_of_an_editor_before_the_text_is_passed_over(project):
    (project / "reenact.toml").write_bytes(b"\xef\xbb\xbf" + b'home = "recs"\r\n')
    assert home() == project / "recs"


def test_a_value_in_the_place_of_the_whole_table_is_named(project):
    (project / "pyproject.toml").write_text("[tool]\nreenact = 3")
    with pytest.raises(UsageError, match=r"pyproject.toml:2:1: tool.reenact: a table is expected"):
        config.found()
