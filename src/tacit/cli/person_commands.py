"""``tacit person``: how much is known about one person, and what to do. The commands come from a list of actions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import click

from tacit.cli.options import answer, option_of, report_option, shown_options
from tacit.cli.wording import option
from tacit.person.actions import ACTIONS, PersonAction

_CODES = "2 wrong arguments; 3 bad data, unreadable source or engine refused; 4 a bug in Tacit."
EXIT_CODES = f"Exit codes: 0 done; 1 the leakage is above --fail-above; {_CODES}"
_PLAIN_CODES = f"Exit codes: 0 done; {_CODES}"


@click.group(epilog=EXIT_CODES, short_help="How exposed is one person, and what to do?")
def person() -> None:
    """How much of one person's file can somebody piece together from all that is already out there?

    A case file (YAML) says who the person is, which sources hold records, and what adversaries do with them: normalise
    values, correct them, add to them, join records that agree, merge. Leakage is a number from 0 (nothing known) to 1
    (the whole file, with certainty, and nothing wrong).

    \b
    tacit person init mine/                        write an example to start from
    tacit person init --from takeout/ mine/        or the case of a folder of files
    tacit person audit mine/case.yaml              how much is out, who learns it, what to do first
    tacit person dip mine/case.yaml                what does a search for the person bring up?
    tacit person release mine/case.yaml            which card, which address to give next?
    tacit person remove mine/case.yaml             which source to have removed first?
    tacit person audit mine/case.yaml --fail-above 0.6 --report mine/audit.html

    --show-values shows the person's values; otherwise they are masked, on screen and on pages.
    """


@person.command(epilog=_PLAIN_CODES, short_help="Write a case to start from.")
@click.argument("directory", type=click.Path(path_type=Path), default=Path())
@click.option("--from", "source", type=click.Path(path_type=Path), help="A folder of files to use as its sources.")
def init(directory: Path, source: Path | None) -> int:
    """Write a commented case into DIRECTORY (default: here): an example, or one made from a folder of files.

    \b
    tacit person init mine/
    tacit person audit mine/case.yaml
    tacit person init --from takeout/ mine/

    The folder may hold tables, JSON, vCards, Google contacts, mailboxes (only From, To and Cc are read), breaches from
    Have I Been Pwned, FollowTheMoney entities, and SpiderFoot and theHarvester scans. The command prints what it took
    each file for, and what it left out; you fill in the person.

    No file is overwritten: if one already exists, nothing is written. The people in the example are invented.
    """
    from tacit.person.case.proposing import proposed
    from tacit.person.case.starting import person_init, write_proposed

    if source is None:
        written = person_init(directory)
    else:
        case = proposed(source)
        written = write_proposed(case, directory)
        for line in case.told():
            click.echo(line)
    for path in written:
        click.echo(path)
    first = "" if source is None else f"say who 'person' is in {written[-1]}, then: "
    click.echo(f"Now: {first}tacit person audit {written[-1]}")
    return 0


class ActionCommand(click.Command):
    """An action as a command; the action is loaded only when its options or help are needed."""

    def __init__(self, action: PersonAction) -> None:
        self._action = action
        super().__init__(action.name.replace("_", "-"), callback=self._answer, short_help=action.summary)
        # Click has set these; deleted, they are computed on first use.
        del self.params, self.help, self.epilog

    @cached_property
    def params(self) -> list[click.Parameter]:  # type: ignore[override]
        """The case, the settings of the action, and how to show the answer."""
        case = click.Argument(["case"], metavar="CASE.yaml", type=click.Path(path_type=Path))

        def words() -> None:
            """Options are collected on a function, as click does."""

        for one in reversed(
            [*(option_of(n, facts) for n, facts in self._action.settings.items()), report_option, *shown_options]
        ):
            one(words)
        return [case, *reversed(words.__click_params__)]  # type: ignore[attr-defined]

    @cached_property
    def help(self) -> str:  # type: ignore[override]
        """What the action answers, with examples."""
        lines = [f"tacit person {self.name} case.yaml{_typed(example)}" for example in self._action.examples]
        return "\n\n".join([self._action.about, "\b\n" + "\n".join(lines)])

    @cached_property
    def epilog(self) -> str:  # type: ignore[override]
        """The exit codes."""
        return EXIT_CODES if "fail_above" in self._action.settings else _PLAIN_CODES

    def _answer(self, case: Path, **words: Any) -> int:
        """One call, the page, the answer, and 1 if the leakage is above the limit."""
        result = answer(self._action.run, case, words=words)
        limit = words.get("fail_above")
        return int(limit is not None and result.leakage > limit)


def _typed(example: Mapping[str, Any]) -> str:
    """Settings as they are typed."""
    words = ""
    for name, value in example.items():
        for each in value if isinstance(value, tuple) else (value,):
            shown = "" if each is True else f' "{each}"' if "=" in str(each) else f" {each}"
            words += f" {option(name)}{shown}"
    return words


for _name, _summary in ACTIONS.items():
    person.add_command(ActionCommand(PersonAction(_name, _summary)))
