"""For each of many people the cluster that leaks most, searched where it may be until no other can leak more."""

from __future__ import annotations

from tacit.document import Progress
from tacit.person.link.attributes import listed, one
from tacit.person.link.beside import PeopleBeside
from tacit.person.link.forms.near import BOUNDS, CAPS, KEYED, near_keys
from tacit.person.model.values import similarity_name

# The first pass finds clusters through values that at most this many clusters hold.
RARE = 16
# Pairs of a person and a cluster that are compared at a time, and at most in one pass.
PAIRS = 500_000
MOST_PAIRS = 40_000_000
# Pairs of a value and a fact that are compared one by one, if there are no keys to tell which may be near.
EACH_WITH_EACH = 1_000_000
# Rounding of sums depends on the threads; leakages this close count as equal.
SLACK = 1e-12
# How much of a fact's weight a cluster that was not examined may hold.
_REST = "CASE looked WHEN 0 THEN w WHEN 1 THEN cap * w ELSE 0.0 END"


class Search:
    """Tables of one search.

    ``best``: (person, leakage, precision, recall, cid), the best found so far. ``facts``: (person, fid, label, w, cap,
    looked): a fact of a person weighs w, and what is near it at most cap w; looked is 1 if all clusters that hold or
    cover the fact were examined, 2 if also all that hold something near it.

    Notes
    -----
    A cluster that was not examined holds nothing of a fact, something near it, or the fact, depending on ``looked``.
    With a weight I in all it leaks at most (1 + b^2) I / (I + b^2 W), where W is the weight of the reference; if that
    is no more than what was found, the person is settled.
    """

    def __init__(self, beside: PeopleBeside, tell: Progress) -> None:
        self._beside, self._store, self._tell = beside, beside.store, tell
        self._labels = beside.fact_labels
        self._near = {label: similarity_name(beside.labels[label].similarity) or "" for label in self._labels}
        caps = " ".join(f"WHEN {self._store.text(label)} THEN {self._cap(label)!r}" for label in self._labels)
        self.best = beside.make(
            "SELECT person, CAST(0 AS DOUBLE) AS leakage, CAST(0 AS DOUBLE) AS precision, CAST(0 AS DOUBLE) AS recall, "
            f"CAST(-1 AS BIGINT) AS cid FROM {beside.persons}"
        )
        self._facts = beside.make(
            f"SELECT t.person, t.fid, f.label, f.w, CAST(CASE f.label {caps or 'WHEN NULL THEN 0'} END AS DOUBLE) AS "
            f"cap, 0 AS looked FROM {beside.truth} t JOIN {beside.facts} f ON f.fid = t.fid"
        )

    def _cap(self, label: str) -> float:
        """The largest part of its weight that a value near the truth may be worth."""
        similarity = self._beside.labels[label].similarity
        return 0.0 if similarity is None else CAPS.get(self._near[label], 1.0)

    def run(self) -> None:
        """Search through rare values first; then, for people who are not settled, through more."""
        matches = self._beside.matches
        rare = f"SELECT fid FROM ({self._counted(matches)}) WHERE f > {RARE}"
        self._look("rare values", f"SELECT person, fid FROM {self._facts} WHERE fid NOT IN ({rare})", matches, 1)
        keyed = [label for label in self._labels if self._near[label] in KEYED]
        for label in sorted(keyed, key=lambda label: KEYED.index(self._near[label])):
            self._look_near(label)
        self._look("common values", self._common(), matches, 1)
        for label in self._labels:
            self._look_near(label)

    def _counted(self, through: str) -> str:
        """SQL for how many clusters hold something that matches a fact, for facts that have any."""
        items = self._beside.items
        return f"SELECT m.fid, count(*) AS f FROM {through} m JOIN {items} i ON i.vid = m.vid GROUP BY m.fid"

    def ceilings(self) -> str:
        """SQL for (person, leakage, at_most, left, most): an upper bound on what may leak about each person.

        It is what was found if the person is settled. ``left`` is the weight that a cluster that was not examined may
        hold of the person, ``most`` the largest weight at which the person would be settled.
        """
        square = float(self._beside.beta**2)
        shared = "".join(
            f" + CASE WHEN bool_or({_REST} > 0 AND label IN ({listed(self._store, group.labels)})) THEN "
            f"{float(group.shared)!r} ELSE 0.0 END"
            for group in self._beside.labels.correlated
        )
        left = f"SELECT person, sum({_REST}){shared} AS i FROM {self._facts} GROUP BY person"
        # If only precision counts, a cluster with a single right value may leak everything.
        most = f"b.leakage * {square!r} * e.whole / ({1 + square!r} - b.leakage)" if square else "0.0"
        rows = (
            f"SELECT b.person, b.leakage, coalesce(q.i, 0.0) AS i, e.whole, {most} AS most FROM {self.best} b JOIN "
            f"{self._beside.persons} e ON e.person = b.person LEFT JOIN ({left}) q ON q.person = b.person"
        )
        return (
            f"SELECT person, leakage, i AS left, most, CASE WHEN i <= most * {1 + SLACK!r} THEN leakage ELSE greatest("
            f"leakage, least(1.0, {1 + square!r} * i / (i + {square!r} * whole))) END AS at_most FROM ({rows})"
        )

    def _unsettled(self) -> str:
        return f"SELECT * FROM ({self.ceilings()}) WHERE at_most > leakage * {1 + SLACK!r}"

    def _common(self) -> str:
        """SQL for the facts (person, fid) to be searched: for each person all but the most common ones, which together
        cannot make up for what is missing.
        """
        spared = (
            f"SELECT s.person, s.fid, u.most, u.left - sum((1 - s.cap) * s.w) OVER (PARTITION BY s.person) + sum("
            "(1 - s.cap) * s.w) OVER (PARTITION BY s.person ORDER BY n.f DESC, s.fid) AS held FROM "
            f"{self._facts} s JOIN ({self._unsettled()}) u ON u.person = s.person LEFT JOIN "
            f"({self._counted(self._beside.matches)}) n ON n.fid = s.fid WHERE s.looked = 0"
        )
        return f"SELECT person, fid FROM ({spared}) WHERE held > most * {1 - SLACK!r}"

    def _look_near(self, label: str) -> None:
        """Search through values near the facts of people who are not settled, if such values can be found."""
        beside, near = self._beside, self._near[label]
        facts = beside.make(
            f"SELECT s.person, s.fid FROM {self._facts} s SEMI JOIN ({self._unsettled()}) u ON u.person = s.person "
            f"WHERE s.looked = 1 AND s.cap > 0 AND s.w > 0 AND s.label = {self._store.text(label)}"
        )
        if not int(one(self._store, f"SELECT count(*) FROM {facts}")):
            beside.drop(facts)
            return
        label_is = f"label = {self._store.text(label)}"
        true = f"SELECT f.fid, f.value FROM {beside.facts} f SEMI JOIN {facts} s ON s.fid = f.fid"
        cluster_values = f"SELECT DISTINCT meant FROM {beside.values} WHERE {label_is} AND NOT hidden"
        if near in KEYED:
            key = "unnest({}) AS k"
            pairs = (
                f"SELECT DISTINCT h.meant, t.fid, t.value FROM (SELECT *, {key.format(near_keys(near, 'meant'))} FROM "
                f"({cluster_values})) h JOIN (SELECT *, {key.format(near_keys(near, 'value'))} FROM ({true})) t "
                "ON t.k = h.k"
            )
        else:
            sizes = [int(one(self._store, f"SELECT count(*) FROM ({some})")) for some in (true, cluster_values)]
            if sizes[0] * sizes[1] > EACH_WITH_EACH:
                beside.drop(facts)
                return
            pairs = f"SELECT h.meant, t.fid, t.value FROM ({cluster_values}) h CROSS JOIN ({true}) t"
        through = beside.near(label, pairs)
        self._look(f"values near to {label}", f"SELECT person, fid FROM {facts}", through, 2)
        beside.drop(facts, through)

    def _look(self, what: str, keys: str, through: str, looked: int) -> None:
        """Compare people with the clusters that hold something that matches ``through`` (vid, fid) their ``keys``
        (person, fid), and note what is better. If there are too many pairs, those of the rarest keys are compared.
        """
        beside = self._beside
        wanted = beside.make(
            f"SELECT person, fid, f, CAST(floor(greatest(0, total - 1) / {PAIRS}) AS BIGINT) AS part FROM (SELECT "
            "k.person, k.fid, coalesce(n.f, 0) AS f, sum(coalesce(n.f, 0)) OVER (ORDER BY n.f NULLS FIRST, k.person, "
            f"k.fid) AS total FROM ({keys}) k LEFT JOIN ({self._counted(through)}) n ON n.fid = k.fid) "
            f"WHERE total <= {MOST_PAIRS}"
        )
        parts = self._store.ask(f"SELECT DISTINCT part FROM {wanted} WHERE f > 0 ORDER BY part").column("part")
        for place, part in enumerate(parts.to_pylist()):
            self._tell(what, place / len(parts))
            pairs = beside.make(
                f"SELECT DISTINCT k.person, i.cid FROM {wanted} k JOIN {through} m ON m.fid = k.fid "
                f"JOIN {beside.items} i ON i.vid = m.vid WHERE k.part = {part}"
            )
            if looked > 1:
                self._sieve(pairs)
            hits = beside.hits(pairs)
            leakages = beside.measured(hits)
            best = beside.make(
                f"FROM (FROM {self.best} UNION ALL BY NAME FROM {leakages} WHERE leakage > 0) QUALIFY row_number() "
                "OVER (PARTITION BY person ORDER BY round(leakage, 11) DESC, cid < 0, cid) = 1"
            )
            beside.drop(pairs, hits, leakages, self.best)
            self.best = best
        self._store.run(
            f"UPDATE {self._facts} SET looked = {looked} FROM {wanted} k WHERE k.person = {self._facts}.person AND "
            f"k.fid = {self._facts}.fid"
        )
        beside.drop(wanted)

    def _sieve(self, pairs: str) -> None:
        """Drop the pairs (person, cid) that cannot leak more than was found: nothing that the cluster holds of a label
        is near a fact of it, and everything else that is left of the person is not enough.
        """
        beside = self._beside
        for label in self._labels:
            bound = "false" if beside.labels[label].similarity is None else BOUNDS.get(self._near[label])
            if bound is None:
                continue
            label_is = f"label = {self._store.text(label)}"
            needed = (
                f"SELECT u.person FROM ({self._unsettled()}) u JOIN {self._facts} s ON s.person = u.person WHERE "
                f"s.{label_is} GROUP BY u.person HAVING max(u.left) - sum({_REST}) <= max(u.most)"
            )
            # Materialized, so that the engine does not join the common values of persons and clusters first.
            self._store.run(
                f"WITH asked AS MATERIALIZED (SELECT q.person, q.cid FROM {pairs} q SEMI JOIN ({needed}) n ON "
                f"n.person = q.person), truth AS MATERIALIZED (SELECT q.person, q.cid, f.value AS actual FROM asked q "
                f"JOIN {beside.truth} t ON t.person = q.person JOIN {beside.facts} f ON f.fid = t.fid WHERE "
                f"f.{label_is}), near AS MATERIALIZED (SELECT DISTINCT t.person, t.cid FROM truth t JOIN "
                f"{beside.items} i ON i.cid = t.cid AND i.{label_is} JOIN {beside.values} v ON v.vid = i.vid WHERE "
                f"v.hidden OR meant = actual OR {bound}) DELETE FROM {pairs} USING (SELECT * FROM asked a ANTI JOIN "
                f"near n ON n.person = a.person AND n.cid = a.cid) x WHERE x.person = {pairs}.person AND "
                f"x.cid = {pairs}.cid"
            )
