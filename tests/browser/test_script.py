"""A recorded session as a script: it is Python, it says what was done, and it keeps no secret and runs no page's text."""

from __future__ import annotations

import ast
import re
import sys
from contextlib import contextmanager

import pytest

import reenact
from reenact.analysis.report import python
from reenact.browser.script import script
from reenact.core import boundary
from reenact.core.model.event import Effect
from reenact.errors import UsageError

SIGN_IN = {"playwright": 'get_by_role("button", name="Sign in")', "css": "#login > button:nth-of-type(1)"}


def did(kind, *, actor="script", success=True, message="done", selectors=None, **fields):
    """One action as a session records it."""
    outcome = {"success": success, "message": message, "actor": actor, "selectors": selectors}
    boundary.perform(Effect("browser", kind, fields), lambda: outcome)


def agent(task, id="a1"):
    """An agent's start, and the stretch that is its own."""
    scope = boundary.current().span("agent:browser")
    with boundary.entered(scope):
        boundary.perform(
            Effect("agent", "start", {"task": task}, leaf=True), lambda: {"agent_id": id, "at": 0}
        )
    return boundary.entered(scope)


@pytest.fixture
def recording(tmp_path):
    with reenact.record("session", home=tmp_path) as running:
        yield running


def written(recording, **options):
    return script.code(recording.load(), **options).python_script


def calls(text):
    """The calls of a script, in order, as (function, arguments), with literals as values."""
    found = []
    for node in sorted(ast.walk(ast.parse(text)), key=lambda node: getattr(node, "lineno", 0)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "execute"
        ):
            found.append({word.arg: value_of(word.value) for word in node.keywords})
    return found


def value_of(node):
    try:
        return ast.literal_eval(node)
    except ValueError:
        return ast.unparse(node)


def test_actions_become_calls_with_durable_selectors(recording):
    did("start", viewport_width=800)
    did("goto", url='https://example.com/?q="a"')
    did("click", id="B1", selectors=SIGN_IN)
    did("fill", selector="#q", value="two\nlines", timeout=900)
    text = written(recording)
    assert calls(text) == [
        {"type": "goto", "url": 'https://example.com/?q="a"'},
        {"type": "click", "selector": SIGN_IN},
        {"type": "fill", "selector": "#q", "value": "two\nlines", "timeout": 900},
    ]
    assert "client.Session(viewport_width=800) as session:" in text
    assert max(map(len, text.splitlines())) <= python.WIDTH + 20


def test_what_an_agent_did_stands_in_a_block_that_falls_back_to_one(recording):
    did("goto", url="http://x/")
    with agent('Say "yes"\nand go'):
        did("click", actor="agent", id="B9", success=False, selectors=SIGN_IN)
        did("observe", actor="agent")
        did("click", actor="agent", id="B1", selectors=SIGN_IN)
        did("completion", actor="agent", success=True, answer="x")
    did("press_key", key="Enter")
    body = ast.parse(written(recording)).body[-1].body
    assert [type(part).__name__ for part in body] == ["Expr", "With", "Expr"]
    block = ast.unparse(body[1].items[0].context_expr)
    assert block == "client.AgentFallback(session, task='Say \"yes\"\\nand go')"
    assert len(body[1].body) == 1
    data = script.code(recording.load()).json_actions
    assert [(one["type"], one["actor"]) for one in data] == [
        ("goto", "script"),
        ("click", "agent"),
        ("press_key", "script"),
    ]
    assert data[1]["task"] == 'Say "yes"\nand go'


@contextmanager
def block(task):
    """A block of `AgentFallback`, as it records itself."""
    boundary.perform(Effect("heal", "block", {"task": task}, leaf=True), lambda: 0.0)
    yield
    boundary.perform(Effect("heal", "left", {}, leaf=True), lambda: 0.0)


def blocks(text):
    """The blocks of a script: the task of each, and its actions."""
    withs = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.With)][1:]
    return [
        (
            value_of(one.items[0].context_expr.keywords[0].value),
            [each["type"] for each in calls(ast.unparse(one))],
        )
        for one in withs
    ]


