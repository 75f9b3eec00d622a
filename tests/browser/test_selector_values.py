"""The values in a selector bind an element that is to take the place of its own."""

from __future__ import annotations

import pytest

from reenact.browser.page.selector_values import unmet


def told(role="button", name="Edit", **attributes):
    return {"role": role, "name": name, "text": name, "attributes": attributes}


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("a[href='/u/7']", told("link", href="/u/8")),
        ("a[href='/u/7']:has-text('Edit')", told("link", href="/u/8")),
        ("a[href$='/7']", told("link", href="/u/8")),
        ("a[href='/u?id=7']", told("link", href="/u")),
        ("//a[@href='/u/7'][text()='Edit']", told("link", href="/u/8")),
        ("//a[contains(@href, '/u/7')]", told("link", href="/u/8")),
        ("[data-id='7']:has-text('Edit')", told()),
        ("[value='pro']", told("radio", "Pro", value="basic")),
        ("[value='pro']", told("button", "Pro")),
        ("img[alt='Ann']", told("button", "Ann")),
        ("[title='Void 7']", told(name="V", title="Void 8")),
        ("[data-testid='row-7-edit']", told(**{"data-testid": "row-8-edit"})),
        ("[aria-label='Edit'][data-id='7']", told(**{"aria-label": "Edit"})),
        ("tr[data-id='7'] >> text=Edit", told()),
        ("#user-7 >> text=Edit", told()),
        (".user-7:has-text('Ann') >> text=Edit", told()),
        (".billing >> text=Edit", told()),
        ("tr:nth-child(7) >> text=Edit", told()),
        ('locator("#user-7").get_by_text("Edit")', told()),
        ('get_by_role("listitem").nth(2).get_by_text("Edit")', told()),
        ({"css": "[data-id='7']", "text": "Edit"}, told()),
    ],
)
def test_an_element_without_a_value_of_the_selector_does_not_meet_it(selector, found):
    assert unmet(selector, found).startswith("the selector says")


@pytest.mark.parametrize(
    ("selector", "found"),
    [
        ("text=Edit", told()),
        ("#edit", told()),
        ("[data-testid=edit]", told(id="e1")),
        ("[title='Edit']", told()),
        ("img[alt='Ann']", told("img", "Ann", alt="Ann")),
        ("input[value='Pay']", told(name="Pay")),
        ("a[href='/u/7']", told("link", href="/u/7")),
        ("button[type=submit]:has-text('Edit')", told()),
        (".plan:has-text('Basic #7') >> text=Edit", told()),
        ("frame=#pay >> text=Edit", told()),
        ('get_by_role("row", name="Ann.7").get_by_role("button", name="Edit")', told()),
        ("button:nth-child(2)", told()),
        (None, told()),
        ("[[", told()),
    ],
)
def test_names_in_code_and_texts_are_no_values(selector, found):
    assert unmet(selector, found) == ""
