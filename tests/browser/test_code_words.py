"""Ids, values and addresses contradict a shown name only where both speak of the same thing."""

from __future__ import annotations

import pytest

from reenact.browser.page.code_words import contrary, contrary_role, slug_of, words_of_code


@pytest.mark.parametrize(
    ("code", "name", "sure"),
    [
        ("pay-now", "Pay later", True),
        ("sign-out", "Sign out everywhere", True),
        ("sign-up", "Sign in", True),
        ("order-wine", "Cancel wine order", True),
        ("openValve", "Close valve", True),
        ("grant_access", "Revoke access", True),
        ("save", "Delete", True),
        ("first-shift", "Last shift", True),
        ("/invoices/18", "Invoice 17", True),
        ("delete-draft", "Delete account", False),
        ("export-csv", "Export PDF", False),
        ("plim-voop", "Plim drosk", False),
        ("tenant-name", "Landlord name", False),
        ("Close dialog", "Close account", False),
    ],
)
def test_a_name_contradicts_words_of_code(code, name, sure):
    found = contrary(code, name)
    assert found is not None
    assert found[1] is sure


@pytest.mark.parametrize(
    ("code", "name"),
    [
        ("pay-now", "Pay now"), ("submit", "Create account"), ("login-btn", "Sign in"), ("checkout", "Place order"),
        ("save-profile", "Save changes"), ("profile-save", "Save settings"), ("confirm-yes", "Delete"),
        ("add-to-cart-button", "Add to basket"), ("createaccount", "Create account"), ("remove-item", "Remove from cart"),
        ("publish", "Update"), ("delete", "Delete account"), ("delete-1042", "Delete"), ("close-dialog", "×"),
        ("loadMore", "Show more flats"), ("crate_list_ship_btn", "Ship now"), ("f7", "Anything"), ("order", "Confirm order"),
        ("get-started", "Get a free tasting"), ("Add Blue shirt to cart", "Add"), ("user-menu", "Ada Lovelace"),
    ],
)  # fmt: skip
def test_code_that_says_less_or_something_else_is_no_contradiction(code, name):
    assert contrary(code, name) is None


def test_a_field_that_repeats_another_one_is_not_it():
    assert contrary("card-number", "Plate number", field=True)
    assert contrary("password", "Confirm password", field=True)
    assert contrary("order", "Confirm order", field=False) is None
    assert contrary("id_registration-password2", "Confirm password", field=True) is None
    assert contrary("password_confirmation", "Confirm password", field=True) is None


@pytest.mark.parametrize(
    ("code", "name", "field"),
    [
        ("card-number", "Phone number", True), ("email", "Phone number", True), ("zip", "City", True),
        ("shipping-city", "Shipping country", True), ("firstName", "Nachname", True), ("order_number", "Phone number", True),
        ("print-invoice", "Share", False), ("btn-upload", "Refresh", False),
    ],
)  # fmt: skip
def test_code_that_names_another_thing_or_act_is_a_doubt(code, name, field):
    found = contrary(code, name, field=field)
    assert found is not None
    assert not found[1]


@pytest.mark.parametrize(
    ("code", "name", "field"),
    [
        ("username", "Email", True), ("email", "Email or phone number", True), ("billing-postal-code", "ZIP code (billing)", True),
        ("mobile-number", "Phone number", True), ("contact-number", "Phone number", True), ("phone", "Telefonnummer", True),
        ("address", "Street", True), ("number", "Phone number", True), ("first-name", "Vorname", True),
        ("export-btn", "Download CSV", False), ("share", "Copy link", False), ("pay", "Place order", False),
    ],
)  # fmt: skip
def test_code_that_names_the_same_thing_or_none_is_no_doubt(code, name, field):
    assert contrary(code, name, field=field) is None


def test_the_last_word_of_code_may_name_another_role():
    assert contrary_role("email-input", "button")
    assert contrary_role("save-btn", "textbox")
    assert not contrary_role("country-button", "combobox")
    assert not contrary_role("email-input", "generic")
    assert not contrary_role("input-group-button", "button")


def test_the_words_of_code_are_parted_by_signs_and_capitals():
    assert words_of_code("payNow") == words_of_code("pay_now") == words_of_code("PAY-now") == ["pay", "now"]
    assert (slug_of("pay-now-btn"), slug_of("q"), slug_of("1042")) == ("paynow", "", "")
