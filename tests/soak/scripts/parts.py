"""Parts of generated scripts: each is the text of one function that uses threads, a loop or processes.

`NAME` stands for the part's own name, and `SHORT` and `LONG` for time limits that the answers are sometimes late for.
Each question of a part names the state that other threads have left, so that another order asks something else.
"""

HEADER = """
import asyncio, collections, concurrent.futures, contextvars, ctypes, hashlib, heapq, itertools, json, os, queue, random
import sqlite3, sys, threading, time, urllib.parse, urllib.request
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, ThreadPoolExecutor, TimeoutError, as_completed, wait

STATE = {}


def ask(label, *seen):
    text = urllib.parse.quote(f"{label} {seen}")
    with urllib.request.urlopen(f"http://127.0.0.1:PORT/{text}") as answer:
        return int(answer.read())


def say(*words):
    print(*words, flush=True)


def native(seconds):
    ctypes.CDLL(None).usleep(int(seconds * 1e6))


def square(number):
    return number * number + ask("NAME square", number) * 0
"""

PARTS = {}

PARTS["results"] = """
def NAME():
    said = []
    with ThreadPoolExecutor(3) as pool:
        for turn in range(2):
            job = pool.submit(ask, "NAME slow", turn)
            try:
                said.append(job.result(timeout=SHORT) % 7)
            except TimeoutError:
                said.append("late")
            said.append(ask("NAME then", said) % 7)
            said.append(job.done())
    STATE["NAME"] = said
    return ask("NAME end", said)
"""

PARTS["waits"] = """
def NAME():
    said = []
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(ask, "NAME one", place) for place in range(4)]
        done, left = wait(jobs, timeout=SHORT)
        said.append((len(done), len(left)))
        ask("NAME some", said, [jobs.index(job) for job in jobs if job in done])
        if left:
            done, left = wait(left, return_when=FIRST_COMPLETED)
            said.append((len(done), len(left)))
            ask("NAME first", said)
        try:
            for job in as_completed(jobs, timeout=LONG):
                said.append(jobs.index(job))
        except TimeoutError as error:
            said.append(str(error))
        ask("NAME all", said)
    STATE["NAME"] = said
"""

PARTS["producers"] = """
def NAME():
    box, out, guard = queue.Queue(maxsize=2), [], threading.Lock()

    def produce(who):
        for turn in range(3):
            box.put((who, turn, ask("NAME made", who, turn) % 100))
        box.put(None)

    def consume(who):
        while True:
            item = box.get()
            if item is None:
                return
            answer = ask("NAME eaten", item)
            with guard:
                out.append((who, item[0], item[1], answer % 10))
                say("NAME", len(out), ask("NAME so far", out) % 10)

    threads = [threading.Thread(target=produce, args=(who,)) for who in "ab"]
    threads += [threading.Thread(target=consume, args=(who,)) for who in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    STATE["NAME"] = out
"""

PARTS["polling"] = """
def NAME():
    box, seen, misses = queue.Queue(), [], 0

    def work():
        for turn in range(3):
            time.sleep(random.random() * 0.02)
            box.put(ask("NAME item", turn))

    thread = threading.Thread(target=work)
    thread.start()
    while len(seen) < 3:
        try:
            seen.append(box.get(timeout=SHORT) % 50)
            ask("NAME got", seen, misses)
        except queue.Empty:
            misses += 1
            if misses % 4 == 0:
                ask("NAME missed", misses)
    thread.join()
    STATE["NAME"] = [seen, misses]
"""

PARTS["events"] = """
def NAME():
    ready, beats = threading.Event(), []

    def beat():
        while not ready.wait(SHORT):
            beats.append(len(beats))
            ask("NAME beat", len(beats))
        beats.append("over")

    thread = threading.Thread(target=beat)
    thread.start()
    answers = [ask("NAME work", turn) % 10 for turn in range(3)]
    ready.set()
    thread.join()
    STATE["NAME"] = [answers, beats, ask("NAME beats", beats) % 10]
"""

