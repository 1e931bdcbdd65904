"""Which records are one person's: rules, resolution, adversaries. Pure."""

from tacit.person.resolve.adversaries import Adversary, Cluster, Exposure, Holdings, Operator, exposure, ladder, leakage
from tacit.person.resolve.grouping import Group, components, fix_point, groups, r_swoosh
from tacit.person.resolve.merging import merge
from tacit.person.resolve.resolver import Link, Resolver
from tacit.person.resolve.rules import Rules
from tacit.person.resolve.steps import Augment, Clusters, Correct, Cost, Generalise, Normalise, Resolve, Step
from tacit.person.resolve.what_if import WhatIf

__all__ = [
    "Adversary",
    "Augment",
    "Cluster",
    "Clusters",
    "Correct",
    "Cost",
    "Exposure",
    "Generalise",
    "Group",
    "Holdings",
    "Link",
    "Normalise",
    "Operator",
    "Resolve",
    "Resolver",
    "Rules",
    "Step",
    "WhatIf",
    "components",
    "exposure",
    "fix_point",
    "groups",
    "ladder",
    "leakage",
    "merge",
    "r_swoosh",
]
