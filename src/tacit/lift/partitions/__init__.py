"""Merging released values: what a merged set attains, the watchdog's sets, and the search for the best one."""

from tacit.lift.partitions.chains import Chain, chain, critical_epsilons
from tacit.lift.partitions.merging import (
    Partition,
    Task,
    delta_of,
    delta_total,
    egamma_excess,
    nmil,
    set_risk,
    within_delta,
)
from tacit.lift.partitions.search import egamma_partition, partition

__all__ = [
    "Chain",
    "Partition",
    "Task",
    "chain",
    "critical_epsilons",
    "delta_of",
    "delta_total",
    "egamma_excess",
    "egamma_partition",
    "nmil",
    "partition",
    "set_risk",
    "within_delta",
]
