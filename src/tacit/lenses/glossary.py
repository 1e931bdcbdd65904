"""Words that the answers of several lenses share."""

from __future__ import annotations

PLUG_IN = "These are plug-in numbers: exact for this table; for a larger population, estimates that are biased upwards."
ESTIMATE = (
    "These are estimates, learned from the records, with no column cut except where that was asked for. A learned "
    "estimate certifies nothing pointwise: it may be wrong about a single record."
)
DIRECTION = "Higher is riskier."
INFINITE = "∞ means that a value rules a secret out, or gives it away."
OWNER_ONLY = "It names values of the data: keep it to yourself."

DEFINITIONS: tuple[tuple[str, str], ...] = (
    (
        "log-lift",
        "How far seeing a released value moves the belief in a secret: the logarithm of the share of the secret among "
        "records with that value, over its share in the whole table (the prior). 0: nothing learned. Above 0: the "
        "secret is likelier than before. Below 0: less likely.",
    ),
    (
        "risk",
        "The largest absolute log-lift of a value over all secrets. Higher is riskier. It may be ∞: then the value "
        "rules a secret out, or gives it away.",
    ),
    (
        "epsilon",
        "A bound on risk. A value is safe at epsilon when its risk is at most epsilon. Smaller is stricter. It is not "
        "the epsilon of differential privacy.",
    ),
    (
        "NMIL",
        "What the honest reader loses: the share of the information in the released columns that is gone after risky "
        "values are merged. 0%: nothing lost. 100%: all lost. Lower is better.",
    ),
    (
        "null band",
        "What the same measure gives when the secret is shuffled among the records, so that any leak left is chance: "
        "from the 5th to the 95th percentile. A value inside its band cannot be told from chance.",
    ),
    (
        "prior",
        "The share of a secret in the whole table: what an adversary believes before any release. The posterior is "
        "the same share among the records with one released value.",
    ),
)
