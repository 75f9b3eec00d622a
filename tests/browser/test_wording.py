"""Two names are the same by their words, numbers and signs."""

from __future__ import annotations

import pytest

from reenact.browser.page.wording import reworded, same_name, says, says_key, tokens


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Sign in", "Log in", True),
        ("Cart (3)", "cart (4)", True),
        ("(2) Inbox", "Inbox", True),
        ("plan (1).pdf", "plan.pdf", False),
        ("plan (1).pdf", "plan (2).pdf", False),
        ("E-mail *", "Email", True),
        ("Sign out", "Sign out everywhere", False),
        ("Confirm payment", "Confirm payment all", False),
        ("Email", "Recovery email", False),
        ("Invoice 18", "Invoice 180", False),
        ("Pay now", "Pay later", False),
        ("×", "✓", False),
    ],
)
def test_a_name_is_the_same_by_its_words_and_synonyms_and_no_longer_one(one, other, same):
    assert same_name(one, other) is same


def test_words_are_said_as_whole_words():
    assert says("Invoice 18, open", "invoice 18")
    assert not says("Invoice 180", "Invoice 18")


def test_a_key_is_said_with_its_number_in_brackets():
    assert says_key("Folder (2), 3 files", "folder (2)")
    assert not says_key("Folder, 3 files", "Folder (2)")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Pay $10", "Pay €10"),
        ("Pay 1.50", "Pay 150"),
        ("Pay 15.0", "Pay 1.50"),
        ("Price in $", "Price in €"),
        ("Discount in %", "Discount in £"),
        ("Shift +5", "Shift -5"),
        ("Room 1-18", "Room 11-8"),
        ("Grade A+", "Grade A-"),
        ("Docs C++", "Docs C#"),
        ("Vote ▲", "Vote ▼"),
        ("React 👍", "React 👎"),
        ("Zoom +", "Zoom -"),
        ("Page »", "Page «"),
    ],
)
def test_a_number_a_currency_or_a_sign_makes_another_name(one, other):
    assert not same_name(one, other)
    assert same_name(one, one)
    assert same_name(other, other)


@pytest.mark.parametrize(
    ("one", "other"), [("Next »", "Next"), ("Next »", "Next →"), ("✓ Done", "Done"), ("Step 2", "Step2")]
)
def test_an_ornament_makes_no_other_name(one, other):
    assert same_name(one, other)


def test_the_words_of_a_hostile_text_are_found_in_linear_time():
    assert len(tokens("1." * 50_000 + "-" * 50_000)) < 50_001


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("What needs to be done?", "What is to be done?", True),
        ("Please name the port", "Name the port", True),
        ("Where does the ship go", "Where must a ship go", True),
        ("The name", "A name", False),
        ("Email", "User", False),
        ("Email", "Recovery email", False),
        ("Cargo in kg", "Cargo in lb", False),
        ("Transfer to the account", "Transfer from the account", False),
        ("Do not call", "Do call", False),
        ("Your name is", "Their name is", False),
        ("Cargo that was shipped", "Cargo that is shipped", False),
        ("Line 1 is", "Line 2 is", False),
        ("What needs to be done", "What is done", False),
        ("Port from to", "Port to from", False),
    ],
)
def test_a_name_is_worded_otherwise_if_only_words_without_a_meaning_of_their_own_differ(one, other, same):
    assert reworded(one, other) is same
    assert reworded(other, one) is same
