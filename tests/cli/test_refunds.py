"""Forks of agents with a tool that gives money back: no fork gives any back by itself."""

from __future__ import annotations

import json
import os
import pty
import re
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

import reenact

HEAD = """
    import os, subprocess, sys, uuid
    import httpx
    import reenact

    @reenact.tool
    def look(order):
        return {"order": order, "drawn": uuid.uuid4().hex}
"""
TAIL = """
    for number in range(3):
        look(number)
        print(refund(f"ORD-{number}"))
"""
BODIES = {
    "a request": """
    @reenact.tool
    def refund(order):
        return httpx.post(os.environ["SHOP"] + "/refunds", json={"order": order}).json()
    """,
    "a file": """
    @reenact.tool
    def refund(order):
        with open("refunds.txt", "a") as file:
            file.write(order + "\\n")
        return order
    """,
    "an open file": """
    FILE = open("refunds.txt", "a")
    @reenact.tool
    def refund(order):
        FILE.write(order + "\\n")
        FILE.flush()
        return order
    """,
    "a program": """
    @reenact.tool
    def refund(order):
        subprocess.run(["sh", "-c", f"echo {order} >> refunds.txt"], check=True)
        return order
    """,
    "a shell": """
    @reenact.tool
    def refund(order):
        os.system(f"echo {order} >> refunds.txt")
        return order
    """,
    "a file by a process of Python": """
    @reenact.tool
    def refund(order):
        code = "import sys; open('refunds.txt', 'a').write(sys.argv[1] + chr(10))"
        subprocess.run([sys.executable, "-I", "-c", code, order], check=True)
        return order
    """,
    "a declared effect": """
    @reenact.tool(writes=True)
    def refund(order):
        FILE = os.open("refunds.txt", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        os.write(FILE, order.encode() + b"\\n")
        os.close(FILE)
        return order
    """,
    "an effect of its own kind": """
    def refund(order):
        def live():
            with open("refunds.txt", "a") as file:
                file.write(order + "\\n")
            return order
        return reenact.effect("ledger", "refund", order=order).perform(live)
    """,
}
SERVER = """
    import sys
    from mcp.server.mcpserver import MCPServer
    from mcp.types import ToolAnnotations

    server = MCPServer("shop")

    @server.tool(annotations=ToolAnnotations(readOnlyHint=True))
    def look(order: str) -> str:
        return order + " paid"

    @server.tool(annotations=ToolAnnotations(destructiveHint=True))
    def refund(order: str) -> str:
        with open("refunds.txt", "a") as file:
            file.write(order + "\\n")
        return order + " refunded"

    server.run("stdio")
"""
CLIENT = """
    import asyncio, sys
    from mcp import ClientSession, StdioServerParameters, stdio_client

    async def main():
        server = StdioServerParameters(command=sys.executable, args=["server.py"])
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            await session.list_tools()
            for number in range(3):
                for name in ("look", "refund"):
                    print((await session.call_tool(name, {"order": str(number)})).content[0].text)

    asyncio.run(main())
"""
OWN_FILES = ("--files", "live")
"""Write the user's files: without it, forks and replays write to a disk of their own."""


class RefundServer:
    """A shop that counts the refunds that it is asked for."""

    def __init__(self):
        self.refunds = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self):
                outer.refunds.append(self.rfile.read(int(self.headers["content-length"])))
                self._send({"refunded": len(outer.refunds)})

            def do_GET(self):
                self._send({"orders": 3})

            def _send(self, found):
                data = json.dumps(found).encode()
                self.send_response(200)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args): ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_port}"
        threading.Thread(target=self._server.serve_forever, daemon=True).start()

    def close(self):
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def shop(shell):
    server = RefundServer()
    shell.environ["SHOP"] = f"http://{server.host}"
    yield server
    server.close()


def refunds(shell, shop):
    path = shell.folder / "refunds.txt"
    return len(shop.refunds) + (len(path.read_text().splitlines()) if path.exists() else 0)


def agent(shell, body):
    shell.write("agent.py", HEAD + body + TAIL)
    done, parent = shell.record("agent.py")
    assert done.status == 0, done.err
    return parent


def step_of(parent, label):
    return next(step.number for step in parent if step.label == label)


