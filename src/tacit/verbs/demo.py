"""``demo``: the main job from end to end on an example table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.document import Progress, silent
from tacit.lift import mutual_information, risk
from tacit.report import write_report
from tacit.report.result import Result
from tacit.tables.writing import whole_file
from tacit.verbs import examples
from tacit.verbs.attack import attack
from tacit.verbs.audit import audit
from tacit.verbs.protect import protect
from tacit.verbs.verify import verify

SAMPLED = 20_000


@dataclass(frozen=True)
class Demonstration:
    """What the demo found, and where its pages are."""

    results: tuple[Result, ...]
    pages: tuple[str, ...]


@dataclass(frozen=True)
class Example:
    """A table, what is asked of it by counting and by learning, and a line about it."""

    path: Path
    counted: dict[str, Any]
    learned: dict[str, Any]
    epsilon: float
    about: str


def demonstrate(
    out: Path,
    *,
    sampler: bool,
    progress: Progress = silent,
) -> Demonstration:
    """Audit, protect, verify and attack an example, by counting and by learning, and write everything under ``out``."""
    use_compas = not sampler and examples.compas_path() is not None
    out.mkdir(parents=True, exist_ok=True)
    progress("preparing the example", None)
    example = _compas(out) if use_compas else _clinic(out)
    counted = audit(example.path, **example.counted, progress=progress)
    write_report(counted, out / "audit-counted.html")
    learned = audit(example.path, **example.learned, epsilon=example.epsilon, progress=progress)
    write_report(learned, out / "audit.html")
    results: list[Result] = [learned]
    for name, words in (("release", example.counted), ("release-learned", example.learned)):
        release = out / name
        protected = protect(
            example.path, **words, epsilon=example.epsilon, out=release, overwrite=True, progress=progress
        )
        results.append(protected)
        results.append(verify(release, against=example.path, progress=progress))
        attacked = attack(release, against=example.path, progress=progress)
        results.append(attacked)
        write_report(attacked, out / f"attack-{name}.html")
    pages = (
        example.about,
        f"What leaks:           {out / 'audit.html'}  (learned and counted), {out / 'audit-counted.html'}",
        f"The release:          {out / 'release'}/  ({protected.data_file}, certificate.json, report.html, private/)",
        f"The learned release:  {out / 'release-learned'}/  (columns uncut; certified for merged records alone)",
        f"The attacks:          {out / 'attack-release.html'}, {out / 'attack-release-learned.html'}",
    )
    return Demonstration(tuple(results), pages)


def _compas(out: Path) -> Example:
    from pyarrow import csv

    path = out / "compas.csv"
    with whole_file(path) as temporary:
        csv.write_csv(examples.compas(), temporary)
    return Example(
        path=path,
        counted={
            "secret": "race",
            "drop": "length_of_stay",
            "bins": {"age": [25, 46], "priors_count": [1, 4, 8], "decile_score": [3, 5, 8]},
        },
        learned={"secret": "race", "estimator": "auto"},
        epsilon=0.5,
        about=f"The table:            {path}  (COMPAS, {examples.COMPAS_RECORDS:,} records; the secret is race)",
    )


def _clinic(out: Path) -> Example:
    from pyarrow import csv

    path = out / "clinic.csv"
    with whole_file(path) as temporary:
        csv.write_csv(examples.CLINIC.sample(SAMPLED, random_state=0), temporary)
    truth = examples.CLINIC.joint()
    return Example(
        path=path,
        counted={"secret": "illness"},
        learned={"secret": "illness", "estimator": "linear"},
        epsilon=0.5,
        about=(
            f"The table:            {path}  ({SAMPLED:,} records of an invented clinic; the truth is known: mutual "
            f"information {mutual_information(truth):.4f} nats, largest risk {risk(truth).max():.3f})"
        ),
    )
