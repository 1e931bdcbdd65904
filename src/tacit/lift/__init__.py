"""Numbers on joints and channels: what a release says about the secret, what may be said, and what is proved. Pure.

Everything public is imported from here: ``from tacit.lift import Joint, log_lift, watchdog, optimal``. The solvers load
on first use, and SciPy with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tacit.rooms import face

if TYPE_CHECKING:
    from tacit.lift.correcting import (
        Correction as Correction,
        correction as correction,
        counts_before as counts_before,
    )
    from tacit.lift.divergence import (
        compose_deltas as compose_deltas,
        e_gamma_counts as e_gamma_counts,
        e_gamma_of_log_lift as e_gamma_of_log_lift,
        e_gamma_scores as e_gamma_scores,
        tail_bound as tail_bound,
    )
    from tacit.lift.estimate import Estimate as Estimate
    from tacit.lift.funnels import FunnelPoint as FunnelPoint, privacy_funnel as privacy_funnel
    from tacit.lift.guessing import (
        average_lift as average_lift,
        bayes_security as bayes_security,
        g_leakage as g_leakage,
        least_bayes_security as least_bayes_security,
        maximal_alpha_leakage as maximal_alpha_leakage,
        sampled_leakage as sampled_leakage,
    )
    from tacit.lift.joint import (
        Channel as Channel,
        Joint as Joint,
        Mask as Mask,
        Matrix as Matrix,
        Vector as Vector,
        crosstab as crosstab,
        sums as sums,
    )
    from tacit.lift.measures import (
        alpha_lift as alpha_lift,
        arimoto as arimoto,
        conditional_log_lift as conditional_log_lift,
        e_gamma as e_gamma,
        entropy as entropy,
        f_information as f_information,
        guessing_probability as guessing_probability,
        is_private as is_private,
        local_dp as local_dp,
        log_lift as log_lift,
        max_lift as max_lift,
        maximal_leakage as maximal_leakage,
        min_lift as min_lift,
        mutual_information as mutual_information,
        pointwise_maximal_leakage as pointwise_maximal_leakage,
        risk as risk,
        sibson as sibson,
    )
    from tacit.lift.mechanisms import (
        ReductionChannel as ReductionChannel,
        WatchdogChannel as WatchdogChannel,
        linear_reduction as linear_reduction,
        watchdog as watchdog,
    )
    from tacit.lift.noise.gaussian import gaussian_delta as gaussian_delta, gaussian_scale as gaussian_scale
    from tacit.lift.noise.grid import GridGaussian as GridGaussian
    from tacit.lift.noise.obfuscation import (
        obfuscation_delta as obfuscation_delta,
        obfuscation_floor as obfuscation_floor,
        obfuscation_scale as obfuscation_scale,
        vacuous as vacuous,
    )
    from tacit.lift.partitions.chains import chain as chain, critical_epsilons as critical_epsilons
    from tacit.lift.partitions.merging import (
        Partition as Partition,
        delta_of as delta_of,
        delta_total as delta_total,
        egamma_excess as egamma_excess,
        nmil as nmil,
        set_risk as set_risk,
    )
    from tacit.lift.partitions.search import egamma_partition as egamma_partition, partition as partition
    from tacit.lift.promised import (
        Promise as Promise,
        f_bound as f_bound,
        guessing_bound as guessing_bound,
        order_bound as order_bound,
        promises as promises,
        watchdog_bound_exact as watchdog_bound_exact,
        watchdog_bound_printed as watchdog_bound_printed,
        watchdog_bound_tight as watchdog_bound_tight,
    )
    from tacit.lift.proofs import (
        MERGED as MERGED,
        CertifiedCells as CertifiedCells,
        CertifiedPartition as CertifiedPartition,
        Composition as Composition,
        CountCertificate as CountCertificate,
        CountedClaim as CountedClaim,
        DeltaCertificate as DeltaCertificate,
        NodeClaim as NodeClaim,
        RecordsNeeded as RecordsNeeded,
        ReleaseBound as ReleaseBound,
        ThresholdClaim as ThresholdClaim,
        at_both_ends as at_both_ends,
        beyond_p_values as beyond_p_values,
        certified_cells as certified_cells,
        certified_partition as certified_partition,
        certify_any as certify_any,
        certify_counts as certify_counts,
        certify_delta as certify_delta,
        certify_growing as certify_growing,
        chance_of_proof as chance_of_proof,
        compose as compose,
        compose_bounds as compose_bounds,
        compose_given_secret as compose_given_secret,
        compose_table as compose_table,
        dp_epsilon as dp_epsilon,
        guessing_ceiling as guessing_ceiling,
        lower_limit as lower_limit,
        records_needed as records_needed,
        split_counts as split_counts,
        threshold_places as threshold_places,
        threshold_risk as threshold_risk,
        upper_limit as upper_limit,
    )
    from tacit.lift.registry import MEASURES as MEASURES, Measure as Measure
    from tacit.lift.rounding import at_least as at_least, at_most as at_most, confident as confident
    from tacit.lift.shuffles import LEVEL as LEVEL, Verdict as Verdict
    from tacit.lift.solvers import (
        EFFORTS as EFFORTS,
        Effort as Effort,
        MixtureChannel as MixtureChannel,
        Region as Region,
        Rung as Rung,
        assignment as assignment,
        cover_set as cover_set,
        optimal as optimal,
    )
    from tacit.lift.tolerances import (
        AGREEMENT as AGREEMENT,
        NOTHING as NOTHING,
        SLACK as SLACK,
        SUM_TOLERANCE as SUM_TOLERANCE,
        TOLERANCE as TOLERANCE,
        agree as agree,
        settled as settled,
    )
    from tacit.lift.tradeoff import Funnel as Funnel, funnel as funnel

if not TYPE_CHECKING:
    __getattr__, __dir__, __all__ = face(__name__)