@pytest.mark.thorough
@pytest.mark.parametrize("body", ["a request", "a file", "a server's tool"])
def test_twenty_forks_of_a_refunding_agent_refund_nothing(shell, shop, body):
    if body in BODIES:
        parent = agent(shell, BODIES[body])
    else:
        shell.write("server.py", SERVER)
        shell.write("agent.py", CLIENT)
        _, parent = shell.record("agent.py")
    assert refunds(shell, shop) == 3
    for number in range(20):
        done = shell.run("fork", parent.id, "--at", str(number % len(parent.steps) + 1))
        assert done.status == 3, done.err
        assert "refund" in done.ours[-1]
    assert refunds(shell, shop) == 3


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("body", BODIES)
def test_a_fork_does_not_do_what_the_recording_shows_or_hides(shell, shop, body):
    parent = agent(shell, BODIES[body])
    at = step_of(parent, "tool:look")
    before = refunds(shell, shop)
    done = shell.run("fork", parent.id, "--at", str(at))
    assert refunds(shell, shop) == before == 3
    assert done.status == 3
    (line,) = done.ours
    assert "refund" in line
    # A file that is held open may be written to by any of the tools: there the first one is refused.
    assert ("step 1, tool:look" if body == "an open file" else "step 2") in line
    child = shell.last()
    assert child.status == "stopped"
    assert child.steps[-1].call.status == "in flight"


def test_a_tool_that_is_declared_to_write_is_refused_inside_of_one_that_is_declared_to_read(shell, shop):
    parent = agent(
        shell,
        """
    @reenact.tool(writes=True)
    def pay_back(order):
        return httpx.post(os.environ["SHOP"] + "/refunds", json={"order": order}).json()

    @reenact.tool(writes=False)
    def refund(order):
        return pay_back(order)
    """,
    )
    done = shell.run("fork", parent.id, "--at", "1")
    assert (done.status, refunds(shell, shop)) == (3, 3)
    assert "step 3, tool:pay_back, was not run: it is declared to write" in done.err
    done = shell.run("fork", parent.id, "--at", "1", "--policy", "pay_back=live")
    assert (done.status, refunds(shell, shop)) == (0, 6), done.err


@pytest.mark.parametrize("body", ["a request", "a file"])
def test_the_option_that_a_refusal_names_allows_it(shell, shop, body):
    parent = agent(shell, BODIES[body])
    refused = shell.run("fork", parent.id, "--at", "1")
    option = refused.ours[-1].partition("to let it run: ")[2].split()
    assert option == ["--policy", "refund=live"]
    done = shell.run("fork", parent.id, "--at", "1", *option, *OWN_FILES)
    assert done.status == 0, done.err
    assert refunds(shell, shop) == 6
    assert "tool:refund (3 times, --policy refund=live)" in done.err
    assert shell.replay().status == 0


@pytest.mark.thorough
def test_a_tool_of_a_server_with_a_destructive_hint_is_refused_and_one_that_reads_runs(shell, shop):
    shell.write("server.py", SERVER)
    shell.write("agent.py", CLIENT)
    done, parent = shell.record("agent.py")
    assert done.status == 0, done.err
    assert refunds(shell, shop) == 3
    done = shell.run("fork", parent.id, "--at", str(step_of(parent, "tool:look")))
    assert done.status == 3, done.err
    assert refunds(shell, shop) == 3
    assert "tool:refund, was not run: it is declared to write" in done.err
    assert shell.last().step(step_of(parent, "tool:look")).call.status == "ok"


@pytest.mark.thorough
def test_a_step_inside_of_a_tool_does_not_run_the_tool_again(shell, shop):
    parent = agent(
        shell,
        """
    @reenact.tool
    def refund(order):
        with open("refunds.txt", "a") as file:
            file.write(order + "\\n")
        return httpx.get(os.environ["SHOP"] + "/orders").json()
    """,
    )
    inner = next(step.number for step in parent if step.call.kind == "http")
    done = shell.run("fork", parent.id, "--at", str(inner))
    assert done.status == 2
    assert "was not forked: step 2, tool:refund, was not run: the step is inside of it" in done.err
    assert refunds(shell, shop) == 3


@pytest.mark.thorough
def test_a_request_to_a_path_that_models_have_too_is_no_model_call(shell, shop):
    parent = agent(
        shell,
        """
    def refund(order):
        url = os.environ["SHOP"] + "/channels/7/messages"
        return httpx.post(url, json={"content": order, "messages": [order]}).json()
    """,
    )
    done = shell.run("fork", parent.id, "--at", "1")
    assert done.status == 3
    assert f"--policy {shop.host}=live" in done.err
    assert refunds(shell, shop) == 3


def test_recorded_answers_serve_the_fork_without_a_refund(shell, shop):
    parent = agent(shell, BODIES["a request"])
    done = shell.run("fork", parent.id, "--at", "1", "--policy", "refund=recorded")
    assert done.status == 0, done.err
    assert refunds(shell, shop) == 3
    child = shell.last()
    given = [step for step in child if step.label == "tool:refund"]
    assert [step.output for step in given] == [{"refunded": number} for number in (1, 2, 3)]
    assert all(step.call.outcome["policy"] == "recorded" for step in given)
    assert shell.replay().status == 0


