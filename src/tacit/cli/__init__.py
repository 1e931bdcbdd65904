"""Words on the command line to one workflow call, and show."""

from __future__ import annotations

from typing import Any, NoReturn


def main() -> NoReturn:
    """Entry point of the ``tacit`` command; whatever goes wrong is one line and an exit code.

    0 yes or done, 1 no, 2 wrong arguments, 3 bad data, 4 a defect of Tacit's.
    """
    from tacit.cli.ending import concluded

    def command() -> Any:
        from tacit.cli.commands import tacit

        return tacit.main(prog_name="tacit", standalone_mode=False)

    concluded(command)
