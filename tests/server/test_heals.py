"""A patch of a script: read and applied only where that is safe. Recordings may say anything of any file."""

from __future__ import annotations

import pytest

import reenact
from reenact.browser.heal.heal_record import HealRecord, digest
from tests.server.asking import Asking

SCRIPT = """\
PASSWORD = "none of your business"
session.execute(type="click", selector="#buy")
"""


@pytest.fixture
def learned(tmp_path):
    """The home of a recording that says that a script's step was helped, and the script; `source` is its hash then."""
    script = tmp_path / "shop.py"
    script.write_text(SCRIPT)

    def record(source=None):
        heal = HealRecord(
            "click #buy @/ #0", "click", "alternative", str(script), 2, "",
            digest(str(script)) if source is None else source, "#buy", {"css": "#buy-17"}, verified_by="the same",
        )  # fmt: skip
        with reenact.record(home=tmp_path / "home"):
            reenact.effect("heal", "record").perform(heal.to_tree)
        return script

    record.home = tmp_path / "home"
    return record


def shown(ask, script):
    return ask.until("/heals", lambda heals: heals["items"]) and ask(f"/heals/patch?script={script}")


def test_what_was_seen_is_applied_and_nothing_else(learned):
    script = learned()
    with Asking(learned.home, running=True) as ask:
        patch = shown(ask, script)
        assert (patch["readable"], patch["refusal"]) == (True, None)
        wanted = {"script": str(script), "mark": patch["mark"]}
        assert "load it again" in ask.refused("/heals/patch", 409, "POST", json={**wanted, "mark": "0" * 64})
        script.write_text(SCRIPT + "# edited\n")
        assert "load it again" in ask.refused("/heals/patch", 409, "POST", json=wanted)
        again = ask(f"/heals/patch?script={script}")
        assert "since it was run" in again["refusal"]
        assert "since it was run" in ask.refused(
            "/heals/patch", 409, "POST", json={**wanted, "mark": again["mark"]}
        )
        assert script.read_text() == SCRIPT + "# edited\n"
        script.write_text(SCRIPT)
        told = ask("/heals/patch", method="POST", json=wanted)
        assert (told["changed"], "shop.py.orig" in told["kept"]) == (1, True)
        assert script.read_text() == SCRIPT.replace("#buy", "#buy-17")


@pytest.mark.thorough
def test_a_server_that_runs_no_programs_changes_no_file_and_reads_only_the_script_that_was_run(learned):
    script = learned()
    with Asking(learned.home) as ask:
        patch = shown(ask, script)
        assert "#buy-17" in patch["patch"]
        assert "--running" in patch["refusal"]
        wanted = {"script": str(script), "mark": patch["mark"]}
        assert "--running" in ask.refused("/heals/patch", 403, "POST", json=wanted)
        # Who uploads a recording may name a file there of which he knows the path alone.
        script.write_text(SCRIPT.replace("none", "nothing"))
        other = ask(f"/heals/patch?script={script}")
        assert (other["readable"], other["patch"]) == (False, "")
    assert script.read_text() == SCRIPT.replace("none", "nothing")
