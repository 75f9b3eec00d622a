"""A signed address gives one file for a while, and nothing else."""

from __future__ import annotations

import os
import re
from urllib.parse import quote

import pytest


@pytest.fixture
def lent(served, tmp_path):
    """A server that asks for keys, a client without one, and a file of its home that is lent."""
    app, client = served()
    home = tmp_path / "home"
    (home / "films").mkdir(parents=True)
    file = home / "films" / "a b.mp4"
    file.write_bytes(bytes(range(200)))
    return app.state.links, client, file


async def test_a_file_is_given_without_a_key_and_in_parts(lent):
    links, client, file = lent
    url, _ = links.lend("session 1.mp4", file, 60)
    whole = await client.get(url)
    assert (whole.status_code, whole.content, whole.headers["content-type"]) == (
        200,
        file.read_bytes(),
        "video/mp4",
    )
    assert whole.headers["content-disposition"] == "inline; filename*=UTF-8''session%201.mp4"
    asked = await client.head(url)
    assert (asked.status_code, asked.headers["content-length"], asked.content) == (200, "200", b"")
    part = await client.get(url, headers={"Range": "bytes=10-19"})
    assert (part.status_code, part.content) == (206, bytes(range(10, 20)))
    assert (await client.get(url, headers={"Range": "bytes=500-"})).status_code == 416
    file.unlink()
    assert (await client.get(url)).status_code == 404


async def test_what_is_forged_or_has_expired_gives_nothing(lent, monkeypatch):
    links, client, file = lent
    url, expires = links.lend("a.mp4", file, 60)
    (file.parent / "b.mp4").touch()
    forged = [
        url.partition("?")[0],
        url.replace("a%20b.mp4", "b.mp4"),
        url.replace("/a.mp4", "/a.html"),
        re.sub(r"expires=\d+", lambda found: f"{found[0]}0", url),
        re.sub(r"signature=.*", "signature=" + "0" * 64, url),
        url[:-1] + ("0" if url[-1] != "0" else "1"),
    ]
    for address in forged:
        assert (await client.get(address)).status_code == 403, address
    monkeypatch.setattr("reenact.browser.session.signatures.time.time", expires.timestamp)
    assert (await client.get(url)).status_code == 403


@pytest.mark.thorough
@pytest.mark.parametrize(
    "path", ["%2e%2e/secret", "films/%2e%2e/%2e%2e/secret", "..%2fsecret", "/etc/passwd", "films\\..\\x"]
)
async def test_no_path_leads_out_of_the_home_with_or_without_a_signature(lent, tmp_path, path):
    links, client, _ = lent
    (tmp_path / "secret").write_text("secret")
    assert (await client.get(f"/files/{path}?expires=9999999999&signature={'0' * 64}")).status_code in {
        403,
        404,
    }
    signed, _ = links._signer.sign(f"/files/{path}/x", seconds=60)
    assert "secret" not in (await client.get(signed)).text


async def test_a_link_in_the_home_that_leads_out_of_it_is_not_followed(lent, tmp_path):
    links, client, file = lent
    (tmp_path / "secret").write_text("secret")
    os.symlink(tmp_path / "secret", file.parent / "link.mp4")
    url, _ = links.lend("x.mp4", file.parent / "link.mp4", 60)
    assert (await client.get(url)).status_code == 403
    with pytest.raises(ValueError, match="secret"):
        links.lend("x", tmp_path / "secret", 60)


@pytest.mark.thorough
async def test_a_page_of_a_recording_cannot_act_and_what_is_unknown_is_only_saved(lent):
    links, client, file = lent
    url, _ = links.lend("report.html", file, 60)
    policy = (await client.get(url)).headers["content-security-policy"]
    assert "sandbox" in policy
    assert "script" not in policy
    url, _ = links.lend("evil.svg", file, 60)
    headers = (await client.get(url)).headers
    assert headers["content-type"] == "application/octet-stream"
    assert headers["content-disposition"].startswith("attachment")


@pytest.mark.thorough
async def test_a_name_with_anything_in_it_stays_one_name(lent):
    links, client, file = lent
    for name in ("../../x.mp4", 'a"b\r\nSet-Cookie: x.mp4', "..", "ä ☃.mp4"):
        url, _ = links.lend(name, file, 60)
        answer = await client.get(url)
        assert answer.status_code == 200, name
        assert "set-cookie" not in answer.headers
    assert quote("ä ☃.mp4") in answer.headers["content-disposition"]
