"""Words on the command line to one workflow call, and show."""

from __future__ import annotations

import os
import sys
from typing import NoReturn

INTERRUPTED = "interrupted; nothing was written"


def main() -> NoReturn:
    """Entry point of the ``tacit`` command; every refusal is one line and an exit code."""
    import click

    from tacit.cli.commands import tacit
    from tacit.cli.interrupts import prompt
    from tacit.cli.wording import COMMAND_LINE
    from tacit.errors import TacitError

    try:
        with prompt(f"tacit: {INTERRUPTED}"):
            code = tacit.main(prog_name="tacit", standalone_mode=False)
        sys.exit(code if isinstance(code, int) else 0)
    except click.exceptions.Exit as stop:
        sys.exit(stop.exit_code)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except (click.Abort, KeyboardInterrupt):
        _refuse(INTERRUPTED, 130)
    except TacitError as error:
        _refuse(error.told(COMMAND_LINE), error.exit_code)
    except MemoryError:
        _refuse("out of memory; use fewer or coarser columns (--drop, --bins)", 3)
    except BrokenPipeError:
        # The reader of our output has gone (``tacit audit … | head``); that is not an error, and must not print one.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        where = error.filename or "the output"
        _refuse(f"cannot read or write {where}: {error.strerror or error}; nothing was released", 3)


def _refuse(message: str, code: int) -> NoReturn:
    print(f"tacit: {message}", file=sys.stderr)  # noqa: T201
    sys.exit(code)
