"""What a case file says, as values: the person, the sources, the adversaries and the questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tacit.errors import DataError
from tacit.person.model.labels import Labels
from tacit.person.model.records import Record, Reference
from tacit.person.plans.letters import Law
from tacit.person.resolve.adversaries import Adversary
from tacit.person.sources.source import PopulationSpec, Source


@dataclass(frozen=True)
class Slot:
    """Something about to be released, in one of several ways: each option is a record with a name."""

    name: str
    options: tuple[Record, ...]


@dataclass(frozen=True)
class DecoyTerms:
    """False records that may be spread: labels that may be false, values to use, costs, a budget.

    ``costs`` is the cost of one attribute of a label; 1 for a label that is not listed.
    """

    budget: float
    labels: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    costs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class VerifyTerms:
    """What an adversary can spend on verifying attributes, and what a label costs; 1 for a label that is not listed."""

    budget: float | None = None
    costs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Case:
    """A whole case. Made by :func:`tacit.person.case.read_case`.

    Attributes
    ----------
    path : Path
        The case file.
    person : Reference or None
        None only for a case about a population; see ``reference``.
    labels : Labels
        How values are weighed and compared.
    sources, adversaries, releases, queries : tuple
        In the order of the file; there is always at least one adversary.
    decoys, verify, population
        None if the file does not have them.
    beta : float
        Weight of completeness against correctness in the leakage; 1 is the paper's.
    source_labels : frozenset of str
        Every label that an attribute of a source may have.
    described : frozenset of str
        The labels for which the file says how values are compared; for others that follows from their names.
    country : str or None
        The country of telephone numbers without a country code.
    law : {"gdpr", "ccpa", "both"} or None
        The law that letters cite, unless a source names another; that of the country if None.
    index : bool
        Whether what was read from many records is kept next to the case, for the next command.
    assumed : bool
        Whether the file names no adversaries, so that these are the default ones.
    notes : tuple of str
        What was assumed, in sentences without values.
    files : mapping from path to list of int
        The case file and every file that it names, with the state of each before it was read; empty if the case is not
        a file.
    """

    path: Path
    person: Reference | None
    labels: Labels
    sources: tuple[Source, ...]
    adversaries: tuple[Adversary, ...]
    releases: tuple[Slot, ...] = ()
    queries: tuple[Record, ...] = ()
    decoys: DecoyTerms | None = None
    verify: VerifyTerms | None = None
    population: PopulationSpec | None = None
    beta: float = 1.0
    source_labels: frozenset[str] = frozenset()
    described: frozenset[str] = frozenset()
    country: str | None = None
    law: Law | None = None
    index: bool = True
    assumed: bool = False
    notes: tuple[str, ...] = ()
    files: Mapping[Path, list[int]] = field(default_factory=dict, repr=False, compare=False)

    @property
    def reference(self) -> Reference:
        """The person's true record; a DataError if the case has none."""
        if self.person is None:
            raise DataError(f"{self.path} has no 'person': say who it is about, as label: value")
        return self.person
