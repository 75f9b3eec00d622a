"""Who reads: the program's own code, a library, or a library on the program's behalf."""

# ruff: noqa: PLW0108 - the read must be the program's own

import dataclasses
import datetime as dt
import importlib
import subprocess
import sys
import textwrap
import time
import types
import uuid

import pytest
import tenacity

import reenact
from reenact.adapters.stdlib import callers


@dataclasses.dataclass
class Note:
    at: dt.datetime = dataclasses.field(default_factory=dt.datetime.now)


def test_the_program_is_what_is_neither_installed_nor_standard_nor_ours():
    assert callers.module_kind({"__name__": "agent", "__file__": "/home/me/agent.py"}) == callers.OWN
    assert callers.module_kind({"__name__": "json", "__file__": "agent/json.py"}) == callers.OWN
    assert (
        callers.module_kind({"__name__": "openai", "__file__": "/x/site-packages/openai/__init__.py"})
        == callers.LIBRARY
    )
    assert (
        callers.module_kind({"__name__": "logging", "__file__": __import__("logging").__file__})
        == callers.LIBRARY
    )
    assert callers.module_kind({"__name__": "uuid", "__file__": uuid.__file__}) == callers.VALUE
    assert callers.module_kind({"__name__": "reenact.x", "__file__": callers.__file__}) == callers.LIBRARY
    assert callers.module_kind({"__name__": "__main__"}) == callers.OWN
    assert callers.module_kind({"__name__": "sys"}) == callers.LIBRARY


def test_the_program_s_modules_are_found_however_late_they_are_loaded(monkeypatch):
    def put(name, path):
        module = types.ModuleType(name)
        module.__file__ = path
        monkeypatch.setitem(sys.modules, name, module)
        return vars(module)

    def has(names):
        return any(each is names for each in callers.program_modules())

    first, library = put("late_1", "/home/me/late_1.py"), put("late_2", "/x/site-packages/late_2.py")
    assert has(first)
    assert not has(library)
    second = put("late_3", "/home/me/late_3.py")
    assert has(first)
    assert has(second)
    # The last one goes and comes back, behind another.
    monkeypatch.delitem(sys.modules, "late_3")
    assert not has(second)
    fourth, third = put("late_4", "/home/me/late_4.py"), put("late_3", "/home/me/late_3.py")
    assert has(third)
    assert has(fourth)
    # One without a file yet.
    bare = types.ModuleType("late_5")
    monkeypatch.setitem(sys.modules, "late_5", bare)
    assert not has(vars(bare))
    bare.__file__ = "/home/me/late_5.py"
    assert has(vars(bare))


def test_a_generated_initialiser_reads_for_its_class(drawn, library):
    assert drawn(Note) == ["clock:time"]
    messages = library(
        "messages",
        """
        import dataclasses, datetime
        @dataclasses.dataclass
        class Message:
            at: datetime.datetime = dataclasses.field(default_factory=datetime.datetime.now)
        """,
    )
    assert drawn(messages.Message) == []


def test_code_without_a_file_is_the_programs(drawn):
    assert drawn(lambda: exec("import time; time.time()", {"__name__": "__main__"})) == ["clock:time"]


def test_a_callback_of_the_programs_is_its_own_wherever_it_is_called_from(drawn, library):
    hooks = library("hooks", "def call(function): return function()")
    assert drawn(lambda: hooks.call(lambda: time.time())) == ["clock:time"]


def test_pauses_and_limits_of_retries_are_those_of_their_caller(home):
    def program():
        waits = []
        again = tenacity.retry(
            stop=tenacity.stop_after_delay(3) | tenacity.stop_after_attempt(4),
            wait=tenacity.wait_random_exponential(0.001, 0.004),
            retry=tenacity.retry_if_result(lambda _: True),
            before_sleep=lambda state: waits.append((state.next_action.sleep, state.seconds_since_start)),
            retry_error_callback=lambda _: waits,
        )
        return again(lambda: None)()

    with reenact.record() as run:
        recorded = program()
    with reenact.replay(run.id) as replay:
        assert program() == recorded
    assert replay.verdict.faithful, replay.verdict


def test_an_installed_package_can_be_counted_as_the_program(drawn, library, monkeypatch):
    monkeypatch.setattr(callers, "_own", set())
    agent = library("agentpack", "import time\ndef read(): return time.time()")
    assert drawn(agent.read) == []
    callers.own("agentpack")
    assert drawn(agent.read) == ["clock:time"]


def test_a_part_of_a_package_can_be_counted_as_the_program(drawn, tmp_path, monkeypatch):
    package = tmp_path / "site-packages" / "splitpack"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    for name in ("agent", "store"):
        (package / f"{name}.py").write_text("import time\ndef read(): return time.time()")
    monkeypatch.syspath_prepend(package.parent)
    monkeypatch.setattr(callers, "_own", set())
    callers.own("splitpack.agent")
    assert drawn(importlib.import_module("splitpack.agent").read) == ["clock:time"]
    assert drawn(importlib.import_module("splitpack.store").read) == []


@pytest.mark.sampled
@pytest.mark.parametrize("how", ["-m", "script", "REENACT_OWN"])
def test_an_installed_program_is_the_program(how, tmp_path):
    package = tmp_path / "site-packages" / "shopagent"
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "__main__.py").write_text(
        textwrap.dedent(
            """
            import time, reenact
            def main():
                with reenact.record() as recording:
                    time.time()
                print([source for _, source in recording.load().logs[0].draws])
            if __name__ == "__main__":
                main()
            """
        )
    )
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "shopagent"
    script.write_text("import sys\nfrom shopagent.__main__ import main\nmain()\n")
    command = {
        "-m": ["-m", "shopagent"],
        "script": [str(script)],
        "REENACT_OWN": ["-c", "import shopagent.__main__ as m; m.main()"],
    }[how]
    done = subprocess.run(
        [sys.executable, "-X", "utf8", *command],
        env={"PYTHONPATH": str(package.parent), "REENACT_HOME": str(tmp_path)}
        | ({"REENACT_OWN": "shopagent"} if how == "REENACT_OWN" else {}),
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "clock:time" in done.stdout