PARTS["joins"] = """
def NAME():
    said = []
    threads = [threading.Thread(target=lambda: said.append(ask("NAME in", len(said)) % 10)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SHORT)
        ask("NAME alive", thread.is_alive())
    for thread in threads:
        thread.join()
    STATE["NAME"] = said
"""

PARTS["conditions"] = """
def NAME():
    changed, items, taken = threading.Condition(), collections.deque(), []

    def give():
        for turn in range(4):
            answer = ask("NAME give", turn)
            with changed:
                items.append(answer % 100)
                changed.notify_all()

    def take(who):
        for _ in range(2):
            with changed:
                while not items:
                    changed.wait()
                taken.append((who, items.popleft()))
            ask("NAME took", who, len(taken))

    threads = [threading.Thread(target=take, args=(who,)) for who in "pq"] + [threading.Thread(target=give)]
    for thread in threads:
        thread.start()
    with changed:
        met = changed.wait_for(lambda: len(taken) >= 2, timeout=LONG)
        seen = len(taken)
    ask("NAME met", met, seen)
    for thread in threads:
        thread.join()
    STATE["NAME"] = [taken, met, seen]
"""

PARTS["barriers"] = """
def NAME():
    barrier, rows, guard = threading.Barrier(3, timeout=5), [], threading.Lock()

    def work(who):
        for phase in range(2):
            answer = ask("NAME phase", who, phase) % 10
            with guard:
                rows.append((phase, who, answer))
            place = barrier.wait()
            if place == 0:
                ask("NAME leader", phase, sorted(rows))
            barrier.wait()

    threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    STATE["NAME"] = rows
"""

PARTS["broken"] = """
def NAME():
    barrier, said = threading.Barrier(2), []

    def work(who):
        ask("NAME before", who)
        try:
            barrier.wait(SHORT)
            said.append("met")
        except threading.BrokenBarrierError:
            said.append("broken")
        ask("NAME after", who, said[-1])

    threads = [threading.Thread(target=work, args=(who,)) for who in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    STATE["NAME"] = sorted(said)
"""

PARTS["semaphores"] = """
def NAME():
    free, rows, guard = threading.BoundedSemaphore(2), [], threading.Lock()

    def work(who):
        got = free.acquire(timeout=SHORT)
        if not got:
            with guard:
                rows.append((who, "waited"))
            ask("NAME waited", who)
            free.acquire()
        try:
            answer = ask("NAME inside", who) % 10
            with guard:
                rows.append((who, answer))
        finally:
            free.release()

    threads = [threading.Thread(target=work, args=(who,)) for who in range(5)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    STATE["NAME"] = [rows, ask("NAME rows", rows) % 10]
"""

PARTS["retries"] = """
def NAME():
    rows, guard = [], threading.Lock()

    def attempt(who):
        for turn in range(4):
            answer = ask("NAME try", who, turn)
            if answer % 3:
                break
            time.sleep(0.004 * 2**turn * (1 + random.random()))
        with guard:
            rows.append((who, turn, answer % 10))

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(attempt, range(5)))
    STATE["NAME"] = [rows, ask("NAME rows", rows) % 10]
"""

PARTS["limited_locks"] = """
def NAME():
    lock, inner, rows = threading.Lock(), threading.RLock(), []

    def work(who):
        for turn in range(2):
            if lock.acquire(timeout=SHORT):
                try:
                    with inner, inner:
                        rows.append((who, turn, ask("NAME held", who, turn, len(rows)) % 10))
                finally:
                    lock.release()
            else:
                ask("NAME not held", who, turn)
                with inner:
                    rows.append((who, turn, "no"))

    threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    STATE["NAME"] = [rows, ask("NAME rows", rows) % 10]
"""

PARTS["tried_locks"] = """
def NAME():
    lock, rows, guard = threading.Lock(), [], threading.Lock()

    def work(who):
        for turn in range(3):
            got = lock.acquire(blocking=False)
            if got:
                rows.append((who, turn, ask("NAME got", who, turn) % 10))
                lock.release()
            else:
                ask("NAME busy", who, turn)
            with guard:
                rows.append((who, got))

    threads = [threading.Thread(target=work, args=(who,)) for who in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    STATE["NAME"] = rows
"""

