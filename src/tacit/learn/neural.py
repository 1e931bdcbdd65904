"""``NeuralLogLift``: log-lift by neural networks, trained with JAX and scored with numpy."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import clone
from sklearn.utils import check_random_state

from tacit.errors import ArgumentError, DataError, EngineError
from tacit.learn.association import association_test
from tacit.learn.blending import log_loss
from tacit.learn.contract import Codes, Floats, LogLiftEstimator
from tacit.learn.crossfit import Candidate
from tacit.learn.doubt import interval, least_error, redrawn, stretch
from tacit.learn.encoding import Features
from tacit.learn.folds import fold_of_each
from tacit.learn.objectives import OBJECTIVES, log_mean, objective_named, objective_value

Network = list[NDArray[np.float32]]
Report = Callable[[str, float | None], None]

# Progress, early stopping and batches drawn by numpy all happen between chunks of compiled steps.
CHUNK = 50
# Sparse records are made dense in pieces of at most so many cells (160 MB as float32), for training and for scoring.
MOST_CELLS = 40_000_000
# All records at once as a dense matrix are refused beyond this (2 GB as float32).
MOST_FULL_BATCH_CELLS = 500_000_000
MOST_SCORED_ROWS = 16_384
# Shapes are filled up with zeros to multiples of these: compiling takes a second and a small table's steps take
# milliseconds, and the next table, fold or bootstrap seldom has just as many records and levels.
INPUT_STEP, RECORD_STEP = 16, 64
# No record may overflow float32 on its way through the layers.
LARGEST_INPUT = 1e6

ACTIVATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "tanh": lambda xp, z: xp.tanh(z),
    "relu": lambda xp, z: xp.maximum(z, 0),
    # z / (1 + e^-z), written so that no z overflows.
    "silu": lambda xp, z: z * (0.5 + 0.5 * xp.tanh(0.5 * z)),
}


class NeuralLogLift(LogLiftEstimator):
    """An ensemble of small networks whose outputs are log-lifts; cross-fitted, so that no record judges itself.

    Parameters
    ----------
    objective : {"ce", "dv", "tide", "nwj", "chi2", "js", "hellinger"}
        What is maximised. "ce" is the cross-entropy of the posterior; "dv" Donsker and Varadhan's bound, "tide" the
        same on outputs trimmed to [-clip, clip]; the rest are duals of f-divergences, "nwj" that of KL.
    clip : float, optional
        Bound on the absolute log-lift, needed for "tide". Outputs are clipped while training (except for "ce", whose
        outputs mean nothing before they are normalised) and log-lifts are clipped last of all. A log-lift at the bound
        says "at least this much": a clip below the epsilon of a watchdog would hide what it looks for. As in the
        paper, an output beyond the clip has no gradient and may stay there, so a tight one makes the start matter.
    normalise : {"record", "constant", "none"}
        What is taken off the trained outputs h. "record": log sum_s p(s) e^{h(s,x)}, so that posteriors add up to 1.
        "constant": log E_{P_S P_X}[e^h] over the training records, one number. "none": nothing, as in the papers,
        although "dv" and "tide" know their maximiser up to a constant only.
    secret_as : {"head", "input"}
        "head": one output for every secret. "input": the secret is part of the input, one-hot, and there is one output,
        as in the papers; it costs a pass for every secret.
    hidden : tuple of int
        Widths of the hidden layers.
    activation : {"silu", "tanh", "relu"}
    optimiser : {"adamw", "adagrad"}
    learning_rate, weight_decay : float
        The decay is AdamW's, on matrices but not on biases; Adagrad has none.
    initial_accumulator : float
        Where Adagrad's sums of squares begin. TensorFlow begins at 0.1, with which 3000 steps hardly move; see
        ``as_in_the_paper``.
    batch_size : int, optional
        Records a step; None takes all of them in every step.
    steps : int
        The most steps each network takes.
    patience : int, optional
        Stop after so many steps without a better held-out loss and keep the best network; None trains to the end. With
        patience a network starts at independence (log-lift 0), so noise alone leaves it there.
    validation : float
        Share of each network's training records that is held out to judge when to stop.
    members : int
        Networks a fold, each with its own start, batches and held-out part.
    folds : int
        Parts for cross-fitting, or 0 for none. Each part is scored by networks trained on the others; new records are
        scored by all networks.
    doubt : bool
        Prepare intervals and the test of association: everything is learned a second time, in a world whose truth is
        known. Doubles the time. Without folds there is nothing to prepare.
    categorical_features : sequence of names or places, optional
        Columns to be read as categories although they hold numbers.
    progress : True or callable, optional
        True shows a bar on stderr; a callable is given (stage, share done).
    random_state : int, RandomState or None
        As in scikit-learn.

    Attributes
    ----------
    networks_ : list of lists of arrays
        Matrix and bias of every layer of every network, folds outermost, float32. Scoring needs nothing but numpy.
    out_of_fold_log_lift_ : array, records x secrets
        Log-lifts of the training records by networks that never saw them; absent without folds. ``test_log_lift_``
        is the same array: nothing about it was chosen by looking at a record's own secret. The prior and the scales of
        the columns are those of all records.
    fold_ : array
        The fold of every training record; -1 without folds.
    steps_ : list of int
        The step at which each network was kept.
    constants_, constant_ : array, float
        What ``normalise="constant"`` takes off each network and off their mean; zero otherwise.
    doubt_factor_ : float
        What the spread of the networks is multiplied with in ``log_lift_interval``; not a number without doubt.
    association_p_value_ : float
        Chance of an association of single columns, or products of two, with the secret as strong as the one found.
    candidates_ : tuple of Candidate
        What was tried: this alone. Empty without folds.
    reason_ : str
        One sentence: what was trained and how it did.

    Guarantees
    ----------
    With ``normalise="record"`` and no clip, sum_s p(s) e^{i(s,x)} = 1 for every record. With a clip no absolute
    log-lift exceeds it. The same data and integer ``random_state`` on one machine give the same networks. The estimate
    itself has no guarantee: it certifies nothing.

    Notes
    -----
    JAX runs on a GPU if it sees one. On a CPU its pool of threads is made with one thread if nobody initialised JAX
    before and neither PJRT_NPROC nor NPROC is set: a second thread gains little with networks of this size and loses
    much on a busy machine.
    """

    def __init__(
        self,
        objective: str = "ce",
        *,
        clip: float | None = None,
        normalise: Literal["record", "constant", "none"] = "record",
        secret_as: Literal["head", "input"] = "head",
        hidden: Sequence[int] = (64, 64),
        activation: str = "silu",
        optimiser: str = "adamw",
        learning_rate: float = 1e-3,
        weight_decay: float = 0.1,
        initial_accumulator: float = 0.0,
        batch_size: int | None = 256,
        steps: int = 3000,
        patience: int | None = 500,
        validation: float = 0.15,
        members: int = 2,
        folds: int = 3,
        doubt: bool = True,
        categorical_features: Sequence[Any] | None = None,
        progress: Report | bool | None = None,
        random_state: Any = None,
    ) -> None:
        self.objective = objective
        self.clip = clip
        self.normalise = normalise
        self.secret_as = secret_as
        self.hidden = hidden
        self.activation = activation
        self.optimiser = optimiser
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.initial_accumulator = initial_accumulator
        self.batch_size = batch_size
        self.steps = steps
        self.patience = patience
        self.validation = validation
        self.members = members
        self.folds = folds
        self.doubt = doubt
        self.categorical_features = categorical_features
        self.progress = progress
        self.random_state = random_state

    @classmethod
    def as_in_the_paper(cls, objective: str = "dv", initial_accumulator: float = 0.0, **changes: Any) -> Self:
        """The printed setting of the watchdog paper (appendix E), of which TIDE's differs in the clip.

        Two hidden layers of 128 tanh on (secret, record), Adagrad with rate 0.001, 3000 steps with the whole training
        set; one network, nothing held out, nothing normalised. The paper does not print Adagrad's initial accumulator.
        """
        printed: dict[str, Any] = {
            "normalise": "none",
            "secret_as": "input",
            "hidden": (128, 128),
            "activation": "tanh",
            "optimiser": "adagrad",
            "learning_rate": 1e-3,
            "weight_decay": 0.0,
            "batch_size": None,
            "steps": 3000,
            "patience": None,
            "members": 1,
            "folds": 0,
        }
        return cls(objective, initial_accumulator=initial_accumulator, **(printed | changes))

    def _learn(self, features: Features, secret: Codes) -> None:
        self._check()
        _jax()
        design, n = self.encoder_.design(features), len(secret)
        if self.batch_size is None and design.shape[0] * design.shape[1] > MOST_FULL_BATCH_CELLS:
            size = f"{design.shape[0]:,} records of {design.shape[1]:,} inputs"
            raise DataError(f"{size} do not fit into one batch; give batch_size=256")
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        folds = min(self.folds, n)
        self.fold_ = fold_of_each(secret, folds, rng) if folds else np.full(n, -1)
        self.networks_: list[Network] = []
        self.steps_: list[int] = []
        total = max(folds, 1) * self.members
        with _reporting(self.progress) as report:
            for part in range(max(folds, 1)):
                rows = np.flatnonzero(self.fold_ != part)
                for _ in range(self.members):
                    at = len(self.networks_)

                    def show(share: float, at: int = at) -> None:
                        report(f"training network {at + 1} of {total}", (at + share) / total)

                    network, step = self._trained(design, secret, rows, rng, show)
                    self.networks_.append(network)
                    self.steps_.append(step)
            self._settle(design, secret, folds)
        self.least_error_ = least_error(self.prior_, records=n, columns=features.shape[1])
        self.doubt_factor_ = self.association_p_value_ = float("nan")
        if self.doubt and folds:
            self.association_p_value_ = association_test(design, secret, rng)
            self.doubt_factor_ = self._doubt_factor(features, rng)

    def _doubt_factor(self, features: Features, rng: np.random.Generator) -> float:
        """How much too narrow the spread is, found in a world whose log-lift is known: the one just learned."""
        known = self._log_lift(features)
        again = clone(self).set_params(doubt=False, random_state=int(rng.integers(2**31)))
        again.encoder_, again.secrets_, again.prior_ = self.encoder_, self.secrets_, self.prior_
        again._learn(features, redrawn(known, self.prior_, rng))
        return stretch(again._log_lift(features), known, again._spread(features))

    def _settle(self, design: Any, secret: Codes, folds: int) -> None:
        """Constants, out-of-fold log-lifts and the sentence about them."""
        self.constants_, self.constant_ = np.zeros(len(self.networks_)), 0.0
        self.candidates_: tuple[Candidate, ...] = ()
        for name in ("out_of_fold_log_lift_", "test_log_lift_"):
            if hasattr(self, name):
                delattr(self, name)
        if self.normalise == "constant":
            raw = self._outputs(design)
            seen = [self.fold_ != j // self.members for j in range(len(raw))]
            self.constants_ = np.array([self._constant(h[rows]) for h, rows in zip(raw, seen, strict=True)])
            self.constant_ = self._constant((raw - self.constants_[:, None, None]).mean(axis=0))
        nets = f"{len(self.networks_)} networks" if len(self.networks_) > 1 else "one network"
        made = f"{nets} trained by {OBJECTIVES[self.objective].title}"
        if not folds:
            self.reason_ = f"{made}; no record was held out, so nothing is known of how well it does"
            return
        lift = np.empty((len(secret), len(self.secrets_)))
        for part in range(folds):
            chosen = slice(part * self.members, (part + 1) * self.members)
            here, constant = self.fold_ == part, 0.0
            if self.normalise == "constant":
                constant = self._constant((raw[chosen] - self.constants_[chosen, None, None]).mean(axis=0)[~here])
            lift[here] = self._combined(self._outputs(design[here], chosen), self.constants_[chosen], constant)
        self.out_of_fold_log_lift_ = self.test_log_lift_ = lift
        title = OBJECTIVES[self.objective].title
        self.candidates_ = (Candidate("neural", f"networks by {title}", log_loss(lift, secret, self.prior_), 1.0),)
        gain = lift[np.arange(len(secret)), secret].mean()
        self.reason_ = f"{made}; out of fold the true secret has log-lift {gain:.3f} nats on average ({folds} folds)"

    def _log_lift(self, features: Features) -> Floats:
        design = self.encoder_.design(features)
        parts = [self._combined(self._outputs(rows), self.constants_, self.constant_) for rows in _blocks(design)]
        return np.vstack(parts)

    def _interval(self, features: Features, confidence: float) -> tuple[Floats, Floats]:
        if np.isnan(self.doubt_factor_):
            raise ArgumentError("no intervals were prepared: fit the estimator with folds and doubt=True")
        middle, spread = self._log_lift(features), self._spread(features)
        return interval(middle, spread, self.doubt_factor_, self.least_error_, self.prior_, confidence)

    def _spread(self, features: Features) -> Floats:
        """Standard deviation over networks of each log-lift; infinite with a single network, which cannot know."""
        design = self.encoder_.design(features)
        if len(self.networks_) < 2:
            return np.full((len(features), len(self.secrets_)), np.inf)
        parts = []
        for rows in _blocks(design):
            each = zip(self._outputs(rows), self.constants_, strict=True)
            lifts = [self._combined(h[None], np.zeros(1), constant) for h, constant in each]
            parts.append(np.std(lifts, axis=0, ddof=1))
        return np.vstack(parts)

    def _outputs(self, design: Any, chosen: slice = slice(None)) -> Floats:
        """What the chosen networks say, networks x records x secrets, before anything is taken off."""
        blocks = []
        for rows in _blocks(design):
            inputs = _dense(rows, np.float64)
            blocks.append([self._said(np, network, inputs) for network in self.networks_[chosen]])
        return np.concatenate(blocks, axis=1)

    def _said(self, xp: Any, network: Any, inputs: Any) -> Any:
        return _trimmed(xp, _forward(xp, network, inputs, self.activation, self.secret_as), self._training_clip)

    def _combined(self, outputs: Floats, constants: Floats, constant: float) -> Floats:
        """The mean log-lift of some networks, normalised, then clipped."""
        mean = (outputs - constants[:, None, None]).mean(axis=0) - constant
        if self.normalise == "record":
            mean = mean - log_mean(np, mean, self.prior_)[:, None]
        return np.asarray(_trimmed(np, mean, self.clip))

    def _constant(self, lift: Floats) -> float:
        """log E_{P_S P_X}[e^h] over records."""
        each = log_mean(np, lift, self.prior_)
        return float(np.logaddexp.reduce(each) - np.log(len(each)))

    @property
    def _training_clip(self) -> float | None:
        return None if self.objective == "ce" else self.clip

    def _trained(
        self, design: Any, secret: Codes, rows: Codes, rng: np.random.Generator, show: Callable[[float], None]
    ) -> tuple[Network, int]:
        """One network on some of the records, and the step at which it was kept."""
        held = rows[:0]
        if self.patience is not None and len(rows) > 1:
            part = fold_of_each(secret[rows], min(round(1 / self.validation), len(rows)), rng)
            held, rows = rows[part == 0], rows[part != 0]
            # A secret that only the held-out part knows would stop training at once.
            held = held[np.isin(secret[held], secret[rows])]
        secrets = len(self.secrets_)
        network = _initial(design.shape[1], secrets, self.hidden, self.secret_as, rng, at_rest=len(held) > 0)
        run = _compiled(objective_named(self.objective).value, self.activation, self.secret_as, self.optimiser)
        batches = _batches(design, np.eye(secrets, dtype=np.float32)[secret], rows, self.batch_size, rng)
        state = _start(_widened(network, design.shape[1]), self.optimiser, self.initial_accumulator)
        prior, clip = self.prior_.astype(np.float32), np.float32(self._training_clip or np.inf)
        pace = np.float32(self.learning_rate), np.float32(self.weight_decay)
        inputs, best, kept, done = _dense(design[held], np.float32), np.inf, 0, 0
        if len(held):
            best = self._loss(network, inputs, secret[held])
        while done < self.steps and (not len(held) or done - kept < (self.patience or 0)):
            batch = next(batches)
            most = CHUNK if self.batch_size is None else len(batch[0])
            count = min(most, CHUNK - done % CHUNK, self.steps - done)
            state = run(state, batch, prior, clip, pace, count)
            done += count
            show(done / self.steps)
            if len(held) and (done % CHUNK == 0 or done == self.steps):
                now = _narrowed(state[0], design.shape[1])
                loss = self._loss(now, inputs, secret[held])
                if loss < best:
                    best, network, kept = loss, now, done
        if not len(held):
            network, kept = _narrowed(state[0], design.shape[1]), done
        if not all(np.isfinite(layer).all() for layer in network):
            raise DataError(f"training by '{self.objective}' diverged; give a clip, or lower learning_rate")
        return network, kept

    def _loss(self, network: Network, inputs: Any, secret: Codes) -> float:
        """Held-out loss: that of what will be reported, the posterior if outputs will be normalised by record."""
        lift = self._said(np, network, inputs)
        if not np.isfinite(lift).all():
            return np.inf
        judge = "ce" if self.normalise == "record" else self.objective
        with np.errstate(over="ignore", invalid="ignore"):
            value = objective_value(judge, lift, np.eye(len(self.secrets_))[secret], prior=self.prior_)
        return -value if np.isfinite(value) else np.inf

    def _check(self) -> None:
        """Refuse parameters that cannot be used."""
        objective_named(self.objective)
        _one_of("activation", self.activation, ACTIVATIONS)
        _one_of("normalise", self.normalise, ("record", "constant", "none"))
        _one_of("secret_as", self.secret_as, ("head", "input"))
        _one_of("optimiser", self.optimiser, UPDATES)
        if self.objective == "tide" and self.clip is None:
            raise ArgumentError("objective 'tide' estimates a trimmed log-lift and needs clip, its bound: say clip=3.0")
        if self.clip is not None and not 0 < self.clip < np.inf:
            raise ArgumentError(f"clip bounds the absolute log-lift and is above 0; got {self.clip!r}")
        if self.objective == "ce" and self.normalise != "record":
            raise ArgumentError(
                "the outputs under 'ce' are known up to a function of the record; it needs normalise='record'"
            )
        if not len(self.hidden) or min(self.hidden) < 1:
            raise ArgumentError(f"hidden holds the width of each hidden layer, one at least; got {self.hidden!r}")
        counts = {"steps": (self.steps, 1), "members": (self.members, 1), "folds": (self.folds, 0)}
        counts |= {"batch_size": (self.batch_size or 0, 0 if self.batch_size is None else 1)}
        counts |= {"patience": (self.patience or 0, 0 if self.patience is None else 1)}
        for name, (value, least) in counts.items():
            if value < least:
                raise ArgumentError(f"{name} is a whole number, {least} or more; got {value!r}")
        if self.folds == 1:
            raise ArgumentError("folds=1 leaves nothing to learn from; take 2 or more, or 0 for no cross-fitting")
        if not 0 < self.validation <= 0.5:
            raise ArgumentError(f"validation is a share of the records, above 0 and at most 0.5; got {self.validation}")


def _jax() -> Any:
    """JAX with its backend up, on one CPU thread unless somebody chose otherwise."""
    try:
        import jax
    except ImportError:
        raise EngineError(
            "NeuralLogLift trains with jax, which is not installed: pip install 'tacit[neural]', "
            "or take ClassifierLogLift, which does without"
        ) from None
    # Measured on jax 0.10.2: XLA sizes its pool by PJRT_NPROC (or NPROC, or the affinity of the process) when the
    # backend comes up; the XLA_FLAGS often recommended (xla_cpu_multi_thread_eigen, intra_op_parallelism_threads)
    # change nothing.
    ours = "PJRT_NPROC" not in os.environ and "NPROC" not in os.environ
    if ours:
        os.environ["PJRT_NPROC"] = "1"
    try:
        jax.devices()
    finally:
        if ours:
            del os.environ["PJRT_NPROC"]
    return jax


def _forward(xp: Any, network: Any, inputs: Any, activation: str, secret_as: str) -> Any:
    """Outputs of a network, records x secrets."""
    matrices, biases = network[::2], network[1::2]
    width = inputs.shape[1]
    level = inputs @ matrices[0][:width] + biases[0]
    if secret_as == "input":
        # A one-hot secret times its rows of the matrix is one of the rows.
        level = level[:, None, :] + matrices[0][width:]
    for matrix, bias in zip(matrices[1:], biases[1:], strict=True):
        level = ACTIVATIONS[activation](xp, level) @ matrix + bias
    return level[..., 0] if secret_as == "input" else level


def _trimmed(xp: Any, lift: Any, clip: float | None) -> Any:
    return lift if clip is None else xp.clip(lift, -clip, clip)


def _initial(
    inputs: int, secrets: int, hidden: Sequence[int], secret_as: str, rng: np.random.Generator, *, at_rest: bool
) -> Network:
    """Glorot's uniform start; at rest, the readout is zero and so is every log-lift."""
    first, last = (inputs + secrets, 1) if secret_as == "input" else (inputs, secrets)
    sizes = [first, *hidden, last]
    network: Network = []
    for into, out in pairwise(sizes):
        limit = np.sqrt(6 / (into + out))
        network += [rng.uniform(-limit, limit, size=(into, out)).astype(np.float32), np.zeros(out, dtype=np.float32)]
    if at_rest:
        network[-2] = np.zeros_like(network[-2])
    return network


