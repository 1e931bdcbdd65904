"""Resolution of a whole set of records: which ones are one person's, and the links that say why."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from typing import Literal, NamedTuple, get_args

from tacit.errors import ArgumentError
from tacit.person.model import Record
from tacit.person.model.records import Fact
from tacit.person.resolve.merging import merge
from tacit.person.resolve.resolver import Link, Resolver
from tacit.person.resolve.rules import Facts, Key, Rules, facts_of

# Whether merged records are matched again (as in R-Swoosh), or only base records are compared.
Closure = Literal["swoosh", "components"]

# A record with more keys than this for an alternative is found by its values instead.
MOST_KEYS = 4096


class Group(NamedTuple):
    """Records that are one person's: their places, ascending, and a tree of links that says why."""

    members: tuple[int, ...]
    links: tuple[Link, ...]


def matches(a: Record | Facts, b: Record | Facts, rules: Rules) -> bool:
    """Whether two records, base or merged, match."""
    left, right = facts_of(a), facts_of(b)
    agreed = {
        fact[0]
        for fact, confidence in left.items()
        if fact in right and rules.counts(confidence) and rules.counts(right[fact])
    }
    return any(agreed.issuperset(labels) for labels in rules.alternatives)


def r_swoosh(records: Sequence[Record], rules: Rules) -> list[frozenset[int]]:
    """R-Swoosh as published: slow, because every pair is compared; the oracle for the fast versions.

    Returns
    -------
    list of frozenset of int
        The places of the records of each cluster, clusters ordered by their first record.

    Notes
    -----
    Benjelloun et al., Swoosh: a generic approach to entity resolution (2009), algorithm 3.
    """
    waiting = [(record, frozenset([place])) for place, record in enumerate(records)]
    settled: list[tuple[Record, frozenset[int]]] = []
    while waiting:
        record, members = waiting.pop()
        for place, (other, others) in enumerate(settled):
            if matches(record, other, rules):
                del settled[place]
                waiting.append((merge([record, other]), members | others))
                break
        else:
            settled.append((record, members))
    return sorted((members for _, members in settled), key=min)


def fix_point(records: Sequence[Record], rules: Rules) -> list[frozenset[int]]:
    """The clusters of `r_swoosh`, found through an index of keys in time roughly linear in the records."""
    return [frozenset(group.members) for group in groups(records, rules, "swoosh")]


def components(records: Sequence[Record], rules: Rules) -> list[frozenset[int]]:
    """The connected components of the base records that match: merged records are not compared again.

    With rules that combine labels, these can be finer than `fix_point`: two merged records may match a third that
    neither matches alone.
    """
    return [frozenset(group.members) for group in groups(records, rules, "components")]


def groups(
    records: Sequence[Record], rules: Rules, closure: Closure = "swoosh", earlier: Sequence[Group] = ()
) -> list[Group]:
    """The clusters with the links that made them, ordered by their first record.

    If there are ``earlier`` groups, they are matched instead of the records, each as the union of its members; none of
    them is split.
    """
    if closure not in get_args(Closure):
        raise ArgumentError(f"no closure '{closure}': choose {' or '.join(get_args(Closure))}")
    before = [link for group in earlier for link in group.links]
    wholes = unions(records, earlier) if before else records
    links: Iterable[Link]
    if closure == "components" or rules.single_labels_only:
        links = _agreements(wholes, rules)
    else:
        links = (link for cluster in Resolver.of(wholes, rules).clusters.values() for link in cluster.links)
    if before:
        links = (_between_members(link, records, earlier) for link in links)
    return forest(len(records), itertools.chain(before, links))


def unions(records: Sequence[Record], groups: Iterable[Group]) -> tuple[Record, ...]:
    """The merged record of each group, every fact with its best confidence."""
    return tuple(merge([records[place] for place in group.members]) for group in groups)


def _between_members(link: Link, records: Sequence[Record], groups: Sequence[Group]) -> Link:
    """A link between groups as a link between the member of each that has most of the link's labels."""
    wanted = set(link.labels)
    ends = [
        max(groups[end].members, key=lambda place: len(wanted.intersection(a.label for a in records[place])))
        for end in (link.left, link.right)
    ]
    return Link(min(ends), max(ends), link.labels)


def forest(n: int, links: Iterable[Link]) -> list[Group]:
    """The groups that links make of n records, ordered by their first record.

    A link between records that are already together is dropped, so that the links of a group are a tree.
    """
    above = list(range(n))

    def top(place: int) -> int:
        while above[place] != place:
            above[place] = above[above[place]]
            place = above[place]
        return place

    kept: list[Link] = []
    for link in links:
        low, high = sorted((top(link.left), top(link.right)))
        if low != high:
            above[high] = low
            kept.append(link)
    members: dict[int, list[int]] = {}
    for place in range(n):
        members.setdefault(top(place), []).append(place)
    reasons: dict[int, list[Link]] = {}
    for link in kept:
        reasons.setdefault(top(link.left), []).append(link)
    return [Group(tuple(places), tuple(reasons.get(root, ()))) for root, places in members.items()]


def _agreements(records: Sequence[Record], rules: Rules) -> Iterator[Link]:
    """A link from every record to the first with the same key: enough to connect all matches without listing pairs.

    Records with very many keys are compared by their values instead.
    """
    for owner, place, key in agreements(rules.keys(record, MOST_KEYS) for record in records):
        yield Link(owner, place, rules.alternatives[int(key[0])])
    wide = [(place, alternative) for place, r in enumerate(records) for alternative in rules.wide(r, MOST_KEYS)]
    if wide:
        yield from _wide_agreements(records, rules, wide)


def agreements(keys: Iterable[Iterable[Key]]) -> Iterator[tuple[int, int, Key]]:
    """For the keys of every record: which earlier record had a key first, the record, and the key."""
    first: dict[Key, int] = {}
    for place, own in enumerate(keys):
        for key in own:
            owner = first.setdefault(key, place)
            if owner != place:
                yield owner, place, key


def _wide_agreements(records: Sequence[Record], rules: Rules, wide: Iterable[tuple[int, int]]) -> Iterator[Link]:
    """Links from records that are wide for an alternative to all records that share a value of each of its labels."""
    holders: dict[Fact, list[int]] = {}
    for place, record in enumerate(records):
        for label, values in rules.values(record).items():
            for value in values:
                holders.setdefault((label, value), []).append(place)
    for place, alternative in wide:
        labels, own = rules.alternatives[alternative], rules.values(records[place])
        sharing = [{other for value in own[label] for other in holders[label, value]} for label in labels]
        for other in sorted(set.intersection(*sharing) - {place}):
            yield Link(min(place, other), max(place, other), labels)
