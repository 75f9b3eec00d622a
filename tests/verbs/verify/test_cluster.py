"""A fleet on a real Ray cluster of several nodes, all on this machine. `make test-ray` installs Ray and runs it."""

from __future__ import annotations

import os
import re
import signal
import threading
from contextlib import contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path

import pytest

from reenact.core.store.local import LocalStore
from reenact.errors import ProgramError, UsageError
from reenact.team.location import TeamPlace
from reenact.verbs.verify import Status, verify
from reenact.verbs.verify.cluster import Cluster
from reenact.verbs.verify.engine import Local
from tests.conftest import Shell
from tests.team.conftest import served

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        find_spec("ray") is None and not os.environ.get("REENACT_RAY"), reason="`make test-ray` installs Ray"
    ),
    pytest.mark.timeout(240),
    pytest.mark.filterwarnings("ignore"),  # Ray's own
]

MANY = 40
SHOP = """
import os, random, signal
import reenact

@reenact.tool
def price(order):
    return random.randint(1, 10**9)

@reenact.recorded
def answer(question):
    found = price(question)
    signal.sigtimedwait([signal.SIGUSR1], 0.05)  # a replay takes a while, and not by the clock that it is given
    return found + price(question + "!")
"""
CULPRIT = """
def killed(depth):
    # 0 is the replay, 1 what has imported the program, 2 the worker of Ray's
    process = os.getpid()
    for _ in range(depth):
        process = int(open(f"/proc/{process}/stat").read().rpartition(")")[2].split()[1])
    os.kill(process, signal.SIGKILL)
"""


@contextmanager
def cluster(cpus, **environ):
    """A head without room for replays, and nodes with so many CPUs each."""
    from ray.cluster_utils import Cluster as Nodes

    # Workers that nobody has asked for are what a busy machine does not start in time.
    quiet = {
        "RAY_USAGE_STATS_ENABLED": "0", "RAY_enable_worker_prestart": "0", "RAY_prestart_worker_first_driver": "0",
        "RAY_raylet_start_wait_time_s": "120",
    }  # fmt: skip
    before = dict(os.environ)
    os.environ.update(quiet | environ)
    nodes = None
    try:
        for again in (False, True):
            try:
                nodes = Nodes(head_node_args={"num_cpus": 0, **SMALL}, initialize_head=True)
                for number in cpus:
                    nodes.add_node(num_cpus=number, **SMALL)
                break
            except Exception as error:
                if nodes is not None:
                    nodes.shutdown()
                if again and not os.environ.get("REENACT_RAY"):
                    pytest.skip(f"Ray does not start here: {error}")
                if again:
                    raise
        yield nodes
    finally:
        os.environ.clear()
        os.environ.update(before)
        if nodes is not None:
            nodes.shutdown()


SMALL = {"include_dashboard": False, "object_store_memory": 80 << 20}


@pytest.fixture(scope="module")
def store(tmp_path_factory):
    """A team's store, and another: their places."""
    with served() as postgres:
        places = []
        for name in ("ours", "theirs"):
            folder = tmp_path_factory.mktemp(name)
            places.append(
                TeamPlace(postgres.database(name), f"file://{folder}/objects", "default", folder / "cache")
            )
        yield places


@pytest.fixture(scope="module")
def nodes(store):
    """Two nodes that know of the team's store."""
    with cluster([1, 1], REENACT_STORE=store[0].database, REENACT_OBJECTS=store[0].objects) as found:
        yield found


@pytest.fixture(scope="module")
def shop(tmp_path_factory):
    """A program's folder, with recordings of it."""
    shell = Shell(tmp_path_factory.mktemp("shop"))
    shell.write("shop.py", SHOP)
    done = shell.plain("-c", f"import shop\nfor n in range({MANY}): shop.answer(f'q{{n}}')\n")
    assert done.returncode == 0, done.stderr
    shell.ids = sorted(LocalStore(shell.home).ids())
    assert len(shell.ids) == MANY
    shell.called = {recording_of(shell, id): id for id in shell.ids}
    return shell


def recording_of(shell, id):
    """What it was asked."""
    lines = (shell.home / "recordings" / id / "events.jsonl").read_text()
    return re.search(r'"question":"(q\d+)"', lines)[1]


@pytest.fixture(autouse=True)
def unchanged(shop, monkeypatch):
    monkeypatch.chdir(shop.folder)
    yield
    shop.write("shop.py", SHOP)


def replayed(nodes, shop, refs=None, *, entry="shop:answer", progress=None, timeout=60, **more):
    engine = Cluster(nodes.address, **more)
    return verify(
        refs or shop.ids, entry=entry, home=shop.home, engine=engine, progress=progress, timeout=timeout
    )  # fmt: skip


def statuses(outcomes):
    return [outcome.status for outcome in outcomes]


