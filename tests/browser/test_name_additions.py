"""A name that says more than a script means another element, unless it is only an ornament."""

from __future__ import annotations

import pytest

from reenact.browser.page.name_additions import added, names_record


@pytest.mark.parametrize(
    "name",
    [
        "Inbox", "INBOX", "Inbox (3)", "Inbox 3", "(3) Inbox", "Inbox · 3", "Inbox 99+", "Inbox →", "▸ Inbox", "Inbox…",
        "Inbox ⌘I", "Inbox Ctrl+I", "Inbox (Ctrl+Shift+I)", "Inbox (i)", "Inbox F5", "Inbox [3]", "Inbox (current)",
        "Inbox (opens in a new tab)", "Inbox, opens in a new window", "Inbox: 3 unread", "Inbox, 4 new messages",
        "Your inbox", "Inbox (PDF, 2.1 MB)", "Inbox $12.50", "Inbox 30 EUR", "Inbox 7/10",
    ],
)  # fmt: skip
def test_an_ornament_adds_nothing_to_a_name(name):
    assert added("Inbox", name) == ()


@pytest.mark.parametrize(
    ("words", "name", "more"),
    [
        ("Delete", "Delete account", ("account",)),
        ("Confirm payment", "Confirm payment all", ("all",)),
        ("Sign out", "Sign out everywhere", ("everywhere",)),
        ("Grantle", "Grantle plims (3)", ("plims",)),
        ("Plan", "Downgrade plan", ("downgrade",)),
        ("Delete", "Delete 3 items", ("items",)),
        ("Notify", "Never notify", ("never",)),
        ("Ship crate", "Ship crate (former)", ("former",)),
        ("Edit", "Credit card", ("credit", "card")),
        ("Invoice 1", "Invoice 18", ("invoice", "18")),
        ("v1.2", "v1.20", ("v1.20",)),
        ("Save", "Publish", None),
    ],
)
def test_a_word_or_another_number_is_another_name(words, name, more):
    assert added(words, name) == more


def test_a_synonym_and_an_ornament_of_the_words_themselves_are_the_same():
    assert added("Sign in", "Log in →") == ()
    assert added("Save (Ctrl+S)", "Save (Ctrl+S)") == ()


@pytest.mark.parametrize(
    "said",
    ["Order 7", "order 7", "Order 7, paid", "Order 7 placed on May 3", "Mr Ng: Order 7", "Order 7 · 12.00"],
)
def test_a_record_may_be_named_by_a_part_of_a_text(said):
    assert names_record("Order 7", said)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Order 7", "Order 71"), ("Order 7", "Reorder 7"), ("Order 7", "Copy of Order 7"), ("Ann", "Anna"),
        ("Ann Lee", "Ann Lee-Smith"), ("prod", "prod-eu"), ("ada@x.example", "ada@x.example.org"), ("v1.2", "v1.2.1"),
        ("Kettle", "Kettle Pro"), ("Folder 2", "Folder 2 (3)"), ("report.pdf", "report.pdf.bak"),
    ],
)  # fmt: skip
def test_another_record_is_not_named_by_a_part_of_its_text(text, said):
    assert not names_record(text, said)


def test_a_word_that_the_records_beside_have_too_makes_no_other_record():
    assert names_record("Basic", "Basic plan", "Pro plan")
    assert not names_record("Basic", "Basic plan", "Pro tariff")
    assert names_record("README", "README.md")
    assert names_record("Lovelace", "Ada Lovelace")