def test_a_block_that_needed_no_help_is_one_again(recording):
    did("goto", url="http://x/")
    with block("Buy tea"):
        did("fill", selector="#name", value="Ada")
        did("click", selector="#buy")
    with block("Look around"):
        pass
    did("press_key", key="Enter")
    text = written(recording)
    assert blocks(text) == [("Buy tea", ["fill", "click"])]
    assert [one["type"] for one in calls(text)] == ["goto", "fill", "click", "press_key"]


def test_who_helped_in_a_block_did_it_in_the_place_of_the_step_that_failed(recording):
    with block("Buy tea"):
        did("click", selector="#gone", success=False, message="there is no #gone")
        did("click", actor="heal", selector="#buy")
        did("click", selector="#none", success=False, message="there is no #none")
        with agent("Buy tea"):
            did("press_key", actor="agent", key="Enter")
    with block("Pay"):
        did("click", selector="#pay", success=False, message="there is no #pay")
    text = written(recording)
    assert blocks(text) == [("Buy tea", ["click", "press_key"]), ("Pay", [])]
    assert text.count("# click failed: there is no #") == 3


def test_a_block_is_of_the_session_that_acts_in_it(recording):
    for task in ("one", "other"):
        did("start")
        with block(task):
            did("press_key", key="A")
    first, second = (f"{recording.id}.{number}" for number in (1, 2))
    assert blocks(written(recording, session=first)) == [("one", ["press_key"])]
    assert blocks(written(recording, session=second)) == [("other", ["press_key"])]


def test_two_agents_are_told_apart_and_one_can_be_had_alone(recording):
    for id, key in (("a1", "A"), ("a2", "B")):
        with agent(f"press {key}", id):
            did("press_key", actor="agent", key=key)
    text = written(recording)
    assert text.count("AgentFallback") == 2
    assert [one["key"] for one in calls(written(recording, agent="a2"))] == ["B"]


def test_a_secret_is_read_from_the_environment_by_a_name_that_tells_what_it_is(recording):
    token = "[[secret:fill:0123abcd]]"
    password = {"playwright": 'get_by_role("textbox", name="Your password")'}
    did("fill", id="I2", value=token, selectors=password)
    did("fill", id="I7", value=token, selectors={"css": "#pin"})
    did("form_fill", value={"email": "a@b.c", "cc_number": token})
    text = written(recording)
    assert [one["value"] for one in calls(text)[:2]] == [
        "os.environ['REENACT_INPUT_YOUR_PASSWORD']",
        "os.environ['REENACT_INPUT_PIN']",
    ]
    assert '"cc_number": os.environ["REENACT_INPUT_CC_NUMBER"]' in text
    assert "secret:" not in text
    assert text.count("# A secret was filled in here") == 3
    assert "import os" in text
    assert script.code(recording.load()).json_actions[0]["value"] == "${REENACT_INPUT_YOUR_PASSWORD}"


def test_no_field_of_a_page_can_name_another_variable_of_the_environment(recording):
    token = "[[secret:text:1a2b3c4d]]"
    for name in ("AWS_SECRET_ACCESS_KEY", "aws secret access key", "AWS_SECRET_ACCESS_KEY__2", "1"):
        did("fill", value=token, selectors={"playwright": f'get_by_label("{name}")'})
    variables = re.findall(r"os\.environ\[.(\w+).\]", written(recording))
    assert variables == [
        "REENACT_INPUT_AWS_SECRET_ACCESS_KEY",
        "REENACT_INPUT_AWS_SECRET_ACCESS_KEY__2",
        "REENACT_INPUT_AWS_SECRET_ACCESS_KEY_2",
        "REENACT_INPUT_SECRET",
    ]


def test_nothing_that_a_page_said_becomes_code(recording):
    evil = 'x"""\nimport os; os.abort()\r\u2028#'
    with agent(evil):
        did("click", actor="agent", id="B1", selectors={"css": evil, "text": evil})
    did("click", selector=evil, success=False, message=evil)
    text = written(recording)
    tree = ast.parse(text)
    assert [type(node).__name__ for node in tree.body] == ["Expr", "ImportFrom", "Assign", "With"]
    assert calls(text)[-1]["selector"] == evil
    assert not [line for line in text.splitlines() if line.lstrip().startswith("import os")]


