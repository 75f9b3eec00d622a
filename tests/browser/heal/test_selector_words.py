"""Without a memory the words of a selector bind its step: pages whose own listener notes which element was pressed."""

from __future__ import annotations

from urllib.parse import quote

import pytest

from reenact import Client
from reenact.browser.page.selector_words import codes_of, texts_of

NOTE = """<meta charset=utf-8><script>window.seen = [];
for (const kind of ["click", "input"]) document.addEventListener(kind, (event) => {
  const at = event.composedPath().find((one) => one.dataset?.k);
  if (event.isTrusted) seen.push(at ? at.dataset.k : "beside"); }, true);</script>"""


@pytest.fixture(scope="module")
def visit(open_session, chromium, site, tmp_path_factory):
    """Do one step on a page in a session without a memory; return its result and what the page noted."""
    with open_session(home=tmp_path_factory.mktemp("words"), name="words", cdp_url=chromium) as session:

        def visited(html, selector, *, block=True, expect=None, **step):
            step = {"type": "click", "selector": selector, "timeout": 4000, **step}
            session.core.outcomes.clear()
            session.execute(type="goto", url=site(f"echo?html={quote(NOTE + html)}"))
            if block:
                with Client().AgentFallback(session, task="do it", heal="auto", expect=expect):
                    result = session.execute(step)
            else:
                result = session.execute(step, raise_on_failure=False)
            return result, session.execute(type="evaluate_js", code="window.seen").data

        yield visited


def button(k, text, more=""):
    return f"<button type=button data-k={k} {more}>{text}</button>"


def table(*names):
    rows = (
        f"<tr><td>{one}</td><td>open</td><td>{button(one.split()[-1], 'Void')}</td></tr>" for one in names
    )
    return f"<table>{''.join(rows)}</table>"


SLOT = """<x-key data-k=x></x-key><script>customElements.define("x-key", class extends HTMLElement {
connectedCallback() { this.attachShadow({mode: "open"}).innerHTML = "<button>Retire herd <b>forever</b></button>" } })
</script>"""
NAMED_SLOT = """<x-hat data-k=x>Retire<span slot=end> herd</span></x-hat><script>customElements.define("x-hat",
class extends HTMLElement { connectedCallback() { this.attachShadow({mode: "open"}).innerHTML =
"<button><slot></slot><slot name=end></slot></button>" } })</script>"""
CARDS = "<a href=#a data-k=a style='display:block'><h3>Green tea</h3><p>All of Japan</p></a>"
PLANS = "".join(f"<div class=plan><h4>{one} plan</h4>{button(one, 'Pick')}</div>" for one in ("Basic", "Pro"))
RADIOS = "".join(
    f"<label data-k=x><input type=radio name=p value={value}>{text}</label>"
    for value, text in (("monthly", "Yearly"), ("yearly", "Monthly"))
)

OTHERS = [
    ("text=Confirm toll", button("x", "Confirm toll all")),
    ("~Confirm toll", button("x", "Confirm toll all")),
    ("button:has-text('Wipe')", button("x", "Wipe ledger")),
    ('get_by_role("button", name="Wipe")', button("x", "Wipe ledger")),
    ("//button[contains(., 'Wipe')]", button("x", "Wipe ledger")),
    ("text=Grantle", button("x", "Grantle plims")),
    ("text=Wipe", button("x", "<span>Wipe</span> <span>ledger</span>")),
    ("span:has-text('Wipe') >> nth=0", button("x", "<span>Wipe</span> <span>ledger</span>")),
    ("text=Wipe", button("x", "Wipe <span class=badge>all</span>")),
    ("text=Edit", button("x", "Credit card")),
    ("text=Retire herd", SLOT),
    ("input[value*='Void']", "<input type=submit data-k=x value='Void ledger'>"),
    ("tr:has-text('Permit 1') >> text=Void", table("Permit 18", "Permit 24")),
    ("tr:has-text('Permit 1') button", table("Permit 10")),
    ("tr:has-text('Ann') >> text=Void", table("Anna", "Zed")),
    ("tr:has-text('Kettle') >> text=Void", table("Kettle Pro", "Lamp")),
    ("#pay-now", button("x", "Pay later", "id=pay-now")),
    ('[aria-label="Close dialog"]', button("x", "Close account", "aria-label='Close dialog'")),
    ("[data-testid=plim-voop]", button("x", "Plim drosk", "data-testid=plim-voop")),
    ("a[href='/permits/18']", "<a href=/permits/18 data-k=x>Permit 17</a>"),
    ("[value=monthly]", RADIOS),
    ("[aria-label='Mark read']", button("x", "Delete", "aria-label='Mark read'")),
    ("text=Retire", NAMED_SLOT),
    ("#card-number", "<label>Phone number <input data-k=x id=card-number></label>"),
    ("[name=email]", "<label>Company <input data-k=x name=email></label>"),
    (".print-receipt", button("x", "Share", "class=print-receipt")),
    ("#promo-input", button("x", "Have a promo?", "id=promo-input")),
    ({"css": "#go", "text": "Pay now"}, button("x", "Pay later", "id=go")),
]


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(("selector", "page"), OTHERS)
def test_an_element_that_the_words_contradict_is_not_pressed(visit, selector, page):
    result, seen = visit(page, selector)
    assert (result.success, seen) == (False, []), result.message
    assert result.why["reason"] == "drifted"


