"""``serve``: the page, only on this machine."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command(short_help="The same in your browser, on this machine only.")
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    help="Port on this machine; 0 takes any free one.  [default: 8765, or the next free one]",
)
@click.option("--no-browser", is_flag=True, help="Print the address without opening a browser.")
def serve(folder: Path, port: int | None, no_browser: bool) -> int:
    """Audit, protect, verify and attack the files in FOLDER (default: here) in your browser.

    The server can be reached only from this machine, at the address it prints. The address holds a token: anyone who
    has it can read the folder. Nothing leaves the machine. Your questions are kept in FOLDER/.tacit, readable by you
    only, and are listed when you start again. Ctrl-C stops the server and whatever it is running.
    """
    from tacit.cli.interrupts import left_to_others
    from tacit.cli.wording import COMMAND_LINE
    from tacit.web.serving import serve as run

    def tell(address: str) -> None:
        click.echo(f"The page: {address}\nCtrl-C stops it.")
        sys.stdout.flush()

    with left_to_others():
        run(folder, port=port, wording=COMMAND_LINE, worker=WORKER, browser=not no_browser, tell=tell)
    return 0


# The command line of the worker that answers a job.
WORKER = (sys.executable, "-m", "tacit.cli.working")