def test_a_step_that_failed_in_the_script_is_there_and_may_fail_again(recording):
    did("click", selector="#gone", success=False, message="there is no #gone")
    text = written(recording)
    assert calls(text) == [{"type": "click", "selector": "#gone", "raise_on_failure": False}]
    assert "# It failed: there is no #gone" in text


def test_calls_of_the_page_are_playwrights_and_what_only_looks_is_left_out(recording):
    def page(name, **fields):
        boundary.perform(
            Effect("browser", f"page.{name}", fields), lambda: {"value": None, "url": "", "tab": 0}
        )

    page("goto", args=["http://x/"], wait_until="load")
    page("title")
    page("fill", on="page.get_by_label(re.compile('Pass'))", args=["[[secret:fill:0123abcd]]"])
    page("click", on="elementhandle3")
    page("click", on="__import__('os').abort()")
    did("set_cookies", cookies=[])
    text = written(recording)
    assert [line.strip() for line in text.splitlines() if line.startswith("    session")] == [
        'session.page.goto("http://x/", wait_until="load")',
        "session.page.get_by_label(re.compile('Pass')).fill(os.environ[\"REENACT_INPUT_PASS\"])",
    ]
    assert text.count("# Left out") == 2
    assert "import os\nimport re\n" in text
    assert "# Cookies were set here" in text
    ast.parse(text)


def test_a_recording_without_a_session_says_so(recording):
    with pytest.raises(UsageError, match="has no browser session"):
        script.code(recording.load())


APP = '''
from reenact import Client

PAGE = """data:text/html,<title>Shop</title>
<label>Item <select id=item><option>green<option>black</select></label>
<label>Name <input id=name></label><label>Password <input id=pw type=password></label>
<label><input type=checkbox id=gift> Gift</label>
<button onclick="said.textContent = [item.value, document.all.name.value, pw.value.length, gift.checked]">Buy</button>
<p id=said></p>"""

with Client().Session(viewport_width=900) as session:
    session.execute(type="goto", url=PAGE)
    session.observe()
    session.execute(type="select_dropdown_option", selector="#item", value="black")
    session.execute(type="fill", id="I2", value="Ada")
    session.execute(type="fill", selector="#pw", value="hunter2")
    session.execute(type="click", selector="#nothing", timeout=50, raise_on_failure=False)
    session.execute(type="check", selector="~Gift", value=True)
    session.page.get_by_role("button", name="Buy").click()
    session.execute(type="evaluate_js", code="said.textContent")
'''


def test_running_the_script_of_a_session_does_the_same_on_the_same_page(shell):
    shell.write("app.py", APP)
    first = shell.run("record", "--", sys.executable, "app.py")
    if "no browser" in first.err:
        pytest.skip(first.err)
    assert first.status == 0, first.err
    assert shell.run("export-script", "last", "-o", "script.py").status == 0
    text = (shell.folder / "script.py").read_text()
    assert "hunter2" not in text
    assert 'id="' not in text
    again = shell.run("record", "--", sys.executable, "script.py", env={"REENACT_INPUT_PASSWORD": "hunter2"})
    assert again.status == 0, again.err
    runs = [did_in(shell, ref) for ref in shell.run("list", "--json").json]
    assert runs[0] == runs[1]
    assert runs[0][-1] == ("evaluate_js", True, "black,Ada,7,true")


def did_in(shell, listed):
    recording = reenact.load(listed["id"], home=shell.home)
    return [
        (step.call.name, step.output.get("success"), step.output.get("data"))
        for step in recording.steps
        if step.call.kind == "browser" and step.call.name not in {"start", "observe"}
    ]


def test_a_comment_that_is_cut_says_so():
    assert python.source([python.Comment("y" * 300)]).rstrip() == f"# {'y' * 109}…"
    assert python.source([python.Comment("y" * 110)]).rstrip() == f"# {'y' * 110}"
