"""litellm under `reenact record`, unchanged: three providers' routes, and the price list that it loads at its import."""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

# Its programs import it, and this module need not: that takes seconds.
pytestmark = [
    pytest.mark.thorough,
    pytest.mark.skipif(importlib.util.find_spec("litellm") is None, reason="litellm is not installed"),
]

PROGRAM = Path(__file__).with_name("litellm_program.py")


def test_three_routes_are_recorded_and_replayed_alone(provider, tmp_path):
    environ = {
        **os.environ,
        "REENACT_HOME": str(tmp_path / "home"),
        "COLUMNS": "300",
        "LITELLM_MODEL_COST_MAP_URL": f"{provider.url}/prices.json",
    }

    def reenact(*arguments):
        command = [sys.executable, "-m", "reenact", *arguments]
        return subprocess.run(command, check=False, env=environ, capture_output=True, text=True, timeout=100)

    program = [sys.executable, str(PROGRAM), provider.url]
    live = reenact("record", "--", *program, "Well?")
    assert live.returncode == 0, live.stderr
    assert provider.paths[0] == "/prices.json"
    provider.stop()
    again = reenact("replay", "last")
    assert (again.returncode, again.stdout) == (0, live.stdout), again.stderr

    steps = json.loads(reenact("show", "last", "--json").stdout)["step_list"]
    models = [step["model"] for step in steps if "model" in step]
    assert len(steps) == len(models) + 1 == 11
    assert [(model["model"], bool(model["tokens"])) for model in models[:6]] == [
        ("teller", True), ("teller", True), ("teller", True), ("teller", True),
        ("gemini-2.5-flash", True), ("gemini-2.5-flash", True),
    ]  # fmt: skip
    assert [call["name"] for call in models[6]["answer"]["calls"]] == ["weather", "weather"]

    changed = reenact("replay", "last", "--", *program, "How?")
    assert changed.returncode == 1, changed.stderr
    assert "args.body.messages[0].content" in changed.stderr
    assert '"How?"' in changed.stderr