PARTS["timers"] = """
def NAME():
    rows, guard = [], threading.Lock()

    def fire(who):
        answer = ask("NAME fired", who) % 10
        with guard:
            rows.append((who, answer))

    timers = [threading.Timer(0.005 * (who + 1), fire, args=(who,)) for who in range(3)]
    for timer in timers:
        timer.start()
    answer = ask("NAME beside", 0)
    if answer % 2:
        timers[2].cancel()
    for timer in timers:
        timer.join()
    STATE["NAME"] = [rows, ask("NAME rows", rows) % 10]
"""

PARTS["cancelled_jobs"] = """
def NAME():
    pool = ThreadPoolExecutor(1)
    jobs = [pool.submit(ask, "NAME job", place) for place in range(4)]
    jobs[0].result()
    cancelled = [job.cancel() for job in reversed(jobs)]
    ask("NAME cancelled", cancelled)
    pool.shutdown(wait=True, cancel_futures=True)
    STATE["NAME"] = [cancelled, [job.cancelled() for job in jobs]]
    ask("NAME end", [job.cancelled() for job in jobs])
"""

PARTS["callbacks"] = """
def NAME():
    ended, guard = [], threading.Lock()

    def over(job):
        with guard:
            ended.append(job.result() % 10)

    with ThreadPoolExecutor(3) as pool:
        for place in range(5):
            pool.submit(ask, "NAME job", place).add_done_callback(over)
    STATE["NAME"] = [ended, ask("NAME ended", ended) % 10]
"""

PARTS["mapped"] = """
def NAME():
    said = []
    with ThreadPoolExecutor(2) as pool:
        try:
            for answer in pool.map(lambda place: ask("NAME map", place), range(4), timeout=LONG):
                said.append(answer % 10)
        except TimeoutError:
            said.append("late")
        ask("NAME mapped", said)
    STATE["NAME"] = said
"""

PARTS["nested_jobs"] = """
def NAME():
    rows, guard = [], threading.Lock()
    inner = ThreadPoolExecutor(2)

    def outer(who):
        jobs = [inner.submit(ask, "NAME inner", who, place) for place in range(2)]
        found = [job.result() % 10 for job in as_completed(jobs)]
        with guard:
            rows.append((who, found))
        return ask("NAME outer", who, found)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(outer, range(3)))
    inner.shutdown()
    STATE["NAME"] = [rows, ask("NAME rows", rows) % 10]
"""

PARTS["unguarded"] = """
def NAME():
    rows = []

    def work(who):
        for turn in range(3):
            rows.append((who, ask("NAME turn", who, turn) % 10))
            ask("NAME saw", [row[0] for row in rows])

    threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    STATE["NAME"] = rows
"""

PARTS["native"] = """
def NAME():
    rows, guard = [], threading.Lock()

    def work(who):
        native(0.03 * random.random())
        with guard:
            rows.append((who, "native"))
        ask("NAME native", [row[0] for row in rows])

    def request(who):
        answer = ask("NAME request", who)
        with guard:
            rows.append((who, answer % 10))

    def compute(who):
        digest = hashlib.pbkdf2_hmac("sha256", b"a", b"b", 20_000).hex()[:4]
        with guard:
            rows.append((who, digest))
        ask("NAME computed", len(rows))

    threads = [threading.Thread(target=work, args=(0,)), threading.Thread(target=request, args=(1,)),
               threading.Thread(target=compute, args=(2,)), threading.Thread(target=request, args=(3,))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    STATE["NAME"] = rows
"""

PARTS["simple_queues"] = """
def NAME():
    box, rows = queue.SimpleQueue(), []
    heap = queue.PriorityQueue()

    def work(who):
        for turn in range(2):
            box.put((who, ask("NAME work", who, turn) % 10))
            heap.put((turn, who))

    threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(6):
        rows.append(box.get())
        ask("NAME got", rows)
    for thread in threads:
        thread.join()
    STATE["NAME"] = [rows, [heap.get_nowait() for _ in range(heap.qsize())]]
"""

