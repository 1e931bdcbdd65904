"""``explain``: a term, measure or mechanism in plain words, with its definition and its guarantee."""

from __future__ import annotations

from difflib import get_close_matches

from tacit.errors import ArgumentError
from tacit.lift.registry import MEASURES

TERMS: dict[str, str] = {
    "adversary": (
        "Whoever tries to learn the secret from the release. It knows how the release was made and the shares of "
        "every value; it sees one record."
    ),
    "calibration": (
        "Whether predicted log-lifts come true: records are grouped by what was predicted for them, by models that had "
        "not seen them, and the log-lift observed in each group is laid beside it with exact binomial limits."
    ),
    "camouflage": (
        "Merging some safe values together with the risky ones, where the risky ones alone still tilt towards a "
        "secret. It costs a little utility and is used only when the plain watchdog cannot reach epsilon."
    ),
    "certificate": (
        "A claim about a release, the assumptions it rests on, and fingerprints of the data: certificate.json. `tacit "
        "verify` recomputes it."
    ),
    "channel": "P(Y given X): with which probability each released value is replaced by which. Rows sum to one.",
    "confidence": (
        "The probability with which a claim is true of the people that the records are a random sample of. One half of "
        "the records chooses which values to keep, the other half proves the choice. It holds if it is asked once: who "
        "asks again until it pleases has no proof."
    ),
    "delta": (
        "The probability, over pairs of secret and record, with which the bound epsilon may fail. With delta above 0 "
        "the share of records that breach epsilon for some secret can be far larger (the certificate's breach_share), "
        "and merging values afterwards may raise delta. Another kind of delta has no such weakness: see delta_kind."
    ),
    "delta_kind": (
        "What delta counts. mass, the default: the probability of pairs of secret and record beyond epsilon, however "
        "far they are. egamma: by how much they are beyond it, in all."
    ),
    "effort": (
        "How hard protect looks for the best mechanism: low, normal or high. It changes how close the loss comes to "
        "loss_bound, never what is guaranteed."
    ),
    "egamma": (
        "The kind of delta that adds up by how much probabilities exceed what epsilon allows, on both sides. A pair "
        "just beyond epsilon costs next to nothing, a secret that is ruled out its whole probability, and nothing that "
        "is done to the release later can raise the sum."
    ),
    "epsilon": (
        "The bound on the absolute log-lift, in nats. At epsilon 0.5 seeing a record changes the probability of any "
        "secret by a factor between 0.61 and 1.65. It is not the epsilon of differential privacy."
    ),
    "epsilon_high": (
        "The bound on how much likelier a secret may become: its probability never grows by more than a factor of "
        "e^epsilon_high. Alone, it bounds pointwise maximal leakage."
    ),
    "epsilon_low": (
        "The bound on how much less likely a secret may become: its probability never falls by more than a factor of "
        "e^epsilon_low. Where only epsilon_high is given there is no such bound, and a secret may be ruled out."
    ),
    "epsilon_max": "With delta above 0: the bound that may never be broken.",
    "estimator": (
        "How log-lift is found. `counts` counts every released value, exact for the table. The others (auto, linear, "
        "trees, net, neural) learn it from the records with their columns uncut, where values are nearly unique and "
        "counting fails. What was learned is an estimate: it certifies nothing pointwise."
    ),
    "joint": "P(S, X): how often each secret occurs together with each released value.",
    "kept": (
        "A value is kept if every record that has it is released as it is. Records can come out as they were without "
        "that, by chance: see rows unchanged."
    ),
    "learned release": (
        "A release in which an estimator judged which records are risky. Those are merged, and what a merged record "
        "tells is counted and certified; the others are kept as they are, and for them epsilon is an estimate."
    ),
    "ledger": (
        "A file of the owner that holds the rules of every release of the same people, so that protect can tell what "
        "all of them say together. It is not published."
    ),
    "log_lift": (
        "i(s,x) = log P(s,x) / (P(s) P(x)), in nats; also called information density. How much seeing x changes the "
        "probability of s: 0 not at all, 0.69 doubles it, -0.69 halves it, -inf rules s out."
    ),
    "loss_bound": (
        "Of a release: no mechanism within the same bounds, known or not, loses a smaller share of the information "
        "(nmil). Where it equals the loss, the release is the best there is; 0 says that nothing is known."
    ),
    "mechanism": (
        "What makes a release from a joint and its bounds. watchdog merges one set of values, subsets several, optimal "
        "mixes values as little as the bounds allow. Each loses at most what the one before it loses."
    ),
    "mixture": (
        "A release in which some values are swapped for others by chance, with probabilities chosen so that every "
        "value that comes out is within epsilon. A released value is one of the table's, but stands for several: the "
        "record that carries it may have had another. Values that are harmless on their own are often left alone."
    ),
    "nmil": (
        "Normalised mutual information loss: which share of the information in the released columns is lost, between "
        "0 (nothing changed) and 1 (everything merged into one)."
    ),
    "null band": (
        "What a measure shows when the secrets are shuffled among the records, so that there is nothing to find: its "
        "5th to 95th percentile. A measure inside its band says nothing."
    ),
    "optimal": (
        "The mechanism that loses the least information of all that keep the bounds, as far as it could be found: "
        "loss_bound tells how far from the best it can be. Its release is a mixture."
    ),
    "plug-in": (
        "Computed as if the table were the whole population. Exact for the table; an estimate, biased upwards, for a "
        "larger population."
    ),
    "prior": "P(s): what the adversary believes before it sees a record.",
    "reading": (
        "How a certificate may be read. If the table is the population, the claim is exact. If it is a sample of a "
        "larger one, the claim is proved of that with a stated confidence (--confidence), or not proved."
    ),
    "record": "One row about one person.",
    "release": ("A directory with the data, certificate.json and report.html; private/ in it is for the owner alone."),
    "released": "The columns the adversary sees (X), or what a mechanism makes of them (Y).",
    "replacement": (
        "What takes the place of a merged value: resample (a value drawn like the merged ones; keeps every column's "
        "frequencies), uniform, merge (the commonest of them) or suppress (nothing). None of them looks at the value "
        "replaced, so none tells anything beyond that the record was merged. Naming one asks for the watchdog."
    ),
    "risk": (
        "Of a value or record: the largest |log_lift| over the secrets. Higher is riskier. Infinite if the value "
        "rules a secret out, or gives it away."
    ),
    "rows unchanged": (
        "The share of records that come out as they went in, as expected over the draws: rows_unchanged in the "
        "certificate, Kept in the output. In a mixture nobody but the owner can tell which they are."
    ),
    "safe_set": "The released values whose risk is at most epsilon; the others are the risky_set.",
    "secret": "The column(s) that must not be learned (S).",
    "subsets": (
        "The mechanism that merges several sets of values, each into one value, where the watchdog merges one set. It "
        "draws nothing, and loses at most as much as the watchdog and at least as much as optimal."
    ),
    "utility": (
        "What the honest reader keeps: I(X;Y), the information that the release has about the original columns."
    ),
    "watchdog": (
        "The mechanism that shows the safe set as it is and replaces every risky value by a draw that does not look "
        "at it. All merged values then have one log-lift, that of the merged set. If that is within epsilon, the "
        "release is; Tacit computes it on the output and never assumes it."
    ),
}


def explain(name: str | None = None) -> str:
    """The explanation of one name, or the list of all names."""
    if name is None:
        return "Terms:    " + ", ".join(TERMS) + "\nMeasures: " + ", ".join(MEASURES)
    key = "_".join(name.lower().replace("-", " ").replace("_", " ").split())
    if key in MEASURES:
        measure = MEASURES[key]
        term = f"\n\n{TERMS[key]}" if key in TERMS else ""
        return f"{measure.title} ({measure.unit})\n  {measure.formula}\n\n{measure.meaning}{term}"
    for term, text in TERMS.items():
        if term.replace(" ", "_").replace("-", "_") == key:
            return f"{term}\n\n{text}"
    near = get_close_matches(key, [*TERMS, *MEASURES], n=1, cutoff=0.5)
    hint = f"; did you mean '{near[0]}'?" if near else "."
    raise ArgumentError(f"nothing is called '{name}'{hint} 'tacit explain' lists all names")