def test_a_question_without_a_recorded_answer_is_refused(shell, shop):
    parent = agent(shell, BODIES["a file"].replace("return order", "return uuid.uuid4().hex"))
    shell.write("agent.py", (shell.folder / "agent.py").read_text().replace("ORD-{number}", "NEW-{number}"))
    done = shell.run("fork", parent.id, "--at", "1", "--policy", "refund=recorded")
    assert done.status == 3
    assert "it has no recorded answer to this" in done.err
    assert refunds(shell, shop) == 3


@pytest.mark.thorough
def test_a_process_of_python_obeys_the_policy_of_its_fork(shell, shop):
    shell.write(
        "inner.py", 'import httpx, os; httpx.post(os.environ["SHOP"] + "/refunds", json={"order": "inner"})'
    )
    shell.write(
        "agent.py",
        """
        import subprocess, sys, reenact
        @reenact.tool
        def choose(): return False
        if choose():
            subprocess.run([sys.executable, "inner.py"])
            print("and on")
        """,
    )
    _, parent = shell.record("agent.py")
    done = shell.run("fork", parent.id, "--at", "1", "--set", "output = true")
    assert shop.refunds == []
    assert done.status == 3, done.err
    assert f"--policy {shop.host}=live" in done.ours[-1]
    allowed = shell.run(
        "fork", parent.id, "--at", "1", "--set", "output = true", "--policy", f"{shop.host}=live"
    )
    assert allowed.status == 0, allowed.err
    assert len(shop.refunds) == 1


def test_a_program_outside_of_tools_is_refused_by_its_name(shell, shop):
    parent = agent(
        shell,
        """
    def refund(order):
        if order == "ORD-9":
            subprocess.run(["touch", "refunds.txt"])
        return order
    """,
    )
    shell.write("agent.py", (shell.folder / "agent.py").read_text().replace("ORD-{number}", "ORD-9"))
    done = shell.run("fork", parent.id, "--at", "1")
    assert done.status == 3
    assert "process:touch refunds.txt, was not run: it is a program" in done.err
    assert done.ours[-1].endswith("--policy touch=live")
    assert not (shell.folder / "refunds.txt").exists()


@pytest.mark.thorough
@pytest.mark.parametrize(("said", "status", "refunded"), [("y", 0, 6), ("n", 3, 3)])
def test_on_a_terminal_the_user_is_asked_once_for_each_target(shell, shop, said, status, refunded):
    parent = agent(shell, BODIES["a request"])
    leader, follower = pty.openpty()
    running = subprocess.Popen(
        shell.command("fork", parent.id, "--at", "1"),
        cwd=shell.folder,
        env=shell.environ,
        stdin=follower,
        stdout=subprocess.PIPE,
        stderr=follower,
        start_new_session=True,
    )
    os.close(follower)
    shown = b""
    while b"[y/N] " not in shown:
        shown += os.read(leader, 1024)
    os.write(leader, f"{said}\n".encode())
    assert running.wait(60) == status
    shown += os.read(leader, 65536)
    assert shown.count(b"may this run for real? tool:refund") == 1
    assert refunds(shell, shop) == refunded
    os.close(leader)
    running.stdout.close()


@pytest.mark.thorough
def test_a_fork_in_python_names_its_argument(shell, shop, monkeypatch):
    monkeypatch.setenv("REENACT_HOME", str(shell.home))
    kept = []

    @reenact.tool
    def refund(order):
        kept.append(order)
        (shell.folder / "refunds.txt").write_text("".join(kept))

    with reenact.record("run") as recording:
        refund("A")
    with (
        pytest.raises(reenact.ForkStopped, match=r"policy=\['refund=live'\]"),
        reenact.fork(recording.id, at=1),
    ):
        refund("A")
    with reenact.fork(recording.id, at=1, policy="refund=live") as fork:
        refund("A")
    assert kept == ["A", "A"]
    assert fork.ran == ["tool:refund (--policy refund=live)"]


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("word", "said"),
    [
        ("refund", "write TARGET=MODE"),
        ("refund=lve", "did you mean live?"),
        ("=live", "write TARGET=MODE"),
    ],
)
def test_a_rule_that_is_none_costs_one_line(shell, shop, word, said):
    parent = agent(shell, BODIES["a file"])
    done = shell.run("fork", parent.id, "--at", "1", "--policy", word)
    assert done.status == 2
    assert len(done.err.splitlines()) == 1
    assert said in done.err


# -- replays that go live ------------------------------------------------------------------------------------

LIVE = [
    ("--live", "tool"),
    ("--tools", "live"),
    ("--on-divergence", "live"),
    ("--on-divergence", "realign", "--inserted", "live"),
]


