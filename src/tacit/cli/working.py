"""A worker of the page: it gets one job, on standard input, and ends like a command, with the same messages."""

from __future__ import annotations

from pathlib import Path

from tacit.cli.ending import concluded

_inputs: list[Path] = []


def _answer() -> int:
    from tacit.cli.wording import COMMAND_LINE
    from tacit.web.jobs.work import waited, work

    place = waited()
    if place is None:
        return 0
    _inputs.append(place)
    return work(place, COMMAND_LINE)


if __name__ == "__main__":
    try:
        concluded(_answer)
    except SystemExit as stop:
        for place in _inputs:
            # A server started after this worker has no other way to learn its exit code.
            (place / "code.txt").write_text(str(stop.code))
        raise
