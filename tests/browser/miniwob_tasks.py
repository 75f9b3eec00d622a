"""MiniWoB++ tasks solved by plain actions, as a person would write a script for each.

A task is a generator: it is given what the page asks for and a way to read the page (`ask(javascript)`), and yields
one action after the other. The page itself says at the end whether that was right.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

Action = dict[str, Any]
Ask = Callable[[str], Any]
Task = Callable[[str, Ask], Iterator[Action]]

TASKS: dict[str, Task] = {}

SEEDS = {
    "click-tab-2-medium": "abd",
    "use-autocomplete-nodelay": "bce",
    "click-button-sequence": "bcd",
    "click-test-2": "bcd",
    "click-test-transfer": "bcd",
}
"""With other seeds these pages lay one button over the other, or ask for what is not on them."""

START = "core.EPISODE_MAX_TIME = 1e6; Math.seedrandom(SEED); core.startEpisodeReal()"
DONE = "WOB_DONE_GLOBAL"
REWARD = "WOB_RAW_REWARD_GLOBAL"
TEXT = "core.getUtterance()"

SUBMIT = {"type": "click", "selector": "role=button[name='Submit']"}


def task(function: Task) -> Task:
    """Add a task under its page's name."""
    TASKS[function.__name__.replace("_", "-")] = function
    return function


def click(selector: str) -> Action:
    return {"type": "click", "selector": selector}


def fill(selector: str, value: str) -> Action:
    return {"type": "fill", "selector": selector, "value": value}


def quoted(text: str) -> list[str]:
    """What stands in quotes in a sentence."""
    return re.findall(r'"([^"]*)"', text)


def between(text: str, first: str, last: str) -> str:
    """What stands between two words."""
    return text.partition(first)[2].rpartition(last)[0].strip()


def texts(ask: Ask, selector: str) -> list[str]:
    """The texts of all elements that match."""
    found = ask(f"[...document.querySelectorAll({selector!r})].map(e => e.innerText.trim())")
    return [str(text) for text in found]


# -- buttons, links, tabs ------------------------------------------------------------------------------------


@task
def click_button(text: str, ask: Ask) -> Iterator[Action]:
    yield click(f"#area >> button:text-is('{quoted(text)[0]}') >> nth=0")


@task
def click_button_sequence(text: str, ask: Ask) -> Iterator[Action]:
    yield click("role=button[name='ONE']")
    yield click("role=button[name='TWO']")


@task
def button_delay(text: str, ask: Ask) -> Iterator[Action]:
    yield click("#subbtn")
    waits = int(re.findall(r"wait (\d)", text)[0]) * 1000
    yield {"type": "wait", "time_ms": waits}
    # The page's clock counts the wait alone, and not the time that a busy machine takes for the clicks.
    ask(f"(now => {{ Date.prototype.getTime = () => now }})(currentTime + {waits})")
    yield click("#subbtn2")


@task
def click_test(text: str, ask: Ask) -> Iterator[Action]:
    yield click("role=button[name='Click Me!']")


@task
def click_test_2(text: str, ask: Ask) -> Iterator[Action]:
    yield click("role=button[name='ONE']")


@task
def click_test_transfer(text: str, ask: Ask) -> Iterator[Action]:
    yield click("role=button[name='ONE']")


@task
def unicode_test(text: str, ask: Ask) -> Iterator[Action]:
    yield click(f"#area >> button:text-is('{quoted(text)[0]}') >> nth=0")


@task
def click_link(text: str, ask: Ask) -> Iterator[Action]:
    yield click(f"#area .alink:text-is('{quoted(text)[0]}') >> nth=0")


@task
def click_tab(text: str, ask: Ask) -> Iterator[Action]:
    yield click(f"#area >> role=tab[name='{between(text, 'on', '.')}']")


def _through_tabs(text: str, ask: Ask) -> Iterator[Action]:
    link = quoted(text)[0]
    panels = texts_of_panels(ask)
    number = next(place for place, links in enumerate(panels, 1) if link in links)
    if len(panels) > 1:
        yield click(f"#area [role=tab] >> nth={number - 1}")
    yield click(f"#tabs-{number} .alink:text-is('{link}') >> nth=0")


