"""Fill a form by the purpose of its fields: from `autocomplete`, label, name or placeholder."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from playwright.async_api import ElementHandle, Error, Frame, Page

from reenact.browser.actions.types import SECRET_FORM_FIELDS
from reenact.browser.page.element_functions import of_element
from reenact.browser.page.isolated_world import chained, frame_chain

Hide = Callable[[str, ElementHandle], Awaitable[None]]

_KNOWN: dict[str, tuple[str, str]] = {
    # the page's `autocomplete`, and the words in a field's name, label or placeholder
    "title": ("honorific-prefix", r"salutation|honorific|\btitle\b"),
    "first_name": ("given-name", r"first.?name|given.?name|\bfname\b|forename"),
    "middle_name": ("additional-name", r"middle.?name|additional.?name"),
    "last_name": ("family-name", r"last.?name|family.?name|surname|\blname\b"),
    "full_name": ("name", r"full.?name|your.?name|^name$|\bname\b"),
    "email": ("email", r"e.?mail"),
    "company": ("organization", r"company|organi[sz]ation"),
    "address1": ("address-line1|street-address", r"address.?(line)?.?1|street|^address\b|line1"),
    "address2": ("address-line2", r"address.?(line)?.?2|apartment|suite|line2"),
    "address3": ("address-line3", r"address.?(line)?.?3|line3"),
    "city": ("address-level2", r"city|town|line4"),
    "state": ("address-level1", r"state|province|region|county"),
    "postal_code": ("postal-code", r"post.?(al)?.?code|\bzip|postcode"),
    "country": ("country|country-name", r"country"),
    "phone": ("tel|tel-national", r"phone|mobile|\btel\b"),
    "username": ("username", r"user.?(name|id)|login|\buser\b"),
    "current_password": ("current-password", r"current.?password|old.?password|password|passwd"),
    "new_password": ("new-password", r"new.?password|password|passwd"),
    "totp": ("one-time-code", r"one.?time|verification.?code|\botp\b|totp|2fa|\bcode\b"),
    "cc_name": ("cc-name", r"name.?on.?card|card.?holder|cc.?name"),
    "cc_number": ("cc-number", r"card.?(number|no)|cc.?num|number.?of.?card"),
    "cc_exp_month": ("cc-exp-month", r"exp\w*.?month|month"),
    "cc_exp_year": ("cc-exp-year", r"exp\w*.?year|year"),
    "cc_exp": ("cc-exp", r"expir|\bexp\b|mm.?/.?yy|valid.?(thru|until)"),
    "cc_cvv": ("cc-csc", r"cvv|cvc|csc|security.?code"),
    "date_of_birth": ("bday", r"birth|\bdob\b"),
    "gender": ("sex", r"gender|\bsex\b"),
}

_LOOK = """(known) => {
  const visible = e => { const r = e.getBoundingClientRect(); return r.width > 0 && r.height > 0 && !e.disabled; };
  const skip = new Set(['hidden', 'submit', 'button', 'reset', 'image', 'file']);
  const fields = [];
  const walk = root => {
    for (const e of root.querySelectorAll('*')) {
      if (e.shadowRoot) walk(e.shadowRoot);
      if (/^(INPUT|SELECT|TEXTAREA)$/.test(e.tagName) && !skip.has(e.type) && visible(e)) fields.push(e);
    }
  };
  walk(document);
  const taken = new Set(), found = {};
  const words = e => [e.name, e.id, e.getAttribute('aria-label'), e.placeholder,
    ...[...(e.labels || [])].map(l => l.innerText)].filter(Boolean).map(w => w.trim().replace(/[_\\-\\[\\]]+/g, ' '));
  const rank = (e, [token, pattern], name) => {
    const tokens = (e.getAttribute('autocomplete') || '').toLowerCase().split(/\\s+/);
    if (token.split('|').some(t => tokens.includes(t))) return 3;
    if (tokens.some(t => t && !['on', 'off', 'shipping', 'billing', 'home', 'work'].includes(t))) return 0;
    if (/password/.test(name) !== (e.type === 'password') && !/^(totp|cc_cvv|cc_number)$/.test(name)) return 0;
    if (name === 'email' && e.type === 'email') return 2;
    if (name === 'phone' && e.type === 'tel') return 2;
    const all = words(e), re = new RegExp(pattern, 'i');
    if (!all.some(w => re.test(w))) return 0;
    // Of several password fields, prefer the one that says "current" or "new".
    return name.endsWith('password') && new RegExp(pattern.split('|')[0], 'i').test(all.join(' ')) ? 2 : 1;
  };
  for (const pass of [3, 2, 1])
    for (const [name, how] of Object.entries(known)) {
      if (name in found) continue;
      const e = fields.find(f => !taken.has(f) && rank(f, how, name) === pass);
      if (e) { taken.add(e); found[name] = fields.indexOf(e); }
    }
  return [fields, found];
}"""


async def fill(page: Page, values: dict[str, str], *, hide: Hide) -> list[str]:
    """Fill the fields that are found; return their names, in the order of `values`.

    `hide` is called with the selector and the handle of each field before a secret is written into it.
    """
    left = dict(values)
    for frame in page.frames:
        if left:
            for name in await _fill(frame, left, hide):
                del left[name]
    return [name for name in values if name not in left]


async def _fill(frame: Frame, values: dict[str, str], hide: Hide) -> list[str]:
    filled = []
    try:
        both = await frame.evaluate_handle(_LOOK, {name: _KNOWN[name] for name in values})
    except Error:
        return []  # the frame has been removed
    fields, found = await both.get_property("0"), await (await both.get_property("1")).json_value()
    for name, place in found.items():
        element = (await fields.get_property(str(place))).as_element()
        if element is None:
            continue
        if name in SECRET_FORM_FIELDS:
            css = (await of_element(element, "eyes.selectorsOf(el)"))["css"]
            await hide(chained(await frame_chain(frame), f"css={css}"), element)
        if await element.evaluate("e => e.tagName === 'SELECT'"):
            await _choose(element, values[name])
        else:
            await element.fill(values[name])
        filled.append(name)
    return filled


async def _choose(element: Any, value: str) -> None:
    options = await element.evaluate(
        "e => [...e.options].map(o => [o.value, o.label.trim() || o.text.trim()])"
    )
    wanted = value.strip().lower()
    for number, texts in enumerate(options):
        # 04 matches a page's 4.
        if any(text.lower() == wanted or text.lstrip("0") == wanted.lstrip("0") for text in texts):
            await element.select_option(index=number)
            return
    await element.select_option(label=value)