@pytest.mark.thorough
@pytest.mark.parametrize(
    "body", [body if body == "a file" else pytest.param(body, marks=pytest.mark.thorough) for body in BODIES]
)
@pytest.mark.parametrize("options", LIVE, ids=" ".join)
def test_a_replay_that_goes_live_refunds_nothing_unasked(shell, shop, body, options):
    parent = agent(shell, BODIES[body])
    if "--on-divergence" in options:
        text = (shell.folder / "agent.py").read_text()
        shell.write(
            "agent.py", text.replace('print(refund(f"ORD-{number}"))', 'print(refund(f"NEW-{number}" * 9))')
        )
    before = refunds(shell, shop)
    done = shell.run("replay", parent.id, *options)
    assert refunds(shell, shop) == before == 3, done.err
    assert done.status == 1, done.err


@pytest.mark.thorough
@pytest.mark.parametrize("body", ["a request", "a file", "a declared effect", "an effect of its own kind"])
def test_the_option_that_a_refused_replay_names_allows_it(shell, shop, body):
    parent = agent(shell, BODIES[body])
    text = (shell.folder / "agent.py").read_text()
    shell.write("agent.py", text.replace("look(number)", "look(number + 7)"))
    done = shell.run("replay", parent.id, "--on-divergence", "live")
    assert refunds(shell, shop) == 3
    assert "was not run: " in done.err
    (option,) = set(re.findall(r"to let it run: (--policy [^ ]+)", done.err))
    done = shell.run("replay", parent.id, "--on-divergence", "live", *option.split(), *OWN_FILES)
    assert refunds(shell, shop) == 6, done.err
    assert "ran for real" in done.err


def test_a_tool_named_by_its_own_name_runs_in_a_replay(shell, shop):
    parent = agent(shell, BODIES["a file"])
    done = shell.run("replay", parent.id, "--live", "tool:refund", *OWN_FILES)
    assert refunds(shell, shop) == 6, done.err
    shell.run("replay", parent.id, "--live", "tool:refund", "--policy", "refund=refuse", *OWN_FILES)
    assert refunds(shell, shop) == 6


def test_a_departed_replay_gets_recorded_answers_by_the_policy(shell, shop):
    parent = agent(shell, BODIES["a request"])
    text = (shell.folder / "agent.py").read_text()
    shell.write("agent.py", text.replace("look(number)", "look(number + 7)"))
    done = shell.run("replay", parent.id, "--on-divergence", "live", "--policy", "refund=recorded")
    assert refunds(shell, shop) == 3, done.err
    assert "--policy refund=recorded it got the recorded answer" in " ".join(done.err.split())


@pytest.mark.thorough
def test_a_host_or_a_command_that_may_run_is_enough_for_the_tool_that_asks_it(shell, shop):
    parent = agent(shell, BODIES["a request"])
    done = shell.run("fork", parent.id, "--at", "1", "--policy", f"{shop.host}=live")
    assert (done.status, refunds(shell, shop)) == (0, 6), done.err
    parent = agent(shell, BODIES["a program"].replace("check=True", "capture_output=True"))
    before = refunds(shell, shop)
    done = shell.run("fork", parent.id, "--at", "1", "--policy", "sh=live", *OWN_FILES)
    assert (done.status, refunds(shell, shop)) == (0, before + 3), done.err


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize(
    ("given", "why"),
    [
        ("no_such_module:refund", "there is no module no_such_module"),
        ("stand_ins:no_such_function", "the module stand_ins has no no_such_function"),
    ],
)
@pytest.mark.parametrize("words", [("fork", "last", "--at", "2"), ("replay", "last")])
def test_a_function_that_is_not_there_is_refused_before_anything_runs(shell, given, why, words):
    shell.write("stand_ins.py", "open('imported.txt', 'w')\ndef refund(order): return order\n")
    shell.write(
        "agent.py",
        "open('began.txt', 'a').write('x')\nimport reenact\n@reenact.tool\ndef refund(order): return order\n"
        "for one in range(3): print(refund(one))\n",
    )
    _, recording = shell.record("agent.py")
    done = shell.run(*words, "--files", "live", "--policy", f"refund=simulated:{given}")
    assert done.status == 2
    assert done.out == ""
    assert f"policy 'refund=simulated:{given}': {why}" in done.err
    assert len(done.err.strip().splitlines()) == 1
    assert (shell.folder / "began.txt").read_text() == "x"
    assert not (shell.folder / "imported.txt").exists()
    assert shell.last().id == recording.id
    good = shell.run(*words, "--files", "live", "--policy", "refund=simulated:stand_ins:refund")
    assert "policy 'refund" not in good.err
    assert (shell.folder / "began.txt").read_text() == "xx"
