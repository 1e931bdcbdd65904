"""Results to standard output, progress to standard error."""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click

from tacit import report
from tacit.cli.ending import without_output
from tacit.cli.wording import wording
from tacit.document.progress import Progress, silent, step_words
from tacit.report.result import Result

# Seconds between two lines if standard error is not a terminal: shorter runs write none.
EVERY = 10.0


def show(result: Result, *, format_: str, bits: bool, full: bool = False) -> None:
    """Print a result in the form that was asked for."""
    words = wording(bits=bits)
    with while_somebody_reads():
        if format_ == "json":
            click.echo(report.to_json(result, bits=bits))
        elif format_ != "text":
            click.echo(getattr(result, f"to_{format_}")(wording=words))
        else:
            report.show(result, wording=words, full=full)


@contextmanager
def while_somebody_reads() -> Iterator[None]:
    """Once the reader of our output has gone (``tacit verify … | head``) the rest goes nowhere.

    The exit code stays the verb's: click and rich would end with 1, which says no.
    """
    try:
        yield
        sys.stdout.flush()
    except (BrokenPipeError, SystemExit):
        without_output()


@contextmanager
def watched(*, quiet: bool) -> Iterator[Progress]:
    """A progress function; it draws on standard error or, if that is not a terminal, writes a line now and then.

    Meanwhile, whatever native code writes to standard output is discarded: HiGHS sometimes prints a line that would
    spoil the JSON.
    """
    with _clean_output():
        if quiet:
            yield silent
            return
        if not sys.stderr.isatty():
            with _lines() as step:
                yield step
            return
        from rich.console import Console

        with Console(stderr=True).status("starting") as status:
            step = _ShownStep()

            def draw(stage: str, share: float | None) -> None:
                step(stage, share)
                status.update(step.words())

            yield draw


class _ShownStep:
    """The step that a verb is at, and since when."""

    def __init__(self) -> None:
        self.stage, self.since = "starting", time.monotonic()
        self.share: float | None = None

    def __call__(self, stage: str, share: float | None) -> None:
        """Note how far the verb has got."""
        if stage != self.stage:
            self.stage, self.since = stage, time.monotonic()
        self.share = share

    def words(self) -> str:
        """How far it is, and what is left of the step at its pace."""
        return step_words(self.stage, self.share, time.monotonic() - self.since)


@contextmanager
def _lines() -> Iterator[_ShownStep]:
    """A step about which a plain line is written every ten seconds, even if the verb reports nothing new."""
    step, done, begun = _ShownStep(), threading.Event(), time.monotonic()

    def write() -> None:
        while not done.wait(EVERY):
            click.echo(f"tacit: {time.monotonic() - begun:.0f} s, {step.words()}", err=True)

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    try:
        yield step
    finally:
        done.set()
        writer.join()


@contextmanager
def _clean_output() -> Iterator[None]:
    sys.stdout.flush()
    kept = os.dup(1)
    quiet = os.open(os.devnull, os.O_WRONLY)
    try:
        os.dup2(quiet, 1)
        yield
    finally:
        os.dup2(kept, 1)
        os.close(kept)
        os.close(quiet)
