"""The patch of a user's script: the very literal, really applied, and what is out of reach told and left alone."""

from __future__ import annotations

import shutil
import subprocess

import pytest

from reenact.browser.heal.heal_record import HealRecord, digest
from reenact.browser.heal.learned_selectors import PatchTrial, learned, replacement
from reenact.browser.heal.patch import patched, suggested, write
from reenact.errors import UsageError

NEW = {"role": 'role=button[name="Buy now"]', "css": "css=#buy-now", "xpath": "xpath=/html/body/button"}
BOTH = """{"css": "#buy-now", "role": 'role=button[name="Buy now"]'}"""


@pytest.fixture
def script(tmp_path, monkeypatch):
    """Writes `shop.py` here; `heal(line, old, ...)` is then one of it, as it is."""
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "shop.py"

    def made(text):
        data = text if isinstance(text, bytes) else text.encode()
        file.write_bytes(data)

        def heal(line, old, **more):
            asked = {
                "key": f"click {old} @/ #{line}", "action": "click", "rung": "alternative", "file": str(file),
                "line": line, "function": "<module>", "source": digest(str(file)), "old": old, "new": NEW,
                "verified_by": "same element",
            }  # fmt: skip
            return HealRecord(**{**asked, **more})

        return file, heal

    return made


def only(file, *heals):
    """The lines that a patch adds; nothing else changes."""
    patch = patched(file, file.read_bytes(), heals)
    lines = patch.diff().splitlines()[2:]
    return [line[1:] for line in lines if line.startswith("+")], patch.remarks


# -- what it changes ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "wanted"),
    [
        ("session.execute(type='click', selector='#buy')  # why", None),
        ('session.execute("click", selector="#buy", timeout=5)', None),
        ('session.execute({"type": "click", "selector": "#buy"})', None),
        ('await session.aexecute(action={"type": "click", "selector": r"#buy"})', None),
        ('session.execute(action=actions.Click(selector="#buy"))', None),
        ('session.execute(Click(selector=("#b" "uy")))', None),
        ('session.execute(type="click", selector={"css": "#buy"})', {"css": "#buy"}),
    ],
)
def test_the_literal_is_replaced_wherever_a_call_may_have_it_and_nothing_else(script, written, wanted):
    file, heal = script(f"async def go(session):\n    {written}\n")
    (line,), remarks = only(file, heal(2, wanted or "#buy", new="#new"))
    assert line == "    " + written.replace('("#b" "uy")', '("#new")').replace(
        '{"css": "#buy"}', '"#new"'
    ).replace('r"#buy"', '"#new"').replace("#buy", "#new")
    assert remarks == []


def test_a_name_and_the_words_are_both_written_and_a_long_line_is_broken(script):
    file, heal = script(
        'session.execute(type="click", selector="#buy")\n'
        'if True:\n    session.execute(type="click", timeout=2000, raise_on_failure=False, selector="#other")\n'
    )
    added, _ = only(file, heal(1, "#buy"), heal(3, "#other"))
    assert added == [
        f'session.execute(type="click", selector={BOTH})',
        '    session.execute(type="click", timeout=2000, raise_on_failure=False, selector={',
        '        "css": "#buy-now",',
        '        "role": \'role=button[name="Buy now"]\',',
        "    })",
    ]


def test_a_call_over_several_lines_is_found_by_any_of_them(script):
    text = "session.execute(\n    type=\"click\",\n    selector='#buy',  # the green one\n)\n"
    file, heal = script(text)
    for line in (1, 3):
        added, _ = only(file, heal(line, "#buy", new={"test_id": '[data-testid="buy"]'}))
        assert added == ["    selector='[data-testid=\"buy\"]',  # the green one"]


def test_two_equal_calls_are_told_apart_by_their_lines(script):
    file, heal = script('session.execute(type="click", selector="#a")\n' * 3)
    patch = patched(file, file.read_bytes(), [heal(2, "#a", new="#b")])
    assert [line.count(b"#b") for line in patch.new.splitlines()] == [0, 1, 0]


def test_a_text_that_would_end_the_string_stays_a_text(script):
    hard = 'text="it\'s" \\ \n\u202e'
    file, heal = script('run = session.execute(type="click", selector="#a")\n')
    patch = patched(file, file.read_bytes(), [heal(1, "#a", new=hard)])
    asked = {}
    session = type("S", (), {"execute": lambda _, **fields: asked.update(fields)})()
    exec(patch.new, {"session": session})
    assert asked["selector"] == hard
    assert patch.new.isascii()


def test_what_says_only_where_an_element_stands_is_written_last():
    assert replacement({"css": "css=body > div:nth-child(2) > button", "xpath": "xpath=//b"}) == (
        "css=body > div:nth-child(2) > button"
    )
    assert (
        replacement({"playwright": 'get_by_label("Name")', "css": "css=form > input"})
        == 'get_by_label("Name")'
    )
    assert replacement({"css": "css=frame=#pay >> css=.x"}) == "css=frame=#pay >> css=.x"


