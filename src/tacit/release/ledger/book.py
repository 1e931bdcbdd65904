"""The ledger: the owner's private file that composes the leakage of several releases about the same people.

What releases say together does not follow from what each says alone (see ``tacit.lift.proofs.composition``). If all
were made from the very same table, their joint is counted, exactly. Otherwise only the share of the rarest value bounds
it, unless the releases are about different people: then the worst of them does.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from tacit.document import Nats
from tacit.errors import ArgumentError, NotCertifiedError, Sentence, Setting, SourceError, sentence, together
from tacit.lift import NOTHING, SLACK, ReleaseBound, agree, compose_bounds, confident
from tacit.release.bounds import checked_epsilon
from tacit.release.certificate import Certificate, ComposedSecret, LedgerComposition
from tacit.release.ledger.file import (
    Entry,
    People,
    SecretLeak,
    alone_with,
    not_in_place,
    read_ledger,
    released_at,
    write_ledger,
)
from tacit.release.ledger.together import MOST_CELLS, Secret, Together
from tacit.requests import Ledgered, Making
from tacit.tables.table import Table

# What was attained is recomputed from the same table with other sums: if it differs by more, the table is another one.
AGREEMENT = 1e-5


@dataclass(frozen=True)
class Ledger:
    """What was asked for: the ledger's file, if any, whether the release is about the same people, and a budget."""

    path: Path | None
    relation: People
    budget: float | None

    @classmethod
    def asked(cls, ledgered: Ledgered, making: Making, *, out: Path) -> Ledger:
        """Refuse at the start whatever could not be composed in the end."""
        path, budget = ledgered.ledger, ledgered.budget
        relation: People = "same people" if ledgered.people == "same" else "other people"
        if path is None:
            if budget is not None or relation != "same people":
                raise _refusal("{budget} and {people} are about the releases in a ledger: give {ledger} as well")
            return cls(None, relation, None)
        if making.random_state is not None:
            raise _refusal(
                "a random_state may repeat the draws of an earlier release, and what releases say together is known "
                "only if each draws on its own: leave out {random_state}, or {ledger}"
            )
        if making.keep_secret:
            raise _refusal(
                "anyone who reads a release with the secret in it reads the secret, so there is nothing to compose: "
                "leave out {keep_secret}, or {ledger}"
            )
        file = Path(path).resolve()
        if file.is_relative_to(out.resolve()):
            raise ArgumentError(f"the ledger {path} is for you only: keep it outside the release {out}")
        read_ledger(file)
        return cls(file, relation, None if budget is None else checked_epsilon(budget, name="budget"))

    @contextmanager
    def page(self, draft: Entry | None, table: Table) -> Iterator[LedgerPage]:
        """The place of a planned release of ``table`` in the ledger; nobody else may write to the ledger meanwhile.

        Raises
        ------
        NotCertifiedError
            If all releases together would exceed the budget, or nothing bounds what they say.
        """
        if self.path is None or draft is None:
            yield LedgerPage()
            return
        with alone_with(self.path):
            page = _page(self.path, read_ledger(self.path), draft, table)
            if self.budget is not None:
                _keep_budget(page, self.budget)
            try:
                yield page
            except BaseException:
                page.withdraw()
                raise


def _refusal(template: str) -> ArgumentError:
    settings = {name: Setting(name) for name in ("budget", "people", "ledger", "random_state")}
    settings |= {"keep_secret": Setting("keep_secret", True)}
    return ArgumentError(sentence(template, **settings))


