"""Recorded names and texts never become code, markup or terminal commands in what Reenact writes."""

from __future__ import annotations

import ast
import io
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import orjson
import pytest

import reenact
from reenact.analysis.report import python
from reenact.analysis.report.marked import marked_arguments
from reenact.analysis.views.terminal import Terminal
from reenact.browser.heal import patch
from reenact.browser.heal.heal_record import HealRecord
from reenact.browser.script import script
from reenact.browser.video.captions import _lines
from reenact.cli import main
from reenact.cli.printing import json_escaped
from reenact.core import boundary
from reenact.core.model.event import Effect
from reenact.verbs import keep_test as regression
from reenact.verbs.verify import Status, pages, verification
from reenact.verbs.verify.outcome import outcome
from tests.hostile.forge import forge_folder, lines_of

BREAK = '__import__("pathlib").Path("MARK").write_text("x")'
TEXTS = [
    f'x"""\nimport os\n{BREAK}\n"""',
    f"x'''\n{BREAK}\n'''",
    f'x"\n{BREAK}\n#',
    f"x\\\n{BREAK}",
    f"x\r{BREAK}\r\u2028{BREAK}\u2029{BREAK}\x0b{BREAK}\x0c{BREAK}\x85{BREAK}",
    f"{{{BREAK}}}",
    "\\N{LEFT-TO-RIGHT OVERRIDE}\u202e\u2066\x1b]52;c;eA==\x07\x1b[2J",
    '"""',
    '\\"""',
    'ends with a quote"',
    "\\",
    "\ud800",
    f"`{BREAK}` $({BREAK}) ; {BREAK} &&",
    "</script><script>alert(1)</script>",
    "[link=https://evil.example]here[/link]",
    "\u017fystem",
]
STATEMENTS = (
    ast.Import, ast.ImportFrom, ast.FunctionDef, ast.AsyncFunctionDef, ast.Expr, ast.Assign, ast.Assert, ast.With,
    ast.Pass,
)  # fmt: skip
FUNCTIONS = {
    "Path", "rerun", "str", "pytest.mark.reenact", "Client", "client.Session", "client.AgentFallback",
    "session.execute", "contextlib.suppress",
}  # fmt: skip


def checked(text: str) -> ast.Module:
    """The tree of written Python, once it holds nothing but what the templates have."""
    tree = ast.parse(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.stmt):
            assert isinstance(node, STATEMENTS), ast.unparse(node)
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func)
            assert name in FUNCTIONS or name.startswith("session.page."), name
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= {"sys", "pytest", "os", "re", "contextlib"}
        if isinstance(node, ast.ImportFrom):
            assert node.module in ("pathlib", "reenact.testing", "reenact", "__future__")
        if isinstance(node, ast.Attribute):
            assert not node.attr.startswith("_")
    comments = [line for line in text.splitlines() if line.lstrip().startswith("#")]
    assert all(line.isprintable() for line in comments)
    return tree


def recorded(folder: Path, text: str) -> Path:
    """A recording whose every name and text is hostile."""
    with reenact.record("x", home=folder) as run:
        boundary.perform(Effect("tool", "look", {"given": 1}), lambda: 2)
    path = Path(str(run.path))
    lines = lines_of(path / "events.jsonl")
    for line in lines:
        line.pop("signed", None)
        if line["event"] == "opened":
            line |= {"name": text, "tags": [text]}
            line["program"] = {**line["program"], "argv": ["agent.py", text], "cwd": f"/tmp/{text}"}
            line["function"] = {"name": "os:system", "args": {"command": text, text: 1}}
        if line["event"] == "called":
            line |= {"name": text, "args": {text: text, "nested": {text: [text]}}}
        if line["event"] == "returned":
            line["value"] = {text: text}
        if line["event"] == "sealed":
            line["output"] = text
    forge_folder(path, [_escaped(line) for line in lines])
    return path


def _escaped(tree):
    """The line with lone surrogates as the codec writes them."""
    from reenact.core.model import codec

    return orjson.loads(codec.dumps(tree))