def processes(said):
    """Those whose command line has this in it."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdecimal():
            try:
                line = (entry / "cmdline").read_bytes()
            except OSError:
                continue
            if said in line:
                found.append(int(entry.name))
    return sorted(found)


def test_table_json_junit_and_page_are_those_of_the_local_engine(nodes, shop):
    """Each recording has its own end: as recorded, departed, another error, a crash, a hang."""
    code = SHOP.replace(
        "    signal.sigtimed",
        "    if question == 'q1': raise LookupError('no order')\n"
        "    if question == 'q2': os._exit(3)\n"
        "    if question == 'q3': killed(0)\n"
        "    if question == 'q5': price('another')\n"
        "    while question == 'q4': pass\n    signal.sigtimed",
    )
    shop.write("shop.py", code + CULPRIT)
    refs = [shop.called[f"q{number}"] for number in range(6)]
    told = []
    for engine in (["--engine", "ray", "--address", nodes.address], ["--engine", "local"]):
        words = ["verify", *refs, "--entry", "shop:answer", "--timeout", "3", *engine]
        done = shop.run(*words, "--junit", "out.xml", "--html", "out.html")
        assert done.status == 1, done.err
        files = [(shop.folder / name).read_text() for name in ("out.xml", "out.html")]
        tree = shop.run(*words, "--json", "--resume").json
        found = {recording_of(shop, one["recording"]): one["status"] for one in tree}
        assert found == {
            "q0": "same", "q1": "broken", "q2": "could not run", "q3": "could not run", "q4": "could not run",
            "q5": "diverged",
        }  # fmt: skip
        for one in tree:
            one.pop("seconds")
        told.append([tree, *(timeless(text) for text in (done.out, *files))])
    assert told[0] == told[1]


def timeless(text):
    return re.sub(r'time="[\d.]+"|<td>[\d.]+</tr>|[\d.]+ s of', "TIME", text)


def test_changed_code_is_shipped_and_found_to_diverge(nodes, shop):
    shop.write("shop.py", SHOP.replace('question + "!"', 'question + "?"'))
    assert statuses(replayed(nodes, shop, shop.ids[:4])) == [Status.DIVERGED] * 4


@pytest.mark.parametrize("how", ["not there", "excluded", "ignored by git"])
def test_a_module_that_a_node_lacks_is_one_line(nodes, shop, how):
    shop.write("shop.py", "import helping\n" + SHOP)
    shop.write(".gitignore", "helping.py\n" if how == "ignored by git" else "")
    if how != "not there":
        shop.write("helping.py", "")
    with pytest.raises(
        ProgramError, match=r"on .*: shop:answer: ModuleNotFoundError: No module named 'helping'; p"
    ):
        replayed(nodes, shop, shop.ids[:1], excludes=["helping.py"] if how == "excluded" else [])
    shop.write("shop.py", SHOP)
    shop.write(".gitignore", "")


def test_a_folder_that_is_too_large_to_ship_is_one_line(nodes, shop):
    (shop.folder / "weights.bin").write_bytes(os.urandom(1 << 20) * 520)
    try:
        with pytest.raises(UsageError, match=r"is more than Ray ships to its nodes: .*--exclude"):
            replayed(nodes, shop, shop.ids[:1])
        assert statuses(replayed(nodes, shop, shop.ids[:1], excludes=["*.bin"])) == [Status.SAME]
        # The recordings of a home are not shipped with the folder that it lies in.
        other = shop.home / "recordings" / "other"
        other.mkdir()
        (shop.folder / "weights.bin").rename(other / "weights.bin")
        assert statuses(replayed(nodes, shop, shop.ids[:1])) == [Status.SAME]
    finally:
        for place in shop.folder.rglob("weights.bin"):
            place.unlink()


@pytest.mark.parametrize(
    ("whom", "how"),
    [
        (b"ray::Actor", signal.SIGKILL),
        (b"reenact.verbs.verify.zygote", signal.SIGKILL),
        (b"ray::Actor", signal.SIGSTOP),
    ],
)
def test_workers_that_are_killed_or_stopped_cost_no_outcome_and_double_none(nodes, shop, whom, how):
    killed, seen = [], []

    def came(outcome):
        seen.append(outcome.recording)
        if len(seen) in ({3, 9} if how == signal.SIGKILL else {3}) and (found := processes(whom)):
            os.kill(found[-1], how)
            killed.append(found[-1])

    try:
        outcomes = replayed(nodes, shop, progress=came, timeout=5, slack=2)
    finally:
        for process in killed:
            with suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
    assert killed
    assert statuses(outcomes) == [Status.SAME] * MANY
    assert sorted(seen) == shop.ids


@pytest.mark.parametrize(
    ("depth", "said"),
    [(1, "the process that imported the program is gone"), (2, "4 workers died on it")],
)
def test_a_program_that_always_kills_its_worker_has_a_verdict_and_harms_no_other(nodes, shop, depth, said):
    code = SHOP.replace(
        "    signal.sigtimed", f"    if question == 'q7': killed({depth})\n    signal.sigtimed"
    )
    shop.write("shop.py", code + CULPRIT)
    by_id = {
        outcome.recording: outcome for outcome in replayed(nodes, shop, shop.ids[:20] + [shop.called["q7"]])
    }
    culprit = by_id.pop(shop.called["q7"])
    assert culprit.status is Status.UNABLE
    assert said in culprit.detail
    assert {outcome.status for outcome in by_id.values()} == {Status.SAME}


def test_a_node_that_is_lost_costs_no_outcome_and_doubles_none(nodes, shop):
    seen, lost = [], threading.Event()
    node = nodes.add_node(num_cpus=1, **SMALL)

    def remove():
        lost.wait(200)
        nodes.remove_node(node, allow_graceful=False)

    thread = threading.Thread(target=remove)
    thread.start()

    def came(outcome):
        seen.append(outcome.recording)
        if len(seen) == 6:
            lost.set()

    try:
        outcomes = replayed(nodes, shop, progress=came)
    finally:
        lost.set()
        thread.join()
    assert statuses(outcomes) == [Status.SAME] * MANY
    assert sorted(seen) == shop.ids


class Counting(Local):
    """The local engine; it remembers what it was given."""

    def run(self, tasks, job, done):
        self.given = {task.ref for task in tasks}
        super().run(tasks, job, done)


@pytest.mark.parametrize("whom", ["the head", "the driver"])
def test_what_was_done_before_the_cluster_was_lost_is_kept(shop, whom):
    # The nodes go on for as long as they have something to do: that is to be longer than it takes to miss the head.
    shop.write("shop.py", f"# {whom}\n" + SHOP.replace("0.05", "1.2"))
    refs, seen = shop.ids[:16], []
    with cluster([1]) as nodes:

        def came(outcome):
            seen.append(outcome.recording)
            if len(seen) == 2 and whom == "the head":
                nodes.remove_node(nodes.head_node, allow_graceful=False)
            elif len(seen) == 2:
                os.kill(processes(b"reenact.verbs.verify.dispatch")[0], signal.SIGKILL)

        with pytest.raises(
            UsageError, match=r"^.*is lost.*; \d+ of 16 were replayed and are kept: --resume"
        ) as raised:
            replayed(nodes, shop, refs, progress=came)
    assert "\n" not in str(raised.value)
    rest = Counting()
    outcomes = verify(refs, entry="shop:answer", home=shop.home, engine=rest, resume=True)
    assert statuses(outcomes) == [Status.SAME] * 16
    assert rest.given == {*refs} - {*seen}
    assert len(seen) >= 2


@pytest.mark.parametrize("address", ["127.0.0.1:1", "ray://127.0.0.1:1"])
def test_a_cluster_that_is_not_there_is_said_at_once(shop, address):
    done = shop.run("verify", "--engine", "ray", "--address", address, "--entry", "shop:answer")
    assert done.status == 2
    assert done.ours[-1] == f"reenact: the Ray cluster {address} cannot be reached: no answer"


def test_a_cluster_without_room_is_given_up(nodes, shop):
    with (
        cluster([]) as empty,
        pytest.raises(UsageError, match="no node of the cluster had room for a replay within 3 s"),
    ):
        replayed(empty, shop, shop.ids[:1], placed=3)


def test_a_cluster_of_this_machine_is_started_and_leaves_nothing(shop):
    before = set(processes(b"raylet"))
    outcomes = verify(shop.ids[:3], entry="shop:answer", home=shop.home, engine=Cluster(workers=1))
    assert statuses(outcomes) == [Status.SAME] * 3
    assert set(processes(b"raylet")) <= before


@pytest.mark.parametrize("where", ["read by the nodes", "sent along"])
def test_recordings_of_the_team_are_replayed(nodes, shop, store, where):
    """The nodes know one store; the recordings of another are sent along with the tasks."""
    from reenact.team.ship.exchange import TeamExchange
    from reenact.team.store import TeamStore

    half = MANY // 2
    place, refs, said = (
        (store[1], shop.ids[:half], []) if where == "sent along" else (store[0], shop.ids[half:], [])
    )
    with TeamStore(place) as team:
        exchange = TeamExchange(LocalStore(shop.home), team)
        exchange.push(refs)
        exchange.close()
        engine = Cluster(nodes.address, team=place, say=said.append)
        outcomes = verify(refs, entry="shop:answer", engine=engine, team=team)
    assert statuses(outcomes) == [Status.SAME] * half
    assert any("are sent along" in line for line in said) == (where == "sent along")
    fetched = {path.name for path in place.cache.glob("recordings/*")}
    assert fetched == ({*refs} if where == "sent along" else set())
