"""What a fleet has found is kept by recording, code and options."""

from __future__ import annotations

import subprocess

from reenact.verbs.verify.crew import CrewOptions
from reenact.verbs.verify.kept import KeptOutcomes, OutcomeKey, code_version

JOB = CrewOptions("shop:answer", {"live": []}, 60.0)


def recording(folder):
    folder.mkdir(parents=True)
    (folder / "events.jsonl").write_bytes(b"{}\n")
    return folder


def test_what_was_found_is_found_again_and_the_last_word_holds(tmp_path):
    key = OutcomeKey.of(recording(tmp_path / "a"), "code", JOB)
    with KeptOutcomes(tmp_path) as kept:
        assert kept.get(key) is None
        kept.put(key, {"failed": "killed"})
        kept.put(key, {"verdict": None})
    with KeptOutcomes(tmp_path) as kept:
        assert kept.get(key) == {"verdict": None}


def test_another_recording_code_or_option_is_another_key(tmp_path):
    path = recording(tmp_path / "a")
    key = OutcomeKey.of(path, "code", JOB)
    assert OutcomeKey.of(path, "other code", JOB) != key
    assert OutcomeKey.of(path, "code", CrewOptions("shop:answer", {"live": ["tool"]}, 60.0)) != key
    with (path / "events.jsonl").open("ab") as file:
        file.write(b"{}\n")
    assert OutcomeKey.of(path, "code", JOB) != key


def test_a_home_that_cannot_be_written_costs_the_memory_of_it_only(tmp_path):
    (tmp_path / "file").write_text("")
    with KeptOutcomes(tmp_path / "file" / "home") as kept:
        key = OutcomeKey.of(recording(tmp_path / "a"), "code", JOB)
        kept.put(key, {"verdict": 1})
        assert kept.get(key) == {"verdict": 1}


def test_code_is_what_stands_in_the_folder_committed_or_not(tmp_path):
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    (tmp_path / ".gitignore").write_text("*.log\n")
    (tmp_path / "shop.py").write_text("one = 1\n")
    version = code_version(tmp_path)
    (tmp_path / "noise.log").write_text("noise")
    assert code_version(tmp_path) == version
    (tmp_path / ".reenact").mkdir()
    (tmp_path / ".reenact" / "events.jsonl").write_text("{}")
    assert code_version(tmp_path, tmp_path / ".reenact") == version
    (tmp_path / "shop.py").write_text("one = 2\n")
    assert code_version(tmp_path) != version


def test_without_git_what_looks_like_code_counts(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "system.md").write_text("Be kind.")
    version = code_version(tmp_path)
    (tmp_path / "data.bin").write_bytes(b"noise")
    assert code_version(tmp_path) == version
    (tmp_path / "prompts" / "system.md").write_text("Be brief.")
    assert code_version(tmp_path) != version