@pytest.mark.sampled
@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_a_kept_test_holds_recorded_words_as_constants_alone(
    text: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    recording = reenact.load(recorded(tmp_path / "home", text))
    test = regression.kept(recording, tmp_path / "test_x.py")
    written = regression.add("", test)
    tree = checked(written)
    assert "os" not in {
        alias.name for node in tree.body if isinstance(node, ast.Import) for alias in node.names
    }
    assert "system" not in {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    exec(compile(written, "test_x.py", "exec"), {"__name__": "kept", "__file__": "test_x.py"})
    assert not (tmp_path / "MARK").exists()


def test_collecting_a_kept_test_runs_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    path = recorded(tmp_path / "home", TEXTS[0])
    assert main(["keep", str(path), "--as", "test_x.py", "--run-foreign"]) == 0
    checked(Path("test_x.py").read_text(encoding="utf-8"))
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--collect-only", "-q", "test_x.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "MARK").exists()


@pytest.mark.sampled
@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_an_exported_script_holds_recorded_words_as_constants_alone(text: str, tmp_path: Path) -> None:
    with reenact.record("session", home=tmp_path) as running:
        boundary.perform(
            Effect("browser", "start", {"viewport_width": 800, "executable_path": text, text: text}), dict
        )
        for kind, fields in (
            ("click", {"selector": text, text: text}),
            ("form_fill", {"value": {text: text, "password": "[[secret:fill:0123abcd]]"}}),
            ("page.goto", {"args": [text], text: text}),
            ("page.click", {"on": text}),
            ("page.fill", {"on": f"page.get_by_label({text!r})", "args": [text]}),
            ("page.click", {"on": "page.evaluate('x')"}),
            ("page.click", {"on": "page.__class__.mro()"}),
            ("page.click", {"on": "re.__loader__.load_module('os')"}),
            ("page.click", {"on": "page.locator('a', has=page.context.browser.close())"}),
        ):
            outcome = {
                "success": text != TEXTS[0],
                "message": text,
                "actor": "script",
                "selectors": {"css": text, text: text},
            }
            boundary.perform(Effect("browser", kind, fields), lambda outcome=outcome: outcome)
        boundary.perform(Effect("heal", "block", {"task": text}, leaf=True), lambda: 0.0)
        boundary.perform(
            Effect("browser", "click", {"selector": text}), lambda: {"success": True, "actor": "script"}
        )
        boundary.perform(Effect("heal", "left", {}, leaf=True), lambda: 0.0)
    written = script.code(running.load()).python_script
    tree = checked(written)
    for node in ast.walk(tree):
        assert not (isinstance(node, ast.keyword) and node.arg == "executable_path")
        assert not (
            isinstance(node, ast.Attribute)
            and node.attr in ("evaluate", "close", "load_module", "mro", "browser")
        )


def test_a_function_is_imported_only_where_the_program_marks_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "shop.py").write_text(
        'from pathlib import Path\nfrom reenact import recorded as r\nimport reenact as x\nPath("MARK").touch()\n'
        "@r\ndef one(): ...\n@x.recorded(name='y')\nasync def two(): ...\ndef three(): ...\n"
        "def recorded(f): return f\n@recorded\ndef four(): ...\n"
    )
    here = tmp_path / "test_x.py"
    marked = [name for name in ("one", "two", "three", "four", "r") if marked_arguments("shop", name, here)]
    assert marked == ["one", "two"]
    for module, function in (
        ("os", "system"), ("builtins", "eval"), ("shop;import os", "one"), ("shop", "one();x"), ("../shop", "one"),
        ("", "one"), ("shop", "__class__"), ("subprocess", "run"), ("pytest", "main"), ("antigravity", "x"),
    ):  # fmt: skip
        assert not marked_arguments(module, function, here)
    assert not (tmp_path / "MARK").exists()


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
@pytest.mark.parametrize("quote", ['"', "'"])
def test_a_patched_selector_is_that_text(text: str, quote: str) -> None:
    try:
        written = patch._quoted(text, quote)
    except patch.Beyond:
        return
    assert ast.literal_eval(written) == text
    assert "\n" not in written


def test_a_patch_of_a_file_whose_name_a_diff_cannot_hold_is_a_remark(tmp_path: Path) -> None:
    heal = HealRecord(
        key="click", action="click", rung="alternative", file=str(tmp_path / "a\n+++ b"), line=1, function="<module>",
        source="", old="#a", new={"css": "#b"}, verified_by="same element",
    )  # fmt: skip
    text = patch.suggested([heal])
    assert text.startswith("# ")
    assert len(text.splitlines()) == 1


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_source_is_what_its_tree_says(text: str) -> None:
    body: list[ast.stmt] = [
        python.docstring([text, text]),
        python.Comment(text),
        ast.Expr(
            python.call(
                python.name("f"),
                [python.literal({text: [text, (text, -1.5)]})],
                {"a": python.literal(text * 30)},
            )
        ),
    ]
    written = python.source(body)
    tree = ast.parse(written)
    assert len(tree.body) == 2
    assert ast.literal_eval(tree.body[1].value.args[0]) == {text: [text, (text, -1.5)]}  # type: ignore[attr-defined]
    with pytest.raises(python.Unwritable):
        python.name(text)


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_reports_hold_no_markup_and_xml_is_whole(text: str) -> None:
    found = verification([outcome("id", Status.DIVERGED, name=text, cause=text, detail=text)])
    assert ET.fromstring(pages.junit(found)).tag == "testsuite"
    page = pages.page(found, title=text)
    page.encode()
    assert "<script" not in page
    assert "default-src 'none'" in page


@pytest.mark.parametrize("text", TEXTS, ids=ascii)
def test_no_text_acts_on_the_terminal(text: str) -> None:
    stream = io.StringIO()
    console = Terminal(file=stream, force_terminal=True, color_system="truecolor", width=200)
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(text))
    table.add_row(Text(text))
    console.print(Text(text), table, markup=False)
    shown = stream.getvalue()
    assert not set(shown) & set("\x07\x9b\u202e\u2066\x0b\x0c\x85")
    assert "\x1b]" not in shown
    assert "\x1b[2J" not in shown


def test_json_on_a_terminal_has_no_character_that_acts() -> None:
    text = orjson.dumps({"a": "\x9b2J\u202e\x7f ok ä"}).decode()
    assert orjson.loads(json_escaped(text)) == {"a": "\x9b2J\u202e\x7f ok ä"}
    assert json_escaped(text).isprintable()


def test_a_caption_cannot_begin_another() -> None:
    assert _lines("one\n\n00:00.000 --> 00:09.000\nFake\x1b") == "one\n00:00.000 --> 00:09.000\nFake"
