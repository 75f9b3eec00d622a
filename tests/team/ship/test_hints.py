"""The commands that texts about sending name, each followed in the environment in which they were printed."""

from __future__ import annotations

import httpx

import reenact
from reenact.core.boundary import current
from reenact.core.store.local import load
from tests.hints import followed
from tests.team.ship.serving import files

SECRET = "opaque-known-value"


@reenact.tool
def look(text):
    return f"found {text}"


def typed_later(shipper):
    """Record a value that is sent before it turns out to be a secret; return the recording."""
    with reenact.record("late") as run:
        look(SECRET)
        look("next")
        shipper.flush()
        current().run.handler.secret(SECRET, typed=True)
        look("last")
    shipper.flush()
    return run


def test_a_file_that_was_written_again_without_a_secret_is_imported_by_hand(sending, shell):
    run = typed_later(sending.shipper())
    shell.environ |= {"REENACT_SERVER": sending.server.url, "REENACT_API_KEY": sending.server.key}
    waits = shell.run("ship", "--status")
    assert SECRET in sending.there(run.id).read_text()
    api, head = f"{sending.server.url}/api/v1", {"Authorization": f"Bearer {sending.server.key}"}
    assert httpx.delete(f"{api}/recordings/{run.id}", headers=head).status_code == 200
    exported = shell.run(*followed(waits.out + waits.err, "team/ship/tail.py", "export"))
    assert exported.status == 0, exported.err
    (file,) = shell.folder.glob("*.reenact")
    taken = httpx.post(f"{api}/recordings/import", headers=head, content=file.read_bytes())
    assert taken.status_code == 201, taken.text
    there, here = (load(one.parent) for one in (sending.there(run.id), sending.here(run.id)))
    assert [step.args for step in there] == [step.args for step in here]
    assert SECRET not in sending.there(run.id).read_text()


AGENT = """
    import sys, reenact

    @reenact.tool
    def look(order): return f"order {order}"

    sys.executable = ""  # as in a program that embeds Python
    for number in range(50):
        with reenact.record("block"):
            look(number)
"""


def test_a_program_that_cannot_start_the_sending_process_names_the_command_that_sends(running, shell):
    shell.environ |= {"REENACT_SERVER": running.url, "REENACT_API_KEY": running.key}
    said = shell.plain(str(shell.write("agent.py", AGENT))).stderr
    sent = shell.run(*followed(said, "team/ship/starting.py", "ship"))
    assert sent.status == 0, sent.err
    id = shell.last().id
    assert files(running.recordings / id) == files(shell.home / "recordings" / id)
