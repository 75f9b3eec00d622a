"""What a Python child process writes is recorded and compared with what it wrote."""

import pytest

HEAD = """
import multiprocessing, os, subprocess, sys
from concurrent.futures import ProcessPoolExecutor

def work(number=0):
    print("printed", number)
    print("told", file=sys.stderr)

def child(run):
    number = os.fork()
    if not number:
        run()
        os._exit(0)
    os.waitpid(number, 0)

if __name__ == "__main__":
    print("begins")
"""
WAYS = {
    "a program": "subprocess.run([sys.executable, '-c', 'import agent; agent.work()'])",
    "multiprocessing, forked": "p = multiprocessing.get_context('fork').Process(target=work); p.start(); p.join()",
    "multiprocessing, spawned": "p = multiprocessing.get_context('spawn').Process(target=work); p.start(); p.join()",
    "a fork": "child(work)",
    "a fork of a fork": "child(lambda: child(work))",
}


@pytest.mark.sampled(every=10)
@pytest.mark.parametrize("way", WAYS)
def test_what_a_child_process_writes_is_compared(shell, way):
    agent = f"{HEAD}    {WAYS[way]}\n"
    shell.write("agent.py", agent)
    done, _ = shell.record("agent.py")
    assert "printed 0" in done.out, done.err
    again = shell.replay("--json").json["verdict"]
    assert again["faithful"], again
    for old, new, stream in (("printed", "shown", "stdout"), ('"told"', '"said"', "stderr")):
        shell.write("agent.py", agent.replace(old, new))
        (found,) = shell.replay("--json").json["verdict"]["divergences"]
        assert found["address"].endswith(f"/{stream}")
        assert found["address"].startswith("main/")


@pytest.mark.sampled
def test_the_output_of_workers_is_not_compared_and_the_verdict_says_so(shell):
    pool = "with ProcessPoolExecutor(2) as pool: list(pool.map(work, range(4)))"
    shell.write("agent.py", f"{HEAD}    {pool}\n")
    shell.record("agent.py")
    verdict = shell.replay("--json").json["verdict"]
    assert verdict["faithful"], verdict
    assert any("workers of pools" in thing for thing in verdict["uncompared"])
