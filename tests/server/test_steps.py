"""One recording's steps, its conversation, its timeline and what lies behind them."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from itertools import pairwise
from pathlib import Path

import pytest

import reenact
from reenact.core.store.local import EVENTS, LocalStore
from tests.server.asking import Asking

REAL = Path(__file__).parents[1] / "recordings" / "v1"


@reenact.tool
def inner(place):
    return {"place": place, "warm": True}


@reenact.tool
def outer(place):
    return inner(place)


@reenact.tool(kind="model", name="gpt-4o")
def ask(messages):
    said = f"answer to {messages[-1]['content']!s:.80}"
    return {"model": "gpt-4o", "choices": [{"message": {"role": "assistant", "content": said}}]}


@reenact.tool
async def slow(place):
    await asyncio.sleep(0.02)
    return place


def chat(home):
    """Three questions; the history is kept for the second and rewritten before the third."""
    memory = {"asked": []}
    with reenact.record(home=home, name="chat") as recording:
        reenact.track("memory", memory, every=1)
        messages = [{"role": "system", "content": "be kind"}]
        for place in ("Rome", "Oslo", "Bonn"):
            if place == "Bonn":
                messages = messages[:2]
            messages.append({"role": "user", "content": f"how is {place}?"})
            answer = ask(list(messages))
            messages.append(answer["choices"][0]["message"])
            memory["asked"].append(place)
            outer(place)
    return recording.id


def test_the_pictures_of_a_prompt_are_given_as_pictures_and_as_nothing_else(home):
    png = b"\x89PNG\r\n\x1a\n" + b"<script>"
    with reenact.record(home=home) as recording:
        ask([{"role": "user", "content": [{"type": "image", "data": png}]}])
    with Asking(Path(home)) as asked:
        address = f"/recordings/{recording.id}/steps/1"
        (picture,) = asked(address)["pictures"]
        assert (picture["kind"], picture["size"], picture["asked"]) == ("png", len(png), True)
        given = asked.client.get(f"/api/v1{address}/pictures/0")
        assert given.content == png
        assert given.headers["content-type"] == "image/png"
        assert given.headers["x-content-type-options"] == "nosniff"
        assert "no picture 1" in asked.refused(f"{address}/pictures/1", 404)


def test_a_step_says_what_changed_in_the_prompt_and_in_the_state(home):
    id = chat(home)
    with Asking(Path(home)) as asked:
        rows = asked(f"/recordings/{id}/steps")["items"]
        assert [(row["kind"], row["depth"], row["within"]) for row in rows[:3]] == [
            ("model", 0, None), ("tool", 0, None), ("tool", 1, 2),
        ]  # fmt: skip
        assert rows[0]["summary"] == "answer to how is Rome?"
        assert asked(f"/recordings/{id}/steps/1")["changed"] is None
        second = asked(f"/recordings/{id}/steps/4")
        assert second["changed"] == {
            "added": [{"role": "user", "text": "how is Oslo?"}], "removed": [], "from_step": 1,
        }  # fmt: skip
        third = asked(f"/recordings/{id}/steps/7")
        assert [message["text"] for message in third["changed"]["removed"]] == [
            "answer to how is Rome?", "how is Oslo?",
        ]  # fmt: skip
        assert [message["text"] for message in asked(f"/recordings/{id}/steps/4/messages")["items"]] == [
            "be kind", "how is Rome?", "answer to how is Rome?", "how is Oslo?",
        ]  # fmt: skip
        tool = asked(f"/recordings/{id}/steps/5")
        assert [row["name"] for row in tool["nested"]] == ["inner"]
        assert tool["state"]["memory"]["value"] == {"asked": ["Rome", "Oslo"]}
        assert tool["state_changes"] == [{"path": "memory.asked[1]", "after": "Oslo"}]
        stored = (LocalStore(home).folder(id) / EVENTS).read_text().splitlines()
        assert tool["events"]
        assert set(tool["events"]) < set(stored)
        ended = asked(f"/recordings/{id}/state?since=1")
        assert ended["state"]["memory"]["value"]["asked"] == ["Rome", "Oslo", "Bonn"]
        assert "no step 99" in asked.refused(f"/recordings/{id}/steps/99", 404)
        assert "no step 99" in asked.refused(f"/recordings/{id}/state?step=99", 404)
        assert "step" in asked.refused(f"/recordings/{id}/state?step=0", 422)
        assert "not a model call" in asked.refused(f"/recordings/{id}/steps/2/messages", 404)


@pytest.mark.thorough
def test_files_are_listed_and_their_changes_shown_of_a_step_and_of_the_run(home, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("notes.md").write_text("first\n", encoding="utf-8")

    @reenact.tool
    def note(text):
        Path("notes.md").write_text(
            f"{Path('notes.md').read_text(encoding='utf-8')}{text}\n", encoding="utf-8"
        )

    with reenact.record("files", home=home) as recording:
        note("second")
        note("third")
    where = f"/recordings/{recording.id}/files"
    with Asking(Path(home)) as asked:
        listed = asked(where)
        assert [(file["path"], file["change"], file["size"]) for file in listed["files"]] == [
            (str(tmp_path / "notes.md"), "changed", 19)
        ]
        assert asked(f"{where}?step=1")["files"][0]["size"] == 13

        def added(query):
            (file,) = asked(f"{where}/changes{query}")["files"]
            return [line for line in file["lines"] if line.startswith("+")]

        assert (added("?step=1"), added("?step=2"), added("")) == (
            ["+second"],
            ["+third"],
            ["+second", "+third"],
        )
        assert "no step 9" in asked.refused(f"{where}?step=9", 404)
        assert "no step 9" in asked.refused(f"{where}/changes?step=9", 404)
        assert "step" in asked.refused(f"{where}/changes?step=0", 422)


@pytest.mark.thorough
def test_steps_are_found_and_paged(home):
    id = chat(home)
    with Asking(Path(home)) as asked:
        assert asked(f"/recordings/{id}/search?q=tool:inner")["steps"] == [3, 6, 9]
        page = asked(f"/recordings/{id}/steps?filter=tool&offset=1&limit=2")
        assert [row["step"] for row in page["items"]] == [3, 5]
        assert page["total"] == 6
        assert "column" in asked.refused(f"/recordings/{id}/search?q=)", 400)


@pytest.mark.thorough
def test_a_conversation_says_everything_once_whatever_page_is_asked_first(home):
    id = chat(home)
    with Asking(Path(home)) as asked:
        last = asked(f"/recordings/{id}/conversation?offset=6&limit=3")
        whole = asked(f"/recordings/{id}/conversation")
        assert last["items"] == [item for item in whole["items"] if item["step"] > 6]
        said = [item["text"] for item in whole["items"] if item["part"] != "done"]
        assert said == [
            "be kind", "how is Rome?", "answer to how is Rome?", "how is Oslo?", "answer to how is Oslo?",
            "how is Bonn?", "answer to how is Bonn?",
        ]  # fmt: skip
        assert [item["dropped"] for item in whole["items"] if item["part"] == "answer"] == [0, 0, 2]
        done = [(item["name"], item["depth"]) for item in whole["items"] if item["part"] == "done"]
        assert done == [("outer", 0), ("inner", 1)] * 3
        assert whole["total"] == 9


@pytest.mark.thorough
def test_a_tools_result_is_not_said_again_where_it_is_handed_on(home):
    shutil.copytree(REAL / "order-agent", LocalStore(home).folder("b6fw07cjz9"))
    with Asking(Path(home)) as asked:
        items = asked("/recordings/b6fw07cjz9/conversation")["items"]
    tools = [item for item in items if item["role"] == "tool"]
    assert [item["part"] for item in tools] == ["done", "done"]


def test_what_ran_at_the_same_time_lies_on_lanes_of_its_own(home):
    async def main():
        await asyncio.gather(*(slow(place) for place in range(4)))
        await slow("last")

    with reenact.record(home=home) as recording:
        asyncio.run(main())
    with Asking(Path(home)) as asked:
        found = asked(f"/recordings/{recording.id}/lanes")
    lanes = {}
    for step, lane, began, duration, _, status in found["bars"]:
        assert status == "ok"
        lanes.setdefault(lane, []).append((began, began + duration, step))
    assert len(found["lanes"]) == len(lanes) == 4
    for bars in lanes.values():
        assert all(one[1] <= other[0] for one, other in pairwise(bars))
    assert lanes[0][-1][2] == 5


@pytest.mark.thorough
def test_events_are_the_lines_of_the_file(home):
    id = chat(home)
    stored = (LocalStore(home).folder(id) / EVENTS).read_text().splitlines()
    with Asking(Path(home)) as asked:
        page = asked(f"/recordings/{id}/events?from=3&limit=4")
        assert page["items"] == stored[2:6]
        assert page["total"] == len(stored)
        assert asked(f"/recordings/{id}/events?from=99999")["items"] == []
        assert "no process 'other'" in asked.refused(f"/recordings/{id}/events?process=other", 404)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (b"<script>alert(1)</script>\xff" * 4000, "application/octet-stream"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 90_000, "image/png"),
    ],
)
def test_a_blob_is_a_file_to_keep_and_nothing_that_a_browser_runs(home, data, kind):
    with reenact.record(home=home) as recording:
        reenact.effect("tool", "fetch").perform(lambda: data)
    digest = hashlib.sha256(data).hexdigest()
    with Asking(Path(home)) as asked:
        assert asked(f"/recordings/{recording.id}/steps/1")["blobs"] == [digest]
        answer = asked.client.get(f"/api/v1/recordings/{recording.id}/blobs/{digest}")
        assert answer.content == data
        assert answer.headers["content-type"] == kind
        assert answer.headers["content-disposition"].startswith("attachment")
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert "sandbox" in answer.headers["content-security-policy"]
        missing = f"/recordings/{recording.id}/blobs/{'0' * 64}"
        assert "no blob" in asked.refused(missing, 404)
        for name in ("../events.jsonl", "A" * 64, digest[:63], f"{digest}/.."):
            answer = asked.client.get(f"/api/v1/recordings/{recording.id}/blobs/{name.replace('/', '%2f')}")
            assert answer.status_code in (404, 422), name
        (Path(recording.path) / "blobs" / digest[:2] / digest).write_bytes(data[:-1] + b"!")
        assert "its bytes have another hash" in asked.refused(
            f"/recordings/{recording.id}/blobs/{digest}", 422
        )
