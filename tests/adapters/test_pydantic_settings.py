"""Settings of the program are, in a replay, those that the environment gave while it was recorded."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pydantic import BaseModel, Field, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

import reenact


class Limits(BaseModel):
    calls: int = 1
    seconds: int = 1


class Settings(BaseSettings):
    model_config = SettingsConfigDict(
        env_prefix="AGENT_", env_nested_delimiter="__", env_parse_none_str="none"
    )

    model: str = "small"
    region: str | None = "north"
    key: SecretStr = SecretStr("")
    limits: Limits = Limits()
    name: str = Field(default="anyone", validation_alias="WHO")


@reenact.tool
def ask(*words: object) -> str:
    return str(words)


def told() -> str:
    found = Settings()
    return ask(found.model, found.region, found.limits.model_dump(), found.name)


@pytest.fixture
def variables(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("AGENT_MODEL", "AGENT_REGION", "AGENT_LIMITS__CALLS", "AGENT_KEY", "WHO"):
        monkeypatch.delenv(name, raising=False)
    return monkeypatch


def test_a_replay_has_the_recorded_settings_in_another_environment(
    tmp_path: Path, variables: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "AGENT_MODEL": "large",
        "AGENT_REGION": "none",
        "agent_limits__calls": "7",
        "WHO": "Ada",
    }.items():
        variables.setenv(name, value)
    with reenact.record(home=tmp_path) as recording:
        first = told()
    for name in ("AGENT_MODEL", "agent_limits__calls", "WHO"):
        variables.delenv(name)
    variables.setenv("AGENT_LIMITS__SECONDS", "9")
    variables.setenv("AGENT_REGION", "south")
    with reenact.replay(recording.id, home=tmp_path) as replay:
        assert told() == first
    assert replay.verdict.faithful, str(replay.verdict)


def test_a_variable_that_was_not_set_is_not_set_in_a_replay(
    tmp_path: Path, variables: pytest.MonkeyPatch
) -> None:
    with reenact.record(home=tmp_path) as recording:
        told()
    variables.setenv("AGENT_MODEL", "large")
    variables.setenv("AGENT_LIMITS__CALLS", "7")
    with reenact.replay(recording.id, home=tmp_path) as replay:
        told()
    assert replay.verdict.faithful, str(replay.verdict)


def test_what_the_program_writes_itself_comes_first(tmp_path: Path, variables: pytest.MonkeyPatch) -> None:
    def chosen() -> list[str]:
        before = Settings().model
        os.environ["AGENT_MODEL"] = "own"
        return [before, Settings().model]

    with reenact.record(home=tmp_path) as recording:
        first = chosen()
    variables.setenv("AGENT_MODEL", "large")
    with reenact.replay(recording.id, home=tmp_path):
        assert chosen() == first == ["small", "own"]


def test_a_key_is_not_written(tmp_path: Path, variables: pytest.MonkeyPatch) -> None:
    variables.setenv("AGENT_KEY", "correct horse battery staple")
    with reenact.record(home=tmp_path) as recording:
        ask(len(Settings().key.get_secret_value()))
    events = (tmp_path / "recordings" / recording.id / "events.jsonl").read_text(encoding="utf-8")
    assert "battery" not in events


def test_variables_of_no_field_are_not_written(tmp_path: Path, variables: pytest.MonkeyPatch) -> None:
    variables.setenv("OTHER", "not asked for")
    with reenact.record(home=tmp_path) as recording:
        told()
    events = (tmp_path / "recordings" / recording.id / "events.jsonl").read_text(encoding="utf-8")
    assert "not asked for" not in events
