"""Options that several commands share, and how their words become values."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

Command = TypeVar("Command", bound=Callable[..., Any])


def split_names(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> tuple[str, ...] | None:
    """``--drop a,b --drop c`` as (a, b, c); a name that contains a comma is put in double quotes."""
    found = [name.strip() for value in values for name in next(csv.reader([value], skipinitialspace=True), [])]
    if any(not name for name in found):
        raise click.BadParameter("an empty column name", param=parameter)
    return tuple(found) or None


def parse_bins(_: click.Context, parameter: click.Parameter, values: Sequence[str]) -> dict[str, int | list[float]]:
    """``age=10`` as ten groups, ``age=18,30,65`` as the edges between groups."""
    bins: dict[str, int | list[float]] = {}
    for value in values:
        column, equals, wish = value.rpartition("=")
        try:
            edges = [float(edge) for edge in wish.split(",")]
        except ValueError:
            edges = []
        if not equals or not column or not edges:
            raise click.BadParameter(
                f"'{value}' is neither COLUMN=10 (a number of groups) nor COLUMN=18,30,65 (edges)", param=parameter
            )
        bins[column] = int(edges[0]) if len(edges) == 1 and wish.strip().isdigit() else edges
    return bins


def parse_further(
    _: click.Context, parameter: click.Parameter, values: Sequence[str]
) -> dict[tuple[str, ...], float] | None:
    """``sex=0.3`` as a further secret with its epsilon, ``race,sex=0.8`` as a combination of columns."""
    found: dict[tuple[str, ...], float] = {}
    for value in values:
        names, equals, epsilon = value.rpartition("=")
        columns = tuple(name.strip() for name in next(csv.reader([names], skipinitialspace=True), []))
        try:
            number = float(epsilon)
        except ValueError:
            number = None
        if not equals or number is None or not columns or not all(columns):
            raise click.BadParameter(
                f"'{value}' is not COLUMN=EPSILON, such as sex=0.3 or race,sex=0.8", param=parameter
            )
        if columns in found:
            raise click.BadParameter(f"'{names}' is named twice", param=parameter)
        found[columns] = number
    return found or None


def stack(*options: Callable[[Command], Command]) -> Callable[[Command], Command]:
    """Options in one decorator, in the order of the help."""

    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


question_options = stack(
    click.option("--secret", multiple=True, callback=split_names, help="Column(s) that must not be learned."),
    click.option(
        "--released",
        multiple=True,
        callback=split_names,
        help="Column(s) the adversary sees; comma-separated or repeated.  [default: all others]",
    ),
    click.option("--drop", multiple=True, callback=split_names, help="Column(s) left out altogether."),
    click.option(
        "--bins",
        multiple=True,
        callback=parse_bins,
        metavar="COL=10|COL=18,30,65",
        help="Cut a number column into groups of equal size, or at these edges. Repeatable.",
    ),
    click.option("--weight", help="Column with the weight of each record."),
    click.option(
        "--keep-id",
        "keep_ids",
        multiple=True,
        callback=split_names,
        help="Release a column although it is different in every row.",
    ),
)

# As tacit.learn.naming has them; the help must not load scikit-learn to know.
ESTIMATORS = ("counts", "auto", "linear", "trees", "net", "neural")

estimator_options = stack(
    click.option(
        "--estimator",
        type=click.Choice(ESTIMATORS),
        default="counts",
        show_default=True,
        help="How log-lift is found: counted, or learned from the records with no column cut but those in --bins (an "
        "estimate). With any but counts, protect certifies the merged records alone.",
    ),
    click.option(
        "--model",
        type=click.Path(path_type=Path),
        metavar="FILE.tacit",
        help="Use a model that was saved earlier instead of learning one.",
    ),
    click.option(
        "--fresh",
        is_flag=True,
        help="With --model: none of these records was used to learn it. Without this there is no verdict.",
    ),
)

shared_options = stack(
    click.option(
        "--engine", type=click.Choice(["duckdb", "spark"]), default="duckdb", show_default=True, help="Table engine."
    ),
    click.option(
        "--format",
        "format_",
        type=click.Choice(["text", "json"]),
        default="text",
        show_default=True,
        help="json prints one JSON object on standard output and nothing else.",
    ),
    click.option(
        "--bits", is_flag=True, help="Show bits instead of nats. What you give, such as --epsilon, stays in nats."
    ),
    click.option("--quiet", "-q", is_flag=True, help="No progress on standard error."),
)
