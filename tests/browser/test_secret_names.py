"""What is typed into a field that is called after a secret is seen nowhere, however it is called so."""

from __future__ import annotations

import logging
import zipfile
from pathlib import Path

import pytest
from PIL import ImageDraw

from reenact.cli import main
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


MADE = {
    "film.mp4": ["video", "RUN", "-o", "film.mp4"],
    "second.html": ["video", "RUN", "-o", "second.html"],
    "page.md": ["report", "RUN", "-o", "page.md"],
    "other.html": ["report", "RUN", "-o", "other.html"],
    "trace.json": ["export", "RUN", "--otlp-json", "trace.json"],
    "run.reenact": ["export", "RUN", "run.reenact"],
    "watch.html": ["watch", "RUN", "-o", "watch.html"],
    "script.py": ["export-script", "RUN", "-o", "script.py"],
    "diff.html": ["diff", "RUN", "RUN", "--html", "diff.html"],
}
"""What is made of a session, by its file."""


@pytest.fixture(scope="module")
def made(left, tmp_path_factory):
    """All that is made of the session afterwards: the bytes of each file, what was written, and the texts in pictures."""
    _, run, _, _ = left
    folder = tmp_path_factory.mktemp("made")
    drawn: list[str] = []
    draw = ImageDraw.ImageDraw.text
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            ImageDraw.ImageDraw,
            "text",
            lambda self, at, text, *a, **k: (drawn.append(str(text)), draw(self, at, text, *a, **k))[1],
        )
        patch.chdir(folder)
        for words in MADE.values():
            assert main([str(run) if word == "RUN" else word for word in words]) in {0, 1}, words
    with zipfile.ZipFile(folder / "run.reenact") as archive:
        archive.extractall(folder / "unpacked")
    return {
        str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()
    }, drawn


@pytest.mark.thorough
def test_nothing_that_is_made_of_the_session_holds_one(made):
    files, drawn = made
    assert set(MADE) <= set(files)
    found = {
        (name, one) for name, data in files.items() for one in CANARIES for text in forms(one) if text in data
    }
    assert found == set()
    assert not [text for text in drawn for one in CANARIES if one in text]
    # The same places tell what is no secret.
    assert "Springfield" in "".join(drawn)
    assert all(b"Springfield" in files[name] for name in ("other.html", "trace.json", "script.py"))


def forms(text):
    """A text as it may stand in a file."""
    return text.encode(), text.encode("utf-16-le"), text.encode("utf-16-be"), text.encode().hex().encode()


@pytest.mark.thorough
def test_no_command_that_shows_the_session_says_one(left, capsys):
    _, run, _, _ = left
    for words in (["show", "--full"], ["show", "--json"], ["show", "--raw"], ["diagnose"], ["heals"]):
        main([words[0], str(run), *words[1:]])
        out, err = capsys.readouterr()
        assert not [one for one in CANARIES if one in out + err], words


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
