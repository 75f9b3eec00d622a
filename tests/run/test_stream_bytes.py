"""What a program writes below the text of its standard streams is compared, too."""

from __future__ import annotations

import pytest

from reenact.run.output import compare

PROGRAM = """
    import io, os, sys
    print("text")
    sys.stdout.buffer.write(b"buffer")
    sys.stdout.buffer.writelines([b"lines"])
    print("more text", flush=True)
    sys.stdout.flush()
    os.write(1, b"number")
    stream = io.TextIOWrapper(sys.stdout.buffer, "utf-8")
    print("stream", file=stream)
    stream.detach()
    sys.stdout = io.TextIOWrapper(sys.stdout.buffer, "utf-8")
    print("other", "x" * 9000)
"""


def changed(part):
    return PROGRAM.replace(part, f"{part[:-1]}!{part[-1]}" if part[-1] == '"' else f"{part}!")


@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("part", ['buffer"', "lines", 'number"', '"stream"', "other", "more", "x"])
@pytest.mark.sampled(every=5)
def test_other_bytes_below_standard_output_are_a_departure(shell, part, unbuffered):
    shell.environ["PYTHONUNBUFFERED"] = unbuffered
    shell.write("agent.py", PROGRAM)
    done, _ = shell.record("agent.py")
    assert (done.status, done.out) == (0, shell.plain("agent.py").stdout), done.err
    replay = shell.replay()
    assert (replay.status, replay.out) == (0, done.out), replay.err
    assert replay.err.startswith("faithful"), replay.err
    shell.write("agent.py", changed(part))
    replay = shell.replay()
    assert replay.status == 1, replay.out
    assert "CHANGED  main/stdout" in replay.err, replay.err


@pytest.mark.parametrize("write", ["sys.stderr.buffer.write(TEXT); sys.stderr.flush()", "os.write(2, TEXT)"])
def test_other_bytes_on_standard_error_are_a_departure(shell, write):
    program = f"import os, sys\nTEXT = b'said \\xc3\\xa9'\n{write}\n"
    shell.write("agent.py", program)
    shell.record("agent.py")
    assert shell.replay().status == 0
    shell.write("agent.py", program.replace("said", "told"))
    assert "CHANGED  main/stderr" in shell.replay().err


def test_a_character_in_two_writes_is_one(shell):
    program = """
        import os
        for piece in PIECES:
            os.write(1, piece)
    """
    shell.write("agent.py", program.replace("PIECES", r"[b'\xc3', b'\xa9', b'\xe2\x82', b'\xac']"))
    done, _ = shell.record("agent.py")
    shell.write("agent.py", program.replace("PIECES", r"[b'\xc3\xa9\xe2', b'\x82\xac']"))
    replay = shell.replay()
    assert replay.status == 0, replay.err
    assert done.status == 0


def test_a_tool_that_is_answered_writes_its_bytes(shell):
    program = """
        import os, sys
        import reenact

        @reenact.tool
        def load(name):
            print("text", flush=True)
            sys.stdout.buffer.write(b"buffer\\n")
            sys.stdout.flush()
            os.write(1, b"number\\n")
            return name

        print(load("a"))
    """
    shell.write("agent.py", program)
    done, _ = shell.record("agent.py")
    for tools in ("rerun", "answer"):
        replay = shell.run("replay", "last", "--tools", tools)
        assert (replay.status, replay.out) == (0, done.out), replay.err
    shell.write("agent.py", program.replace("number", "digits"))
    assert "CHANGED  main/stdout" in shell.run("replay", "last").err


def test_threads_write_bytes_in_the_recorded_order(shell):
    program = """
        import os, threading

        def write(name):
            for number in range(50):
                os.write(1, f"{name}{number}\\n".encode())

        threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    """
    shell.write("agent.py", program)
    done, _ = shell.record("agent.py")
    for _ in range(3):
        replay = shell.replay()
        assert (replay.status, replay.out) == (0, done.out), replay.err


def test_a_block_counts_the_bytes_that_its_own_code_writes(shell):
    program = """
        import os, reenact, sys
        sys.stdout.buffer.write(b"before")
        with reenact.record("block"):
            sys.stdout.buffer.write(b"within")
            os.write(1, b"inside")
        sys.stdout.buffer.write(b"behind")
    """
    shell.write("agent.py", program)
    shell.plain("agent.py")
    assert shell.replay().status == 0
    for word in ("within", "inside"):
        shell.write("agent.py", program.replace(word, "without"))
        assert "CHANGED  main/stdout" in shell.replay().err
    shell.write("agent.py", program.replace("before", "first"))
    assert shell.replay().status == 0


def test_bytes_are_not_compared_with_a_recording_of_text_alone():
    text = {"sha256": "1", "length": 5, "text": "text\n", "threads": False, "width": 0}
    both = {**text, "length": 10, "text": "bytestext\n", "sha256": "2"}
    assert compare("main", text, {**both, "bytes": True}) == (None, "ignore stdout (bytes were not recorded)")
    for recorded, written in ((text, False), ({**text, "bytes": False}, True)):
        divergence, _ = compare("main", recorded, {**both, "bytes": written})
        assert divergence is not None
