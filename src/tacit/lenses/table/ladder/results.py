"""What a release would keep, and whom it would expose, at each of a few epsilons."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.document import Information

Rows = tuple[tuple[str, ...], ...]


@dataclass(frozen=True)
class ReleaseRung:
    """What ``protect`` would give at one epsilon.

    Attributes
    ----------
    epsilon, attained : float
        What is asked, and what is attained, in nats.
    kept : float
        What a reader keeps of a released column, on average.
    columns : tuple of (name, share)
        What is kept of each.
    found : float
        Of 1,000 people, those who could be found: nobody else has the same values in what may be known, or in all
        released columns if no column was named as known.
    guessed : float
        Of 1,000 people, how many more secrets are guessed right from all released columns than without them, or than
        from only what may be known, by an adversary who learned from other records. A lower bound, up to chance.
    cells : int
        Different rows of the release.
    smallest : int
        The fewest people who share one.
    rows : tuple of tuples of str
        A few records as the release would write them.
    """

    epsilon: Information
    attained: Information
    kept: float
    columns: tuple[tuple[str, float], ...]
    found: float
    guessed: float
    cells: int
    smallest: int
    rows: Rows

    def __repr__(self) -> str:
        """Without a record."""
        return f"ReleaseRung(epsilon={self.epsilon}, kept={self.kept:.4f}, cells={self.cells})"


@dataclass(frozen=True)
class Ladder:
    """What ``protect`` would give at a handful of epsilons, the strictest first.

    Attributes
    ----------
    columns : tuple of str
        The released columns.
    before : tuple of tuples of str
        A few original records; the rungs show the same ones.
    original : ReleaseRung
        The original table: with no epsilon, all columns kept, and ``before`` as its rows.
    rungs : tuple of ReleaseRung
        Empty if a sample has only one value of the secret, or if ``protect`` would refuse the table, in which case
        ``audit`` says why.
    records : int
        The records of the table.
    sampled : int or None
        The records on which what is kept and guessed was measured, if not all. Then a rung is an estimate.
    whole : bool
        Whether the cells of the rungs are those of all records; if not, they are those of the ``sampled`` ones.
    prior : float
        Of 1,000 people, how many secrets are guessed right by always guessing the commonest one.
    max_loss : float
    epsilon : float or None
        The suggested one: the strictest that keeps at least 1 - ``max_loss`` of a column on average or, if none does,
        the strictest that keeps nearly as much as any. None if none keeps anything.

    Guarantees
    ----------
    If ``sampled`` is None, ``protect`` with the same settings and the epsilon of a rung gives what the rung says. If
    ``whole``, it gives the ``attained``, ``found``, ``cells`` and ``smallest`` of the rung.
    """

    columns: tuple[str, ...]
    before: Rows
    original: ReleaseRung
    rungs: tuple[ReleaseRung, ...]
    records: int
    sampled: int | None
    whole: bool
    prior: float
    max_loss: float
    epsilon: Information | None

    def __repr__(self) -> str:
        """Without a record."""
        return f"Ladder(rungs={self.rungs}, sampled={self.sampled}, epsilon={self.epsilon})"

    @property
    def suggested(self) -> ReleaseRung | None:
        """The rung of the suggested epsilon."""
        return next((rung for rung in self.rungs if rung.epsilon == self.epsilon), None)
