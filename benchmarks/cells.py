"""Cells against what somebody would use instead: what readers keep, what adversaries get, on original tables.

    .venv/bin/python benchmarks/cells.py                           what was not measured yet, then the tables
    .venv/bin/python benchmarks/cells.py --tables adult --ways cells --again
    .venv/bin/python benchmarks/cells.py --show                    measure nothing; the tables, also into README.md

Every measurement is one line of benchmarks/cells.jsonl. See people_tables.py for the tables, releases.py for the
mechanisms and how to install them, readers.py and adversaries.py for what is measured. Seconds are CPU seconds of one
thread, imports included.
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

# Before numpy is there: seconds are of one thread.
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np
import pandas as pd
from adversaries import guessed, linked, secret_auc
from people_tables import TABLES, PeopleTable
from readers import association_error, filled_auc, kept_by_rows, kept_of_columns, use_auc
from readings import TableReading
from releases import WAYS, Way, made

RESULTS = Path(__file__).with_suffix(".jsonl")
PAGE = Path(__file__).with_name("README.md")
EPSILONS = (0.2, 0.5, 1.0)
LEASTS = (10, 5)
# What they keep needs no table.
FLAT = ("the table as it is", "columns shuffled")
HEAD = [
    *(
        "epsilon",
        "least",
        "mechanism",
        "rows that differ",
        "of fewer",
        "beyond epsilon",
        "use AUC",
        "use AUC, filled in",
        "association error",
    ),
    *("secret AUC", "linked", "found", "secret guessed", "kept", "CPU s"),
]


def settings(way: Way) -> list[tuple[float | None, int | None]]:
    """Those that a mechanism listens to; for the others there is None."""
    epsilons = EPSILONS if "epsilon" in way.asks else (None,)
    leasts = LEASTS if "least" in way.asks else (None,)
    return [(epsilon, least) for epsilon in epsilons for least in leasts]


def measure(table: PeopleTable, way: Way, epsilon: float | None, least: int | None) -> dict[str, Any]:
    """Make the release and try everything on it."""
    release = made(way, table, epsilon or 0.0, least or 0)
    reading = release.reading
    link, guess = linked(table, reading), guessed(table, reading)
    found = {
        **counted(table, reading, way),
        "use": use_auc(table, reading),
        "use filled": filled_auc(table, reading),
        "association": association_error(table, reading),
        "secret": secret_auc(table, reading),
        "linked": link.excess,
        "linked inside": link.inside,
        "linked outside": link.outside,
        "found": link.found,
        "picked": link.picked,
        "guessed before": guess.before,
        "guessed after": guess.after,
        "cpu": release.cpu,
    }
    rounded: dict[str, Any] = {name: round(float(value), 4) for name, value in found.items()}
    for name, kept in (("kept", kept_of_columns(table, reading)), ("kept by rows", kept_by_rows(table, reading))):
        rounded[name] = {column: round(share, 3) for column, share in kept.items()}
    return rounded


def counted(table: PeopleTable, reading: TableReading, way: Way) -> dict[str, float]:
    """How many people share what is said about them, and what that says about their secret if it is true of them."""
    sizes = np.bincount(reading.rows)
    shared = sizes[reading.rows]
    found = {"rows": len(sizes), "fewest": sizes.min(), **{f"of fewer than {k}": (shared < k).mean() for k in LEASTS}}
    if way.true:
        secrets = pd.factorize(table.inside[table.secret])[0]
        counts = np.zeros((len(sizes), secrets.max() + 1))
        np.add.at(counts, (reading.rows, secrets), 1)
        prior = counts.sum(axis=0) / counts.sum()
        with np.errstate(divide="ignore"):
            risk = np.abs(np.log(counts / counts.sum(axis=1, keepdims=True) / prior)).max(axis=1)
        # Infinity has no place in JSON.
        found["attained"] = min(float(risk.max()), 99.0)
        found |= {f"beyond {epsilon:g}": (risk[reading.rows] > epsilon + 1e-9).mean() for epsilon in EPSILONS}
    return found


def show(results: list[dict[str, Any]]) -> str:
    """Markdown: a section for every table, what has no epsilon first."""
    lines: list[str] = []
    for name, load in TABLES.items():
        here = [each for each in results if each["table"] == name]
        table = load() if here else None
        if table is None:
            continue
        lines += [f"\n{_title(table)}\n", f"| {' | '.join(HEAD)} |", "|---" * len(HEAD) + "|"]
        for epsilon in (None, *EPSILONS):
            # Of the smaller least, one epsilon is enough for the page; the file has them all.
            leasts = (None, *LEASTS) if epsilon in (None, 0.5) else (None, LEASTS[0])
            for way in WAYS:
                lines += [
                    _row(each, epsilon)
                    for least in leasts
                    for each in here
                    if (each["way"], each["epsilon"], each["least"]) == (way, epsilon, least)
                ]
        lines += _kept(here)
    return "\n".join(lines)


def _title(table: PeopleTable) -> str:
    n_secrets = table.inside[table.secret].nunique()
    return (
        f"**{table.title}, secret {table.secret}** ({n_secrets} values): {len(table.inside):,} people released, "
        f"{len(table.outside):,} held out, {len(table.released)} columns; the reader predicts {table.use}; known are "
        f"{', '.join(table.known)}; {table.wanted} is wanted"
    )


def _row(found: dict[str, Any], epsilon: float | None) -> str:
    least = found["least"] or LEASTS[0]
    beyond = found.get(f"beyond {epsilon or 0.5:g}")
    cells = [
        "" if epsilon is None else f"{epsilon:g}",
        "" if found["least"] is None else str(least),
        found["way"],
        f"{found['rows']:,.0f}",
        f"{found[f'of fewer than {least}']:.0%}",
        "" if beyond is None else f"{beyond:.0%}",
        *(_number(found, name) for name in ("use", "use filled", "association", "secret")),
        *(f"{found[name]:.2f}" for name in ("linked", "found")),
        f"{found['guessed before']:.2f} to {found['guessed after']:.2f}",
        f"{np.mean(list(found['kept'].values())):.2f}",
        f"{found['cpu']:.1f}",
    ]
    return f"| {' | '.join(cells)} |"


def _number(found: dict[str, Any], name: str) -> str:
    """Three decimals, or nothing where it was not measured."""
    return f"{found[name]:.3f}" if name in found else ""


def _kept(here: list[dict[str, Any]]) -> list[str]:
    """What is kept of each column at epsilon 0.5 and the larger least, one line per mechanism."""
    chosen = [each for each in here if each["epsilon"] in (None, 0.5) and each["least"] in (None, LEASTS[0])]
    columns = list(chosen[0]["kept"]) if chosen else []
    if not 0 < len(columns) <= 8:
        return []
    lines = [
        "",
        f"| kept at epsilon 0.5, least {LEASTS[0]} | {' | '.join(columns)} |",
        "|---" * (len(columns) + 1) + "|",
    ]
    for way in WAYS:
        for each in chosen:
            if each["way"] == way and way not in FLAT:
                shares = [f"{max(each['kept'][name], 0.0):.2f}" for name in columns]
                lines.append(f"| {way} | {' | '.join(shares)} |")
    return lines


def write(section: str) -> None:
    """Into README.md, between the marks."""
    marks = "<!-- cells: written by cells.py -->", "<!-- end of cells -->"
    before, rest = PAGE.read_text().split(marks[0])
    PAGE.write_text(f"{before}{marks[0]}\n{section}\n\n{marks[1]}{rest.split(marks[1])[1]}")


def stored() -> dict[tuple[Any, ...], dict[str, Any]]:
    """What was measured, the latest of each."""
    lines = RESULTS.read_text().splitlines() if RESULTS.exists() else []
    return {tuple(each[key] for key in ("table", "way", "epsilon", "least")): each for each in map(json.loads, lines)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", nargs="+", default=list(TABLES), choices=list(TABLES))
    parser.add_argument("--ways", nargs="+", default=list(WAYS), choices=list(WAYS), metavar="WAY")
    parser.add_argument("--again", action="store_true", help="measure anew what was measured")
    parser.add_argument("--show", action="store_true", help="measure nothing")
    words = parser.parse_args()
    done = stored()
    for name in [] if words.show else words.tables:
        table = TABLES[name]()
        if table is None:
            print(f"{name} is not here: see people_tables.py")
            continue
        for title in words.ways:
            way = WAYS[title]
            for epsilon, least in settings(way):
                if not words.again and (name, title, epsilon, least) in done:
                    continue
                if not way.here:
                    print(f"{title} is not here: see releases.py")
                    break
                found = {"table": name, "way": title, "epsilon": epsilon, "least": least}
                found |= measure(table, way, epsilon, least)
                done[name, title, epsilon, least] = found
                # Written whole each time: a file of a few hundred lines, and one line for each setting.
                RESULTS.write_text("".join(json.dumps(each) + "\n" for each in done.values()))
                print(f"{name:9}{title:26}{epsilon!s:5}{least!s:5} use {found['use']:.3f}", flush=True)
    section = show(list(done.values()))
    write(section)
    print(section)


if __name__ == "__main__":
    main()
