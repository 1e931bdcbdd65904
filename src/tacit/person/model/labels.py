"""How values of a label are weighed and compared."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, get_args

from tacit.errors import ArgumentError
from tacit.person.model.forms import form_name as form_and_country
from tacit.person.model.forms.parts import WITH_PARTS, says_less, shows
from tacit.person.model.values import Similarity, covers, is_suppressed, tells_something

# What a value that only covers the truth ("11*" for 111) is worth: as much as the true value (as in the paper; only
# stars are worth nothing), its confidence divided by the number of values it covers, or its confidence times the true
# value's share of the probability it covers.
Suppressed = Literal["equal", "size", "prior"]


@dataclass(frozen=True)
class Label:
    """How the values of one label are weighed and compared.

    Parameters
    ----------
    weight : float
        How much the label matters to the person; only ratios count.
    single : bool
        The person has one true value (a date of birth): values of the label in one record exclude one another.
    normalise : callable, optional
        Maps text to the form in which values are compared. Against the reference all values are compared in this form,
        because whoever reads "ALICE " has read Alice; whether an adversary recognises two of its records as the same,
        and merges them, depends on whether normalising is one of its steps.
    similarity : callable, optional
        Maps (value, true) to a credit in [0, 1]; without it a value is right or wrong.
    suppressed : {"equal", "size", "prior"}
        What a value that covers the truth is worth.
    domain : sequence of str
        All values the label can have, for ``suppressed="size"``.
    prior : mapping from value to probability
        Background statistics: the value's weight becomes ``weight`` times its surprisal in bits.
    synonyms : mapping from value to value
        Maps each value to the one it means the same as (Influenza to Flu).
    """

    weight: float = 1.0
    single: bool = False
    normalise: Callable[[str], str] | None = None
    similarity: Similarity | None = None
    suppressed: Suppressed = "equal"
    domain: Sequence[str] = ()
    prior: Mapping[str, float] | None = None
    synonyms: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not (math.isfinite(self.weight) and self.weight >= 0):
            raise ArgumentError(f"a weight is {self.weight:g}: give a finite number, 0 or more")
        if self.suppressed not in get_args(Suppressed):
            raise ArgumentError(f"suppressed is {self.suppressed!r}: choose {', '.join(get_args(Suppressed))}")
        for name, function, example in (
            ("normalise", self.normalise, "normaliser('email')"),
            ("similarity", self.similarity, "similarity('jaro_winkler')"),
        ):
            if function is not None and not callable(function):
                raise ArgumentError(f"{name} of a label is not a function: give one, such as {example}")

    @property
    def plain(self) -> bool:
        """Whether the label has a weight and nothing else."""
        functions = self.normalise, self.similarity, self.prior
        return functions == (None,) * 3 and not self.single and not self.synonyms and self.suppressed == "equal"

    def meant(self, value: str) -> str:
        """The value in its normal form or, if that is a synonym, the value it is a synonym of."""
        form = self.normalise(value) if self.normalise is not None else value
        return self.synonyms.get(form, form)

    @property
    def _form(self) -> str | None:
        named = form_and_country(self.normalise)
        return None if named is None else named[0]

    @property
    def has_parts(self) -> bool:
        """Whether values may say less than others although nothing in them is hidden: 1963 and 1963-02-16."""
        return self._form in WITH_PARTS

    def covers(self, pattern: str, *forms: str) -> bool:
        """Whether a suppressed value may stand for one of these, which are forms of one value, the normal one first."""
        if any(covers(pattern, form, meant=self.meant) for form in forms):
            return True
        return shows(self._form, pattern, forms[0])

    @cached_property
    def known_finer(self) -> dict[str, tuple[set[str], set[str]]]:
        """By value, those that it was compared with, and those of them that agree with it and say more."""
        return {}

    def says_less(self, value: str, other: str) -> bool:
        """Whether a value agrees with all that another says and says less: 1963 and 1963-02-16, 11* and 115."""
        if is_suppressed(value):
            if is_suppressed(other):
                return value != other and covers(value, other) and not covers(other, value)
            return tells_something(value) and self.covers(value, self.meant(other), other)
        return not is_suppressed(other) and says_less(self._form, self.meant(value), self.meant(other))

    def weigh(self, value: str) -> float:
        """The weight of one value: the label's, or with a prior the label's times the value's surprisal in bits.

        A value missing from the prior counts as surprising as the rarest value in it.
        """
        if self.prior is None:
            return self.weight
        own = self.prior.get(self.meant(value), 0.0)
        probability = own if own > 0 else min((p for p in self.prior.values() if p > 0), default=1.0)
        return self.weight * max(0.0, -math.log2(probability))


@dataclass(frozen=True)
class Correlated:
    """Labels that partly say the same (phone and address): ``shared`` is the weight of what they share.

    The labels' own weights are what each says beyond that: the paper's J, A and P.
    """

    labels: tuple[str, ...]
    shared: float

    def __post_init__(self) -> None:
        if len(self.labels) < 2 or len(set(self.labels)) != len(self.labels):
            raise ArgumentError("correlated labels are two or more different ones")
        if not (math.isfinite(self.shared) and self.shared >= 0):
            raise ArgumentError(f"the shared weight is {self.shared:g}: give a finite number, 0 or more")


class Labels(Mapping[str, Label]):
    """How every label is weighed and compared; a label that was not described has weight 1 and is compared exactly.

    Examples
    --------
    >>> labels = Labels({"card": Label(weight=4)})
    >>> labels["card"].weight, labels["phone"].weight
    (4, 1.0)
    """

    def __init__(self, labels: Mapping[str, Label] | None = None, *, correlated: Sequence[Correlated] = ()) -> None:
        self._labels = dict(labels or {})
        for name, label in self._labels.items():
            if not isinstance(label, Label):
                raise ArgumentError(
                    f"label '{name}' is not a Label: give Label(...), or use Labels.weighted for weights"
                )
        self._default = Label()
        self.correlated = tuple(correlated)
        named = [label for group in self.correlated for label in group.labels]
        if len(named) != len(set(named)):
            raise ArgumentError("a label is in two groups of correlated labels: join the groups")

    @classmethod
    def weighted(cls, weights: Mapping[str, float] | None) -> Labels:
        """Labels with these weights, compared exactly."""
        return cls({label: Label(weight=weight) for label, weight in (weights or {}).items()})

    @cached_property
    def plain(self) -> bool:
        """Whether labels have only weights: each value is right or wrong, independently of the others."""
        return not self.correlated and all(label.plain for label in self._labels.values())

    @cached_property
    def group_of(self) -> dict[str, Correlated]:
        """By label, the group of correlated labels that it belongs to."""
        return {label: group for group in self.correlated for label in group.labels}

    def __getitem__(self, label: str) -> Label:
        return self._labels.get(label, self._default)

    def __contains__(self, label: object) -> bool:
        return label in self._labels

    def __iter__(self) -> Iterator[str]:
        return iter(self._labels)

    def __len__(self) -> int:
        return len(self._labels)

    def __repr__(self) -> str:
        groups = f", {len(self.correlated)} correlated" if self.correlated else ""
        return f"Labels({', '.join(f'{name} {label.weight:g}' for name, label in self._labels.items())}{groups})"


def as_labels(weights: Mapping[str, float] | None, labels: Labels | None) -> Labels:
    """The labels of a caller who passed weights, labels or neither."""
    if isinstance(weights, Labels):
        raise ArgumentError("weights are numbers by label, and these are Labels: give labels=...")
    if labels is None:
        return Labels.weighted(weights)
    if weights is not None:
        raise ArgumentError("both weights and labels are given: put the weights into the labels")
    return labels
