"""``demo``: the main job from end to end on an example table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.lift.measures import mutual_information, risk
from tacit.tables.writing import whole_file
from tacit.workflows import examples
from tacit.workflows.attacking import attack
from tacit.workflows.auditing import audit
from tacit.workflows.protecting import protect
from tacit.workflows.results import Result
from tacit.workflows.tabulating import Progress, silent
from tacit.workflows.verifying import verify

SAMPLED = 20_000


@dataclass(frozen=True)
class Demonstration:
    """What the demo found, and where its pages are."""

    results: tuple[Result, ...]
    pages: tuple[str, ...]


def demonstrate(
    out: Path,
    *,
    sampler: bool,
    write_page: Callable[[Result, Path], Any],
    progress: Progress = silent,
) -> Demonstration:
    """Audit, protect, verify and attack an example, and write everything under ``out``."""
    use_compas = not sampler and examples.compas_path() is not None
    out.mkdir(parents=True, exist_ok=True)
    progress("preparing the example", None)
    path, words, epsilon, about = _compas(out) if use_compas else _clinic(out)
    audited = audit(path, **words, progress=progress)
    write_page(audited, out / "audit.html")
    protected = protect(path, **words, epsilon=epsilon, out=out / "release", overwrite=True, progress=progress)
    verified = verify(out / "release", against=path, progress=progress)
    attacked = attack(out / "release", against=path, progress=progress)
    write_page(attacked, out / "attack.html")
    pages = (
        about,
        f"What leaks:     {out / 'audit.html'}",
        f"The release:    {out / 'release'}/  ({protected.data_file}, certificate.json, report.html, private/)",
        f"The attack:     {out / 'attack.html'}",
    )
    return Demonstration((audited, protected, verified, attacked), pages)


def _compas(out: Path) -> tuple[Path, dict[str, Any], float, str]:
    from pyarrow import csv

    path = out / "compas.csv"
    with whole_file(path) as temporary:
        csv.write_csv(examples.compas(), temporary)
    words = {
        "secret": "race",
        "drop": "length_of_stay",
        "bins": {"age": [25, 46], "priors_count": [1, 4, 8], "decile_score": [3, 5, 8]},
    }
    about = f"The table:      {path}  (COMPAS, {examples.COMPAS_RECORDS:,} records; the secret is race)"
    return path, words, 0.5, about


def _clinic(out: Path) -> tuple[Path, dict[str, Any], float, str]:
    from pyarrow import csv

    path = out / "clinic.csv"
    with whole_file(path) as temporary:
        csv.write_csv(examples.CLINIC.sample(SAMPLED, random_state=0), temporary)
    truth = examples.CLINIC.joint()
    about = (
        f"The table:      {path}  ({SAMPLED:,} records of an invented clinic; the truth is known: mutual information "
        f"{mutual_information(truth):.4f} nats, largest risk {risk(truth).max():.3f})"
    )
    return path, {"secret": "illness"}, 0.5, about
