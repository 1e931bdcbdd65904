"""Results to standard output, progress to standard error."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

from tacit import report
from tacit.cli.ending import without_output
from tacit.cli.wording import wording
from tacit.document.progress import step_words
from tacit.report.result import Result


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
def watched(*, quiet: bool) -> Iterator[Callable[[str, float | None], None]]:
    """A progress function; it draws on standard error if somebody is looking.

    While the work is watched, whatever native code writes to standard output is thrown away: HiGHS now and
    then prints a line that would spoil the JSON.
    """
    with _clean_output():
        if quiet or not sys.stderr.isatty():
            yield lambda stage, share: None
            return
        from rich.console import Console

        with Console(stderr=True).status("starting") as status:
            yield lambda stage, share: status.update(step_words(stage, share))


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