def texts_of_panels(ask: Ask) -> list[list[str]]:
    """The links on each tab's panel, seen or not."""
    code = "[...document.querySelectorAll('#area [role=tabpanel]')].map(p => [...p.querySelectorAll('.alink')].map(e => e.textContent.trim()))"
    return [list(panel) for panel in ask(code)]


for _name in ("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard"):
    TASKS[_name] = _through_tabs


@task
def click_dialog(text: str, ask: Ask) -> Iterator[Action]:
    yield click(".ui-dialog-titlebar-close")


@task
def click_dialog_2(text: str, ask: Ask) -> Iterator[Action]:
    wanted = (quoted(text) or ["x"])[0]
    yield click(".ui-dialog-titlebar-close" if wanted == "x" else f".ui-dialog button:text-is('{wanted}')")


@task
def click_collapsible(text: str, ask: Ask) -> Iterator[Action]:
    yield click("#area h3")
    yield {"type": "wait", "time_ms": 400}
    yield click("#subbtn")


@task
def click_collapsible_nodelay(text: str, ask: Ask) -> Iterator[Action]:
    yield click("#area h3")
    yield click("#subbtn")


@task
def click_collapsible_2_nodelay(text: str, ask: Ask) -> Iterator[Action]:
    link = quoted(text)[0]
    code = "[...document.querySelectorAll('#area h3 + div')].map(p => [...p.querySelectorAll('.alink')].map(e => e.textContent))"
    number = next(place for place, links in enumerate(ask(code)) if link in links)
    shown = ask(f"document.querySelectorAll('#area h3')[{number}].getAttribute('aria-expanded')")
    if shown != "true":
        yield click(f"#area h3 >> nth={number}")
    yield click(f"#area h3 + div >> nth={number} >> .alink:text-is('{link}') >> nth=0")


@task
def click_color(text: str, ask: Ask) -> Iterator[Action]:
    yield click(f".color[data-color='{between(text, 'the', 'colored')}']")


@task
def click_shades(text: str, ask: Ask) -> Iterator[Action]:
    color = between(text, "shades of", "and")
    count = ask(f"document.querySelectorAll('#area span[data-color={color}]').length")
    for place in range(int(count)):
        yield click(f"#area span[data-color='{color}'] >> nth={place}")
    yield click("#submit")


@task
def click_widget(text: str, ask: Ask) -> Iterator[Action]:
    yield click(f"#area [data-type='{quoted(text)[0]}'] >> nth=0")


@task
def grid_coordinate(text: str, ask: Ask) -> Iterator[Action]:
    yield click(f"[id='{text.partition('coordinate ')[2].rstrip('.')}']")


def texts_of(ask: Ask, selector: str) -> list[str]:
    """The text contents of all elements that match, drawn ones too."""
    return [
        str(text) for text in ask(f"[...document.querySelectorAll({selector!r})].map(e => e.textContent)")
    ]


@task
def phone_book(text: str, ask: Ask) -> Iterator[Action]:
    name = between(text, "Find", "in the")
    wanted = "email" if "email" in text else "phone" if "phone" in text else "address"
    for _ in range(12):
        if texts(ask, "#contact h2") == [name]:
            break
        yield click("#pagination .next a")
    yield click(f"#contact a.{wanted}")


@task
def navigate_tree(text: str, ask: Ask) -> Iterator[Action]:
    name = quoted(text)[0]
    code = (
        "(name => { const at = [...document.querySelectorAll('#tree span')].find(e => e.textContent === name);"
        " const up = []; for (let li = at.closest('li').parentElement.closest('li'); li; li = li.parentElement.closest('li'))"
        " up.unshift(li.querySelector('span').textContent); return up })"
    )
    for folder in ask(f"{code}({name!r})"):
        yield click(f"#tree span:text-is('{folder}')")
        yield {"type": "wait", "time_ms": 50}
    yield click(f"#tree span:text-is('{name}')")