SAME = [
    ("text=Inbox", button("x", "Inbox <span class=badge>3 new</span> <kbd>⌘I</kbd>"), "x"),
    ("text=Inbox", button("x", "<i class=material-icons>delete</i> Inbox (3) →"), "x"),
    ("text=Terms", button("x", "Terms <span class=sr-only>(opens in a new tab)</span>"), "x"),
    ("text=Pay", button("x", "Pay $30.00"), "x"),
    ("tr:has-text('Permit 1') >> text=Void", table("Permit 10", "Permit 1"), "1"),
    ("tr:has-text('#1042') >> text=Void", table("Permit #1042 of May 3", "Permit #1043 of May 3"), "3"),
    (".plan:has-text('Basic') >> text=Pick", PLANS, "Basic"),
    ("a:has-text('Green tea')", CARDS, "a"),
    ("[role=option]:has-text('Oslo')", "<div role=option data-k=x><b>Oslo</b> <i>all of it</i></div>", "x"),
    ("#checkout", button("x", "Place order", "id=checkout"), "x"),
    ("#confirm-yes", button("x", "Delete", "id=confirm-yes"), "x"),
    ("[aria-label='Remove row']", button("x", "Delete", "aria-label='Remove row'"), "x"),
    ("[aria-label='Dismiss']", button("x", "close", "aria-label='Dismiss'"), "x"),
    ("#mobile-number", "<label>Phone number <input data-k=x id=mobile-number></label>", "x"),
    ("#promo-input", "<input type=submit data-k=x id=promo-input value='Have a promo?'>", "x"),
    ("text=/Wipe/", button("x", "Wipe ledger"), "x"),
    ('get_by_role("button", name=re.compile("Wipe"))', button("x", "Wipe ledger"), "x"),
    (
        "button:has-text('Wipe')",
        button("y", "Wipe all") + button("x", "Wipe") + button("z", "Wipe ledger"),
        "x",
    ),
    ("~Inbox", button("y", "Inbox rules") + button("x", "Inbox (3)"), "x"),
]


@pytest.mark.sampled
@pytest.mark.parametrize(("selector", "page", "pressed"), SAME)
def test_what_the_words_name_is_pressed_whatever_ornaments_it_has(visit, selector, page, pressed):
    result, seen = visit(page, selector)
    assert (result.success, seen) == (True, [pressed]), result.message
    assert "wrong element" not in result.message


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(
    ("selector", "page"),
    [
        ("a[href='/u/7']", "<a href='#/u/8' data-k=x>U 7</a>"),
        ("[data-id='7'] >> text=Void", "<div data-id=8><button type=button data-k=x>Void</button></div>"),
        ("[value=pro]", "<label><input type=radio name=p value=basic data-k=x> Pro</label>"),
        ("img[alt='Ann']", button("x", "Ann")),
    ],
)
def test_a_step_whose_values_nothing_has_is_not_mended_by_a_name(visit, selector, page):
    said = "<p id=out></p><script>document.addEventListener('click', () => out.textContent = 'over')</script>"
    result, seen = visit(page + said, selector, expect="over", timeout=300)
    assert (result.success, seen) == (False, []), result.message


def test_of_equal_or_hidden_elements_none_is_pressed(visit):
    for page in (button("x", "Wipe") * 2, button("x", "Wipe", "hidden") + button("y", "Wipe all")):
        result, seen = visit(page, "text=Wipe", timeout=600)
        assert (result.success, seen) == (False, [])


def test_outside_of_a_block_a_doubt_is_a_warning_and_a_contradiction_a_stop(visit):
    result, seen = visit(button("x", "Grantle plims"), "text=Grantle", block=False)
    assert (result.success, seen) == (True, ["x"])
    assert 'the step means the element "Grantle"' in result.message
    result, seen = visit(button("x", "Wipe ledger"), "text=Wipe", block=False)
    assert (result.success, seen) == (False, [])
    result, seen = visit(button("x", "Wipe ledger"), "text=Wipe", block=False, drift="warn")
    assert (result.success, seen) == (True, ["x"])


def test_the_words_of_a_selector_in_code_are_kept_apart_from_its_texts():
    assert codes_of("#pay-now") == ("pay-now",)
    assert codes_of("a.primary[href='/permits/18']") == ("/permits/18",)
    assert codes_of(".pay-now") == ("pay-now",)
    assert codes_of({"css": "#go", "text": "Pay now"}) == ("go", "Pay now")
    assert codes_of("text=/Pay/") == texts_of("text=/Pay/")[1] == ()
    assert texts_of("text=/Pay/")[0] == ""
