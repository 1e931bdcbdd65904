"""``tacit person``: how much of one person is out, and what to do. A case file tells of the person, a command asks."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tacit.cli.options import stack

if TYPE_CHECKING:
    from tacit.person.records import Record

EXIT_CODES = (
    "Exit codes: 0 done; 1 the leakage is above --fail-above; 2 wrong words on the command line; "
    "3 bad data, unreadable source or engine refused."
)

_PLAIN_CODES = EXIT_CODES.replace("1 the leakage is above --fail-above; ", "")

_case = click.argument("case", metavar="CASE.yaml", type=click.Path(path_type=Path))
_fail_above = click.option(
    "--fail-above",
    "limit",
    type=click.FloatRange(0, 1),
    metavar="0.6",
    help="Exit 1 if the leakage is above this number between 0 and 1.",
)
_adversaries = click.option(
    "--adversary",
    "adversaries",
    multiple=True,
    metavar="NAME",
    help="Only this adversary of the case. Repeatable.  [default: all of them]",
)
_show_values = click.option(
    "--show-values", is_flag=True, help="Show the person's values as they are. They are masked otherwise."
)
_shown = stack(
    click.option("--report", "page", type=click.Path(path_type=Path), help="Write a self-contained HTML page here."),
    click.option(
        "--format",
        "format_",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="json prints one JSON object on standard output and nothing else.",
    ),
    click.option("--quiet", "-q", is_flag=True, help="No progress on standard error."),
)


def parse_records(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> tuple[Record, ...]:
    """``"name=Alice,phone=555@0.6"`` as a record; a refusal names the place and the label, and never the value."""
    found = []
    word = parameter.opts[-1].lstrip("-")
    for number, value in enumerate(values, start=1):
        attributes = [
            _attribute(each, f"attribute {place} of --{word} number {number}", parameter)
            for place, each in enumerate(next(csv.reader([value], skipinitialspace=True), []), start=1)
        ]
        found.append(_record(attributes, f"{word} {number}", parameter))
    return tuple(found)


def _attribute(written: str, where: str, parameter: click.Parameter) -> tuple[str, str, float]:
    label, equals, value = written.partition("=")
    label = label.strip()
    if not equals or not label:
        raise click.BadParameter(f"{where} is not LABEL=VALUE, such as phone=555", param=parameter)
    before, at, after = value.rpartition("@")
    try:
        # An e-mail address has an @ too, but no number after it.
        confidence = float(after) if at and before else None
    except ValueError:
        confidence = None
    if confidence is None:
        before, confidence = value, 1.0
    if not before.strip():
        raise click.BadParameter(f"{where} ('{label}') has no value", param=parameter)
    return label, before.strip(), confidence


def _record(attributes: Sequence[tuple[str, str, float]], name: str, parameter: click.Parameter) -> Record:
    from tacit.errors import ArgumentError
    from tacit.person.records import Record

    if not attributes:
        raise click.BadParameter(f"{name} is empty: write LABEL=VALUE, such as phone=555", param=parameter)
    try:
        return Record(attributes, name=name)
    except ArgumentError as error:
        raise click.BadParameter(str(error), param=parameter) from None


def _answer(run: Callable[..., Any], case: Path, words: dict[str, Any]) -> int:
    """One workflow call, the page, the answer, and 1 if the leakage is above the limit."""
    from tacit import report
    from tacit.cli.showing import show, watched
    from tacit.workflows.person_asking import asked_case

    page, format_, quiet = words.pop("page"), words.pop("format_"), words.pop("quiet")
    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise click.BadParameter(f"'{page}' does not end in .html", param_hint="--report")
    narrowed = {name: words.pop(name, ()) for name in ("adversaries", "queries", "records")}
    with watched(quiet=quiet) as progress:
        result = run(asked_case(case, **narrowed), progress=progress, **words)
    if page is not None:
        report.write_report(result, page)
    show(result, format_=format_, bits=False)
    limit = words.get("limit")
    return int(limit is not None and result.leakage > limit)


@click.group(epilog=EXIT_CODES)
def person() -> None:
    """How much of one person's file can somebody piece together from everything that is out?

    A case file (YAML) says who the person is, which sources hold records, and what adversaries do with them: bring
    values to one form, correct, add, join records that agree, merge. Leakage is a number from 0 (nothing known) to 1
    (the whole file, surely, and nothing wrong).

    \b
    tacit person init mine/                        write an example to start from
    tacit person audit mine/case.yaml              how much is out, who learns it, what to do first
    tacit person dip mine/case.yaml                what does a search for the person bring up?
    tacit person release mine/case.yaml            which card, which address to give next?
    tacit person remove mine/case.yaml             which source to have removed first?
    tacit person audit mine/case.yaml --fail-above 0.6 --report mine/audit.html

    --show-values shows the person's values; they are masked otherwise, on the screen and on pages.
    """


@person.command(epilog=_PLAIN_CODES, short_help="Write an example to start from.")
@click.argument("directory", type=click.Path(path_type=Path), default=Path())
def init(directory: Path) -> int:
    """Write a commented example of a case with its sources into DIRECTORY, here if you name none.

    \b
    tacit person init mine/
    tacit person audit mine/case.yaml

    No file is overwritten: if one of them is there, nothing is written. The people in it are invented.
    """
    from tacit.workflows.person_case_example import person_init as run

    written = run(directory)
    for path in written:
        click.echo(path)
    click.echo(f"Now: tacit person audit {written[-1]}")
    return 0


@person.command(epilog=EXIT_CODES, short_help="How much is out, who learns it, what to do.")
@_case
@_fail_above
@_adversaries
@_show_values
@_shown
def audit(case: Path, **words: Any) -> int:
    """What does each adversary of CASE.yaml know of the person, how, and what should be done first?

    It shows the ladder (leakage, precision, recall and cost of each adversary), the merged record that leaks most with
    what is right, wrong and missing in it, how its records came together, what each source adds, and ranked actions.

    \b
    tacit person audit case.yaml
    tacit person audit case.yaml --fail-above 0.6 --report audit.html
    tacit person audit case.yaml --adversary detective --show-values
    """
    from tacit.workflows.person_auditing import person_audit as run

    return _answer(run, case, words)


@person.command(epilog=EXIT_CODES, short_help="Which option of a release leaks least?")
@_case
@click.option(
    "--record",
    "records",
    multiple=True,
    callback=parse_records,
    metavar="LABEL=VALUE,…",
    help="A release that is not in the case: what would be given away. Repeat it for another option. Write "
    "phone=555@0.6 for a confidence of 0.6, and quote a value with a comma: 'name=Al,\"town=Rye, NY\"'. Your shell may "
    "keep what you type.",
)
@_fail_above
@_adversaries
@_shown
def release(case: Path, **words: Any) -> int:
    """What would a pending release add, and which of its options leaks least?

    The case lists releases with their options (which card, which address, which alias). Every option is measured with
    all records resolved again, and so is the best choice for all releases together. --fail-above is about the leakage
    after the best choice.

    \b
    tacit person release case.yaml
    tacit person release case.yaml --record "name=Alice,card=999" --record "name=Alice,card=888"
    """
    from tacit.workflows.person_releasing import person_release as run

    return _answer(run, case, words)


@person.command(epilog=EXIT_CODES, short_help="What does a search bring up?")
@_case
@click.option(
    "--query",
    "queries",
    multiple=True,
    callback=parse_records,
    metavar="LABEL=VALUE,…",
    help="A query that is not in the case: what somebody types in. Repeatable. Write phone=555@0.6 for a confidence of "
    "0.6, and quote a value with a comma. Your shell may keep what you type.",
)
@_fail_above
@_adversaries
@_show_values
@_shown
def dip(case: Path, **words: Any) -> int:
    """What does a search bring up: everything that resolves with a query?

    \b
    tacit person dip case.yaml
    tacit person dip case.yaml --query "name=Alice,phone=555"
    """
    from tacit.workflows.person_releasing import person_dip as run

    return _answer(run, case, words)


@person.command(epilog=EXIT_CODES, short_help="Which source to have removed first?")
@_case
@click.option("--budget", type=click.FloatRange(min=0), metavar="COST", help="Requests may cost this much together.")
@click.option("--at-most", type=click.IntRange(min=1), metavar="N", help="Ask at most so many sources.")
@_fail_above
@_adversaries
@_shown
def remove(case: Path, **words: Any) -> int:
    """Which sources to have the person removed from first?

    A source of the case may say what a request costs and how likely it succeeds (remove: {cost: 5, success: 0.5}).
    --fail-above is about the expected leakage after the whole plan.

    \b
    tacit person remove case.yaml --at-most 3
    tacit person remove case.yaml --budget 20 --fail-above 0.5
    """
    from tacit.workflows.person_planning import person_remove as run

    return _answer(run, case, words)


@person.command(epilog=EXIT_CODES, short_help="Plan false records (opt-in).")
@_case
@click.option(
    "--budget", type=click.FloatRange(min=0), metavar="COST", help="Decoys may cost this much.  [default: the case's]"
)
@click.option(
    "--allow",
    "allowed",
    multiple=True,
    metavar="LABEL",
    help="A label that may be false in a decoy. Repeatable.  [default: those of the case]",
)
@_fail_above
@_adversaries
@_show_values
@_shown
def decoy(case: Path, **words: Any) -> int:
    """Plan decoys: false records that an adversary would merge with the person's.

    This is opt-in: only labels that the case or --allow names may be false, and without any nothing is planned. It is
    for forms that have no right to the truth, such as newsletters and loyalty cards. False data to banks, insurers or
    authorities is not what it is for, and can be an offence.

    Every plan is put into the records, resolved and measured again under every adversary; one that corrects errors or
    takes the commonest value may not be misled. If so, the plan is shown and not recommended.

    \b
    tacit person decoy case.yaml --budget 5
    tacit person decoy case.yaml --allow phone --allow e-mail --budget 5
    """
    from tacit.workflows.person_planning import person_decoy as run

    words["allowed"] = words["allowed"] or None
    return _answer(run, case, words)


@person.command("verify-next", epilog=_PLAIN_CODES, short_help="What would the adversary check next?")
@_case
@click.option(
    "--budget", type=click.FloatRange(min=0), metavar="COST", help="What verifying may cost.  [default: the case's]"
)
@_adversaries
@_show_values
@_shown
def verify_next(case: Path, **words: Any) -> int:
    """Which attribute would the adversary do best to verify next?

    An adversary that is unsure of its record can check parts of it: call the number, visit the address. What gains it
    most for the cost is what a person should keep from being confirmed.

    \b
    tacit person verify-next case.yaml --adversary detective
    tacit person verify-next case.yaml --budget 2
    """
    from tacit.workflows.person_planning import person_verify_next as run

    return _answer(run, case, words)


@person.command(epilog=EXIT_CODES, short_help="Every person of a table at once.")
@_case
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="rows.parquet|rows.csv",
    help="Write a row a person here: leakage under each adversary, k, top source. For you alone.",
)
@_fail_above
@_adversaries
@_shown
def population(case: Path, out: Path | None, **words: Any) -> int:
    """How exposed is every person of a reference table?

    The case names the table (population: …). It shows quantiles and a histogram of the leakage under each adversary,
    and k beside it. --fail-above is about the most exposed person.

    \b
    tacit person population case.yaml
    tacit person population case.yaml -o rows.parquet --report population.html
    """
    if out is not None and out.suffix.lower() not in (".parquet", ".csv"):
        raise click.BadParameter(f"'{out}' ends neither in .parquet nor in .csv", param_hint="--out")
    from tacit.workflows.person_populating import person_population as run

    return _answer(run, case, {**words, "out": out})