@task
def search_engine(text: str, ask: Ask) -> Iterator[Action]:
    place = int(re.findall(r"the (\d+)\w\w search", text)[0])
    yield fill("#search-text", quoted(text)[0])
    yield click("#search")
    for _ in range((place - 1) // 3):
        yield click("#pagination .next a")
    yield click(f"#page-content a >> nth={(place - 1) % 3}")


# -- lists, boxes, choices -----------------------------------------------------------------------------------


def _tick(text: str, ask: Ask) -> Iterator[Action]:
    for word in between(text, "Select", "and click Submit").split(", "):
        if word and word != "nothing":
            yield {"type": "check", "selector": f"#area label:text-is('{word}') >> input", "value": True}
    yield click("#subbtn")


for _name in ("click-checkboxes", "click-checkboxes-large", "click-checkboxes-transfer", "click-option"):
    TASKS[_name] = _tick


@task
def choose_list(text: str, ask: Ask) -> Iterator[Action]:
    value = between(text, "Select", "from the list")
    yield {"type": "select_dropdown_option", "selector": "#options", "value": value}
    yield SUBMIT


@task
def click_scroll_list(text: str, ask: Ask) -> Iterator[Action]:
    for number, value in enumerate(between(text, "Select", "from the scroll list").split(", ")):
        if number:
            code = f"[...document.querySelectorAll('#options option')].find(e => e.text === {value!r}).selected = true"
            yield {"type": "evaluate_js", "code": code}
        else:
            yield {"type": "select_dropdown_option", "selector": "#options", "value": value}
    yield SUBMIT


@task
def form_sequence_2(text: str, ask: Ask) -> Iterator[Action]:
    radio, box = re.findall(r"(\d)\w\w (?:radio|textbox)", text)
    yield {"type": "check", "selector": f"#area input[type=radio] >> nth={int(radio) - 1}", "value": True}
    yield fill(f"#input-{box}", quoted(text)[0])
    yield click("#subbtn")


@task
def form_sequence_3(text: str, ask: Ask) -> Iterator[Action]:
    yield click(".selectric")
    yield click(f".selectric-items li:text-is('{between(text, 'Choose', 'from')}')")
    yield click(f"#buttons button:text-is('{quoted(text)[0]}')")


@task
def odd_or_even(text: str, ask: Ask) -> Iterator[Action]:
    for place, number in enumerate(texts(ask, ".display-number")):
        yield click(f".row >> nth={place} >> .{'odd' if int(number) % 2 else 'even'}")
    yield click("#submit")


@task
def find_greatest(text: str, ask: Ask) -> Iterator[Action]:
    values = [int(value) for value in texts_of(ask, ".card-value")]
    yield click(f".card >> nth={values.index(max(values))}")
    yield click("#submit")


@task
def identify_shape(text: str, ask: Ask) -> Iterator[Action]:
    code = "(e => [e.tagName, e.textContent, (e.getAttribute('points') || '').trim().split(/[ ,]+/).length])(document.querySelector('#area_svg > *'))"
    tag, drawn, points = ask(code)
    kinds = {"rect": "rectangle", "circle": "circle"}
    kind = kinds.get(tag) or ("triangle" if tag == "polygon" and points else "")
    kind = kind or ("digit" if str(drawn).isdigit() else "letter")
    yield click(f"#area-buttons button[data-type='{kind}']")


@task
def buy_ticket(text: str, ask: Ask) -> Iterator[Action]:
    if "duration" in text:
        values = ask("[...document.querySelectorAll('.time-duration')].map(e => +e.dataset.duration)")
    else:
        values = ask("[...document.querySelectorAll('.buy-ticket')].map(e => +e.dataset.price)")
    best = max(values) if "longest" in text or "most expensive" in text else min(values)
    yield click(f".buy-ticket >> nth={values.index(best)}")


# -- texts and forms -----------------------------------------------------------------------------------------


def _enter(text: str, ask: Ask) -> Iterator[Action]:
    yield fill("#tt", quoted(text)[0])
    yield click("#subbtn")


for _name in ("enter-text", "enter-text-dynamic"):
    TASKS[_name] = _enter


@task
def enter_text_2(text: str, ask: Ask) -> Iterator[Action]:
    word = quoted(text)[0]
    yield fill("#tt", word.upper() if "upper" in text else word.lower())
    yield click("#subbtn")


@task
def enter_password(text: str, ask: Ask) -> Iterator[Action]:
    yield fill("#password", quoted(text)[0])
    yield fill("#verify", quoted(text)[0])
    yield click("#subbtn")


@task
def enter_date(text: str, ask: Ask) -> Iterator[Action]:
    month, day, year = re.findall(r"\d+", text)
    yield fill("#tt", f"{year}-{month}-{day}")
    yield click("#subbtn")


@task
def enter_time(text: str, ask: Ask) -> Iterator[Action]:
    hour, minute, half = re.findall(r"(\d+):(\d+) ([AP]M)", text)[0]
    yield fill("#tt", f"{int(hour) % 12 + (12 if half == 'PM' else 0):02}:{minute}")
    yield click("#subbtn")


def _log_in(text: str, ask: Ask) -> Iterator[Action]:
    name, word = quoted(text)[:2]
    yield fill("#username", name)
    yield fill("#password", word)
    yield click("#subbtn")


TASKS["login-user"] = _log_in


def _copy(text: str, ask: Ask) -> Iterator[Action]:
    number = re.findall(r"the (\d)\w\w text", text)
    yield fill("#answer-input", str(ask(f"document.querySelector('#{_area(number)}').value")))
    yield click("#subbtn")


def _area(number: list[str]) -> str:
    return f"text-{number[0]}" if number else "to-copy"


TASKS["copy-paste"] = TASKS["copy-paste-2"] = _copy


@task
def find_word(text: str, ask: Ask) -> Iterator[Action]:
    words = texts(ask, "#area p")[0].split()
    word = words[int(re.findall(r"the (\d+)", text)[0]) - 1]
    yield fill("#answer-input", word.strip(".,"))
    yield click("#subbtn")


@task
def focus_text(text: str, ask: Ask) -> Iterator[Action]:
    yield click("#tt")


@task
def focus_text_2(text: str, ask: Ask) -> Iterator[Action]:
    place = re.findall(r"the (\d)", text)[0]
    yield click(f"#tt{place}")


def _search(text: str, ask: Ask) -> Iterator[Action]:
    genre, director, year = re.findall(r"for (\S+) movies directed by (\S+) from year (\d+)", text)[0]
    labels = ask(
        "[...document.querySelectorAll('#area input[type=text]')].map(e => "
        "(e.closest('tr') || e.closest('p') || e.parentElement).innerText + ' ' + (e.placeholder || '') + ' ' + (e.previousElementSibling?.innerText || ''))"
    )
    for word, value in (("genre", genre), ("director", director), ("year", year)):
        place = next(number for number, label in enumerate(labels) if word in str(label).lower())
        yield fill(f"#area input[type=text] >> nth={place}", value)
    yield click("#area .final, #area button >> nth=0")


TASKS["multi-orderings"] = _search


@task
def read_table(text: str, ask: Ask) -> Iterator[Action]:
    yield fill("#tt", _cell(ask, between(text, "value of", "into")))
    yield click("#subbtn")


@task
def read_table_2(text: str, ask: Ask) -> Iterator[Action]:
    for number in (1, 2):
        key = ask(f"document.querySelector('#ll{number}').dataset.key")
        yield fill(f"#tt{number}", _cell(ask, str(key)))
    yield click("#subbtn")


def _cell(ask: Ask, key: str) -> str:
    rows = ask("[...document.querySelectorAll('#tab tr')].map(r => [...r.cells].map(c => c.innerText))")
    return str(dict(rows)[key])


@task
def scroll_text(text: str, ask: Ask) -> Iterator[Action]:
    words = str(ask("document.querySelector('#text-area').value")).split()
    yield fill("input[type=text]", words[-1].rstrip(".,"))
    yield click("#subbtn")


@task
def simple_algebra(text: str, ask: Ask) -> Iterator[Action]:
    left, _, right = texts(ask, "#math-problem")[0].partition("=")
    first, sign, second = left.split()
    total = int(right)
    if first == "x":
        answer = total - int(second) if sign == "+" else total + int(second)
    else:
        answer = total - int(first) if sign == "+" else int(first) - total
    yield fill("#math-answer", str(answer))
    yield click("#subbtn")


@task
def simple_arithmetic(text: str, ask: Ask) -> Iterator[Action]:
    first, sign, second = texts(ask, "#math-problem")[0].rstrip("= ").split()
    numbers = int(first), int(second)
    answer = {"+": sum(numbers), "-": numbers[0] - numbers[1], "x": numbers[0] * numbers[1]}[sign]
    yield fill("#math-answer", str(answer))
    yield click("#subbtn")


@task
def text_transform(text: str, ask: Ask) -> Iterator[Action]:
    yield fill("#tt", str(ask("document.querySelector('#captcha').textContent")).strip())
    yield click("#subbtn")


@task
def use_autocomplete_nodelay(text: str, ask: Ask) -> Iterator[Action]:
    first, *last = quoted(text)
    yield {"type": "fallback_fill", "selector": "#tags", "value": first}
    end = last[0] if last else ""
    yield click(f".ui-autocomplete li >> text=/^{re.escape(first)}.*{re.escape(end)}$/ >> nth=0")
    yield click("#subbtn")


@task
def use_spinner(text: str, ask: Ask) -> Iterator[Action]:
    yield fill("#spinner", re.findall(r"Select (-?\d+)", text)[0])
    yield click("#subbtn")


@task
def visual_addition(text: str, ask: Ask) -> Iterator[Action]:
    yield fill("#math-answer", str(ask("document.querySelectorAll('.addition-block').length")))
    yield click("#subbtn")


@task
def guess_number(text: str, ask: Ask) -> Iterator[Action]:
    low, high = 0, 9
    while not ask(DONE):
        guess = (low + high) // 2
        yield fill("#tt", str(guess))
        yield click("#subbtn")
        shown = " ".join(texts(ask, "#feedback > div:not(.hide)"))
        low, high = (low, guess - 1) if "lower" in shown else (guess + 1, high)


@task
def generate_number(text: str, ask: Ask) -> Iterator[Action]:
    for _ in range(60):
        yield click("#generate")
        if _fits(int(texts(ask, "#display-number")[0]), text):
            break
    yield click("#submit")


def _fits(number: int, text: str) -> bool:
    bound = re.findall(r"(greater|less) than (\d+)", text)
    if bound:
        word, limit = bound[0]
        return number > int(limit) if word == "greater" else number < int(limit)
    return number % 2 == (0 if "even" in text else 1)


# -- mail, posts ---------------------------------------------------------------------------------------------


def _thread(sender: str) -> str:
    return f".email-thread:has(.email-sender:text-is('{sender}')) >> nth=0"


def _mail(text: str, ask: Ask) -> Iterator[Action]:
    sender = re.findall(r"by (\w+)", text)[0]
    if "trash" in text or "delete" in text:
        yield click(f"{_thread(sender)} >> .trash")
    elif "star" in text or "important" in text:
        yield click(f"{_thread(sender)} >> .star")
    elif "forward" in text:
        yield click(_thread(sender))
        yield click(".email-forward")
        yield fill("#forward .forward-sender", re.findall(r"to (\w+)\.", text)[0])
        yield click("#send-forward")
    else:
        yield click(_thread(sender))
        yield click(".email-reply")
        yield fill("#reply-text", quoted(text)[0])
        yield click("#send-reply")


for _name in (
    "email-inbox-delete", "email-inbox-important", "email-inbox-noscroll", "email-inbox-reply", "email-inbox-forward",
    "email-inbox-star-reply", "email-inbox",
):  # fmt: skip
    TASKS[_name] = _mail


def _posts(text: str, ask: Ask) -> Iterator[Action]:
    button = quoted(text)[0].lower()
    user = re.findall(r"@\w+", text)[0]
    wanted = re.findall(r"on (\d+) posts?", text)
    count = int(ask(_count(user)))
    for place in range(min(count, int(wanted[0])) if wanted else count):
        yield click(f".media:has(.username:text-is('{user}')) >> nth={place} >> .{button}")
    yield SUBMIT


def _count(user: str) -> str:
    return (
        f"[...document.querySelectorAll('.media .username')].filter(e => e.textContent === {user!r}).length"
    )


TASKS["social-media-all"] = TASKS["social-media-some"] = _posts
