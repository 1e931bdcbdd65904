"""What a sample proves about the people it was drawn from, and what several releases say together."""

from tacit.lift.proofs.beyond import beyond_p_values
from tacit.lift.proofs.ceilings import guessing_ceiling
from tacit.lift.proofs.cells import CertifiedCells, NodeClaim, certified_cells
from tacit.lift.proofs.certificates import (
    CountCertificate,
    DeltaCertificate,
    certify_any,
    certify_counts,
    certify_delta,
    certify_growing,
)
from tacit.lift.proofs.composition import (
    Composition,
    ReleaseBound,
    compose,
    compose_bounds,
    compose_given_secret,
    compose_table,
    dp_epsilon,
)
from tacit.lift.proofs.counted import CountedClaim
from tacit.lift.proofs.foresight import chance_of_proof
from tacit.lift.proofs.gatekeeping import CertifiedPartition, certified_partition, split_counts
from tacit.lift.proofs.intervals import lower_limit, upper_limit
from tacit.lift.proofs.numbers import ThresholdClaim
from tacit.lift.proofs.sample_size import MERGED, RecordsNeeded, records_needed
from tacit.lift.proofs.thresholds import at_both_ends, threshold_places, threshold_risk

__all__ = [
    "MERGED",
    "CertifiedCells",
    "CertifiedPartition",
    "Composition",
    "CountCertificate",
    "CountedClaim",
    "DeltaCertificate",
    "NodeClaim",
    "RecordsNeeded",
    "ReleaseBound",
    "ThresholdClaim",
    "at_both_ends",
    "beyond_p_values",
    "certified_cells",
    "certified_partition",
    "certify_any",
    "certify_counts",
    "certify_delta",
    "certify_growing",
    "chance_of_proof",
    "compose",
    "compose_bounds",
    "compose_given_secret",
    "compose_table",
    "dp_epsilon",
    "guessing_ceiling",
    "lower_limit",
    "records_needed",
    "split_counts",
    "threshold_places",
    "threshold_risk",
    "upper_limit",
]
