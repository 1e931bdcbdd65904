"""How a command ends: anything that goes wrong becomes one line and an exit code."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NoReturn


def concluded(command: Callable[[], Any]) -> NoReturn:
    """Run a command, and end the process according to how it ended."""
    _with_streams()
    import click

    from tacit.cli.interrupts import leave, prompt
    from tacit.cli.wording import COMMAND_LINE
    from tacit.errors import TacitError

    try:
        with prompt():
            code = command()
            sys.stdout.flush()
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        leave(130)
    except TacitError as error:
        _refuse(error.told(COMMAND_LINE) + _written_all_the_same(), error.exit_code)
    except MemoryError:
        _refuse(f"out of memory; use fewer or coarser columns (--drop, --bins); {_written()}", 3)
    except BrokenPipeError:
        # The reader of our output has gone (``tacit audit … | head``); that is not an error, and must not print one.
        without_output()
        sys.exit(0)
    except OSError as error:
        without_output()
        where = error.filename or "the output"
        _refuse(f"cannot read or write {where}: {error.strerror or error}; {_written()}", 3)
    except Exception as error:  # noqa: BLE001 - the outermost: a traceback helps nobody who did not write it
        _refuse(f"a bug in Tacit ({type(error).__name__}): the details are in {_details()}; {_written()}", 4)


def _with_streams() -> None:
    """Point closed streams at nothing, so the next file opened does not become one; and let none refuse a character."""
    for descriptor, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            os.open(os.devnull, os.O_RDWR)
            setattr(sys, name, os.fdopen(descriptor, "w" if descriptor else "r"))
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


def without_output() -> None:
    """Discard what is still to be written to the output: it would fail again when Python ends."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _written() -> str:
    from tacit.tables.writing import what_appeared

    return what_appeared()


def _written_all_the_same() -> str:
    """What was written although the run was refused; most often nothing, and then no words."""
    written = _written()
    return "" if written.startswith("nothing") else f"; {written}"


def _details() -> str:
    """A file with what a developer needs; it may quote the data, so nobody else may read it."""
    import tempfile
    import traceback

    with tempfile.NamedTemporaryFile(
        "w", prefix="tacit-defect-", suffix=".txt", delete=False, encoding="utf-8"
    ) as file:
        traceback.print_exc(file=file)
    return file.name


def _refuse(message: str, code: int) -> NoReturn:
    print(f"tacit: {message}", file=sys.stderr)  # noqa: T201
    sys.exit(code)