PARTS["sleeps"] = """
def NAME():
    rows, guard = [], threading.Lock()

    def work(who):
        for turn in range(2):
            time.sleep(0.003 + random.random() * 0.01)
            with guard:
                rows.append((who, turn))
            ask("NAME slept", len(rows))

    threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    STATE["NAME"] = rows
"""

PARTS["daemon"] = """
def NAME():
    counts = []

    def forever():
        while True:
            time.sleep(0.05)

    threading.Thread(target=forever, daemon=True).start()
    for turn in range(2):
        counts.append(ask("NAME turn", turn) % 10)
    STATE["NAME"] = counts
"""

PARTS["contexts"] = """
def NAME():
    who = contextvars.ContextVar("who", default="none")
    local, rows, guard = threading.local(), [], threading.Lock()

    def work():
        local.count = getattr(local, "count", 0) + 1
        answer = ask("NAME who", who.get())
        with guard:
            rows.append((who.get(), answer % 10))

    with ThreadPoolExecutor(2) as pool:
        jobs = []
        for name in "abc":
            who.set(name)
            jobs.append(pool.submit(contextvars.copy_context().run, work))
        for job in jobs:
            job.result()
    STATE["NAME"] = [rows, ask("NAME rows", rows) % 10]
"""

PARTS["database"] = """
def NAME():
    table, guard = sqlite3.connect(":memory:", check_same_thread=False), threading.Lock()
    table.execute("create table rows (who, answer)")

    def work(who):
        answer = ask("NAME work", who) % 10
        with guard:
            table.execute("insert into rows values (?, ?)", (who, answer))
            ask("NAME rows", table.execute("select * from rows").fetchall())

    with ThreadPoolExecutor(3) as pool:
        list(pool.map(work, range(4)))
    STATE["NAME"] = table.execute("select * from rows").fetchall()
"""

PARTS["failures"] = """
def NAME():
    rows = []

    def work(who):
        answer = ask("NAME work", who)
        if answer % 2:
            raise ValueError(f"{who} got {answer % 10}")
        return answer % 10

    with ThreadPoolExecutor(3) as pool:
        jobs = {pool.submit(work, who): who for who in range(4)}
        for job in as_completed(jobs):
            try:
                rows.append((jobs[job], job.result()))
            except ValueError as error:
                rows.append((jobs[job], str(error)))
            ask("NAME rows", rows)
    STATE["NAME"] = rows
"""

PARTS["loop_and_threads"] = """
def NAME():
    rows = []

    async def one(who):
        answer = await asyncio.to_thread(ask, "NAME thread", who)
        rows.append((who, answer % 10))
        return await asyncio.to_thread(ask, "NAME rows", [row[0] for row in rows])

    async def main():
        await asyncio.gather(*(one(who) for who in range(4)))
        try:
            await asyncio.wait_for(asyncio.to_thread(ask, "NAME late", 0), SHORT)
            rows.append("in time")
        except TimeoutError:
            rows.append("late")
        except asyncio.TimeoutError:
            rows.append("late")
        await asyncio.to_thread(ask, "NAME over", rows)

    asyncio.run(main())
    STATE["NAME"] = rows
"""

PARTS["threadsafe"] = """
def NAME():
    loop, rows = asyncio.new_event_loop(), []
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def work(who):
        await asyncio.sleep(random.random() * 0.01)
        answer = await asyncio.to_thread(ask, "NAME work", who)
        rows.append((who, answer % 10))
        return len(rows)

    jobs = [asyncio.run_coroutine_threadsafe(work(who), loop) for who in range(3)]
    said = []
    for job in jobs:
        try:
            said.append(job.result(timeout=LONG))
        except TimeoutError:
            said.append("late")
        ask("NAME said", said)
    wait(jobs)
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()
    STATE["NAME"] = [rows, said]
"""