def test_the_newest_verified_heal_of_a_step_counts(script):
    file, heal = script('session.execute(type="click", selector="#a")\n')
    first, second = heal(1, "#a", new="#b"), heal(1, "#a", new="#c")
    worse = heal(1, "#a", new="#d", verified_by="")
    added, remarks = only(file, first, second, worse)
    assert added == ['session.execute(type="click", selector="#c")']
    assert remarks == ["shop.py:1: click #a: not verified; the new selector would be #d"]


def test_a_remark_gives_the_reason_and_names_a_refused_selector_once(script):
    file, heal = script('session.execute(type="click", selector="#a")\n')
    stopped = heal(
        1, "#a", new=None, rung="stop", healed=False, verified_by="", error="No element matches #a"
    )
    tried = PatchTrial({}, "", "on the page of 3kgj3aqf5z, #b finds no element, or several")
    patch = patched(file, file.read_bytes(), [stopped, heal(1, "#a", new="#b")], trials=[None, tried])
    assert patch.remarks == [
        "shop.py:1: click #a: not mended: No element matches #a",
        "shop.py:1: click #a: not changed: on the page of 3kgj3aqf5z, #b finds no element, or several",
    ]


# -- a script that has changed since -----------------------------------------------------------------------------


def test_a_call_that_has_moved_is_found_by_its_selector(script):
    file, heal = script('session.execute(type="click", selector="#a")\n')
    then = heal(1, "#a", new="#b")
    file.write_text('import x\n\nsession.execute(type="click", selector="#a")\n')
    assert only(file, then) == (['session.execute(type="click", selector="#b")'], [])


def test_what_is_in_the_script_already_is_not_said_again(script):
    file, heal = script('session.execute(type="click", selector="#a")\n')
    then = heal(1, "#a")
    file.write_bytes(patched(file, file.read_bytes(), [then]).new)
    assert only(file, then) == ([], [])


@pytest.mark.parametrize(
    ("now", "why"),
    [
        ('session.execute(type="click", selector="#c")\n', "no call has that selector any more"),
        ('session.execute(type="fill", selector="#a", value="")\n', "no call has that selector any more"),
        ('session.execute(type="click", selector="#a")\n' * 2, "2 calls have that selector (lines 1, 2)"),
        ('session.execute(type="click", selector=f"#{x}")\n', "the selector is an f-string"),
    ],
)
def test_where_it_cannot_be_told_which_call_was_meant_nothing_changes(script, now, why):
    file, heal = script('session.execute(type="click", selector="#a")\n')
    then = heal(1, "#a", new="#b")
    file.write_text(now)
    added, (remark,) = only(file, then)
    assert added == []
    assert why in remark


def test_of_two_equal_calls_the_function_tells(script):
    text = (
        'def one(s):\n    s.execute(type="click", selector="#a")\n\n\ndef two(s):\n'
        '    s.execute(type="click", selector="#a")\n'
    )
    file, heal = script(text)
    then = heal(6, "#a", new="#b", function="two")
    file.write_text("import x\n" + text)
    patch = patched(file, file.read_bytes(), [then])
    assert patch.new.splitlines()[6].endswith(b'"#b")')
    assert patch.new.count(b"#b") == 1


# -- what is out of reach ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ('s.execute(type="click", selector=f"#row-{n}")', 1, "the selector is an f-string"),
        ('s.execute(type="click", selector="#row" f"-{n}")', 1, "the selector is an f-string"),
        ('s.execute(type="click", selector="#row-" + n)', 1, "the selector is computed"),
        ('BUY = "#buy"\ns.execute(type="click", selector=BUY)', 2, "the selector is the name BUY, which is set in line 1"),
        ('for n in x:\n    s.execute(type="click", selector="#buy")', 2, "in a loop"),
        ('[s.execute(type="click", selector="#buy") for n in x]', 1, "in a loop"),
        ("s.execute(**step)", 1, "the arguments are unpacked (**)"),
        ("s.execute(step)", 1, "the action is made elsewhere"),
        ('s.execute({**step, "type": "click"})', 1, "the dict is unpacked"),
        ('s.execute(type="click", selector="#a"), s.execute(type="click", selector="#a")', 1, "several calls"),
        ("helper(s)", 1, "no call of execute() in this line"),
    ],
)  # fmt: skip
def test_what_is_no_literal_in_the_call_is_told_with_its_place_and_never_guessed(script, text, line, why):
    file, heal = script(text + "\n")
    added, (remark,) = only(file, heal(line, "#a" if "several" in why else "#buy"))
    assert added == []
    assert remark.startswith(f"shop.py:{line}: click #")
    assert why in remark


def test_a_call_that_means_several_elements_is_left_alone(script):
    file, heal = script('def go(s):\n    s.execute(type="click", selector="#a")\n')
    added, remarks = only(file, heal(2, "#a", key="on /x", new="#b"), heal(2, "#a", key="on /y", new="#c"))
    assert added == []
    assert len(remarks) == 2


def test_agents_waits_and_calls_of_the_page_change_nothing_and_are_told(script):
    file, heal = script('s.execute(type="click", selector="#a")\ns.page.click("#b")\n')
    added, remarks = only(
        file,
        heal(1, "#a", rung="agent", new=None),
        heal(1, "#a", rung="wait", new=None),
        heal(2, None, action="page.click", new=None),
    )
    assert added == []
    assert [
        words in remark
        for words, remark in zip(("export-script", "as it is", "session.page"), remarks, strict=True)
    ]


