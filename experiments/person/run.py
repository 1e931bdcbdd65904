"""Every worked example, Table 5, Figure 3, and ladders on three sets of records whose true clusters are known."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import Any

from experiments.paper import Say
from experiments.person.examples import claims, examples
from experiments.person.ladders import ladder
from experiments.person.people import febrl, historical, senzing
from experiments.person.synthetic import accuracy, runtimes, table_4, table_5, trends
from tacit.errors import SourceError

# What an earlier run found on records that come with a package: shown where the package is not installed.
KEPT = Path(__file__).parent / "febrl3.json"


def run(*, quick: bool, say: Say) -> dict[str, Any]:
    """All results; the same every time except for seconds, which are CPU seconds."""
    say("worked examples")
    results: dict[str, Any] = {"examples": [asdict(each) for each in examples()], "claims": claims()}
    results["ladders"] = ladders(quick=quick, say=say)
    say("Table 5")
    results["table_4"] = table_4(200 if quick else 10_000)
    results["table_5"] = table_5(draws=2 if quick else 50, records=100 if quick else 10_000)
    say("the approximation against possible worlds")
    results["accuracy"] = accuracy(10 if quick else 400)
    say("Figure 3")
    results["trends"] = trends(points=3 if quick else 11, records=100 if quick else 10_000)
    results["runtimes"] = runtimes(quick=quick)
    return results


def ladders(*, quick: bool, say: Say) -> dict[str, Any]:
    """By set. A quick run does only the smallest set, or none if that is missing."""
    found: dict[str, Any] = {}
    for name, read in {"senzing": senzing, "febrl3": febrl, "historical_50k": historical}.items():
        try:
            if quick and name != "senzing":
                raise SourceError("not in a quick run")
            people = read()
            say(f"{name}: {len(people.records):,} records of {len(people.references):,} persons")
            found[name] = ladder(people) | {"kept": False}
        except SourceError as problem:
            say(f"{name}: {problem}")
            if name == "febrl3":
                found[name] = json.loads(KEPT.read_text("utf-8")) | {"kept": True}
            elif not quick:
                raise
    return found