@dataclass(frozen=True)
class LedgerPage:
    """What a planned release and all earlier ones say together, and where that will be written; empty if nowhere."""

    path: Path | None = None
    earlier: tuple[Entry, ...] = ()
    entry: Entry | None = None
    together: tuple[SecretLeak, ...] = ()
    sentence: str = ""

    @property
    def beta(self) -> float:
        """The probability that some proof from a sample is false: the sum over all releases."""
        entries = self.earlier if self.entry is None else (*self.earlier, self.entry)
        return min(sum(entry.beta for entry in entries), 1.0)

    @property
    def composition(self) -> LedgerComposition | None:
        """What the certificate says about it."""
        if self.entry is None:
            return None
        return LedgerComposition(
            releases=len(self.earlier) + 1,
            exact=all(leak.exact for leak in self.together),
            secrets=tuple(
                ComposedSecret(leak.secret.columns, leak.low, leak.high, leak.epsilon) for leak in self.together
            ),
            beta=self.beta,
            sentence=self.sentence,
        )

    @property
    def notes(self) -> tuple[str, ...]:
        """What the owner should know about it."""
        return (*((self.sentence,) if self.sentence else ()), *not_in_place(self.earlier))

    def add(self, certificate: Certificate) -> None:
        """Write the entry, before the release appears: a release that is not in the ledger would never be counted."""
        if self.path is not None and self.entry is not None:
            written = replace(self.entry, output_sha256=certificate.output.sha256)
            write_ledger(self.path, [*self.earlier, written])

    def withdraw(self) -> None:
        """Remove the entry if its release never appeared; if the process is killed, the entry stays."""
        if self.path is None or self.entry is None or len(read_ledger(self.path)) == len(self.earlier):
            return
        if read_ledger(self.path)[-1].output_sha256 != released_at(self.entry.release):
            write_ledger(self.path, self.earlier)


def _page(path: Path, earlier: tuple[Entry, ...], draft: Entry, table: Table) -> LedgerPage:
    groups: list[list[Entry]] = []
    for entry in (*earlier, draft):
        groups = _placed(groups, entry)
    *others, own = groups
    same, why = _say_together(own, table)
    entry = replace(draft, together=same)
    # Nobody is in two groups, so all that is said about a person is what the releases of one group say together.
    together: dict[Secret, SecretLeak] = {}
    for leak in (*same, *(leak for group in others for leak in group[-1].together)):
        together[leak.secret] = _worst(together.get(leak.secret), leak)
    page = LedgerPage(path, earlier, entry, tuple(together.values()))
    return replace(page, sentence=_sentence(page, len(groups), why))


def _placed(groups: list[list[Entry]], entry: Entry) -> list[list[Entry]]:
    """Releases in groups, such that nobody is in two; the group of the new entry comes last.

    A release of the very same table as an earlier one joins that one's group. A release about other people is a group
    of its own. Any other release may be about people of all groups, which makes them one group.
    """
    home = next((group for group in groups if any(entry.original.is_that_of(other) for other in group)), None)
    if entry.relation == "other people":
        if home is not None:
            raise ArgumentError(
                sentence(
                    "the ledger has a release of this very table, so it is about the same people: leave out {people}",
                    people=Setting("people", "other"),
                )
            )
        return [*groups, [entry]]
    if home is not None:
        return [*(group for group in groups if group is not home), [*home, entry]]
    return [[*(other for group in groups for other in group), entry]]


def _worst(one: SecretLeak | None, other: SecretLeak) -> SecretLeak:
    """What is known about a secret of people who are in one of two groups."""
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


def _say_together(group: Sequence[Entry], table: Table) -> tuple[tuple[SecretLeak, ...], str]:
    """What the releases of a group say about each of their secrets; and why it could not be counted, if so."""
    *earlier, new = group
    if not earlier:
        return new.attained, ""
    secrets: dict[Secret, SecretLeak] = {}
    for leak in (leak for entry in (new, *earlier) for leak in entry.attained):
        before = secrets.get(leak.secret, leak)
        share = min(before.smallest_share, leak.smallest_share)
        one_sided = before.one_sided and leak.one_sided
        secrets[leak.secret] = replace(leak, smallest_share=share, one_sided=one_sided)
    why = _why_not(earlier, new)
    if not why:
        counted = _counted(group, secrets, table)
        if counted is not None:
            return counted, ""
        why = f"their joint has more than {MOST_CELLS:,} cells"
    return tuple(_bounded(leak, group) for leak in secrets.values()), why


def _why_not(earlier: Sequence[Entry], new: Entry) -> str:
    if new.original.sha256 is None:
        return "a frame has no fingerprint to show whether it is the same table; protect files"
    if not all(new.original.is_that_of(entry) for entry in earlier):
        return "not all of them were made from this very file, so their joint cannot be counted"
    if any(entry.weight is not None for entry in (*earlier, new)):
        return "the joint of weighted releases is not counted yet"
    return ""