def test_a_script_that_is_gone_or_no_python_is_named(script):
    file, heal = script("def (:\n")
    with pytest.raises(UsageError, match=r"shop\.py, line 1: this is no Python"):
        suggested([heal(1, "#a")])
    then = heal(1, "#a")
    file.unlink()
    assert "# shop.py:1: click #a: its script cannot be read" in suggested([then])


# -- applied -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("tool", [["patch", "-p0", "-i"], ["git", "apply", "-p0"]])
@pytest.mark.parametrize(
    "text",
    [
        'x = 1\n\x0c\ns.execute(type="click", selector="#a")\ny = "\u2028ü"',
        '\ufeffx = 1\r\ns.execute(type="click", selector="#a")\r\n'.encode(),
        '# -*- coding: latin-1 -*-\nx = "\xfc"\ns.execute(type="click", selector="#a")\n'.encode("latin-1"),
    ],
)
def test_the_diff_applies_whatever_the_text_is_like(script, tool, text, tmp_path):
    if shutil.which(tool[0]) is None:
        pytest.skip(f"no {tool[0]} here")
    file, heal = script(text)
    before = file.read_bytes()
    line = 1 + before[: before.index(b"s.execute")].count(b"\n")
    patch = patched(file, before, [heal(line, "#a", new="#b"), heal(line, "#a", verified_by="")])
    assert patch.new == before.replace(b"#a", b"#b")
    (tmp_path / "new.diff").write_bytes(patch.text().encode("utf-8", "surrogateescape"))
    if tool[0] == "patch":
        tool = ["patch", "--binary", *tool[1:]]
    done = subprocess.run(
        [*tool, "new.diff"], cwd=tmp_path, capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert file.read_bytes() == patch.new


def git(folder, *words):
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.com", "-c", "commit.gpgsign=false"]
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, capture_output=True, timeout=30)


def test_writing_keeps_the_old_text_and_refuses_what_would_lose_work(script, tmp_path):
    text = 's.execute(type="click", selector="#a")\n'
    file, heal = script(text)
    patch = patched(file, file.read_bytes(), [heal(1, "#a", new="#b")])
    assert write(patch) == "the old text is in shop.py.orig"
    assert (file.read_bytes(), (tmp_path / "shop.py.orig").read_text()) == (patch.new, text)
    file.write_text(text)
    with pytest.raises(UsageError, match=r"shop\.py\.orig is there already"):
        write(patch)
    (tmp_path / "shop.py.orig").unlink()
    file.write_text("# mine\n" + text)
    with pytest.raises(UsageError, match="has changed meanwhile"):
        write(patch)
    moved = patched(file, file.read_bytes(), patch.changed)
    with pytest.raises(UsageError, match="has changed since it was run, and git does not keep it"):
        write(moved)
    assert file.read_text() == "# mine\n" + text


def test_where_git_keeps_the_script_it_is_written_if_nothing_waits_to_be_committed(script, tmp_path):
    file, heal = script('s.execute(type="click", selector="#a")\n')
    patch = patched(file, file.read_bytes(), [heal(1, "#a", new="#b")])
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "shop.py")
    with pytest.raises(UsageError, match="not committed"):
        write(patch)
    git(tmp_path, "commit", "-q", "-m", "x")
    assert "git diff" in write(patch)
    assert not (tmp_path / "shop.py.orig").exists()


# -- a new selector says what the old one says -------------------------------------------------------------------

LEARNED = {"test_id": "[data-test=del]", "role": 'role=button[name="Delete"]', "css": "css=#del"}


@pytest.mark.parametrize(
    ("old", "after", "wanted"),
    [
        ("li:has-text('Invoice 18') >> text=Delete", {"key": "Invoice 18", "tag": "li"}, 'li:has-text("Invoice 18") >> role=button[name="Delete"]'),
        ("li:nth-child(2) button", {"key": "Invoice 18", "tag": "li"}, {"test_id": "[data-test=del]", "role": 'li:has-text("Invoice 18") >> role=button[name="Delete"]'}),
        ("text=Delete", None, 'role=button[name="Delete"]'),
        ("#del-7", None, {"test_id": "[data-test=del]", "role": 'role=button[name="Delete"]'}),
    ],
)  # fmt: skip
def test_a_learned_selector_states_all_that_the_old_one_states(script, old, after, wanted):
    _, heal = script("pass")
    told = {} if after is None else {"fingerprint": {"record": after}}
    assert learned(heal(1, old, new=LEARNED, after=told)) == wanted


def test_a_learned_selector_that_says_less_is_told_and_not_written(script):
    file, heal = script("session.execute(type='click', selector=\"li:has-text('Bob') >> .del\")")
    added, remarks = only(file, heal(1, "li:has-text('Bob') >> .del", new={"css": "css=#del"}))
    assert added == []
    assert "no learned selector says 'Bob', as the old one does" in remarks[0]
