"""Many people compared with many clusters: what each value is worth, and what each pair leaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from tacit.person.link.attributes import lent, one
from tacit.person.link.forms.near import BOUNDS
from tacit.person.link.references import Meaning, References, meanings
from tacit.person.model.comparing import Comparer, Verdict, judged, weights_if_wrong
from tacit.person.model.labels import Labels
from tacit.person.model.leakage import Leakage, measure_of
from tacit.person.model.records import Attribute, Record, Reference
from tacit.person.model.values import SUPPRESSED, similarity_name

if TYPE_CHECKING:
    import pyarrow as pa

# What values of a label weigh.
Weigh = Callable[[str, list[str]], list[float]]
# Values that leave the engine at a time.
VALUES = 100_000


class PeopleBeside:
    """What people and clusters hold, by number, in tables of an engine.

    ``facts``: (fid, label, value, raw, w), the true values in the form in which they are compared. ``truth``: (person,
    fid). ``persons``: (person, whole), the weight of each reference. ``values``: (vid, label, value, meant, hidden, w),
    the values that clusters hold of labels that some person has; w is the weight if wrong. ``items``: (cid, label, vid,
    p, w). ``matches``: (vid, fid, share), the values that are a fact or cover it.
    """

    def __init__(self, people: References, holdings: str, labels: Labels, beta: float, meant: Meaning) -> None:
        self.store, self.labels, self.beta = people.store, labels, beta
        self._tables: list[str] = []
        self._known = people.similarities(labels)
        reference_rows = people.facts.name
        self.facts = self._weighed(
            f"SELECT row_number() OVER () - 1 AS fid, label, value, min(raw) AS raw FROM {reference_rows} "
            "GROUP BY label, value",
            "raw",
            lambda label, values: [labels[label].weigh(value) for value in values],
        )
        self.truth = self.make(
            f"SELECT DISTINCT r.rid AS person, f.fid FROM {reference_rows} r JOIN {self.facts} f "
            "ON f.label = r.label AND f.value = r.value"
        )
        shared = " UNION ALL ".join(
            f"SELECT DISTINCT t.person, CAST({float(group.shared)!r} AS DOUBLE) AS w FROM {self.truth} t JOIN "
            f"{self.facts} f ON f.fid = t.fid WHERE f.label IN ({', '.join(map(self.store.text, group.labels))})"
            for group in labels.correlated
        )
        own = f"SELECT t.person, f.w FROM {self.truth} t JOIN {self.facts} f ON f.fid = t.fid"
        self.persons = self.make(
            f"SELECT p.person, coalesce(fsum(t.w), 0.0) AS whole FROM {people.persons} p LEFT JOIN "
            f"({own}{' UNION ALL ' + shared if shared else ''}) t ON t.person = p.person GROUP BY p.person"
        )
        cluster_values = f"SELECT label, value FROM {holdings} WHERE label IN (SELECT DISTINCT label FROM {self.facts})"
        different = meanings(self.store, cluster_values, meant)
        hidden = f"regexp_matches(value, {self.store.text(SUPPRESSED)}) AS hidden"
        self.values = self._weighed(f"SELECT vid, label, value, meant, {hidden} FROM {different}", "value")
        self.store.drop(different)
        self.items = self._items(holdings)
        self.matches = self.make(
            f"SELECT v.vid, f.fid, CAST(1 AS DOUBLE) AS share FROM {self.values} v JOIN {self.facts} f ON "
            "f.label = v.label AND f.value = v.meant"
        )
        self._cover()

    def make(self, data: pa.Table | str) -> str:
        """Hold an Arrow table, or the result of a query, until it is dropped or everything is."""
        name = self.store.make(data) if isinstance(data, str) else self.store.load(data)
        self._tables.append(name)
        return name

    def drop(self, *names: str) -> None:
        """Drop these tables."""
        self.store.drop(*names)
        self._tables = [name for name in self._tables if name not in names]

    def close(self) -> None:
        """Drop every table."""
        self.drop(*self._tables)

    # ---- what is held and what it weighs

    def _weighed(self, query: str, value: str, weigh: Weigh | None = None) -> str:
        """The rows of a query with a column ``w``: the weight of the value in a column, by default if it is wrong."""
        import pyarrow as pa

        weigh = weigh or (lambda label, values: weights_if_wrong(label, self.labels[label], values))
        name = self.store.make(query)
        try:
            labels = self.store.ask(f"SELECT DISTINCT label FROM {name}").column("label").to_pylist()
            prior = [label for label in labels if self.labels[label].prior is not None]
            plain = " ".join(
                f"WHEN {self.store.text(label)} THEN {float(self.labels[label].weight)!r}" for label in labels
            )
            if not prior:
                return self.make(
                    f"SELECT *, CAST(CASE label {plain or 'WHEN NULL THEN 0'} END AS DOUBLE) AS w FROM {name}"
                )
            rows: list[tuple[str, str, float]] = []
            for label in prior:
                label_is = f"label = {self.store.text(label)}"
                distinct = (
                    self.store.ask(f"SELECT DISTINCT {value} AS v FROM {name} WHERE {label_is}").column("v").to_pylist()
                )
                rows += [(label, *each) for each in zip(distinct, weigh(label, distinct), strict=True)]
            columns = [pa.array(column) for column in zip(*rows, strict=True)]
            with lent(self.store, pa.table(columns, names=["label", "v", "w"])) as known:
                return self.make(
                    f"SELECT n.*, coalesce(k.w, CAST(CASE n.label {plain} END AS DOUBLE)) AS w FROM {name} n LEFT JOIN "
                    f"{known} k ON k.label = n.label AND k.v = n.{value}"
                )
        finally:
            self.store.drop(name)

    def _items(self, holdings: str) -> str:
        """What clusters hold, without values that weigh nothing and share nothing."""
        strange = f"label NOT IN (SELECT DISTINCT label FROM {self.facts})"
        others = self._weighed(f"SELECT DISTINCT label, value FROM {holdings} WHERE {strange}", "value")
        shared = [label for group in self.labels.correlated if group.shared > 0 for label in group.labels]
        counts = " OR ".join(["w > 0", *(f"label = {self.store.text(label)}" for label in shared)])
        try:
            return self.make(
                f"SELECT * FROM (SELECT h.cid, h.label, v.vid, h.p, v.w FROM {holdings} h JOIN {self.values} v ON "
                f"v.label = h.label AND v.value = h.value UNION ALL SELECT h.cid, h.label, CAST(NULL AS BIGINT), h.p, "
                f"o.w FROM {holdings} h JOIN {others} o ON o.label = h.label AND o.value = h.value) WHERE {counts}"
            )
        finally:
            self.drop(others)

    def _cover(self) -> None:
        """Add to the matches the suppressed values that cover a fact, comparing each with each."""
        import pyarrow as pa

        hidden = int(one(self.store, f"SELECT count(*) FROM {self.values} WHERE hidden"))
        facts = int(one(self.store, f"SELECT count(*) FROM {self.facts}"))
        step = max(1, VALUES // max(1, hidden))
        for start in range(0, facts if hidden else 0, step):
            rows = self.store.ask(
                f"SELECT v.vid, v.label, v.value, f.fid, f.raw FROM {self.values} v JOIN {self.facts} f ON f.label = "
                f"v.label AND f.value <> v.meant WHERE v.hidden AND f.fid >= {start} AND f.fid < {start + step}"
            )
            covering = [(vid, fid, share) for vid, fid, share in self._covering(rows) if share >= 0]
            columns = [[each[at] for each in covering] for at in range(3)]
            kinds = (pa.int64(), pa.int64(), pa.float64())
            arrays = [pa.array(column, kind) for column, kind in zip(columns, kinds, strict=True)]
            with lent(self.store, pa.table(arrays, names=["vid", "fid", "share"])) as covering_rows:
                self.store.run(f"INSERT INTO {self.matches} SELECT vid, fid, share FROM {covering_rows}")

    def _covering(self, rows: pa.Table) -> Iterator[tuple[int, int, float]]:
        """The share of each suppressed value for a fact: 0 if it covers the fact but says nothing, -1 if it does not
        cover it."""
        beside: dict[int, Comparer] = {}
        for vid, label, value, fid, raw in zip(*(column.to_pylist() for column in rows.columns), strict=True):
            if fid not in beside:
                beside[fid] = Comparer(Reference([(label, raw)]), self.labels)
            compared = beside[fid].compare(Record.trusted((Attribute(label, value),)))
            yield vid, fid, float(compared.share[0]) if compared.hit[0] >= 0 else -1.0

    # ---- pairs of a person and a cluster

    def hits(self, pairs: str) -> str:
        """For pairs (person, cid), what is right in them: a table of the facts that values hit, and what each is worth.

        (person, cid, vid, fid, label, w, p, credit, weight, share): w is what the value would weigh if it were wrong.
        """
        beside = self.make(
            # Materialized, so that the engine does not join the common values of persons and clusters first.
            f"WITH truth AS MATERIALIZED (SELECT q.person, q.cid, t.fid, f.label, f.value AS actual, f.w AS own FROM "
            f"{pairs} q JOIN {self.truth} t ON t.person = q.person JOIN {self.facts} f ON f.fid = t.fid) "
            "SELECT t.person, t.cid, i.vid, t.fid, t.label, i.w, i.p, t.own, t.actual, v.meant, m.share, v.hidden FROM "
            f"truth t JOIN {self.items} i ON i.cid = t.cid AND i.label = t.label JOIN {self.values} v ON v.vid = i.vid "
            f"LEFT JOIN {self.matches} m ON m.vid = i.vid AND m.fid = t.fid"
        )
        self._compare(beside)
        hits = self.make(
            "SELECT person, cid, vid, fid, label, w, p, coalesce(share, 1.0) AS share, CASE WHEN share IS NULL THEN "
            "alike * least(w, own) ELSE own END AS credit, CASE WHEN share IS NULL THEN w ELSE own END AS weight FROM "
            f"(SELECT b.*, k.alike FROM {beside} b LEFT JOIN {self._known} k ON b.share IS NULL AND NOT b.hidden AND "
            "k.label = b.label AND k.meant = b.meant AND k.actual = b.actual) x WHERE share IS NOT NULL OR alike > 0 "
            # The true value goes first; otherwise the best, and among equals the first.
            "QUALIFY row_number() OVER (PARTITION BY person, cid, vid ORDER BY (share IS NOT NULL AND meant = actual) "
            "DESC, credit * share DESC, actual) = 1"
        )
        self.drop(beside)
        return hits

    def _compare(self, beside: str) -> None:
        """Compute the similarities that are not yet known, for values that may be near."""
        import pyarrow as pa

        similarities = {label: self.labels[label].similarity for label in self.fact_labels}
        near = [label for label in similarities if similarities[label] is not None]
        if not near:
            return
        bounds = {label: BOUNDS.get(similarity_name(similarities[label]) or "", "true") for label in near}
        may_be = " ".join(f"WHEN {self.store.text(label)} THEN {bound}" for label, bound in bounds.items())
        rows = self.store.ask(
            f"SELECT DISTINCT b.label, b.meant, b.actual FROM {beside} b ANTI JOIN {self._known} k ON "
            "k.label = b.label AND k.meant = b.meant AND k.actual = b.actual WHERE b.share IS NULL AND NOT b.hidden "
            f"AND CASE b.label {may_be} ELSE false END"
        )
        for batch in rows.to_batches(VALUES):
            names, meant, actual = (column.to_pylist() for column in batch.columns)
            similar = [
                float(self.labels[label].similarity(one, other))  # type: ignore[misc]
                for label, one, other in zip(names, meant, actual, strict=True)
            ]
            columns = [*batch.columns, pa.array(similar)]
            with lent(self.store, pa.table(columns, names=["label", "meant", "actual", "alike"])) as compared:
                self.store.run(f"INSERT INTO {self._known} SELECT * FROM {compared}")

    def near(self, label: str, pairs: str) -> str:
        """A table (vid, fid) of the values of a label that are near a fact, from pairs (meant, fid, value)."""
        name = self.store.text(label)
        candidates = self.make(
            f"SELECT {name} AS label, meant, fid, value AS actual, CAST(NULL AS DOUBLE) AS share, false AS hidden FROM "
            f"({pairs}) WHERE meant <> value"
        )
        self._compare(candidates)
        near_pairs = self.make(
            f"SELECT v.vid, g.fid FROM {candidates} g JOIN {self._known} k ON k.label = g.label AND k.meant = g.meant "
            f"AND k.actual = g.actual AND k.alike > 0 JOIN {self.values} v ON v.label = g.label AND v.meant = g.meant "
            "AND NOT v.hidden"
        )
        self.drop(candidates)
        return near_pairs

    @cached_property
    def fact_labels(self) -> list[str]:
        """The labels for which some person has a value."""
        rows = self.store.ask(f"SELECT DISTINCT label FROM {self.facts} ORDER BY label")
        return list(rows.column("label").to_pylist())

    @cached_property
    def _shapes(self) -> str:
        """A table (cid, shape): a hash of how many attributes of which label, weight and confidence a cluster holds."""
        hashed = self.store.hashed("label", "w", "p")
        return self.make(f"SELECT cid, sum({hashed}) AS shape FROM {self.items} GROUP BY cid")

    def measured(self, hits: str) -> str:
        """A table (person, cid, leakage, precision, recall) of the pairs that hit something.

        What leaks depends only on weights, confidences and credits, not on the values: pairs in which these are the
        same (by a sum of 64-bit hashes) are measured once, with the code that measures one record of one person.
        """
        import pyarrow as pa

        own = self.store.hashed("label", "w", "p", "credit", "weight", "share")
        of_fact = f"SELECT person, cid, sum({own}) AS h FROM {hits} GROUP BY person, cid, fid"
        patterns = self.make(
            f"SELECT h.person, h.cid, {self.store.hashed('e.whole', 's.shape', 'h.hits')} AS pattern FROM (SELECT "
            f"person, cid, sum({self.store.hashed('h')}) AS hits FROM ({of_fact}) GROUP BY person, cid) h "
            f"JOIN {self._shapes} s ON s.cid = h.cid JOIN {self.persons} e ON e.person = h.person"
        )
        # One pair of each pattern.
        some = self.make(f"SELECT pattern, min(struct_pack(person, cid)) AS pair FROM {patterns} GROUP BY pattern")
        pairs = f"(SELECT pattern, pair.person AS person, pair.cid AS cid FROM {some})"
        shapes = self._lists(
            f"SELECT q.pattern, i.label, i.w, i.p, count(*) AS n FROM {pairs} q JOIN {self.items} i ON i.cid = q.cid "
            "GROUP BY ALL"
        )
        right = self._lists(
            f"SELECT q.pattern, h.label, h.w, h.p, h.fid, h.credit, h.weight, h.share FROM {pairs} q JOIN {hits} h ON "
            "h.person = q.person AND h.cid = q.cid"
        )
        whole = self.store.ask(f"SELECT q.pattern, e.whole FROM {pairs} q JOIN {self.persons} e ON e.person = q.person")
        weights = dict(zip(*(column.to_pylist() for column in whole.columns), strict=True))
        leakages = {
            key: leakage_of_pattern(shapes[key], right[key], self.labels, weights[key], beta=self.beta)
            for key in weights
        }
        columns = {name: [getattr(one, name) for one in leakages.values()] for name in ("value", "precision", "recall")}
        arrays = {name: pa.array(column, pa.float64()) for name, column in columns.items()}
        with lent(self.store, pa.table({"pattern": pa.array(list(leakages), pa.uint64()), **arrays})) as leakage_rows:
            result = self.make(
                "SELECT p.person, p.cid, t.value AS leakage, t.precision, t.recall FROM "
                f"{patterns} p JOIN {leakage_rows} t ON t.pattern = p.pattern"
            )
        self.drop(patterns, some)
        return result

    def _lists(self, query: str) -> dict[int, list[tuple[Any, ...]]]:
        """The rows of a query by their first column, without it."""
        lists: dict[int, list[tuple[Any, ...]]] = {}
        for key, *row in zip(*(column.to_pylist() for column in self.store.ask(query).columns), strict=True):
            lists.setdefault(key, []).append(tuple(row))
        return lists


def leakage_of_pattern(
    shape: Sequence[tuple[str, float, float, int]],
    hits: Sequence[tuple[str, float, float, int, float, float, float]],
    labels: Labels,
    reference_weight: float,
    *,
    beta: float = 1.0,
) -> Leakage:
    """What leaks about a person from a cluster.

    ``shape`` says how many attributes of each label, weight and confidence the cluster holds; ``hits`` which of these
    (by label, weight and confidence) hit a fact, the fact, their credit, their weight there, and their share.
    """
    left = {(label, weight, p): number for label, weight, p, number in shape}
    names: list[str] = []
    confidence: list[float] = []
    verdicts: list[Verdict] = []
    for label, weight, p, fact, credit, own, share in hits:
        left[label, weight, p] -= 1
        names.append(label)
        confidence.append(p)
        verdicts.append(Verdict("near", own, credit, fact, share))
    for (label, weight, p), number in left.items():
        names += [label] * number
        confidence += [p] * number
        verdicts += [Verdict("wrong", weight)] * number
    return measure_of(judged(names, confidence, verdicts, labels, reference_weight), beta=beta)
