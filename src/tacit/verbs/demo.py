"""``demo``: the main job from end to end on an example table."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

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

if TYPE_CHECKING:
    import pyarrow as pa

SAMPLED = 20_000
EPSILON = 0.5

# A table, a line about it, and the settings of its audits by counting and by learning.
Example = tuple[Path, str, dict[str, Any], dict[str, Any]]


@dataclass(frozen=True)
class Demonstration:
    """What the demo found, and where its pages are."""

    results: tuple[Result, ...]
    pages: tuple[str, ...]


def demonstrate(out: Path, *, sampler: bool, progress: Progress = silent) -> Demonstration:
    """Audit, protect, verify and attack an example, and write everything under ``out``. The audit learns, too."""
    out.mkdir(parents=True, exist_ok=True)
    progress("preparing the example", None)
    is_compas = not sampler and examples.compas_path() is not None
    path, about, counting, learning = _compas(out) if is_compas else _clinic(out)
    write_report(audit(path, **counting, progress=progress), out / "audit-counted.html")
    learned = audit(path, **learning, epsilon=EPSILON, progress=progress)
    write_report(learned, out / "audit.html")
    release = out / "release"
    protected: Any = protect(
        path, secret=counting["secret"], epsilon=EPSILON, out=release, overwrite=True, progress=progress
    )
    verified = verify(release, against=path, progress=progress)
    attacked = attack(release, against=path, progress=progress)
    write_report(attacked, out / "attack.html")
    files = f"{protected.data_file}, levels.json, certificate.json, report.html, private/"
    pages = (
        about,
        f"What leaks:           {out / 'audit.html'}  (learned and counted), {out / 'audit-counted.html'}",
        f"The release:          {out / 'release'}/  ({files})",
        f"The attack:           {out / 'attack.html'}",
    )
    return Demonstration((learned, protected, verified, attacked), pages)


def _compas(out: Path) -> Example:
    path = _written(examples.compas(), out / "compas.csv")
    about = f"The table:            {path}  (COMPAS, {examples.COMPAS_RECORDS:,} records; the secret is race)"
    bins = {"age": [25, 46], "priors_count": [1, 4, 8], "decile_score": [3, 5, 8]}
    counting = {"secret": "race", "drop": "length_of_stay", "bins": bins}
    return path, about, counting, {"secret": "race", "estimator": "auto"}


def _clinic(out: Path) -> Example:
    path, truth = _written(examples.CLINIC.sample(SAMPLED, random_state=0), out / "clinic.csv"), examples.CLINIC.joint()
    about = (
        f"The table:            {path}  ({SAMPLED:,} records of an invented clinic; the truth is known: mutual "
        f"information {mutual_information(truth):.4f} nats, largest risk {risk(truth).max():.3f})"
    )
    return path, about, {"secret": "illness"}, {"secret": "illness", "estimator": "linear"}


def _written(table: pa.Table, path: Path) -> Path:
    from pyarrow import csv

    with whole_file(path) as temporary:
        csv.write_csv(table, temporary)
    return path
