"""Threads that work are told from threads that wait."""

from __future__ import annotations

import ctypes
import hashlib
import sys
import threading
import time

import pytest

from reenact.core.boundary.turnstile.working import ThreadWork

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says what each thread does")


def sleeps():
    ctypes.CDLL(None).usleep(1_000_000)


def computes():
    start = time.thread_time()
    while time.thread_time() - start < 1:
        hashlib.pbkdf2_hmac("sha256", b"a", b"b", 200_000)


def _seen(target):
    """Whether a thread of that target is seen at work, looked at twice."""
    numbers: list[int] = []
    begun = threading.Event()

    def run():
        numbers.append(threading.get_native_id())
        begun.set()
        target()

    thread = threading.Thread(target=run)
    thread.start()
    begun.wait()
    work, seen = ThreadWork(), False
    while thread.is_alive() and not seen:
        time.sleep(0.02)
        seen = work.seen(numbers)
    return seen


@pytest.mark.parametrize("target", [sleeps, computes])
def test_a_thread_in_native_work_is_seen_at_work(target):
    assert _seen(target)


def test_a_thread_that_waits_for_a_lock_is_not_seen_at_work():
    lock, over = threading.Lock(), threading.Event()
    lock.acquire()
    numbers: list[int] = []
    thread = threading.Thread(
        target=lambda: (numbers.append(threading.get_native_id()), lock.acquire(), over.set())
    )
    thread.start()
    while not numbers:
        time.sleep(0.01)
    work = ThreadWork()
    # It may still be on its way to the lock; then it stays there.
    while work.seen(numbers):
        time.sleep(0.02)
    assert not over.is_set()
    lock.release()
    thread.join()


def test_a_thread_that_has_ended_is_not_seen_at_work():
    numbers: list[int] = []
    thread = threading.Thread(target=lambda: numbers.append(threading.get_native_id()))
    thread.start()
    thread.join()
    # The system may take a moment to forget it.
    while ThreadWork().seen(numbers):
        time.sleep(0.01)
    assert not ThreadWork().seen([1 << 30])
