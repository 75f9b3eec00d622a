"""Words that mean the same, and those that do not."""

from __future__ import annotations

import pytest

from reenact.browser.page.likeness import alike
from reenact.browser.page.synonyms import meaning, said_otherwise


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Sign in", "Log in"), ("LOGIN", "Sign-in"), ("Add to cart", "Add to basket"), ("Your e-mail", "Your email"),
        ("Submit", "Send"), ("ZIP code", "Postcode"), ("Absenden", "Senden"),
    ],
)  # fmt: skip
def test_two_texts_mean_the_same(one, other):
    assert meaning(one) == meaning(other)
    assert alike(one, other) >= 0.95


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Cancel", "Close"),
        ("Buy", "Order"),
        ("Sign in", "Sign up"),
        ("Sender", "Submitter"),
        ("Next", "Back"),
    ],
)
def test_two_texts_do_not(one, other):
    assert meaning(one) != meaning(other)


def test_what_may_be_said_in_other_words_has_all_of_them():
    assert {"submit", "send", "form"} <= said_otherwise("Submit form")
    assert said_otherwise("Open") == {"open"}
