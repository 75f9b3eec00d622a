"""What is typed into a field that is called after a secret is seen nowhere, however it is called so."""

from __future__ import annotations

import logging
from pathlib import Path

import pytest

from reenact.core.redact import says_secret

SELECTORS = (
    *(f'[name="{name}"]' for name in ("apiToken", "api_key", "access_token", "recovery_code", "otp")),
    *(f'[name="{name}"]' for name in ("totp", "seedPhrase", "ssn", "clientSecret", "user[pin]")),
    *("#api-key-2", "#backupCode", "#mfa_code", "#x-secret-key", "#newpassword1"),
    *(f"#f{number}" for number in range(16, 31)),
)
CANARIES = tuple(f"canary-{number:02}-{number * 7919:06}" for number in range(len(SELECTORS)))


@pytest.fixture(scope="module")
def left(tmp_path_factory, open_session, site):
    """All that a session leaves behind which has typed thirty secrets, and what it said."""
    home = tmp_path_factory.mktemp("home")
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append
    logging.getLogger().addHandler(handler)
    try:
        with open_session(home=home, raise_on_failure=False) as session:
            session.execute(type="goto", url=site("secret_names.html"))
            said = [
                session.execute(type="fill", selector=selector, value=canary)
                for selector, canary in zip(SELECTORS, CANARIES, strict=True)
            ]
            session.execute(type="fill", selector="#town", value="Springfield")
            session.observe()
            said += [session.execute(type="click", selector="#send")]
            said += [session.execute(type="scrape")]
            session.observe()
            folder = Path(session.recording)
    finally:
        logging.getLogger().removeHandler(handler)
    files = {path: path.read_bytes() for path in home.rglob("*") if path.is_file()}
    return files, folder, said, "\n".join(record.getMessage() for record in records)


def test_all_of_them_were_typed(left):
    _, _, said, _ = left
    assert len(CANARIES) == 30
    assert [result.message for result in said[:30] if not result.success] == []


def test_no_file_holds_one(left):
    files, folder, _, _ = left
    found = {
        (str(path), canary) for path, data in files.items() for canary in CANARIES if canary.encode() in data
    }
    assert found == set()
    assert b"Springfield" in (folder / "events.jsonl").read_bytes()


def test_no_result_and_no_line_of_a_log_says_one(left):
    _, _, said, log = left
    # The program itself is told the title and the address of the page, which this page makes of what is typed.
    text = log + "\n".join(f"{one.action!r} {one.message} {one.exception} {one.why}" for one in said[:30])
    assert not [text[max(0, text.index(one) - 150) :][:170] for one in CANARIES if one in text]


@pytest.mark.parametrize(
    "text",
    [
        "apiToken",
        "api_key",
        "API key",
        '{"css": "#recovery-code"}',
        "get_by_label('One-time code')",
        "seed phrase",
        "otp2",
    ],
)
def test_a_name_of_a_secret_is_known_however_it_is_written(text):
    assert says_secret(text)


@pytest.mark.parametrize(
    "text", ["passenger", "first name", "spinner", "keyboard", "search", "tokyo", "author", "optional"]
)
def test_a_word_that_only_looks_like_one_is_not(text):
    assert not says_secret(text)
