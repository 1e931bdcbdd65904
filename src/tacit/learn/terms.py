"""Log-lift of bags of words, term by term: a penalised linear model of every beginning of a post."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from scipy import sparse
from scipy.optimize import minimize
from scipy.special import log_softmax

from tacit.errors import ArgumentError
from tacit.learn.arrays import Codes, Flags, Floats
from tacit.learn.bags import row_of_each, running_sums
from tacit.learn.linear import LossAndSlope, penalised_loss

Bound = Literal["post", "term"]

# Penalties tried, in records' worth, from strong to weak; each starts where the last one ended.
STRENGTHS = (200.0, 50.0, 12.0, 3.0, 0.8)
STEPS = 60
CHECKED = 0.2


class TermLogLift:
    """i(s; x) of a bag of words, and of every beginning of it, by a multinomial logistic model of the terms.

    It learns from every post twice: the whole of it, and a random beginning, which may be empty. So what it says about
    the first words of a post is what those words say, not what it would mean for a post to have no others. Before the
    first word it says nothing: the intercept is the prior.

    Parameters
    ----------
    clip : float, optional
        Trim log-lifts to ``[-clip, clip]``, so that no conditional density exceeds twice that.
    strength : float, optional
        The penalty; by default the best of a few on a fifth of the posts.
    random_state : int

    Attributes
    ----------
    weights_ : array (terms, secrets)
    prior_, strength_ : array, float

    Guarantees
    ----------
    Chain rule: without ``clip`` the conditional densities of a post's terms add up to the log-lift of the post.
    """

    def __init__(self, *, clip: float | None = None, strength: float | None = None, random_state: int = 0) -> None:
        self.clip = clip
        self.strength = strength
        self.random_state = random_state

    def fit(self, X: Any, codes: Codes, *, secrets: int | None = None) -> TermLogLift:
        """Learn from posts (a CSR matrix, the entries of a row in reading order) and the codes of their secrets."""
        X, k = sparse.csr_array(X), int(codes.max()) + 1 if secrets is None else secrets
        rng = np.random.default_rng(self.random_state)
        counts = np.bincount(codes, minlength=k)
        if (counts == 0).any():
            raise ArgumentError("a secret has no post to learn from")
        self.prior_ = counts / counts.sum()
        design = sparse.csr_array(sparse.vstack([X, beginnings(X, rng)]))
        twice = np.concatenate([codes, codes])
        self.strength_, start = self._chosen(design, twice, rng) if self.strength is None else (self.strength, None)
        self.weights_ = _spread(_fitted(design, twice, self.prior_, self.strength_, start), k)
        return self

    def _chosen(self, design: Any, codes: Codes, rng: np.random.Generator) -> tuple[float, Floats]:
        """The penalty that predicts best on held-out posts, and the weights it led to."""
        n = len(codes) // 2
        checked = np.zeros(n, dtype=bool)
        checked[rng.permutation(n)[: max(1, int(CHECKED * n))]] = True
        rows = np.concatenate([checked, checked])
        learn, check, own = design[~rows], design[rows], codes[rows]
        flat = np.zeros(design.shape[1] * (1 if len(self.prior_) == 2 else len(self.prior_)))
        best, lowest = (STRENGTHS[0], flat), np.inf
        for strength in STRENGTHS:
            flat = _fitted(learn, codes[~rows], self.prior_, strength, flat)
            weights = _spread(flat, len(self.prior_))
            log_p = log_softmax(check @ weights + np.log(self.prior_), axis=1)
            loss = -float(log_p[np.arange(len(own)), own].mean())
            if loss > lowest:
                break
            best, lowest = (strength, flat), loss
        return best

    def log_lift(self, X: Any) -> Floats:
        """i(s, x) in nats of every post (rows) and secret (columns)."""
        return self._lift(np.asarray(X @ self.weights_))

    def term_log_lift(self, X: Any) -> Floats:
        """i(s; term | terms before) for every stored entry of ``X``, in the order of storage (rows), and secret."""
        out = np.empty((X.nnz, len(self.prior_)))
        for cells, after in running_sums(X, self.weights_):
            out[cells] = self._lift(after) - self._lift(after - self.weights_[X.indices[cells]])
        return out

    def leaking(self, X: Any, *, epsilon: float, bound: Bound = "post") -> tuple[Flags, Floats]:
        """Which stored terms must not be shown, and the log-lift of what is shown of every post.

        Terms are taken in order. With ``bound`` "post" a term leaks if, shown after those shown before it, it would
        take the post beyond epsilon for some secret; with "term", if it would by itself move a secret by more than
        epsilon, as in the tide paper. What came before is what was *shown*: hiding a word does not make its twin safer.
        """
        sizes, starts = np.diff(X.indptr), X.indptr
        flags = np.zeros(X.nnz, dtype=bool)
        shown = np.zeros((len(sizes), len(self.prior_)))
        for place in range(int(sizes.max(initial=0))):
            rows = np.flatnonzero(sizes > place)
            cells = starts[rows] + place
            candidate = shown[rows] + self.weights_[X.indices[cells]]
            lift = self._lift(candidate)
            if bound == "term":
                lift = lift - self._lift(shown[rows])
            hide = np.abs(lift).max(axis=1) > epsilon
            flags[cells] = hide
            shown[rows[~hide]] = candidate[~hide]
        return flags, self._lift(shown)

    def _lift(self, scores: Floats) -> Floats:
        log_prior = np.log(self.prior_)
        lift: Floats = log_softmax(scores + log_prior, axis=1) - log_prior
        return lift if self.clip is None else np.clip(lift, -self.clip, self.clip)


def beginnings(X: Any, rng: np.random.Generator) -> Any:
    """A random beginning of every row, empty ones included and whole ones not."""
    sizes, of = np.diff(X.indptr), row_of_each(X)
    keep = (rng.random(len(sizes)) * sizes).astype(np.int64)
    stays = np.arange(X.nnz) - X.indptr[of] < keep[of]
    starts = np.concatenate([[0], np.cumsum(stays)])[X.indptr]
    return sparse.csr_array((X.data[stays], X.indices[stays], starts), shape=X.shape)


def out_of_fold(X: Any, codes: Codes, fold: Codes, *, strength: float, secrets: int, random_state: int = 0) -> Floats:
    """The log-lift of every post by a model of the other folds; zero where the other folds lack a secret."""
    lift = np.zeros((X.shape[0], secrets))
    for k in range(int(fold.max()) + 1):
        here = fold == k
        if len(np.unique(codes[~here])) < secrets:
            continue
        model = TermLogLift(strength=strength, random_state=random_state)
        lift[here] = model.fit(X[~here], codes[~here], secrets=secrets).log_lift(X[here])
    return lift


def _spread(flat: Floats, secrets: int) -> Floats:
    """Weights for every secret; two secrets share one number, of opposite signs."""
    if secrets == 2:
        return np.stack([-flat / 2, flat / 2], axis=1)
    return flat.reshape(-1, secrets)


def _fitted(design: Any, codes: Codes, prior: Floats, strength: float, start: Floats | None) -> Floats:
    n, k = len(codes), len(prior)
    begin = np.zeros(design.shape[1] * (1 if k == 2 else k)) if start is None else start
    loss_and_slope = (
        _two_secrets(design, codes, np.log(prior), strength)
        if k == 2
        else penalised_loss(design, np.eye(k)[codes], strength, np.log(prior))
    )
    options = {"maxiter": STEPS, "ftol": 1e-7 * min(1.0, 1000 / n)}
    return np.asarray(minimize(loss_and_slope, begin, jac=True, method="L-BFGS-B", options=options).x)


def _two_secrets(design: Any, codes: Codes, log_prior: Floats, strength: float) -> LossAndSlope:
    """``penalised_loss`` at half the cost, with one number per term: that of the second secret minus the first's."""
    n, odds, sign = len(codes), log_prior[1] - log_prior[0], 2.0 * codes - 1
    back = design.T.tocsr()

    def loss_and_slope(w: Floats) -> tuple[float, Floats]:
        margin = sign * (design @ w + odds)
        loss = np.logaddexp(0, -margin).sum() / n + strength / (4 * n) * (w @ w)
        pull = -sign * np.exp(-np.logaddexp(0, margin)) / n
        return float(loss), back @ pull + strength / (2 * n) * w

    return loss_and_slope
