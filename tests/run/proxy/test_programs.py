"""Programs in other languages, from the command line: recorded, run again without a provider, forked."""

from __future__ import annotations

import shutil
import signal
import subprocess
import sys

import pytest

KEYS = {"OPENAI_API_KEY": "sk-" + "Ab9" * 16, "ANTHROPIC_API_KEY": "sk-ant-" + "Zq8" * 16}

NODE = pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
CURL = pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")

AGENT_JS = """
    const headers = {"content-type": "application/json", authorization: `Bearer ${process.env.OPENAI_API_KEY}`};
    if (!process.env.OPENAI_API_KEY) throw new Error("no key");
    async function ask(content, more = {}) {
      const body = JSON.stringify({model: "teller", messages: [{role: "user", content}], ...more});
      const response = await fetch(`${process.env.OPENAI_BASE_URL}/chat/completions`, {method: "POST", headers, body});
      if (!more.stream) return (await response.json()).choices?.[0].message.content ?? `status ${response.status}`;
      let text = "";
      for await (const chunk of response.body) text += Buffer.from(chunk).toString();
      return text.split("data: ").length;
    }
    console.log(await ask(process.argv[2] ?? "hello"));
    console.log(await Promise.all([ask("a"), ask("b", {stream: true}), ask("c")]));
    process.exitCode = 3;
"""
AGENT_SH = """
    curl -sS "$OPENAI_BASE_URL/chat/completions" -H "Authorization: Bearer $OPENAI_API_KEY" \\
        -H "Content-Type: application/json" -d '{"model": "teller", "messages": [{"role": "user", "content": "hi"}]}'
    curl -sSN "$ANTHROPIC_BASE_URL/v1/messages" -H "x-api-key: $ANTHROPIC_API_KEY" \\
        -H "Content-Type: application/json" \\
        -d '{"model": "teller", "stream": true, "messages": [{"role": "user", "content": "hi"}]}'
"""
AGENT_PY = """
    import openai

    tools = [{"type": "function", "function": {"name": "weather", "parameters": {
        "type": "object", "properties": {"city": {"type": "string"}}}}}]
    messages = [{"role": "user", "content": "weather in Bern?"}]
    with openai.OpenAI() as client:
        while True:
            with client.chat.completions.stream(model="caller", messages=messages, tools=tools) as stream:
                said = stream.get_final_completion().choices[0].message
            messages.append(said.model_dump(exclude_none=True))
            if not said.tool_calls:
                break
            messages += [{"role": "tool", "tool_call_id": c.id, "content": "sunny"} for c in said.tool_calls]
    print(said.content)
"""

CLIENT_PY = """
    import os, httpx

    asked = {"model": "teller", "messages": [{"role": "user", "content": "hi"}]}
    url = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    print(httpx.post(url, json=asked, trust_env=False).json())
"""


def addresses(provider):
    return {"OPENAI_BASE_URL": f"{provider.url}/v1", "ANTHROPIC_BASE_URL": provider.url}


def record(shell, provider, *command):
    return shell.run("record", "--proxy", "--", *command, env={**addresses(provider), **KEYS})


@NODE
def test_a_node_program_is_recorded_and_run_again_without_provider_and_key(shell, provider):
    shell.write("agent.mjs", AGENT_JS)
    done = record(shell, provider, "node", "agent.mjs")
    assert done.status == 3, done.err
    hits = provider.hits
    provider.stop()
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
    assert "4 answers served" in again.err
    assert provider.hits == hits
    assert "node agent.mjs" in shell.run("list").out
    assert "answer" in shell.run("show", "last").out


CARELESS_JS = """
const url = `${process.env.OPENAI_BASE_URL}/chat/completions`
const messages = [{ role: 'user', content: process.argv[2] ?? 'hello' }]
const headers = { 'content-type': 'application/json', authorization: `Bearer ${process.env.OPENAI_API_KEY}` }
const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ model: 'm', messages }) })
console.log((await answer.json()).choices[0].message.content)
"""


@NODE
def test_the_departure_is_said_before_the_error_of_a_program_that_reads_any_answer(shell, provider):
    shell.write("agent.mjs", CARELESS_JS)
    assert record(shell, provider, "node", "agent.mjs").status == 0
    again = shell.replay("--", "node", "agent.mjs", "other")
    said = "reenact: CHANGED at step 1"
    assert again.status == 1
    assert said in again.err
    assert "from here on the program is answered with status 400" in again.err
    assert again.err.index(said) < again.err.index("TypeError")
    assert "--on-divergence realign" in again.err
    assert "fork" not in again.err


@pytest.mark.thorough
@NODE
def test_another_question_ends_the_replay_with_the_departure(shell, provider):
    shell.write("agent.mjs", AGENT_JS)
    record(shell, provider, "node", "agent.mjs")
    again = shell.replay("--", "node", "agent.mjs", "other")
    assert again.status == 1
    assert "status 400" in again.out
    assert "CHANGED  step 1" in again.err
    assert "other" in again.err


@pytest.mark.thorough
@NODE
def test_another_output_and_another_exit_status_are_departures(shell, provider):
    script = shell.write("agent.mjs", AGENT_JS)
    record(shell, provider, "node", "agent.mjs")
    script.write_text(script.read_text().replace("exitCode = 3", "exitCode = 4"))
    again = shell.replay("--json").json
    assert [d["address"] for d in again["verdict"]["divergences"]] == ["main/exit"]
    script.write_text(script.read_text() + "console.log('more')")
    again = shell.replay("--json").json
    assert [d["address"] for d in again["verdict"]["divergences"]] == ["main/stdout"]


