"""Records, references and leakage: pure mathematics."""

from tacit.person.model.anonymity import Anonymity, anonymity_of, classes, k_anonymity, l_diversity
from tacit.person.model.background import SharedWeights, bits, entropy_bits, prior_of, shared_weights, surprisal
from tacit.person.model.batches import leakage_batch, record_leakages
from tacit.person.model.comparing import ComparedRecord, Comparer, compare
from tacit.person.model.derivatives import contributions, gradient
from tacit.person.model.forms import normaliser
from tacit.person.model.labels import Correlated, Label, Labels
from tacit.person.model.leakage import (
    Leakage,
    completeness,
    correctness,
    f_beta,
    measure,
    record_leakage,
    record_precision,
    record_recall,
)
from tacit.person.model.records import Attribute, Record, Reference
from tacit.person.model.values import covers, exp_abs, is_suppressed, similarity

__all__ = [
    "Anonymity",
    "Attribute",
    "ComparedRecord",
    "Comparer",
    "Correlated",
    "Label",
    "Labels",
    "Leakage",
    "Record",
    "Reference",
    "SharedWeights",
    "anonymity_of",
    "bits",
    "classes",
    "compare",
    "completeness",
    "contributions",
    "correctness",
    "covers",
    "entropy_bits",
    "exp_abs",
    "f_beta",
    "gradient",
    "is_suppressed",
    "k_anonymity",
    "l_diversity",
    "leakage_batch",
    "measure",
    "normaliser",
    "prior_of",
    "record_leakage",
    "record_leakages",
    "record_precision",
    "record_recall",
    "shared_weights",
    "similarity",
    "surprisal",
]
