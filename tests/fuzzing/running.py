"""Cases by the hundred, in processes that may die of them."""

from __future__ import annotations

import importlib
import os
import re
import resource
import select
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fuzzing.judging import Case, case_of, judged

# A process is made anew after so many cases: what libraries keep would slow the next ones down.
BATCH = 1000
MOST_BYTES = 12 << 30
LOADED = (
    *("duckdb", "narwhals", "pandas", "PIL.Image", "pyarrow.compute", "pyarrow.dataset", "pyarrow.parquet", "skops.io"),
    *("scipy.optimize", "sklearn.linear_model", "sklearn.neural_network", "tacit.cli.commands", "tacit.lenses.images"),
    *(f"tacit.lenses.table.{verb}" for verb in ("attack", "audit", "protect", "verify")),
    *("tacit.lenses.text", "tacit.person.inquiry", "tacit.report.page", "tacit.report.terminal"),
)
# Of the processor for one case; and by the clock, for one that waits and does nothing.
CPU_SECONDS, WALL_SECONDS = 40, 300


@dataclass
class Tally:
    """What a run has come to."""

    outcomes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    findings: dict[str, list[Case]] = field(default_factory=dict)

    @property
    def cases(self) -> int:
        """How many were run."""
        return self.outcomes.total()

    def add(self, outcome: str, kind: str, wrong: str, case: Callable[[], Case | None]) -> None:
        """One more case; it is made again only if something is wrong with it."""
        self.outcomes[outcome] += 1
        self.kinds[kind] += 1
        found = case() if wrong else None
        if found is not None:
            self.findings.setdefault(wrong, []).append(found)


def loaded() -> None:
    """Load what every case needs, before processes are made; nothing of it may run a thread."""
    for name in LOADED:
        importlib.import_module(name)


def in_a_child(work: Callable[[], None]) -> int:
    """Do it in a process of its own; how that ended."""
    child = os.fork()
    if not child:
        try:
            work()
            os._exit(0)
        except BaseException:  # noqa: BLE001 - nothing of the parent may run in the child
            sys.excepthook(*sys.exc_info())
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def fuzz(cases: Callable[[int], Case | None], seeds: Path, tally: Tally, *, until: float, first: int = 0) -> int:
    """Run the cases from a number on, until the time or the cases are at an end; gives the next number."""
    at = first
    while time.monotonic() < until and cases(at) is not None:
        at = _batch(cases, seeds, at, tally, until)
    return at


def numbered(seeds: Path, seed: int, *, readers: bool) -> Callable[[int], Case]:
    """The cases of a seed."""
    return lambda number: case_of(seeds, seed, number, readers=readers)


def listed(found: Sequence[Case]) -> Callable[[int], Case | None]:
    """The cases of a corpus."""
    return lambda number: found[number] if number < len(found) else None


def _batch(cases: Callable[[int], Case | None], seeds: Path, first: int, tally: Tally, until: float) -> int:
    hears, tells = os.pipe()
    work = Path(tempfile.mkdtemp(prefix="tacit-fuzz-"))
    child = os.fork()
    if not child:
        os.close(hears)
        try:
            _run_all(cases, seeds, work, first, tells, until)
            os._exit(0)
        except BaseException:  # noqa: BLE001 - nothing of the parent may run in the child
            sys.excepthook(*sys.exc_info())
            os._exit(99)
    os.close(tells)
    at, silent = _followed(hears, first, cases, tally)
    if silent:
        os.kill(child, signal.SIGKILL)
    ended = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(hears)
    shutil.rmtree(work, ignore_errors=True)
    if ended:
        died = signal.Signals(-ended).name if ended < 0 else f"exit code {ended}"
        why = "waits" if silent else "takes too long" if ended == -signal.SIGPROF else f"the process ends: {died}"
        case = cases(at)
        assert case is not None
        tally.add("died", case.kind, f"{why} ({case.name})", lambda: case)
        return at + 1
    return at


def _followed(hears: int, first: int, cases: Callable[[int], Case | None], tally: Tally) -> tuple[int, bool]:
    """Read what the process says of its cases; the number of the one it has not done, and whether it fell silent."""
    at, rest = first, b""
    while True:
        if not select.select([hears], [], [], WALL_SECONDS)[0]:
            return at, True
        heard = os.read(hears, 1 << 16)
        if not heard:
            return at, False
        *lines, rest = (rest + heard).split(b"\n")
        for line in lines:
            outcome, kind, wrong = line.decode("utf-8", "replace").split("\t")
            tally.add(outcome, kind, wrong, partial(cases, at))
            at += 1


def _run_all(
    cases: Callable[[int], Case | None], seeds: Path, work: Path, first: int, tells: int, until: float
) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MOST_BYTES, MOST_BYTES))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    # The disk need not keep up.
    os.fsync = lambda descriptor: None  # type: ignore[assignment]
    (work / "tmp").mkdir()
    tempfile.tempdir = str(work / "tmp")
    for number in range(first, first + BATCH):
        case = cases(number)
        if case is None or time.monotonic() > until:
            return
        signal.setitimer(signal.ITIMER_PROF, CPU_SECONDS)
        outcome, wrong = judged(case, seeds, work)
        signal.setitimer(signal.ITIMER_PROF, 0)
        told = re.sub(r"\s+", " ", wrong or "")
        os.write(tells, f"{outcome}\t{case.kind}\t{told}\n".encode("utf-8", "replace"))
