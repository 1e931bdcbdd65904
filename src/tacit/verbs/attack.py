"""``attack``: would an adversary still win?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from tacit.document import Progress, silent
from tacit.requests import AttackRequest
from tacit.requests.settings import AnyPath
from tacit.tables import memory_limit

if TYPE_CHECKING:
    from tacit.lenses.table.answers.attack import AttackResult


def attack(
    release: AnyPath | AttackRequest,
    *,
    against: Any = None,
    known: Sequence[str] | str | None = None,
    records: int = 50_000,
    random_state: int = 0,
    engine: str = "duckdb",
    memory: str | None = None,
    progress: Progress = silent,
) -> AttackResult:
    """Train adversaries on the original and let them guess the secret from a release.

    Each adversary is trained on part of the original records with their secrets, and guesses the secrets of records it
    has not seen: from the original columns (before), from the release (after), and from the release when it was
    itself trained on released records beside their secrets (retrained), which is the most an adversary can hope for.
    Beside them an adversary who links knows some true values of a person, has the whole file, looks for the rows that
    fit, reads the other columns off them and guesses the secret.

    Parameters
    ----------
    release : path
        The directory that ``protect`` wrote.
    against : path or frame
        The original table.
    known : column or columns, optional
        What the adversary who links knows of a person. By default all released columns but the one that says most about
        the secret; all released columns are always tried, too.
    records : int
        Records to work on, evenly spaced over the table.
    random_state : int
        Seed of the split and the adversaries.
    engine, memory
        As in ``audit``.
    """
    from tacit.lenses.table.attack import attack_table

    asked = release
    if not isinstance(asked, AttackRequest):
        asked = AttackRequest(
            release,
            against=against,
            known=known,
            records=records,
            random_state=random_state,
            engine=engine,
            memory=memory,
        )
    with memory_limit(asked.memory):
        return attack_table(asked, progress=progress)
