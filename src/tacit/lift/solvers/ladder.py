"""The best mechanism that can be found: the ladder from the watchdog to the optimal randomised mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from math import comb
from typing import Literal, get_args

import numpy as np
from scipy.sparse import csr_array

from tacit.errors import ArgumentError
from tacit.lift.joint import Joint, Labels, Mask, Vector, sums
from tacit.lift.measures import Distribution, alpha_lift, entropy, log_lift, sides
from tacit.lift.partitions.search import partition
from tacit.lift.solvers.alpha import AlphaRegion, two_secrets
from tacit.lift.solvers.assigning import assign
from tacit.lift.solvers.binary import OneRow, binned, solve_row
from tacit.lift.solvers.blocks import solve_blocks, solve_clusters, solve_parts, solve_shares
from tacit.lift.solvers.bounds import Scarcity, SecondShares, branch_bound, largest_bound, reaches
from tacit.lift.solvers.columns import Budget, solve_columns
from tacit.lift.solvers.joining import fewer
from tacit.lift.solvers.many import solve_many
from tacit.lift.solvers.mixture import Mixture, MixtureChannel, row_stochastic
from tacit.lift.solvers.region import Region
from tacit.lift.solvers.subsets import cover_set, covered_groups, merge_subsets
from tacit.lift.solvers.vertices import n_candidates, solve_corners
from tacit.lift.tolerances import TOLERANCE, settled

Effort = Literal["low", "normal", "high"]
Rung = Literal["watchdog", "camouflage", "subsets", "optimal"]

# Bounds are proved up to the rounding of the solver.
_ROUNDING = 1e-9
# Loss and bound this close leave nothing to look for.
_PROVED = 5e-7
# Pieces smaller than this may be the rounding of others.
_CRUMB = 1e-7
# What share may be taken from every value to make up for the solver's rounding.
_TRACES = (1e-9, 1e-8, 1e-7, 1e-6, 1e-5)
# Up to this many values there are tangents at the outputs, too.
_LARGEST_TANGENT = 2_000
# Polytopes around a round region, each closer, and how many sets of tight rows their corners may come from.
_POLYTOPES = 6
_MOST_SYSTEMS = 2_000
# Up to the first of these numbers of values the solver of partitions is asked; up to the second, groups are also tried
# for tighter bounds, with these shares of the room.
_LARGEST_ASKED = 300
_LARGEST_RETRIED = 20_000
_TIGHTER = (0.5, 0.25)
# A lower effort suffices only if what is left to gain is at most this share of what every mechanism loses, too.
_NEAR = 0.5
# Up to this many values all corners may be tried.
_LARGEST_EXACT = 400
# With no more inequalities than this, second shares are not worth computing.
_FEW_ROWS = 12
# With more rows than this, on average, blocks are solved where one program might have sufficed.
_MANY_CELLS = 20


class Limits:
    """What an effort may cost: there is no clock here, so sizes and rounds are limited instead."""

    def __init__(self, level: int) -> None:
        """The limits of low, normal or high effort: level 0, 1 or 2."""
        # A lower effort suffices if no mechanism keeps more of the information than it does by this share.
        self.enough = (0.003, 0.003, 0.0)[level]
        # Systems of equations that corners come from; values and bins of a single row.
        self.corners = (20_000, 200_000, 1_000_000)[level]
        self.types = (200, 1_000, 2_500)[level]
        self.bins = (120, 300, 600)[level]
        # Values for which outputs are sought one by one; else size and number of blocks; rounds, and starts in each.
        self.columns = (24, 40, 80)[level]
        self.block = (24, 40, 64)[level]
        self.blocks = (25, 300, 3_000)[level]
        self.rounds = (8, 14, 40)[level]
        self.starts = (6, 12, 24)[level]
        # Rows that bound the loss, seconds of an integer program, variables of the program over boxes.
        self.rows = (1, 4, 16)[level]
        self.directions = (100, 1_000, 2_000)[level]
        # How many numbers may be computed for second shares, which bound the loss.
        self.seconds_work = (1e7, 1.5e8, 1e9)[level]
        self.seconds = (1.0, 5.0, 30.0)[level]
        self.branched = (1_500, 8_000, 24_000)[level]
        # Values for which outputs are generated at once, with this many searches per value and round; else blocks of at
        # least `part` values, as large as `work` allows, for up to `parts` values; beyond that, this many clusters.
        self.many = (300, 1_000, 2_000)[level]
        self.searches = (0.3, 0.5, 1.0)[level]
        self.part = (150, 500, 800)[level]
        self.work = (1e7, 1e8, 6e8)[level]
        self.parts = (10_000, 120_000, 500_000)[level]
        self.clusters = (800, 2_400, 4_000)[level]


EFFORTS: dict[str, Limits] = {"low": Limits(0), "normal": Limits(1), "high": Limits(2)}


def optimal(
    joint: Distribution,
    epsilon: float,
    *,
    epsilon_low: float | None = None,
    epsilon_high: float | None = None,
    also: Sequence[tuple[Distribution, float]] = (),
    order: float | None = None,
    effort: Effort = "normal",
    rung: Rung = "optimal",
) -> MixtureChannel:
    """Release as much of the released values as epsilon allows, by a channel that mixes some of them.

    Parameters
    ----------
    joint : Joint or table of probabilities
    epsilon : float
        Bound on abs(log-lift); 0 asks for independence from the secret (perfect privacy).
    epsilon_low, epsilon_high : float, optional
        Bounds on each side instead; with ``epsilon_low=inf`` only how much likelier a secret becomes is bounded
        (pointwise maximal leakage).
    also : sequence of (joint, epsilon)
        Further secrets over the same released values, each with its own epsilon. For secrets together, give the
        joint of their combinations.
    order : float, optional
        Bound the alpha-lift of this order of every output by e^epsilon, instead of every lift: a mean over secrets,
        which may hide that one of them becomes much likelier. More than 1; inf is ``epsilon_low=inf``. It cannot be
        combined with the three above.
    effort : str
        ``low``, ``normal`` or ``high``: how large a problem is solved exactly, and how hard others are tried.
    rung : str
        How far to climb: ``watchdog`` (where it is within bounds), ``camouflage`` (one merged set), ``subsets``
        (several) or ``optimal``. The channel's ``rung`` says which one won.

    Guarantees
    ----------
    Every log-lift of the release is within its bounds, and with an order so is the logarithm of every alpha-lift;
    ``attained`` is computed on the output joint. The ``nmil`` is never above that of a lower rung, nor of a lower
    effort unless a solver ran out of time: a higher effort tries everything that a lower one tries. With more than 400
    values ``normal`` ends with the answer of ``low`` if that loses at most 1.5 times ``loss_bound``, and at most 0.003
    (in nmil) more than it. No mechanism within the same bounds has one below ``loss_bound`` (to 1e-9, the rounding of
    the linear programs). There are at most as many outputs as released values, and each is written as one of them.

    With an order and three secrets or more the region is round: outputs come from tangents of it and are then brought
    within, so that a little may be left to gain, and ``loss_bound`` is that of a polytope around the region.

    Examples
    --------
    >>> joint = Joint.from_counts([[8, 2, 6, 1, 3], [2, 9, 5, 4, 5], [5, 4, 4, 10, 2]])
    >>> optimal(joint, 0.6)
    MixtureChannel(rung='optimal', epsilon=0.6, attained=0.6, nmil=0.152942, loss_bound=0.152942, proof='exact')
    """
    joint = Joint.of(joint)
    if effort not in EFFORTS:
        raise ArgumentError(f"there is no effort '{effort}'; there are: low, normal, high")
    # A higher effort tries everything that a lower one tries, the lowest first.
    efforts = list(EFFORTS.values())[: list(EFFORTS).index(effort) + 1]
    if order is not None:
        if epsilon_low is not None or epsilon_high is not None or len(also):
            raise ArgumentError(
                "order bounds the alpha-lift of one secret; leave out epsilon_low, epsilon_high and also"
            )
        ladder: MechanismLadder = AlphaLadder(joint, sides(epsilon)[0], order, efforts)
    else:
        low, high = sides(epsilon, epsilon_low=epsilon_low, epsilon_high=epsilon_high)
        claims = [(joint, low, high), *((Joint.of(other), *sides(bound)) for other, bound in also)]
        ladder = MechanismLadder(claims, efforts)
    return ladder.channel(*ladder.climb(rung), epsilon)


class MechanismLadder:
    """The rungs for one question; each is at least as good as the one below."""

    order: float | None = None

    def __init__(
        self, claims: list[tuple[Joint, float, float]], efforts: list[Limits], region: Region | None = None
    ) -> None:
        self.claims, self.efforts, self.limits = claims, efforts, efforts[-1]
        self.joint = claims[0][0]
        self.region = Region.of(claims) if region is None else region
        self.whole = entropy(self.joint.marginal) or 1.0

    def climb(self, rung: Rung) -> tuple[str, Mixture]:
        """The best mechanism up to a rung, and the rung that it comes from."""
        if rung not in get_args(Rung):
            raise ArgumentError(f"there is no rung '{rung}'; there are: {', '.join(get_args(Rung))}")
        region = self.region
        risky = ~region.safe
        every = np.arange(region.n)
        if not risky.any():
            return "watchdog", Mixture.of_groups(every, region.marginal)
        sets = self._merged(risky)
        camouflage = [Mixture.of_groups(np.where(each, np.argmax(each), every), region.marginal) for each in sets]
        chosen = int(np.argmin([each.loss for each in camouflage]))
        name, best = "watchdog" if (sets[chosen] == risky).all() else "camouflage", camouflage[chosen]
        if rung in ("watchdog", "camouflage"):
            return name, best
        split = self._subsets(risky, sets)
        if split.loss < best.loss:
            name, best = "subsets", split
        return (name, best) if rung == "subsets" else self._mixed(name, best)

    def _merged(self, risky: Mask) -> list[Mask]:
        """The watchdog's set if it is within bounds, else sets in which safe values hide risky ones, by each effort."""
        joint, low, high = self.claims[0]
        if len(self.claims) > 1 or low != high or self.order is not None:
            return [cover_set(self.region, risky)]
        sets: list[Mask] = []
        for limits in self.efforts:
            answer = partition(joint, low, time_limit=limits.seconds)
            sets.append(answer.merged)
            # More time helps only where a solver did not finish, and it is asked only about few values.
            if answer.gap is None or answer.gap <= _PROVED or self.region.n > _LARGEST_ASKED:
                break
        return sets

    def _subsets(self, risky: Mask, sets: list[Mask]) -> Mixture:
        """The best of splitting the merged sets, of groups of risky values that take in safe ones as needed, and of
        the same for tighter bounds: whatever is within those is within these too."""
        region = self.region
        groups = [merge_subsets(region, each) for each in sets]
        if region.n <= _LARGEST_RETRIED:
            if any((each != risky).any() for each in sets):
                groups.append(merge_subsets(region, np.ones_like(risky)))
            groups += [covered_groups(region.tighter(share)) for share in _TIGHTER]
        return min((Mixture.of_groups(labels, region.marginal) for labels in groups), key=lambda each: each.loss)

    def _mixed(self, name: str, best: Mixture) -> tuple[str, Mixture]:
        labels, types = self.region.types()
        bound, on_types = 0.0, None
        # With many values a bound after each effort may show that it suffices; with few it costs more than it saves.
        early = types.n > _LARGEST_EXACT and types.rank > 1 and self.order is None
        for limits in self.efforts:
            small = self._on_types(types, limits)
            if early:
                bound = max(bound, self._bound(types, small, limits))
            if small is None:
                continue
            bound = max(bound, small.bound)
            on_types = small if on_types is None or small.loss < on_types.loss else on_types
            spread = small if types is self.region else small.spread(labels, self.region.marginal)
            mended = self._mended(fewer(spread, self.region.n))
            if mended is not None and mended.loss < best.loss:
                name, best = "optimal", mended
            enough = min(self.limits.enough * self.whole, _NEAR * bound) if early else 0.0
            if best.loss - bound <= max(_PROVED * self.whole, enough):
                return name, replace(best, bound=bound)
        return name, replace(best, bound=bound if early else max(bound, self._bound(types, on_types, self.limits)))

    def _on_types(self, types: Region, limits: Limits) -> Mixture | None:
        """The mechanism that the size allows, on types of values; None if there is none better than groups."""
        if types.rank == 1:
            return self._one_row(types, limits)
        if isinstance(types, AlphaRegion):
            return _round(types, limits)
        if types.n <= _LARGEST_EXACT and n_candidates(types) <= limits.corners:
            exact = solve_corners(types.tight)
            if exact is not None:
                return exact
        if types.n <= limits.many and types.n * len(types.lifts) <= _MANY_CELLS * limits.many:
            groups = covered_groups(types)
            tried = [solve_many(types, groups, Budget(limits.rounds, limits.searches))]
            if types.n <= limits.columns:
                tried.append(solve_columns(types, groups, Budget(limits.rounds, limits.starts)))
        else:
            # Blocks shrink as there are more values, but not below the size at which they are still worth it.
            size = int(np.clip(limits.work / (types.n * len(types.lifts)), limits.part, limits.many // 2))
            budget = Budget(max(2, limits.rounds // 4), limits.searches / 5)
            tried = [solve_parts(types, size, budget, most=limits.parts)]
            if types.n > limits.parts:
                tried.append(solve_clusters(types, limits.clusters, budget))
        return min((each for each in tried if each is not None), key=lambda each: each.loss, default=None)

    def _one_row(self, types: Region, limits: Limits) -> Mixture | None:
        row = OneRow.of(types.tight, 0)
        if types.n <= limits.types:
            return solve_row(row)
        one = Region(types.marginal, types.lifts[:1], np.array([row.low]), np.array([row.high]), 1)
        labels, worst, best = binned(one, 0, limits.bins)
        mixture, relaxed = solve_row(worst), solve_row(best)
        if mixture is None:
            return None
        return replace(mixture.spread(labels, types.marginal), bound=0.0 if relaxed is None else relaxed.bound)

    def _bound(self, types: Region, mixture: Mixture | None, limits: Limits) -> float:
        """What every mechanism loses, by how sure one can be of a value, by pieces of the region, by single rows."""
        if types.rank == 1:
            # The solver of a single row proves a better bound.
            return 0.0
        branches = types.n**2 <= limits.branched
        reach = reaches(types, directions=limits.directions)
        bound = largest_bound(types.marginal, reach)
        if branches:
            bound = max(bound, branch_bound(types, reach, most=limits.branched))
        else:
            bound = max(bound, self._frequent_bound(types, reach, limits))
        for s in self._hardest(types)[: limits.rows]:
            row = OneRow.of(types, int(s))
            if types.n > limits.bins:
                row = binned(types, int(s), limits.bins)[2]
            relaxed = solve_row(row, rounds=20)
            bound = max(bound, relaxed.bound if relaxed is not None else 0.0)
        return bound

    def _frequent_bound(self, types: Region, reach: Vector, limits: Limits) -> float:
        """What every mechanism loses, with a closer look at the outputs of the most frequent values."""
        n_rows = len(types.inequalities()[1])
        most = max(1, int(limits.seconds_work / (types.n * n_rows)))
        frequent = np.sort(np.argsort(-types.marginal, kind="stable")[:most])
        # With few rows the share of a second value is hardly limited.
        seconds = SecondShares.of(types, reach, frequent, look=n_rows > _FEW_ROWS)
        return largest_bound(types.marginal, reach, seconds, Scarcity.of(types, seconds))

    def _hardest(self, types: Region) -> Labels:
        """The rows, those first that keep the most values from being released by themselves."""
        with np.errstate(divide="ignore", invalid="ignore"):
            over = np.maximum(types.lifts / types.high[:, None], 1) - 1
            under = np.maximum(types.low[:, None] - types.lifts, 0)
        return np.argsort(-(over + under) @ types.marginal)

    def _mended(self, mixture: Mixture) -> Mixture | None:
        """The mechanism, or, if rounding took it out of bounds, the same with a trace of every value in an extra
        output.

        A solver does not quite meet the frequency of every value. Corrected within the outputs, that would change what
        they say; but an output with a trace of each value can take up the difference. Outputs that are still out of
        bounds join it. None if no trace suffices.
        """
        mixture = _settled(mixture, self.region)
        for trace in (0.0, *_TRACES):
            mended = mixture if trace == 0 else _with_rest(mixture, self.region, trace)
            if mended is not None and self._attained(row_stochastic(mended, self.region.n)) is not None:
                return mended
        return None

    def _attained(self, sparse: csr_array) -> list[tuple[float, float]] | None:
        """Lowest and highest log-lift of every claim on the output joint; None if one is out of bounds."""
        plain, attained = MixtureChannel(sparse), []
        for joint, low, high in self.claims:
            values = log_lift(joint.through(plain))
            ends = settled(-float(values.min()), low), settled(float(values.max()), high)
            if ends[0] > low or ends[1] > high:
                return None
            attained.append(ends)
        return attained

    def _claimed(self, sparse: csr_array, ends: tuple[float, float]) -> float:
        """The attained value of what epsilon bounds."""
        return max(ends)

    def channel(self, name: str, mixture: Mixture, epsilon: float) -> MixtureChannel:
        """The channel of a mechanism, named, measured on the output joint and refused if it is out of bounds."""
        sparse = row_stochastic(fewer(mixture, self.region.n), self.region.n)
        ends = self._attained(sparse)
        if ends is None:
            raise ArgumentError("the joint cannot be kept within these bounds to the precision of its numbers")
        marginal = self.joint.marginal
        labels = assign(sparse, marginal)
        released = self.joint.released[:]
        whole = entropy(marginal)
        loss = min(Mixture.of_channel(sparse, marginal).loss, whole)
        nmil = loss / whole if whole > 0 else 0.0
        kept = float(np.asarray(sparse[labels, np.arange(len(labels))]) @ marginal[labels])
        return MixtureChannel(
            sparse,
            [released[x] for x in labels.tolist()],
            labels=labels,
            rung=name,
            epsilon=epsilon,
            epsilon_low=self.claims[0][1],
            epsilon_high=self.claims[0][2],
            order=self.order,
            attained=self._claimed(sparse, ends[0]),
            attained_low=ends[0][0],
            attained_high=ends[0][1],
            attained_also=tuple(max(each) for each in ends[1:]),
            utility=whole - loss,
            nmil=nmil,
            loss_bound=min(max(mixture.bound / self.whole - _ROUNDING, 0.0), nmil),
            kept_share=min(kept, 1.0),
        )


class AlphaLadder(MechanismLadder):
    """The rungs for a bound on alpha-lift."""

    def __init__(self, joint: Joint, epsilon: float, order: float, efforts: list[Limits]) -> None:
        if not order > 1:
            raise ArgumentError(f"order is {order}; it must be more than 1, since at order 1 every alpha-lift is 1")
        self.order, self.epsilon = order, epsilon
        if np.isinf(order):
            region = Region.of([(joint, np.inf, epsilon)])
        elif epsilon == 0:
            # The alpha-lift is 1 only where every lift is.
            region = Region.of([(joint, 0.0, 0.0)])
        elif len(joint.prior) == 2:
            region = two_secrets(joint, epsilon, order)
        else:
            region = AlphaRegion.around(joint, epsilon, order)
        super().__init__([(joint, np.inf, np.inf)], efforts, region)

    def _attained(self, sparse: csr_array) -> list[tuple[float, float]] | None:
        ends = super()._attained(sparse)
        return ends if ends is not None and self._claimed(sparse, ends[0]) <= self.epsilon else None

    def _claimed(self, sparse: csr_array, ends: tuple[float, float]) -> float:
        largest = alpha_lift(self.joint.through(MixtureChannel(sparse)), self.order or np.inf).max()
        return settled(float(np.log(largest)), self.epsilon)

    def _bound(self, types: Region, mixture: Mixture | None, limits: Limits) -> float:
        """What every mechanism with outputs in a polytope around the region loses; it is tangent where it counts."""
        if not isinstance(types, AlphaRegion):
            return super()._bound(types, mixture, limits)
        small = mixture is not None and types.n <= _LARGEST_TANGENT
        outputs = mixture.posteriors(types.n).toarray() if mixture is not None and small else np.zeros((0, types.n))
        outer = types.outer(outputs)
        bound = super()._bound(outer, mixture, limits)
        for _ in range(_POLYTOPES):
            few = n_candidates(outer) <= limits.corners and comb(len(outer.lifts), outer.rank) <= _MOST_SYSTEMS
            relaxed = solve_corners(outer) if few else None
            if relaxed is None:
                break
            bound = max(bound, relaxed.bound)
            # The next polytope is tangent where the best mechanism of this one leaves the region.
            now = relaxed.posteriors(types.n).toarray()
            beyond = now[~types.holds(now, slack=_PROVED)]
            if not len(beyond) or (mixture is not None and mixture.loss - bound <= _PROVED * self.whole):
                break
            outputs = np.concatenate([outputs, beyond])
            outer = types.outer(outputs)
        return bound


def _round(types: AlphaRegion, limits: Limits) -> Mixture | None:
    """The mechanism that the size allows where the region is round."""
    groups = covered_groups(types)
    if types.n <= limits.columns:
        return solve_columns(types, groups, Budget(limits.rounds, limits.starts))
    n_blocks = types.n // limits.block
    if n_blocks > limits.blocks:
        return None
    share = Budget(min(limits.rounds, 8 * limits.rounds // n_blocks), limits.starts)
    whole = solve_blocks(types, groups, limits.block, share)
    parted = solve_shares(types, limits.block, share) if share.rounds else None
    return whole if parted is None or whole.loss <= parted.loss else parted


def _with_rest(mixture: Mixture, region: Region, trace: float) -> Mixture | None:
    """The mechanism less a trace; what is left of every value joins all that is out of bounds in one more output."""
    masses = mixture.masses * (1 - trace)
    rest = region.marginal - sums(mixture.values, masses, region.n)
    if (rest < 0).any():
        return None
    last = int(mixture.outputs.max()) + 1
    over = _excess(mixture, region) > 1 + TOLERANCE
    outputs = np.append(np.where(over, last, np.arange(last))[mixture.outputs], np.full(region.n, last))
    values = np.append(mixture.values, np.arange(region.n))
    table = csr_array((np.append(masses, rest), (values, np.unique(outputs, return_inverse=True)[1])))
    return replace(Mixture.of_channel(table, np.ones(region.n)), bound=mixture.bound)


def _excess(mixture: Mixture, region: Region) -> Vector:
    """The factor by which each output exceeds its bounds."""
    n_outputs = len(mixture.totals)
    cells = [sums(mixture.outputs, mixture.masses * row[mixture.values], n_outputs) for row in region.lifts]
    return region.sums_excess(np.array(cells).reshape(-1, n_outputs), mixture.totals)


def _settled(mixture: Mixture, region: Region) -> Mixture:
    """The mechanism with crumbs out of bounds swept into the output that has most room.

    Where values are cut, rounding may leave a piece so small that it holds only some of the values it should.
    """
    totals = mixture.totals
    n_outputs = len(totals)
    excess = _excess(mixture, region)
    crumbs = (excess > 1 + TOLERANCE) & (totals < _CRUMB)
    if not crumbs.any() or crumbs.all():
        return mixture
    widest = int(np.argmax(np.where(crumbs, -np.inf, (1 - excess) * totals)))
    outputs = np.where(crumbs, widest, np.arange(n_outputs))[mixture.outputs]
    return replace(mixture, outputs=np.unique(outputs, return_inverse=True)[1])
