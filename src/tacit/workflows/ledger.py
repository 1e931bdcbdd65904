"""The ledger: one private file of the owner that composes the leakage of several releases of the same people.

What releases say together does not follow from what each says alone (see ``tacit.lift.composition``). Where all were
made from the very same table their joint is counted, exactly; elsewhere nothing but the share of the rarest value
bounds it, unless they are of different people, and then the worst of them does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tacit import __version__
from tacit.errors import ArgumentError, NotCertifiedError, SourceError
from tacit.lift.composition import ReleaseBound, compose_bounds
from tacit.lift.rounding import at_most, confident
from tacit.workflows.agreeing import agree
from tacit.workflows.bounds import ROUNDING, TOLERANCE
from tacit.workflows.ledger_file import (
    PEOPLE,
    Entry,
    Known,
    Original,
    People,
    alone_with,
    flag_of,
    read_ledger,
    texts_of,
    write_ledger,
)
from tacit.workflows.planning import Plan
from tacit.workflows.results import Certificate
from tacit.workflows.tabulating import Counted, Progress, checked_epsilon, silent
from tacit.workflows.together import MOST_CELLS, Secret, Together

# What was attained is recomputed from the same table with other sums; more than this apart, it is not the same table.
AGREEMENT = 1e-5
# The numbers of a secret in a certificate's composition.
_ENDS = ("epsilon_low", "epsilon_high", "epsilon")


@dataclass(frozen=True)
class Ledger:
    """What was asked of a ledger, if one was asked for: its file, whose releases it holds, and a budget."""

    path: Path | None
    relation: People
    budget: float | None

    @classmethod
    def asked(
        cls,
        path: str | Path | None,
        *,
        relation: People,
        budget: float | None,
        out: Path,
        repeatable: bool,
        learned: bool,
        keep_secret: bool,
    ) -> Ledger:
        """Refuse at once what could not be composed in the end."""
        if relation not in PEOPLE:
            raise ArgumentError(f"relation is '{relation}'; it is one of {', '.join(PEOPLE)} (--people same or other)")
        if path is None:
            if budget is not None or relation != PEOPLE[0]:
                raise ArgumentError("--budget and --people are about the releases of a ledger: give --ledger FILE, too")
            return cls(None, relation, None)
        if repeatable:
            raise ArgumentError(
                "a random_state may repeat the draws of an earlier release, and what releases say together is known "
                "only if each draws on its own: leave out --random-state, or --ledger"
            )
        if learned:
            raise ArgumentError(
                "a learned release has no bound to compose yet: count (--estimator counts) for a ledger"
            )
        if keep_secret:
            raise ArgumentError(
                "whoever reads a release with the secret in it reads the secret, and nothing is left to compose: leave "
                "out --keep-secret, or --ledger"
            )
        file = Path(path).resolve()
        if file.is_relative_to(out.resolve()):
            raise ArgumentError(f"the ledger {path} is yours alone: keep it outside of the release {out}")
        read_ledger(file)
        return cls(file, relation, None if budget is None else checked_epsilon(budget, name="budget"))

    @contextmanager
    def page(
        self, found: Counted, plan: Plan | None, out: str | Path, *, progress: Progress = silent
    ) -> Iterator[Page]:
        """The place of a planned release in the ledger, which nobody else may write to meanwhile.

        Raises
        ------
        NotCertifiedError
            If all releases together would pass the budget, or nothing bounds what they say.
        """
        if self.path is None:
            yield Page()
            return
        assert plan is not None
        with alone_with(self.path):
            progress("composing with the ledger", None)
            earlier = read_ledger(self.path)
            page = _page(self, earlier, _draft(found, plan, self.relation, out), found)
            if self.budget is not None:
                _keep_budget(page, self.budget)
            yield page


@dataclass(frozen=True)
class Page:
    """What a planned release and all those before it say together, and where that will be written; empty if nowhere."""

    path: Path | None = None
    earlier: tuple[Entry, ...] = ()
    entry: Entry | None = None
    together: tuple[Known, ...] = ()
    sentence: str = ""

    @property
    def beta(self) -> float:
        """The probability with which a proof from a sample may be false, of all releases added."""
        entries = self.earlier if self.entry is None else (*self.earlier, self.entry)
        return min(sum(entry.beta for entry in entries), 1.0)

    @property
    def composition(self) -> dict[str, Any] | None:
        """What the certificate says of it."""
        if self.entry is None:
            return None
        return {
            "releases": len(self.earlier) + 1,
            "exact": all(known.exact for known in self.together),
            "secrets": [
                {
                    "secret": list(known.secret.columns),
                    "epsilon_low": known.low,
                    "epsilon_high": known.high,
                    "epsilon": known.epsilon,
                }
                for known in self.together
            ],
            "beta": self.beta,
            "sentence": self.sentence,
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """What the owner should know of it."""
        return (self.sentence,) if self.sentence else ()

    def add(self, certificate: Certificate) -> None:
        """Write the entry; before the release appears, because a release that is not in the ledger is forgotten."""
        if self.path is not None and self.entry is not None:
            written = replace(self.entry, output_sha256=str(certificate.output["sha256"]))
            write_ledger(self.path, [*self.earlier, written])


def _draft(found: Counted, plan: Plan, relation: People, out: str | Path) -> Entry:
    """The entry of a planned release, but for what it says together with others."""
    rules, question = plan.rules, found.question
    bounds = [rules.bounds, *(each.bounds for each in rules.also)]
    measured = zip(
        [rules.secret, *(each.secret for each in rules.also)],
        [plan.attained, *plan.attained_also],
        [plan.output, *plan.further],
        bounds,
        strict=True,
    )
    known: dict[Secret, Known] = {}
    for columns, attained, output, bound in measured:
        secret, one_sided = Secret.of(columns, rules.cuts), math.isinf(bound.low)
        again = known.get(secret)
        one_sided &= again is None or again.one_sided
        known[secret] = Known(secret, attained.low, attained.high, one_sided, float(output.prior.min()))
    return Entry(
        release=str(Path(out).resolve()),
        output_sha256="",
        original=Original.of(question.original, int(found.counts.records.sum())),
        weight=question.weight,
        attained=tuple(known.values()),
        beta=0.0 if plan.proof is None else plan.proof.beta,
        relation=relation,
        rules=rules,
        mechanism=str(plan.made_by["name"]),
        tacit_version=__version__,
    )


def _page(ledger: Ledger, earlier: tuple[Entry, ...], draft: Entry, found: Counted) -> Page:
    groups: list[list[Entry]] = []
    for entry in (*earlier, draft):
        groups = _placed(groups, entry)
    *others, own = groups
    same, why = _say_together(own, found)
    entry = replace(draft, together=same)
    # Nobody is in two groups, so what is said of anyone is what the group's releases say together.
    together: dict[Secret, Known] = {}
    for known in (*same, *(known for group in others for known in group[-1].together)):
        together[known.secret] = _worst(together.get(known.secret), known)
    page = Page(ledger.path, earlier, entry, tuple(together.values()))
    return replace(page, sentence=_sentence(page, len(groups), why))


def _placed(groups: list[list[Entry]], entry: Entry) -> list[list[Entry]]:
    """Releases in groups, nobody being in two; that of the new entry is the last.

    A release of the very same table is of the same people as that table's, whoever else is in the ledger. One of other
    people is a group of its own. Any other may be of people of all groups, which makes them one.
    """
    home = next((group for group in groups if any(entry.original.is_that_of(other) for other in group)), None)
    if entry.relation == "other people":
        if home is not None:
            raise ArgumentError(
                "the ledger has a release of this very table, so it is of the same people: leave out --people other"
            )
        return [*groups, [entry]]
    if home is not None:
        return [*(group for group in groups if group is not home), [*home, entry]]
    return [[*(other for group in groups for other in group), entry]]


def _worst(one: Known | None, other: Known) -> Known:
    """What is known of a secret of people who are in one of two groups."""
    if one is None:
        return other
    worst = compose_bounds([ReleaseBound(each.low, each.high) for each in (one, other)], relation="other people")
    return replace(
        one,
        low=worst.epsilon_low,
        high=worst.epsilon_high,
        one_sided=one.one_sided and other.one_sided,
        smallest_share=min(one.smallest_share, other.smallest_share),
        exact=one.exact and other.exact,
    )


def _say_together(group: Sequence[Entry], found: Counted) -> tuple[tuple[Known, ...], str]:
    """What the releases of a group say of every secret that one of them was about; and why it could not be counted."""
    *earlier, new = group
    if not earlier:
        return new.attained, ""
    secrets: dict[Secret, Known] = {}
    for known in (known for entry in (new, *earlier) for known in entry.attained):
        before = secrets.get(known.secret, known)
        share = min(before.smallest_share, known.smallest_share)
        one_sided = before.one_sided and known.one_sided
        secrets[known.secret] = replace(known, smallest_share=share, one_sided=one_sided)
    why = _why_not(earlier, new)
    if not why:
        counted = _counted(group, secrets, found)
        if counted is not None:
            return counted, ""
        why = f"their joint has more than {MOST_CELLS:,} cells"
    return tuple(_bounded(known, group) for known in secrets.values()), why


def _why_not(earlier: Sequence[Entry], new: Entry) -> str:
    if new.original.sha256 is None:
        return "a frame has no fingerprint that tells whether it is the same table; protect files"
    if not all(new.original.is_that_of(entry) for entry in earlier):
        return "not all of them were made from this very file, so that their joint cannot be counted"
    if any(entry.weight is not None for entry in (*earlier, new)):
        return "the joint of weighted releases is not counted yet"
    return ""


def _counted(group: Sequence[Entry], secrets: Mapping[Secret, Known], found: Counted) -> tuple[Known, ...] | None:
    """Exactly what they say together; None if that is too large."""
    records = group[-1].original.records
    joint = Together(found.question.original, records, list(secrets), [entry.rules for entry in group])
    if not joint.fits:
        return None
    result = []
    for secret, known in secrets.items():
        for place, entry in enumerate(group):
            alone = entry.of(secret)
            if alone is not None:
                _recognise(entry, alone, joint.ends(secret, [place]))
        ends = joint.ends(secret)
        if ends is None:
            return None
        low, high = (end if end > ROUNDING else 0.0 for end in ends)
        result.append(replace(known, low=low, high=high, exact=True))
    return tuple(result)


def _recognise(entry: Entry, claimed: Known, ends: tuple[float, float] | None) -> None:
    """What was attained must come out again of the same table; else an entry is not what it says."""
    if ends is None:
        return
    pairs = zip(ends, (claimed.low, claimed.high), strict=True)
    if not all(agree(one, other, within=AGREEMENT) for one, other in pairs):
        raise SourceError(
            f"what the ledger says of {entry.release} does not follow from its rules and this table: the ledger is "
            "damaged, and was left as it is"
        )


def _bounded(known: Known, group: Sequence[Entry]) -> Known:
    """What bounds a secret where the joint is not known: the share of its rarest value, and that on one side."""
    alone = [entry.of(known.secret) for entry in group]
    releases = [
        ReleaseBound(math.inf, math.inf) if each is None else ReleaseBound(each.low, each.high) for each in alone
    ]
    share = known.smallest_share
    bound = compose_bounds(releases, relation="unknown", prior=[share, 1 - share])
    return replace(known, low=bound.epsilon_low, high=bound.epsilon_high, exact=False)


def _sentence(page: Page, groups: int, why: str) -> str:
    number = len(page.earlier) + 1
    if number == 1:
        told = _listed(map(_amount, page.together))
        return f"This is the first release in the ledger; it leaks {told} at most."
    bounded = [known for known in page.together if math.isfinite(known.epsilon)]
    ruled_out = [known for known in page.together if math.isinf(known.epsilon) and known.exact]
    unbounded = [known for known in page.together if math.isinf(known.epsilon) and not known.exact]
    parts = []
    if bounded:
        told = _listed(map(_amount, bounded))
        parts.append(f"The {number} releases in the ledger together leak {told} at most.")
    if ruled_out:
        told = _listed(known.name for known in ruled_out)
        parts.append(
            f"The {number} releases in the ledger together rule out a value of {told} for some records, which no "
            "epsilon bounds, whatever each keeps to by itself. One release of all their columns would keep an epsilon."
        )
    if unbounded:
        told = _listed(known.name for known in unbounded)
        parts.append(f"Nothing bounds what the {number} releases in the ledger say together of {told}.")
    if not all(known.exact for known in page.together):
        reason = f": {why}" if why else ""
        parts.append(f"Release all from one table, or count the joint{reason}.")
    elif groups == 1:
        parts.append("This was counted on the joint of all of them, and is exact for this table.")
    if groups > 1:
        parts.append("Releases said to be of other people were taken at that word: nobody is in both.")
    if page.beta > 0:
        parts.append(
            f"What was proved from a sample was proved of each release alone; all of that holds with "
            f"{confident(1 - page.beta)} confidence."
        )
    return " ".join(parts)


def _amount(known: Known) -> str:
    side = " (on the side that was bounded)" if known.one_sided else ""
    if math.isinf(known.epsilon):
        return f"an unbounded amount of {known.name}"
    return f"{at_most(known.epsilon)} nats of {known.name}{side}"


def _listed(words: Iterable[str]) -> str:
    *most, last = words
    return f"{', '.join(most)} and {last}" if most else last


def _keep_budget(page: Page, budget: float) -> None:
    for known in page.together:
        if known.epsilon > budget + TOLERANCE:
            raise NotCertifiedError(
                f"all releases in the ledger together would pass the budget of {budget:g} nats, so nothing was "
                f"written. {page.sentence}"
            )


def composition_from(data: Any) -> dict[str, Any] | None:
    """The composition of a certificate, from its JSON; a KeyError, TypeError or ValueError if it is damaged."""
    if data is None:
        return None
    secrets = []
    for each in data["secrets"]:
        low, high, epsilon = ends = [float(each[name]) for name in _ENDS]
        if not (low >= 0 and high >= 0 and epsilon in (high, max(low, high))):
            raise ValueError("a composition whose epsilon is none of its sides")
        secrets.append({"secret": list(texts_of(each["secret"])), **dict(zip(_ENDS, ends, strict=True))})
    beta, (sentence,) = float(data["beta"]), texts_of([data["sentence"]])
    if type(data["releases"]) is not int or data["releases"] < 1 or not 0 <= beta <= 1 or not secrets:
        raise ValueError("a composition that is out of range")
    return {
        "releases": data["releases"],
        "exact": flag_of(data["exact"]),
        "secrets": secrets,
        "beta": beta,
        "sentence": sentence,
    }