def _widened(network: Network, inputs: int) -> Network:
    """The same function of inputs that are filled up with zeros."""
    first = network[0]
    idle = np.zeros((-inputs % INPUT_STEP, first.shape[1]), dtype=first.dtype)
    return [np.vstack([first[:inputs], idle, first[inputs:]]), *network[1:]]


def _narrowed(network: Any, inputs: int) -> Network:
    """The reverse of ``_widened``, in numpy."""
    layers = [np.asarray(layer) for layer in network]
    return [np.delete(layers[0], slice(inputs, inputs + -inputs % INPUT_STEP), axis=0), *layers[1:]]


def _start(network: Network, optimiser: str, accumulator: float) -> tuple[Any, Any, Any, Any]:
    begin = accumulator if optimiser == "adagrad" else 0.0
    return network, [np.full_like(w, begin) for w in network], [np.zeros_like(w) for w in network], np.float32(0)


def _adamw(xp: Any, state: Any, gradient: Any, pace: Any) -> Any:
    """Loshchilov and Hutter's AdamW with the usual 0.9, 0.999 and 1e-8."""
    network, first, second, t = state
    rate, decay = pace
    t = t + 1
    first = [0.9 * m + 0.1 * g for m, g in zip(first, gradient, strict=True)]
    second = [0.999 * v + 0.001 * g * g for v, g in zip(second, gradient, strict=True)]
    moved = []
    for w, m, v in zip(network, first, second, strict=True):
        move = m / (1 - 0.9**t) / (xp.sqrt(v / (1 - 0.999**t)) + 1e-8)
        moved.append(w - rate * (move + (decay * w if w.ndim == 2 else 0.0)))
    return moved, first, second, t


