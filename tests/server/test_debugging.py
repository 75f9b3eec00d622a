"""The debugger over HTTP, on a program that really runs."""

from __future__ import annotations

import asyncio
import time

import pytest
from fastapi.testclient import TestClient

from reenact.run.driver.opening import Opening
from reenact.server.app import application
from reenact.server.debugging import DebugSession, Desk
from reenact.server.settings import Settings

AGENT = """
    import reenact

    @reenact.tool
    def price(lamp):
        return {"arc": 120, "desk": 40}[lamp]

    @reenact.tool
    def order(total):
        return f"ordered for {total}"

    basket = reenact.track("basket", [])
    for lamp in ("arc", "desk", "arc"):
        basket.append([lamp, price(lamp)])
        print(lamp, basket[-1][1])
    print(order(sum(each for _, each in basket)))
"""


@pytest.fixture
def debugging(shell, monkeypatch):
    """A server that has the agent's recording, and the address of its session."""
    monkeypatch.setenv("REENACT_HOME", str(shell.home))
    shell.write("agent.py", AGENT)
    shell.record("agent.py")
    app = application(Settings(shell.home, ("testserver",), keyless=True, running=True))
    with TestClient(app) as client:
        yield client, f"/api/v1/debug/{shell.last().id}", shell
    app.state.desks.close()


def stand(client, address, order="", arguments="", **more):
    """Give an order, and wait until the program stands."""
    answer = (
        client.post(f"{address}/orders", json={"order": order, "arguments": arguments, **more})
        if order
        else client.post(address, json={})
    )
    assert answer.status_code == 200, answer.text
    return stopped(client, address)


def stopped(client, address):
    """Wait until the program stands, and return its state."""
    until = time.monotonic() + 30
    while (state := client.get(address).json())["phase"] == "running":
        assert time.monotonic() < until
        time.sleep(0.02)
    return state


def test_a_program_is_stepped_stopped_edited_and_judged_over_http(debugging):
    client, address, _ = debugging
    state = stand(client, address)
    assert (state["phase"], state["at"]["step"], state["steps"]) == ("stopped", 1, 4)
    assert state["asked"]["args"] == [{"name": "lamp", "text": '"arc"'}]
    assert stand(client, address, "step")["at"]["step"] == 2
    state = stand(client, address, "break", "tool:order")
    assert state["breakpoints"] == [{"text": "tool:order", "steps": [4]}]
    state = stand(client, address, "continue")
    assert (state["at"]["step"], state["why"]) == (4, "breakpoint tool:order")
    assert client.get(f"{address}/output").json()["text"] == "arc 120\ndesk 40\narc 120\n"
    (basket,) = client.get(f"{address}/steps/4/state").json()
    assert (basket["name"], basket["now"]) == ("basket", True)
    assert stand(client, address, "back")["at"]["step"] == 3

    draft = client.get(f"{address}/steps/2/answer").json()
    assert (draft["text"], draft["json_text"], draft["edited"]) == ("40", True, False)
    wrong = client.post(f"{address}/steps/2/answer/check", json={"text": "{"}).json()
    assert wrong["problem"].startswith("line 1, column 2: ")
    assert client.post(f"{address}/steps/2/answer", json={"text": "{"}).status_code == 400
    client.post(f"{address}/steps/2/answer", json={"text": "50"})
    # Without copies of processes, the program runs to its place once more.
    stopped(client, address)
    state = stand(client, address, "continue")
    left = state["left"]
    assert (state["phase"], state["edits"]) == ("departed", [2])
    assert (left["kind"], left["step"]) == ("CHANGED", 4)
    (found,) = left["differing"]
    assert found["path"] == "args.total"
    assert [part["text"] for part in found["actual"] if part["differs"]] == ["290"]
    assert "reenact fork" in client.get(f"{address}/fork?step=2").json()["command"]

    assert stand(client, address, "undo", "2")["edits"] == []
    stand(client, address, "clear")
    state = stand(client, address, "continue")
    assert (state["phase"], state["verdict"]["word"]) == ("ended", "faithful")
    assert "ordered for 280" in client.get(f"{address}/output").json()["text"]


@pytest.mark.thorough
def test_what_cannot_be_meant_costs_one_line_and_changes_nothing(debugging):
    client, address, _ = debugging
    before = stand(client, address)
    for order, arguments, said in (
        ("brek", "7", "did you mean `break`"),
        ("until", "99", "no step 99"),
        ("break", "tool:(", "column"),
        ("raise", "9 ValueError: x", "no step 9"),
        ("undo", "", "has not been edited"),
        ("pdb", "", "is a terminal command"),
    ):
        answer = client.post(f"{address}/orders", json={"order": order, "arguments": arguments})
        assert answer.status_code in (400, 404), order
        assert said in answer.json()["detail"].replace("\n", " "), answer.text
    after = client.get(address).json()
    assert {**after, "version": 0} == {**before, "version": 0}
    client.delete(address)
    assert client.get(address).status_code == 404


@pytest.mark.thorough
def test_programs_are_started_only_where_that_is_allowed(debugging):
    _, address, shell = debugging
    with TestClient(application(Settings(shell.home, ("testserver",), keyless=True))) as client:
        answer = client.post(address, json={})
    assert answer.status_code == 403
    assert "does not start programs" in answer.json()["detail"]


@pytest.mark.thorough
async def test_who_watches_hears_every_stop_and_the_end(debugging):
    _, _, shell = debugging
    desk = Desk()
    session = await asyncio.to_thread(desk.open, Opening(shell.last(), home=shell.home))
    assert isinstance(session, DebugSession)
    seen, arrived = [], {step: asyncio.Event() for step in range(5)}

    async def watch():
        async for state in session.changes():
            seen.append((state.phase.value, state.at.step))
            if state.phase.value == "stopped":
                arrived[state.at.step].set()

    watching = asyncio.create_task(watch())
    async with asyncio.timeout(120):
        for step in (1, 2, 3):
            await arrived[step].wait()
            await asyncio.to_thread(session.order, "step")
        await asyncio.to_thread(desk.close)
        await watching
    assert seen.index(("stopped", 1)) < seen.index(("stopped", 2)) < seen.index(("stopped", 3))
