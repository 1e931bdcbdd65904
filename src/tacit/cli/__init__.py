"""The command line: arguments become one call of a verb, and its answer is shown."""

from __future__ import annotations

from typing import Any, NoReturn


def main() -> NoReturn:
    """Entry point of the ``tacit`` command; anything that goes wrong becomes one line and an exit code.

    0 yes or done, 1 no, 2 wrong arguments, 3 bad data, 4 a bug in Tacit.
    """
    from tacit.cli.ending import concluded

    def command() -> Any:
        from tacit.cli.commands import tacit

        return tacit.main(prog_name="tacit", standalone_mode=False)

    concluded(command)
