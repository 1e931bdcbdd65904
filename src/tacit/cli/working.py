"""A worker of the page: ``python -m tacit.cli.working JOB``. It ends as a command does, in the same words."""

from __future__ import annotations

import sys
from pathlib import Path

from tacit.cli import concluded


def _answer() -> int:
    from tacit.cli.wording import COMMAND_LINE
    from tacit.web.jobs.work import work

    return work(Path(sys.argv[1]), COMMAND_LINE)


if __name__ == "__main__":
    try:
        concluded(_answer)
    except SystemExit as stop:
        # A server that was started after this worker has no other way to know.
        (Path(sys.argv[1]) / "code.txt").write_text(str(stop.code))
        raise
