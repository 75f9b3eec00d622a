"""What a program writes below the text of its standard output is compared, too."""

from __future__ import annotations

import pytest

PROGRAM = """
    import io, sys
    print("text")
    sys.stdout.buffer.write(b"buffer")
    sys.stdout.buffer.writelines([b"lines"])
    print("more text", flush=True)
    sys.stdout.flush()
    stream = io.TextIOWrapper(sys.stdout.buffer, "utf-8")
    print("stream", file=stream)
    stream.detach()
    sys.stdout = io.TextIOWrapper(sys.stdout.buffer, "utf-8")
    print("other", "x" * 9000)
"""


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("part", ['buffer"', "lines", '"stream"', "other", "more", "x"])
@pytest.mark.sampled(every=5)
def test_other_bytes_below_standard_output_are_a_departure(shell, part, unbuffered):
    shell.environ["PYTHONUNBUFFERED"] = unbuffered
    shell.write("agent.py", PROGRAM)
    done, _ = shell.record("agent.py")
    assert (done.status, done.out) == (0, shell.plain("agent.py").stdout), done.err
    replay = shell.replay()
    assert (replay.status, replay.out) == (0, done.out), replay.err
    assert replay.err.startswith("faithful"), replay.err
    shell.write(
        "agent.py", PROGRAM.replace(part, f"{part[:-1]}!{part[-1]}" if part[-1] == '"' else f"{part}!")
    )
    replay = shell.replay()
    assert replay.status == 1, replay.out
    assert "CHANGED  main/stdout" in replay.err, replay.err


def test_a_block_counts_the_bytes_that_its_own_code_writes(shell):
    program = """
        import reenact, sys
        sys.stdout.buffer.write(b"before")
        with reenact.record("block"):
            sys.stdout.buffer.write(b"within")
        sys.stdout.buffer.write(b"behind")
    """
    shell.write("agent.py", program)
    shell.plain("agent.py")
    assert shell.replay().status == 0
    shell.write("agent.py", program.replace("within", "without"))
    assert "CHANGED  main/stdout" in shell.replay().err
    shell.write("agent.py", program.replace("before", "first"))
    assert shell.replay().status == 0