def _adagrad(xp: Any, state: Any, gradient: Any, pace: Any) -> Any:
    network, sums, unused, t = state
    sums = [a + g * g for a, g in zip(sums, gradient, strict=True)]
    # An input that is always zero has no gradient, and 0 / 0 must be no step.
    moved = [w - pace[0] * g / (xp.sqrt(a) + 1e-12) for w, g, a in zip(network, gradient, sums, strict=True)]
    return moved, sums, unused, t + 1


UPDATES: dict[str, Callable[..., Any]] = {"adamw": _adamw, "adagrad": _adagrad}


@cache
def _compiled(value: Callable[..., Any], activation: str, secret_as: str, optimiser: str) -> Callable[..., Any]:
    """Some steps of training as one compiled function; compiled again for new shapes only."""
    jax = _jax()
    jnp = jax.numpy
    update = UPDATES[optimiser]

    def loss(network: Any, inputs: Any, posterior: Any, share: Any, prior: Any, clip: Any) -> Any:
        lift = _trimmed(jnp, _forward(jnp, network, inputs, activation, secret_as), clip)
        return -value(jnp, lift, posterior, prior, share)

    def run(state: Any, batches: Any, prior: Any, clip: Any, pace: Any, count: Any) -> Any:
        def step(t: Any, state: Any) -> Any:
            inputs, posterior, share = (part[t % part.shape[0]] for part in batches)
            gradient = jax.grad(loss)(state[0], inputs, posterior, share, prior, clip)
            return update(jnp, state, gradient, pace)

        return jax.lax.fori_loop(0, count, step, state)

    return jax.jit(run)  # type: ignore[no-any-return]