def _counted(
    group: Sequence[Entry], secrets: Mapping[Secret, SecretLeak], table: Table
) -> tuple[SecretLeak, ...] | None:
    """Exactly what they say together; None if that is too large."""
    records = group[-1].original.records
    joint = Together(table, records, list(secrets), [entry.rules for entry in group])
    if not joint.fits:
        return None
    result = []
    for secret, leak in secrets.items():
        for place, entry in enumerate(group):
            alone = entry.of(secret)
            if alone is not None:
                _recognise(entry, alone, joint.ends(secret, [place]))
        ends = joint.ends(secret)
        if ends is None:
            return None
        low, high = (end if end > NOTHING else 0.0 for end in ends)
        result.append(replace(leak, low=low, high=high, exact=True))
    return tuple(result)


def _recognise(entry: Entry, claimed: SecretLeak, ends: tuple[float, float] | None) -> None:
    """What was attained must come out again from the same table; otherwise the entry is false."""
    if ends is None:
        return
    pairs = zip(ends, (claimed.low, claimed.high), strict=True)
    if not all(agree(one, other, within=AGREEMENT) for one, other in pairs):
        raise SourceError(
            f"what the ledger says about {entry.release} does not follow from its rules and this table: the ledger is "
            "damaged, and was left unchanged"
        )


def _bounded(leak: SecretLeak, group: Sequence[Entry]) -> SecretLeak:
    """What bounds a secret where the joint is not known: the share of its rarest value, and only on one side."""
    alone = [entry.of(leak.secret) for entry in group]
    releases = [
        ReleaseBound(math.inf, math.inf) if each is None else ReleaseBound(each.low, each.high) for each in alone
    ]
    share = leak.smallest_share
    bound = compose_bounds(releases, relation="unknown", prior=[share, 1 - share])
    return replace(leak, low=bound.epsilon_low, high=bound.epsilon_high, exact=False)


def _sentence(page: LedgerPage, groups: int, why: str) -> str:
    number = len(page.earlier) + 1
    if number == 1:
        leaks = _listed(map(_amount, page.together))
        return sentence("This is the first release in the ledger; it leaks {leaks} at most.", leaks=leaks)
    bounded = [leak for leak in page.together if math.isfinite(leak.epsilon)]
    ruled_out = [leak for leak in page.together if math.isinf(leak.epsilon) and leak.exact]
    unbounded = [leak for leak in page.together if math.isinf(leak.epsilon) and not leak.exact]
    parts: list[str] = []
    if bounded:
        words = "The {number} releases in the ledger together leak {leaks} at most."
        parts.append(sentence(words, number=number, leaks=_listed(map(_amount, bounded))))
    if ruled_out:
        leaks = _listed(leak.name for leak in ruled_out)
        parts.append(
            f"The {number} releases in the ledger together rule out a value of {leaks} for some records, which no "
            "epsilon bounds, whatever each keeps on its own. One release of all their columns would keep an epsilon."
        )
    if unbounded:
        leaks = _listed(leak.name for leak in unbounded)
        parts.append(f"Nothing bounds what the {number} releases in the ledger together say about {leaks}.")
    if not all(leak.exact for leak in page.together):
        reason = f": {why}" if why else ""
        parts.append(f"Release all from one table, or count the joint{reason}.")
    elif groups == 1:
        parts.append("This was counted on the joint of all of them, and is exact for this table.")
    if groups > 1:
        parts.append("Releases said to be about other people were taken at their word: nobody is in both.")
    if page.beta > 0:
        parts.append(
            "What was proved from a sample was proved for each release alone; all of that holds with "
            f"{confident(1 - page.beta)} confidence."
        )
    return together(parts)


def _amount(leak: SecretLeak) -> str:
    side = " (on the side that was bounded)" if leak.one_sided else ""
    if math.isinf(leak.epsilon):
        return f"an unbounded amount of {leak.name}"
    return sentence("{nats} of {name}{side}", nats=Nats(leak.epsilon, 3, rounded="up"), name=leak.name, side=side)


def _listed(words: Iterable[str]) -> Sentence:
    *most, last = words
    return sentence("{most} and {last}", most=together(most, ", "), last=last) if most else Sentence.of([last])


def _keep_budget(page: LedgerPage, budget: float) -> None:
    for leak in page.together:
        if leak.epsilon > budget + SLACK:
            words = (
                "all releases in the ledger together would exceed the budget of {budget}, so nothing was written. {all}"
            )
            raise NotCertifiedError(sentence(words, budget=Nats(budget, 6), all=page.sentence))
