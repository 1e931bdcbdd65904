"""``NeuralLogLift``: log-lift by neural networks with the objectives of the papers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import Any, Literal, Self

import numpy as np

from tacit.document import Nats
from tacit.errors import ArgumentError, DataError, sentence
from tacit.learn.arrays import Codes, Floats
from tacit.learn.crossfitting.blending import log_loss
from tacit.learn.crossfitting.crossfit import CrossFitted, LearnerScore
from tacit.learn.crossfitting.folds import checked_apart
from tacit.learn.crossfitting.training import Progress, shown
from tacit.learn.encoding import Features
from tacit.learn.nets.networks import ACTIVATIONS, Layers, LiftNetworks, Shape, trimmed
from tacit.learn.nets.objectives import OBJECTIVES, log_mean
from tacit.learn.nets.training import Schedule, train

# Steps between two looks at the held-out loss, and between two reports of progress.
LOOK_EVERY = 50


class NeuralLogLift(CrossFitted):
    """An ensemble of small networks whose outputs are log-lifts; cross-fitted, so no record judges itself.

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
        although "dv" and "tide" determine their maximiser only up to a constant.
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
        Records per step; None takes all of them in every step.
    steps : int
        The most steps each network takes.
    patience : int, optional
        Stop after this many steps without a better held-out loss and keep the best network; None trains to the end.
        With patience a network starts at independence (log-lift 0), so noise alone leaves it there.
    validation : float
        Share of each network's training records that is held out to judge when to stop.
    members : int
        Networks per fold, each with its own start, batches and held-out part.
    folds : int
        Parts for cross-fitting, or 0 for none. Each part is scored by networks trained on the others; new records are
        scored by all networks.
    doubt, categorical_features, progress, random_state
        As for ``AutoLogLift``. Without folds there are no intervals to prepare, nor a test of association.

    Attributes
    ----------
    networks_ : list of lists of arrays
        Matrix and bias of every layer of every network, folds outermost, float32. Scoring needs nothing but numpy.
    out_of_fold_log_lift_, test_log_lift_, fold_, doubt_, association_p_value_, candidates_, reason_
        As in all cross-fitted estimators; both log-lifts are the same array. Without folds there is neither, and
        ``fold_`` is -1. The prior and the scales of the columns are those of all records.
    steps_ : list of int
        The step at which each network was kept.
    constants_, constant_ : array, float
        What ``normalise="constant"`` takes off each network and off their mean; zero otherwise.

    Guarantees
    ----------
    With ``normalise="record"`` and no clip, sum_s p(s) e^{i(s,x)} = 1 for every record. With a clip no absolute
    log-lift exceeds it. The same data and integer ``random_state`` on one machine give the same networks. The estimate
    itself has no guarantee: it certifies nothing.
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
        progress: Progress | None = None,
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
        """The printed setting of the watchdog paper (appendix E); that of TIDE differs in the clip.

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

    def _fold_count(self, records: int) -> int:
        return min(int(self.folds), records)

    def _cross_fit(self, features: Features, secret: Codes, rng: np.random.Generator) -> None:
        design = self.encoder_.design(features)
        folds = int(self.fold_.max()) + 1
        total = max(folds, 1) * self.members
        self.networks_: list[Layers] = []
        self.steps_: list[int] = []
        for at in range(total):
            show = shown(self.progress, f"training network {at + 1} of {total}", at, total)
            rows = np.flatnonzero(self.fold_ != at // self.members)
            layers, step = self._trained(design, secret, rows, rng, show)
            self.networks_.append(layers)
            self.steps_.append(step)
        self._settle(design, secret, folds)

    def _trained(
        self, design: Any, secret: Codes, rows: Codes, rng: np.random.Generator, show: Callable[[float], None]
    ) -> tuple[Layers, int]:
        """One network on some of the records, and the step at which it was kept."""
        patience, check = self.patience, rows[:0]
        if len(rows) < 2:
            patience = None
        if patience is not None:
            rows, check = checked_apart(rows, secret, rng, share=self.validation)
        # What will be reported is judged: the posterior if outputs will be normalised by record.
        judge = "ce" if self.normalise == "record" else self.objective
        shape, posterior = self._shape(design), np.eye(len(self.secrets_))[secret]
        weights = shape.start(1, rng, at_rest=patience is not None)
        networks = LiftNetworks(
            shape, weights, design, posterior, self.prior_, check[None], self.objective, judge, self._training_clip
        )
        schedule = Schedule(self.learning_rate, self.weight_decay, self.batch_size, self.steps, patience, LOOK_EVERY)
        schedule = replace(schedule, optimiser=self.optimiser, accumulator=self.initial_accumulator)
        best, kept = train(networks, rows[None], schedule, rng, show)
        if not all(np.isfinite(array).all() for array in best):
            raise DataError(f"training by '{self.objective}' diverged; give a clip, or lower learning_rate")
        return [array[0] for array in best], int(kept[0])

    def _settle(self, design: Any, secret: Codes, folds: int) -> None:
        """Constants, out-of-fold log-lifts and the sentence about them."""
        raw = self._outputs(design)
        self.constants_, self.constant_ = np.zeros(len(raw)), 0.0
        if self.normalise == "constant":
            learned_from = [self.fold_ != j // self.members for j in range(len(raw))]
            self.constants_ = np.array([self._constant(h[rows]) for h, rows in zip(raw, learned_from, strict=True)])
            self.constant_ = self._constant((raw - self.constants_[:, None, None]).mean(axis=0))
        self.candidates_: tuple[LearnerScore, ...] = ()
        for name in ("out_of_fold_log_lift_", "test_log_lift_"):
            self.__dict__.pop(name, None)
        title = OBJECTIVES[self.objective].title
        networks = f"{len(raw)} networks" if len(raw) > 1 else "one network"
        if not folds:
            self.reason_ = f"{networks} trained by {title}; no record was held out, so its quality is unknown"
            return
        lift = np.empty((len(secret), len(self.secrets_)))
        for part in range(folds):
            chosen = slice(part * self.members, (part + 1) * self.members)
            here, constant = self.fold_ == part, 0.0
            if self.normalise == "constant":
                constant = self._constant((raw[chosen] - self.constants_[chosen, None, None]).mean(axis=0)[~here])
            lift[here] = self._combined(raw[chosen][:, here], self.constants_[chosen], constant)
        self.out_of_fold_log_lift_ = self.test_log_lift_ = lift
        self.candidates_ = (LearnerScore("neural", f"networks by {title}", log_loss(lift, secret, self.prior_), 1.0),)
        gain = lift[np.arange(len(secret)), secret].mean()
        self.reason_ = sentence(
            "{networks} trained by {title}; out of fold the true secret has log-lift {gain} on average ({folds} folds)",
            networks=networks,
            title=title,
            gain=Nats(float(gain), 3),
            folds=folds,
        )

    def _log_lift(self, features: Features) -> Floats:
        return self._combined(self._outputs(self.encoder_.design(features)), self.constants_, self.constant_)

    def _middle_and_spreads(self, features: Features) -> tuple[Floats, Floats, Floats]:
        """The spread is the standard deviation over networks; infinite with a single one, which cannot know."""
        outputs = self._outputs(self.encoder_.design(features))
        middle = self._combined(outputs, self.constants_, self.constant_)
        if len(outputs) < 2:
            return middle, np.full_like(middle, np.inf), np.zeros_like(middle)
        each = zip(outputs, self.constants_, strict=True)
        lifts = [self._combined(h[None], np.zeros(1), constant) for h, constant in each]
        return middle, np.std(lifts, axis=0, ddof=1), np.zeros_like(middle)

    def _of_one_fold(self, features: Features, fold: int) -> Floats:
        chosen = slice(fold * self.members, (fold + 1) * self.members)
        return self._combined(self._outputs(self.encoder_.design(features))[chosen], self.constants_[chosen], 0.0)

    def _shape(self, design: Any) -> Shape:
        return Shape(design.shape[1], len(self.secrets_), tuple(self.hidden), self.activation, self.secret_as)

    def _outputs(self, design: Any) -> Floats:
        """The outputs of the networks, networks x records x secrets, before anything is taken off."""
        shape = self._shape(design)
        return trimmed(np.stack([shape.scores_of(layers, design) for layers in self.networks_]), self._training_clip)

    def _combined(self, outputs: Floats, constants: Floats, constant: float) -> Floats:
        """The mean log-lift of some networks, normalised, then clipped."""
        mean = (outputs - constants[:, None, None]).mean(axis=0) - constant
        if self.normalise == "record":
            mean = mean - log_mean(mean, self.prior_)[:, None]
        return trimmed(mean, self.clip)

    def _constant(self, lift: Floats) -> float:
        """log E_{P_S P_X}[e^h] over records."""
        each = log_mean(lift, self.prior_)
        return float(np.logaddexp.reduce(each) - np.log(len(each)))

    @property
    def _training_clip(self) -> float | None:
        return None if self.objective == "ce" else self.clip

    def _check_words(self) -> None:
        choices: dict[str, Collection[str]] = {
            "objective": OBJECTIVES,
            "activation": ACTIVATIONS,
            "normalise": ("record", "constant", "none"),
            "secret_as": ("head", "input"),
            "optimiser": ("adamw", "adagrad"),
        }
        for name, known in choices.items():
            if getattr(self, name) not in known:
                raise ArgumentError(f"no {name} {getattr(self, name)!r}; there are {', '.join(known)}")
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
        for name, least in {"steps": 1, "members": 1, "folds": 0, "batch_size": 1, "patience": 1}.items():
            value = getattr(self, name)
            if value is not None and value < least:
                raise ArgumentError(f"{name} is a whole number, {least} or more; got {value!r}")
        if self.folds == 1:
            raise ArgumentError("folds=1 leaves nothing to learn from; take 2 or more, or 0 for no cross-fitting")
        if not 0 < self.validation <= 0.5:
            raise ArgumentError(f"validation is a share of the records, above 0 and at most 0.5; got {self.validation}")
