"""What a case file says, as values: the person, the sources, the adversaries and the questions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, get_args

from tacit.errors import DataError
from tacit.person.labels import Labels
from tacit.person.records import Record, Reference

SourceFormat = Literal["table", "features", "breaches"]
Merge = Literal["union", "consensus", "vote", "diluted"]
Closure = Literal["swoosh", "components"]

MERGES: tuple[Merge, ...] = get_args(Merge)
CLOSURES: tuple[Closure, ...] = get_args(Closure)


@dataclass(frozen=True)
class Removal:
    """What it costs to ask for the removal of a source, and the probability that it is removed then."""

    cost: float = 1.0
    success: float = 1.0


@dataclass(frozen=True)
class Source:
    """A file with records of people.

    Attributes
    ----------
    name : str
        Unique in the case.
    path : Path
        The file; absolute, or relative as the case file was given.
    format : {"table", "features", "breaches"}
        Rows and columns; Senzing's FEATURES as JSONL; breaches as Have I Been Pwned lists them.
    columns : mapping from column to label
        A column that is not named is its own label; one whose label is None is left out; ``{"*": None}`` leaves out
        all that are not named. In a features file the keys are names of feature attributes, in a breaches file data
        classes; what is not named is looked up in the table that comes with Tacit.
    joined : mapping from label to columns
        Columns of a table whose texts make up one value together, with a space between: a first and a last name.
    identifier : str or None
        The column that names the records; the number of the row if there is none.
    confidence : float
        Of every attribute of the source.
    confidence_column : str or None
        The column with a factor for each row.
    label_confidence : mapping from label to float
        A factor for each label.
    removal : Removal or None
        What is known of getting the source removed; None if nothing was said.
    """

    name: str
    path: Path
    format: SourceFormat = "table"
    columns: Mapping[str, str | None] = field(default_factory=dict)
    identifier: str | None = None
    confidence: float = 1.0
    confidence_column: str | None = None
    label_confidence: Mapping[str, float] = field(default_factory=dict)
    removal: Removal | None = None
    joined: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class CostSpec:
    """What a step costs on n records: fixed + per_record n + per_pair n^2."""

    fixed: float = 0.0
    per_record: float = 0.0
    per_pair: float = 0.0


@dataclass(frozen=True)
class NormaliseStep:
    """Bring the values of some labels (None: of all) to their normal form."""

    labels: tuple[str, ...] | None = None
    cost: CostSpec = CostSpec()


@dataclass(frozen=True)
class CorrectStep:
    """Replace values of a label that are known to be wrong."""

    label: str
    table: Mapping[str, str] = field(repr=False)
    cost: CostSpec = CostSpec()


@dataclass(frozen=True)
class AugmentStep:
    """Add the values that go with a value: the zip code of an address."""

    given: str
    adds: str
    table: Mapping[str, tuple[str, ...]] = field(repr=False)
    confidence: float = 1.0
    cost: CostSpec = CostSpec()


@dataclass(frozen=True)
class ResolveStep:
    """Join records that agree on all labels of a rule, of any of the rules."""

    rules: tuple[tuple[str, ...], ...]
    min_confidence: float = 0.0
    closure: Closure = "swoosh"
    cost: CostSpec = CostSpec()


@dataclass(frozen=True)
class ClustersStep:
    """Join records as somebody else's resolver did; names of columns of its table.

    ``source`` is None if the column ``record`` tells records of different sources apart by itself.
    """

    path: Path
    record: str
    cluster: str
    source: str | None = None
    cost: CostSpec = CostSpec()


@dataclass(frozen=True)
class SplinkStep:
    """Join records as a trained Splink model does, where it is surer than the threshold."""

    model: Path
    threshold: float = 0.9
    cost: CostSpec = CostSpec()


Step = NormaliseStep | CorrectStep | AugmentStep | ResolveStep | ClustersStep | SplinkStep


@dataclass(frozen=True)
class AdversarySpec:
    """An adversary as the case file describes it: plain data."""

    name: str
    steps: tuple[Step, ...] = ()
    merge: Merge = "union"
    keep_base: bool = False
    cost: CostSpec = CostSpec()


@dataclass(frozen=True)
class Slot:
    """Something about to be released, one way or another: each option is a record with a name."""

    name: str
    options: tuple[Record, ...]


@dataclass(frozen=True)
class Decoys:
    """False records that may be spread: labels that may be false, values to use, costs, a budget.

    ``costs`` is the cost of one attribute of a label; 1 if the label is not there.
    """

    budget: float
    labels: tuple[str, ...]
    values: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    costs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Verification:
    """What an adversary can spend to verify attributes, and what a label costs; 1 if the label is not there."""

    budget: float | None = None
    costs: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class PopulationSpec:
    """The references of many persons, in a table.

    Attributes
    ----------
    references : Path
        The table; a person may have several rows.
    person : str
        The column that tells persons apart; it is no attribute.
    columns : mapping from column to label
        As in a source.
    quasi_identifiers : tuple of str
        Labels by which people are told apart: k is the size of the class that agrees on them.
    sensitive : tuple of str
        Labels of which l-diversity is counted.
    """

    references: Path
    person: str
    columns: Mapping[str, str | None] = field(default_factory=dict)
    quasi_identifiers: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()


@dataclass(frozen=True)
class Case:
    """A whole case. Made by :func:`tacit.workflows.person_case.read_case`.

    Attributes
    ----------
    path : Path
        The case file.
    sha256 : str
        Of its bytes.
    person : Reference or None
        None only where a population is asked about; see ``reference``.
    labels : Labels
        How values are weighed and compared.
    sources, adversaries, releases, queries : tuple
        In the order of the file; adversaries are never none.
    decoys, verify, population
        None if the file does not speak of them.
    beta : float
        Weight of completeness against correctness in the leakage; 1 is the paper's.
    source_labels : frozenset of str
        Every label that an attribute of a source may have.
    notes : tuple of str
        What was assumed, in sentences without values.
    """

    path: Path
    sha256: str
    person: Reference | None
    labels: Labels
    sources: tuple[Source, ...]
    adversaries: tuple[AdversarySpec, ...]
    releases: tuple[Slot, ...] = ()
    queries: tuple[Record, ...] = ()
    decoys: Decoys | None = None
    verify: Verification | None = None
    population: PopulationSpec | None = None
    beta: float = 1.0
    source_labels: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()

    @property
    def reference(self) -> Reference:
        """The person's true record; a DataError if the case has none."""
        if self.person is None:
            raise DataError(f"{self.path} has no 'person': say who it is about, as label: value")
        return self.person

    def source(self, name: str) -> Source:
        """The source of that name."""
        for source in self.sources:
            if source.name == name:
                return source
        raise DataError(f"{self.path} has no source '{name}'; it has {', '.join(s.name for s in self.sources)}")
