"""A worker's end while tasks of a job are on it, for programs that run as the driver of a real cluster."""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from pyspark import SparkContext

from spark_cluster import executors_of, kill_worker

# Seconds after which a step that has no task on a worker never will; the others are frozen all the while.
PATIENCE = 60
# Reports that an executor sent before it was frozen have arrived after so many seconds.
ARRIVED = 0.5


def say(**facts: Any) -> None:
    """One line of the answer."""
    sys.stdout.write(json.dumps(facts) + "\n")
    sys.stdout.flush()


@contextmanager
def losing_a_worker(step: str, workers: Sequence[int]) -> Iterator[Any]:
    """A progress that ends one of the workers in a step, and says which (``killed``) and how many tasks it took along
    (``lost``).

    As the step begins, all executors are frozen: no task of it can end. The worker that is ended is one that has a
    task; the others go on when it is dead. What was lost is what Spark says has failed. The block ends with an error if
    the step did not begin, gave no task to a worker, or lost none.
    """
    ending: list[threading.Thread] = []
    told: list[dict[str, int]] = []

    def progress(said: str, _: float | None) -> None:
        # A step may be said to begin several times.
        if said == step and not ending:
            executors = frozen(workers)
            ending.append(threading.Thread(target=lambda: told.append(ended(executors)), daemon=True))
            ending[0].start()

    yield progress
    for each in ending:
        each.join()
    if not told:
        raise AssertionError(f"no worker was lost in {step!r}")
    say(**told[0])


def frozen(workers: Sequence[int]) -> dict[str, tuple[int, int]]:
    """The executors of workers by their numbers in Spark, which are stopped: (executor, worker)."""
    found = {}
    for worker in workers:
        for pid, number in executors_of(worker).items():
            os.kill(pid, signal.SIGSTOP)
            found[number] = (pid, worker)
    return found


def ended(executors: dict[str, tuple[int, int]]) -> dict[str, int]:
    """End a worker whose frozen executor has a task, and let the others go on."""
    try:
        worker = executors[busy(executors)][1]
        stages = SparkContext.getOrCreate().statusTracker().getActiveStageIds()
        kill_worker(worker)
    finally:
        for pid, _ in executors.values():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)
    return {"killed": worker, "lost": lost(stages)}


def busy(executors: dict[str, tuple[int, int]]) -> str:
    """The number of an executor that has a task, and keeps it."""
    end, before = time.monotonic() + PATIENCE, ""
    while time.monotonic() < end:
        having = {number for number in executors if running(number)}
        if before in having:
            return before
        before = min(having, default="")
        time.sleep(ARRIVED if before else 0.005)
    raise TimeoutError(f"no worker had a task in {PATIENCE} seconds")


def running(number: str) -> int:
    """How many tasks the driver has given to an executor and not heard the end of."""
    tasks = SparkContext.getOrCreate()._jsc.sc().taskScheduler().runningTasksByExecutors().get(number)
    return int(tasks.get()) if tasks.isDefined() else 0


def lost(stages: Sequence[int]) -> int:
    """How many tasks of these stages Spark says have failed."""
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        if failed := sum(map(failures, stages)):
            return failed
        time.sleep(0.05)
    raise TimeoutError(f"Spark lost no task in {PATIENCE} seconds")


def failures(stage: int) -> int:
    """How many tasks of a stage have failed, in all of its attempts."""
    context = SparkContext.getOrCreate()
    store, some = context._jsc.sc().statusStore(), context._gateway.new_array(context._jvm.double, 0)
    attempts = store.stageData(stage, False, context._jvm.java.util.ArrayList(), False, some)
    return sum(attempts.apply(at).numFailedTasks() for at in range(attempts.size()))
