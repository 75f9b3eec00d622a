"""A fleet on a real Ray cluster of several nodes, all on this machine. `make test-ray` installs Ray and runs it."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import pytest

from reenact.errors import ProgramError, UsageError
from reenact.verify import Status, verify
from reenact.verify.cluster import Cluster

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(400),
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]

SHOP = """
import random, time
import reenact

@reenact.tool
def price(order):
    return random.randint(1, 10**9)

@reenact.recorded
def answer(question):
    found = price(question)
    time.sleep(0.05)
    return found + price(question + "!")
"""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """A head without room for replays, and two nodes."""
    pytest.importorskip("ray", reason="`make test-ray` installs Ray")
    from ray.cluster_utils import Cluster as Nodes

    os.environ["RAY_USAGE_STATS_ENABLED"] = "0"
    cluster = Nodes(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
    for _ in range(2):
        cluster.add_node(num_cpus=2)
    yield cluster
    cluster.shutdown()


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A program's folder, and thirty recordings of it in its home."""
    import subprocess
    import sys

    folder = tmp_path_factory.mktemp("shop")
    folder.joinpath("shop.py").write_text(SHOP)
    make = "import shop\nfor n in range(30): shop.answer(f'q{n}')\n"
    env = {**os.environ, "REENACT_HOME": str(folder / "home")}
    subprocess.run([sys.executable, "-c", make], cwd=folder, env=env, check=True, timeout=120)
    ids = sorted(path.name for path in (folder / "home" / "recordings").iterdir())
    assert len(ids) == 30
    return folder, ids


def replayed(nodes, shop, *, entry="shop:answer", progress=None, refs=None):
    folder, ids = shop
    engine = Cluster(nodes.address, folder=folder)
    return verify(refs or ids, entry=entry, home=folder / "home", engine=engine, progress=progress)


def test_all_recordings_are_replayed_on_the_nodes_with_the_code_of_this_folder(nodes, shop):
    outcomes = replayed(nodes, shop)
    assert [outcome.status for outcome in outcomes] == [Status.SAME] * 30
    assert [outcome.id for outcome in outcomes] == shop[1]


def test_changed_code_is_shipped(nodes, shop):
    program = shop[0] / "shop.py"
    program.write_text(SHOP.replace('question + "!"', 'question + "?"'))
    try:
        outcomes = replayed(nodes, shop, refs=shop[1][:4])
    finally:
        program.write_text(SHOP)
    assert {outcome.status for outcome in outcomes} == {Status.DIVERGED}


def test_a_program_that_cannot_be_imported_is_named(nodes, shop):
    with pytest.raises(ProgramError, match="nothing_there"):
        replayed(nodes, shop, entry="nothing_there:answer")


def actors():
    """The processes that hold actors of ours."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if line.startswith(b"ray::Actor"):
                found.append(int(entry.name))
    return found


def test_workers_that_are_killed_cost_no_outcome_and_double_none(nodes, shop):
    killed, seen = [], []

    def came(outcome):
        seen.append(outcome.id)
        if len(seen) in {3, 9} and (found := actors()):
            os.kill(found[0], signal.SIGKILL)
            killed.append(found[0])

    outcomes = replayed(nodes, shop, progress=came)
    assert killed
    assert [outcome.status for outcome in outcomes] == [Status.SAME] * 30
    assert sorted(seen) == shop[1]


def test_a_node_that_is_lost_costs_no_outcome_and_doubles_none(nodes, shop):
    seen, lost = [], threading.Event()
    node = nodes.add_node(num_cpus=2)
    time.sleep(1)

    def remove():
        lost.wait(200)
        nodes.remove_node(node, allow_graceful=False)

    thread = threading.Thread(target=remove)
    thread.start()

    def came(outcome):
        seen.append(outcome.id)
        if len(seen) == 4:
            lost.set()

    outcomes = replayed(nodes, shop, progress=came)
    lost.set()
    thread.join()
    assert [outcome.status for outcome in outcomes] == [Status.SAME] * 30
    assert sorted(seen) == shop[1]


def test_a_cluster_that_is_not_there_is_said_in_a_line(shop):
    pytest.importorskip("ray", reason="`make test-ray` installs Ray")
    with pytest.raises(UsageError, match=r"Ray cluster 127\.0\.0\.1:1 is not to be had"):
        verify(shop[1][:1], entry="shop:answer", home=shop[0] / "home", engine=Cluster("127.0.0.1:1"))
