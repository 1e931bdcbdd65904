"""``serve``: the page, on this machine alone."""

from __future__ import annotations

import sys
from pathlib import Path

import click


@click.command()
@click.argument("folder", type=click.Path(path_type=Path), default=Path())
@click.option("--port", type=click.IntRange(0, 65535), help="Port of this machine; 0 is any.  [default: 8765 or after]")
@click.option("--no-browser", is_flag=True, help="Write the address, and start no browser.")
def serve(folder: Path, port: int | None, no_browser: bool) -> int:
    """Audit, protect, verify and attack the files of FOLDER in your browser, here if you name none.

    The server can be reached from this machine alone, and opened by the address it writes, which holds a token: whoever
    has the token can read the folder. Nothing leaves the machine. What was asked is kept in FOLDER/.tacit, for you
    alone, and is listed when you start again. Ctrl-C stops the server and what it is at.
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


# The words of the command that answers a job.
WORKER = (sys.executable, "-m", "tacit.cli.working")