@pytest.mark.thorough
@NODE
def test_a_fork_goes_on_at_the_provider_and_is_a_recording_like_any(shell, provider):
    shell.write("agent.mjs", AGENT_JS)
    done = record(shell, provider, "node", "agent.mjs")
    parent, hits = shell.last(), provider.hits
    forked = shell.run("fork", parent.id, "--at", "2", env=KEYS)
    assert forked.status == 3, forked.err
    assert forked.out.splitlines()[0] == done.out.splitlines()[0]
    assert forked.out != done.out
    assert provider.hits == hits + 3
    child = shell.last()
    assert child.header["parent"] == {"id": parent.id, "step": 2, "how": "fork"}
    assert child.header["program"] == parent.header["program"]
    provider.stop()
    assert shell.replay().out == forked.out
    edited = shell.run("fork", parent.id, "--at", "1", "--set", "text = edited")
    assert edited.out.splitlines()[0] == "edited"
    stopped = shell.run("fork", parent.id, "--at", "1")
    assert stopped.status == 3
    assert "no model is at hand" in stopped.err


@CURL
def test_a_shell_script_with_curl(shell, provider):
    shell.write("agent.sh", AGENT_SH)
    done = record(shell, provider, "sh", "agent.sh")
    provider.stop()
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
    assert "message_stop" in done.out
    recording = shell.last()
    assert [step.label.rpartition("/v1/")[2] for step in recording] == ["chat/completions", "messages"]
    text = "".join(path.read_text() for path in (shell.home / "recordings" / recording.id).glob("*.jsonl"))
    assert not any(key in text for key in KEYS.values())


@pytest.mark.thorough
def test_a_python_program_with_the_openai_sdk(shell, provider):
    shell.write("agent.py", AGENT_PY)
    done = record(shell, provider, sys.executable, "agent.py")
    provider.stop()
    again = shell.replay()
    assert (again.status, again.out) == (0, done.out), again.err
    assert [step.call.kind for step in shell.last()] == ["http", "http"]


@pytest.mark.thorough
def test_who_asks_a_proxy_without_a_program_is_recorded_until_it_is_ended(shell, provider):
    command = shell.command("record", "--proxy", "--name", "beside")
    environ = {**shell.environ, **addresses(provider)}
    with subprocess.Popen(
        command, env=environ, cwd=shell.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        url = running.stdout.readline().partition("=")[2].strip()
        shell.write("client.py", CLIENT_PY)
        asked = subprocess.run(
            [sys.executable, "client.py"],
            cwd=shell.folder,
            env={**shell.environ, "OPENAI_BASE_URL": url},
            capture_output=True,
            text=True,
            check=True,
        )
        running.send_signal(signal.SIGINT)
        err = running.communicate(timeout=120)[1]
    assert "recorded" in err
    assert "1 step" in err
    nothing = shell.replay()
    assert nothing.status == 2
    assert "the proxy ran beside it" in nothing.err
    again = shell.replay("--", sys.executable, "client.py")
    assert (again.status, again.out) == (0, asked.stdout), again.err


@pytest.mark.thorough
def test_what_the_proxy_cannot_do_is_said_in_a_line(shell, provider):
    shell.write("agent.py", "print('asks nobody')")
    done = record(shell, provider, sys.executable, "agent.py")
    assert "no request came by the proxy" in done.err
    assert shell.replay().status == 1
    for words in (["--", "no-such-program"], ["--risky", "tool:x", "--", "true"]):
        refused = shell.run("record", "--proxy", *words)
        assert (refused.status, len(refused.err.splitlines())) == (2, 1)
    assert "recorded by the proxy" in shell.run("reproduce", "last").out


@pytest.mark.thorough
def test_a_kept_recording_is_a_test_that_starts_the_program(shell, provider):
    shell.write("agent.py", AGENT_PY)
    record(shell, provider, sys.executable, "agent.py")
    provider.stop()
    kept = shell.run("keep", "last")
    assert kept.status == 0, kept.err
    (test,) = shell.folder.glob("**/test_*.py")
    assert f"[{sys.executable!r}, 'agent.py']".replace("'", '"') in test.read_text().replace("'", '"')
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", str(test)],
        cwd=shell.folder,
        env=shell.environ,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout


@pytest.mark.thorough
def test_a_debugger_reads_what_the_proxy_recorded(shell, provider):
    shell.write("agent.py", AGENT_PY)
    record(shell, provider, sys.executable, "agent.py")
    read = shell.run("debug", "last", "--plain", text="step\n")
    assert "recorded by the proxy" in read.err
    assert "reading only" in read.err
    assert read.status == 0


@CURL
def test_a_changed_program_that_is_forked_is_told_to_be_recorded_first(shell, provider):
    shell.write("agent.sh", AGENT_SH)
    record(shell, provider, "sh", "agent.sh")
    shell.write("agent.sh", AGENT_SH.replace('"content": "hi"', '"content": "hello"'))
    forked = shell.run("fork", "last", "--at", "2", env=KEYS)
    assert forked.status == 2
    assert "on_divergence=" not in forked.err
    assert "record the changed one, and fork that" in forked.err
    provided = addresses(provider)
    assert shell.run("record", "--proxy", "--", "sh", "agent.sh", env={**provided, **KEYS}).status == 0
    assert shell.run("fork", "last", "--at", "2", env=KEYS).status == 0
