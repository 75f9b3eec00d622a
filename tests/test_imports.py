"""What starting costs: nothing is imported before it is needed, and what is put off comes all the same."""

from __future__ import annotations

import subprocess
import sys
import textwrap

import pytest

import reenact


@pytest.fixture
def fresh(tmp_path, monkeypatch):
    """Run a program in a fresh process, in a folder of its own; what it prints, in words."""
    monkeypatch.setenv("REENACT_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("PYTEST_PLUGINS", raising=False)

    def run(source):
        path = tmp_path / "program.py"
        path.write_text(textwrap.dedent(source))
        done = subprocess.run(
            [sys.executable, path], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout.split()

    return run


def test_the_package_by_itself_imports_its_version_alone(fresh):
    assert fresh("""
        import sys
        import reenact
        print(*sorted(name for name in sys.modules if name.startswith("reenact")))
    """) == ["reenact", "reenact.core", "reenact.core.version"]


def test_a_tool_needs_neither_recorder_nor_store(fresh):
    loaded = fresh("""
        import sys
        import reenact

        @reenact.tool
        def double(number):
            return 2 * number

        assert double(2) == 4
        print(*sys.modules)
    """)
    assert "reenact.core.boundary" in loaded
    assert not {"reenact.core.record.recorder", "reenact.core.store.local", "hyperscan"} & set(loaded)


def test_a_recording_needs_no_test_runner_no_search_and_no_face(fresh):
    loaded = fresh("""
        import sys
        import time
        import reenact

        with reenact.record("work"):
            time.time()
        print(*sys.modules)
    """)
    assert "reenact.core.record.recorder" in loaded
    assert not {"pytest", "sqlite3", "reenact.verbs.find", "typer", "rich", "dateutil"} & set(loaded)


@pytest.mark.parametrize("order", [("record", "replay"), ("replay", "record")])
def test_the_verbs_are_verbs_whatever_of_their_code_is_imported_before(fresh, order):
    assert fresh(f"""
        import reenact.core.{order[0]}
        import reenact.core.store.local
        import reenact
        reenact.load
        from reenact.core.record.recorder import Recorder
        from reenact.core.replay.replayer import Replayer
        print(callable(reenact.record), callable(reenact.replay))
        with reenact.{order[0]}("x") if {order[0]!r} == "record" else reenact.record("y") as recording:
            pass
        with reenact.replay(recording.id) as replay:
            pass
        print(replay.verdict.faithful)
    """) == ["True", "True", "True"]


def test_a_name_that_is_not_there_is_said_as_any_module_would():
    with pytest.raises(AttributeError, match="module 'reenact' has no attribute 'rewind'"):
        reenact.rewind  # noqa: B018
    with pytest.raises(ImportError, match="cannot import name 'rewind' from 'reenact'"):
        from reenact import rewind  # noqa: F401


def test_a_package_is_there_by_its_name_too(fresh):
    assert fresh("""
        import reenact
        print(reenact.errors.ReenactError is reenact.ReenactError, "record" in dir(reenact))
    """) == ["True", "True"]


def test_a_browser_session_needs_no_library_of_models(fresh):
    loaded = fresh("""
        import sys
        import reenact
        import reenact.browser.session.session
        reenact.Client
        print(*sys.modules)
    """)
    assert "reenact.browser.session.core" in loaded
    assert not {"pydantic_ai", "openai", "libcst", "PIL"} & set(loaded)