PARTS["loop_queue"] = """
def NAME():
    rows = []

    async def main():
        box = asyncio.Queue(2)

        async def make(who):
            for turn in range(2):
                await asyncio.sleep(random.random() * 0.01)
                await box.put((who, turn, await asyncio.to_thread(ask, "NAME made", who, turn)))

        async def eat():
            misses = 0
            while len(rows) < 4:
                try:
                    who, turn, answer = await asyncio.wait_for(box.get(), SHORT)
                    rows.append((who, turn, answer % 10))
                except asyncio.TimeoutError:
                    misses += 1
            return misses

        async with asyncio.TaskGroup() as group:
            eater = group.create_task(eat())
            for who in "ab":
                group.create_task(make(who))
        await asyncio.to_thread(ask, "NAME rows", rows, eater.result())

    asyncio.run(main())
    STATE["NAME"] = rows
"""

PARTS["cancelled_tasks"] = """
def NAME():
    rows = []

    async def work(who):
        try:
            for turn in range(5):
                await asyncio.sleep(0.004)
                rows.append((who, turn, await asyncio.to_thread(ask, "NAME work", who, turn) % 10))
        except asyncio.CancelledError:
            rows.append((who, "cancelled"))
            raise

    async def main():
        tasks = [asyncio.create_task(work(who)) for who in range(3)]
        done, left = await asyncio.wait(tasks, timeout=LONG)
        for task in left:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.to_thread(ask, "NAME rows", rows, len(done))

    asyncio.run(main())
    STATE["NAME"] = rows
"""

PARTS["loops_in_threads"] = """
def NAME():
    rows, guard = [], threading.Lock()

    async def work(who, turn):
        await asyncio.sleep(random.random() * 0.01)
        return await asyncio.get_running_loop().run_in_executor(None, ask, "NAME work", who, turn)

    async def main(who):
        return await asyncio.gather(*(work(who, turn) for turn in range(2)))

    def run(who):
        answers = asyncio.run(main(who))
        with guard:
            rows.append((who, [answer % 10 for answer in answers]))

    threads = [threading.Thread(target=run, args=(who,)) for who in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    STATE["NAME"] = [rows, ask("NAME rows", rows) % 10]
"""

PARTS["processes"] = """
def NAME():
    rows = []
    with ProcessPoolExecutor(2) as pool:
        jobs = [pool.submit(square, number) for number in range(4)]
        for job in as_completed(jobs):
            rows.append(job.result())
        ask("NAME rows", rows)
        rows.append(list(pool.map(pow, range(3), range(3))))
    STATE["NAME"] = rows
"""

PARTS["pipes"] = """
def NAME():
    reader, writer = os.pipe()
    rows = []

    def work(who):
        os.write(writer, b"%d" % (ask("NAME work", who) % 10))

    threads = [threading.Thread(target=work, args=(who,)) for who in range(3)]
    for thread in threads:
        thread.start()
    for _ in threads:
        rows.append(os.read(reader, 1).decode())
        ask("NAME read", rows)
    for thread in threads:
        thread.join()
    os.close(reader)
    os.close(writer)
    STATE["NAME"] = rows
"""

PARTS["handed_over"] = """
def NAME():
    lock, rows = threading.Lock(), []
    lock.acquire()

    def release():
        ask("NAME release", 0)
        rows.append("released")
        lock.release()

    thread = threading.Thread(target=release)
    thread.start()
    with lock:
        rows.append(ask("NAME held", rows) % 10)
    thread.join()
    STATE["NAME"] = rows
"""

PARTS["clocks"] = """
def NAME():
    rows, guard = [], threading.Lock()

    def work(who):
        began = time.monotonic()
        ask("NAME work", who)
        spent = time.monotonic() - began
        with guard:
            rows.append((who, round(spent, 4), random.randrange(100)))
        until = time.time() + SHORT
        turns = 0
        while time.time() < until:
            time.sleep(0.002)
            turns += 1
        ask("NAME turns", who, turns, rows)

    threads = [threading.Thread(target=work, args=(who,)) for who in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    STATE["NAME"] = rows
"""

FOOTER = """
if __name__ == "__main__":
    for part in (PARTS,):
        try:
            say(part.__name__, part())
        except Exception as error:
            say(part.__name__, repr(error))
    say(json.dumps(STATE, sort_keys=True, default=str))
"""