def _batches(
    design: Any, posterior: NDArray[Any], rows: NDArray[Any], size: int | None, rng: np.random.Generator
) -> Iterator[tuple[Any, Any, Any]]:
    """Without end: inputs, posteriors and shares of a chunk of batches, by shuffling the records over and over.

    A batch smaller than its space is filled up with records of share 0: shapes stay the same, and so does the program.
    """
    whole = size is None
    space = len(rows) + -len(rows) % RECORD_STEP
    if size is not None:
        space = min(size, max(RECORD_STEP, 1 << (len(rows) - 1).bit_length()))
    filled = min(space, len(rows))
    width = design.shape[1] + -design.shape[1] % INPUT_STEP
    count = 1 if whole else int(np.clip(MOST_CELLS // (space * width), 1, CHUNK))
    share = np.zeros((count, space), dtype=np.float32)
    share[:, :filled] = 1 / filled
    queue = rows[:0]
    while True:
        while len(queue) < count * filled:
            queue = np.concatenate([queue, rng.permutation(rows)])
        index = np.resize(rows, (count, space))
        index[:, :filled] = queue[: count * filled].reshape(count, filled)
        queue = queue[count * filled :]
        inputs = np.zeros((count, space, width), dtype=np.float32)
        inputs[..., : design.shape[1]] = _dense(design[index.ravel()], np.float32).reshape(count, space, -1)
        batch = inputs, posterior[index], share
        if whole:
            batch = _jax().device_put(batch)
        yield batch
        while whole:
            yield batch


def _dense(rows: Any, dtype: type) -> NDArray[Any]:
    dense = rows.toarray() if sparse.issparse(rows) else rows
    return np.asarray(np.clip(dense, -LARGEST_INPUT, LARGEST_INPUT), dtype=dtype)


def _blocks(design: Any) -> Iterator[Any]:
    """A matrix in pieces that may be made dense."""
    rows = int(np.clip(MOST_CELLS // max(design.shape[1], 1), 1, MOST_SCORED_ROWS))
    for start in range(0, design.shape[0], rows):
        yield design[start : start + rows]


def _one_of(name: str, value: Any, known: Any) -> None:
    if value not in known:
        raise ArgumentError(f"no {name} {value!r}; there are {', '.join(known)}")


@contextmanager
def _reporting(progress: Report | bool | None) -> Iterator[Report]:
    """Where progress goes: nowhere, to the caller, or to a bar on stderr."""
    if callable(progress):
        yield progress
        return
    if not progress:
        yield lambda stage, share: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(file=sys.stderr), transient=True) as bar:
        task = bar.add_task("training", total=1.0)
        yield lambda stage, share: bar.update(task, description=stage, completed=share or 0.0)
